//! Everything that can go wrong with calls, and the service killed in the middle.

use std::{
    collections::{HashMap, HashSet},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bylaw_gate::{RowKind, StoredRow};
use tokio::{sync::watch, task::JoinSet, time::Instant};

use super::{
    super::upstream::{Counts, End, Script, Seen, Upstream},
    books::{self, Books, cost},
    caller::{Caller, Question},
    panicked,
    report::Report,
    service::{Place, Setup},
    until,
};
use crate::{
    args::{DoorCrash, UpstreamBehaviour},
    failure::Failure,
};

const LEASE_SECONDS: u32 = 2;

/// The longest that a settlement may be on its way to the disk, in microseconds. A disk that others write to takes seconds
/// to sync; and an unoptimised service reads the rules so slowly that its ledger has to wait for it.
const ON_ITS_WAY_US: u64 = if cfg!(debug_assertions) { 10_000_000 } else { 5_000_000 };

/// How it went for a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// They waited for the end, and it came.
    Ended,
    /// They left in the middle.
    Left,
    /// The service was gone.
    Broken,
}

struct Called {
    call: String,
    how: How,
    /// Bytes of the answer's text that came.
    text_bytes: u64,
}

pub(super) async fn run(arguments: &DoorCrash) -> Result<Report, Failure> {
    let script = Script {
        behaviour: UpstreamBehaviour::Mix,
        pieces: 16,
        gap: Duration::from_millis(1),
        slow_gap: Duration::from_millis(20),
        seed: arguments.seed,
        bill_bound: false,
    };
    let upstream = Upstream::start(0, script).await?;
    let place =
        Place::new(&Setup { lease_seconds: LEASE_SECONDS, first_byte_seconds: 1, ..Setup::new(upstream.base_url()) })?;
    let first = place.start().await?;
    let (tell, told) = watch::channel(first.address);
    let next = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _caller in 0..arguments.concurrent {
        callers.spawn(ask_on(Arc::clone(&next), arguments.calls, told.clone()));
    }
    let half = arguments.calls / 2;
    let reached = until(Duration::from_secs(600), || next.load(Ordering::SeqCst) > half).await;
    let killed_us = upstream.now_us();
    let under_way = upstream.requests_and_open().1;
    first.kill().await?;
    let second = place.start().await?;
    tell.send_replace(second.address);
    let mut called = HashMap::new();
    while let Some(ended) = callers.join_next().await {
        for one in ended.map_err(|error| panicked(&error))? {
            called.insert(one.call.clone(), one);
        }
    }
    let closed = wait_for_leases(&place).await?;
    second.stop().await?;
    let counts = upstream.stop().await;
    let books = Books::read(&place).await?;

    let mut report = Report::new("crash");
    report.number("calls", called.len());
    report.number("under_way_when_killed", under_way);
    for how in [How::Ended, How::Left, How::Broken] {
        let count = called.values().filter(|one| one.how == how).count();
        report.number(format!("callers_{how:?}").to_lowercase(), count);
    }
    for (name, count) in [
        ("completed", counts.completed),
        ("refused", counts.refused),
        ("cut", counts.cut),
        ("client_left", counts.client_left),
        ("never_answered", counts.never_answered),
    ] {
        report.number(format!("upstream_{name}"), count);
    }
    report.claim("the service was killed in the middle", reached, format!("after {half} of {}", arguments.calls));
    books.claim_complete(&mut report, &counts);
    let lost = not_yet_durable(&books, &counts, killed_us);
    report.number("ended_and_not_yet_durable_when_killed", lost.len());
    claim_completed(&mut report, &books, &counts, &called, &lost, killed_us);
    books.claim_spent(&mut report, &counts);
    claim_bounds(&mut report, &books, &counts, &called);
    claim_unknown(&mut report, &books, &called, &lost);
    report.claim("reservations of the killed process end with its lease", closed.is_some(), format!("{closed:?}"));
    books.claim_closed(&mut report);
    place.claim_no_errors(&mut report);
    books::claim_verified(&mut report, &place).await?;
    Ok(report)
}

/// Asks, one question after the other, until all were asked.
async fn ask_on(next: Arc<AtomicU32>, calls: u32, mut addresses: watch::Receiver<SocketAddr>) -> Vec<Called> {
    let mut called = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::SeqCst);
        if number >= calls {
            return called;
        }
        let question = Question::new(format!("c{number:05}")).streamed(number % 2 == 1);
        // Nothing was sent where nobody listens: asked again as soon as there is a service.
        let caller = loop {
            let address = *addresses.borrow_and_update();
            match Caller::ask(address, &question).await {
                Ok(caller) => break Some(caller),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    if addresses.changed().await.is_err() {
                        break None;
                    }
                }
                Err(_) => break None,
            }
        };
        let (how, text_bytes) = match caller {
            None => (How::Broken, 0),
            Some(caller) => listen(caller, number).await,
        };
        called.push(Called { call: question.call, how, text_bytes });
    }
}

