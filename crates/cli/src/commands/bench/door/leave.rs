//! Callers who leave: how long until the model's connection is closed.

use std::time::Duration;

use bylaw_gate::RowKind;

use super::{
    super::{
        metrics::percentile,
        upstream::{Script, Upstream},
    },
    books::{self, Books},
    broken,
    caller::{Caller, Question},
    report::Report,
    service::{Place, Setup},
    until,
};
use crate::{
    args::{DoorLeave, UpstreamBehaviour},
    failure::Failure,
};

/// A way to leave: its name, events or JSON, and what the model is doing.
const WAYS: [(&str, bool, &str); 4] = [
    ("events, after the first word", true, ""),
    ("json, while it is written", false, ""),
    ("events, before the first word", true, "upstream:silent"),
    ("json, before the first word", false, "upstream:silent"),
];

const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn run(arguments: &DoorLeave) -> Result<Report, Failure> {
    let gap = Duration::from_millis(100);
    let script =
        Script { behaviour: UpstreamBehaviour::Whole, pieces: 200, gap, slow_gap: gap, seed: 1, bill_bound: false };
    let upstream = Upstream::start(0, script).await?;
    let place = Place::new(&Setup::new(upstream.base_url()))?;
    let service = place.start().await?;
    let mut report = Report::new("leave");
    report.number("times", arguments.times);
    for (way, (name, stream, more)) in WAYS.into_iter().enumerate() {
        let mut took = Vec::new();
        for number in 0..arguments.times {
            let question =
                Question { more: more.to_owned(), ..Question::new(format!("w{way}n{number:04}")).streamed(stream) };
            let call = question.call.as_str();
            let caller = Caller::ask(service.address, &question).await;
            let mut caller = caller.map_err(|error| broken("caller", &error))?;
            let writes = more.is_empty();
            let asked = || upstream.seen(call).is_some_and(|seen| !writes || seen.text_bytes > 0);
            let mut ready = until(PATIENCE, asked).await;
            if stream && writes {
                ready &= caller.until("event: token").await.map_err(|error| broken("caller", &error))?;
            }
            let before = upstream.now_us();
            drop(caller);
            let closed = || upstream.seen(call).is_some_and(|seen| seen.ended_us.is_some());
            let in_time = until(PATIENCE, closed).await;
            let ended = upstream.seen(call).and_then(|seen| seen.ended_us).filter(|_| ready && in_time);
            took.push(ended.map_or(f64::INFINITY, |ended| ended.saturating_sub(before) as f64 / 1e3));
        }
        took.sort_by(f64::total_cmp);
        let (median, most) = (percentile(&took, 0.5), percentile(&took, 1.0));
        report.claim(
            format!("{name}: the model's connection is closed within {} ms", arguments.limit_ms),
            most <= arguments.limit_ms as f64,
            format!("median {median:.1} ms, at most {most:.1} ms"),
        );
        report.number(format!("way{way}_median_ms"), median);
        report.number(format!("way{way}_max_ms"), most);
    }
    service.stop().await?;
    let counts = upstream.stop().await;
    let books = Books::read(&place).await?;
    let (all, abandoned) = (books.all().count(), books.count(RowKind::Abandoned));
    report.claim("each call is booked as abandoned", all == abandoned, format!("{all} rows, {abandoned} abandoned"));
    books.claim_complete(&mut report, &counts);
    books.claim_closed(&mut report);
    place.claim_no_errors(&mut report);
    books::claim_verified(&mut report, &place).await?;
    Ok(report)
}
