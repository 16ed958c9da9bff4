//! The service stopped with many calls under way.

use std::time::{Duration, Instant};

use bylaw_gate::RowKind;
use tokio::task::JoinSet;

use super::{
    super::upstream::{Script, Upstream},
    books::{self, Books},
    caller::{Caller, Question, Reply},
    panicked,
    report::Report,
    service::{Place, Setup},
    until,
};
use crate::{
    args::{DoorShutdown, UpstreamBehaviour},
    failure::Failure,
};

const PIECES: u32 = 8;
/// Long enough that all calls are under way before the first ends, also on a slow machine.
const GAP: Duration = Duration::from_millis(1_500);

pub(super) async fn run(arguments: &DoorShutdown) -> Result<Report, Failure> {
    let mut report = Report::new("shutdown");
    report.number("calls", arguments.calls);
    stop_with_calls(&mut report, arguments.calls, 60).await?;
    stop_with_calls(&mut report, arguments.calls, 1).await?;
    Ok(report)
}

async fn stop_with_calls(report: &mut Report, calls: u32, grace_seconds: u32) -> Result<(), Failure> {
    let script = Script {
        behaviour: UpstreamBehaviour::Slow,
        pieces: PIECES.into(),
        gap: GAP,
        slow_gap: GAP,
        seed: 1,
        bill_bound: false,
    };
    let upstream = Upstream::start(0, script).await?;
    let place = Place::new(&Setup { grace_seconds, ..Setup::new(upstream.base_url()) })?;
    let service = place.start().await?;
    let mut callers = JoinSet::new();
    for number in 0..calls {
        let (address, question) = (service.address, Question::new(format!("c{number:05}")).streamed(number % 2 == 1));
        callers.spawn(async move { Caller::ask(address, &question).await?.end().await });
    }
    let all = until(Duration::from_secs(60), || upstream.requests_and_open().0 >= u64::from(calls)).await;
    let under_way = upstream.requests_and_open().1;
    let start = Instant::now();
    service.terminate().await?;
    let status = service.ended(Duration::from_secs(120)).await?;
    let took = start.elapsed();
    let mut replies: Vec<Reply> = Vec::new();
    while let Some(ended) = callers.join_next().await {
        replies.extend(ended.map_err(|error| panicked(&error))?);
    }
    let counts = upstream.stop().await;
    let books = Books::read(&place).await?;

    let long = grace_seconds > 1;
    let when = if long { "a grace longer than the calls" } else { "a grace shorter than the calls" };
    let name = |what: &str| format!("{}_{what}", if long { "long" } else { "short" });
    report.claim(
        format!("{when}: all calls were under way, and the service ended by itself"),
        all && under_way == u64::from(calls) && status.success(),
        format!("{under_way} under way, {status}"),
    );
    books.claim_complete(report, &counts);
    let whole = replies.iter().filter(|reply| reply.whole && reply.status == 200).count();
    let told = replies.iter().filter(|reply| reply.whole).count();
    let (spent, unknown) = (books.count(RowKind::Spent), books.count(RowKind::Unknown));
    if long {
        let answered =
            replies.iter().filter(|reply| reply.answer().is_some_and(|it| it["outcome"] == "answered")).count();
        report.claim(
            "every call is answered and spent",
            spent == calls as usize && answered == calls as usize,
            format!("{answered} answered, {spent} spent"),
        );
        books.claim_spent(report, &counts);
    } else {
        let cut = books.count(RowKind::Estimated) + books.count(RowKind::Abandoned);
        let within = books.all().all(|stored| {
            let row = &stored.row;
            row.amount > bylaw_contract::MicroUsd::ZERO && row.amount <= row.reserved
        });
        report.claim(
            "every call is cut, and booked as estimated or abandoned within its reservation",
            cut == calls as usize && spent == 0 && unknown == 0 && within,
            format!("{cut} cut, {spent} spent, {unknown} unknown"),
        );
        report.claim("every caller is told", told == calls as usize, format!("{told} of {calls}"));
    }
    books.claim_closed(report);
    place.claim_no_errors(report);
    books::claim_verified(report, &place).await?;
    report.number(name("stop_ms"), u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    report.number(name("replies_whole"), whole);
    report.number(name("replies_ended"), told);
    Ok(())
}