/// Listens to the end, or leaves: one in eight after the first words, one in eight at once.
async fn listen(mut caller: Caller, number: u32) -> (How, u64) {
    match number % 8 {
        3 => match caller.until("event: token").await {
            Ok(true) => (How::Left, caller.so_far().text_bytes()),
            Ok(false) if caller.so_far().whole => (How::Ended, caller.so_far().text_bytes()),
            Ok(false) | Err(_) => (How::Broken, caller.so_far().text_bytes()),
        },
        6 => {
            tokio::time::sleep(Duration::from_millis(u64::from(number % 24))).await;
            (How::Left, 0)
        }
        _ => match caller.end().await {
            Ok(reply) if reply.whole => (How::Ended, reply.text_bytes()),
            Ok(reply) => (How::Broken, reply.text_bytes()),
            Err(_) => (How::Broken, 0),
        },
    }
}

/// How long it took until nothing was reserved any more.
async fn wait_for_leases(place: &Place) -> Result<Option<Duration>, Failure> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if Books::read(place).await?.open == 0 {
            return Ok(Some(start.elapsed()));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(None)
}

/// Calls that had ended before the kill, whose settlement was on its way to the disk: an answer does not wait for it. None
/// is on its way for long.
fn not_yet_durable(books: &Books, counts: &Counts, killed_us: u64) -> HashSet<String> {
    let shortly_before = killed_us.saturating_sub(ON_ITS_WAY_US)..=killed_us;
    let ended = counts.list.iter().filter(|seen| seen.ended_us.is_some_and(|ended| shortly_before.contains(&ended)));
    let calls = ended.map(|seen| books::call(seen).to_owned());
    calls.filter(|call| books.row(call).is_some_and(|stored| stored.row.kind == RowKind::Unknown)).collect()
}

/// Whoever was answered whole is booked as spent; only what the kill cut, or a caller who left, is booked otherwise.
fn claim_completed(
    report: &mut Report,
    books: &Books,
    counts: &Counts,
    called: &HashMap<String, Called>,
    lost: &HashSet<String>,
    killed_us: u64,
) {
    let completed: Vec<&Seen> = counts.list.iter().filter(|seen| seen.end == Some(End::Completed)).collect();
    let (mut spent, mut cut, mut left, mut wrong) = (0, 0, 0, Vec::new());
    for seen in &completed {
        let call = books::call(seen);
        let how = called.get(call).map(|one| one.how);
        match (books.row(call).map(|stored| stored.row.kind), how) {
            (Some(RowKind::Spent), _) => spent += 1,
            (Some(RowKind::Unknown), Some(How::Broken | How::Left)) => cut += 1,
            (Some(RowKind::Unknown), _) if lost.contains(call) => cut += 1,
            (Some(RowKind::Abandoned), Some(How::Left)) => left += 1,
            (kind, how) => wrong.push(format!("{call}: {kind:?}, {how:?}, ended {:?} of {killed_us}", seen.ended_us)),
        }
    }
    let reported = counts.list.iter().filter(|seen| seen.usage_sent).count();
    wrong.truncate(5);
    report.claim(
        "what the model completed is spent, unless the kill or the caller came first",
        wrong.is_empty() && books.count(RowKind::Spent) <= reported,
        format!("{} completed: {spent} spent, {cut} cut by the kill, {left} left {wrong:?}", completed.len()),
    );
}

/// Whatever was not reported: received ≤ booked ≤ reserved.
fn claim_bounds(report: &mut Report, books: &Books, counts: &Counts, called: &HashMap<String, Called>) {
    let seen: HashMap<&str, &Seen> = counts.list.iter().map(|seen| (books::call(seen), seen)).collect();
    let (mut checked, mut wrong) = (0, Vec::new());
    for StoredRow { row, .. } in books.all().filter(|stored| stored.row.kind != RowKind::Spent) {
        let call = row.labels.request_id.as_str();
        // What the model read, and what its caller was shown of it: a token is a byte at least.
        let read = seen.get(call).map_or(0, |seen| seen.prompt_tokens);
        let received = cost(read, called.get(call).map_or(0, |one| one.text_bytes));
        checked += 1;
        if !(received <= row.amount && row.amount <= row.reserved) {
            wrong.push(format!("{call}: {:?}, {} ≤ {} ≤ {}", row.kind, received, row.amount, row.reserved));
        }
    }
    wrong.truncate(5);
    let found = format!("{checked} rows {wrong:?}");
    report.claim("what was not reported: received ≤ booked ≤ reserved", wrong.is_empty(), found);
}

/// Unknown is only what the kill cut, and then at its whole reservation.
fn claim_unknown(report: &mut Report, books: &Books, called: &HashMap<String, Called>, lost: &HashSet<String>) {
    let unknown: Vec<&StoredRow> = books.all().filter(|stored| stored.row.kind == RowKind::Unknown).collect();
    let mut wrong: Vec<&str> = Vec::new();
    for StoredRow { row, .. } in &unknown {
        let call = row.labels.request_id.as_str();
        let how = called.get(call).map(|one| one.how);
        let cut = matches!(how, Some(How::Broken | How::Left)) || lost.contains(call);
        if row.amount != row.reserved || !cut {
            wrong.push(call);
        }
    }
    wrong.truncate(5);
    report.claim(
        "unknown is only what the kill cut, at its whole reservation",
        wrong.is_empty(),
        format!("{} rows {wrong:?}", unknown.len()),
    );
}
