//! Connections that are reset right after the last event.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bylaw_gate::RowKind;
use tokio::task::JoinSet;

use super::{
    super::upstream::{Script, Upstream},
    books::{self, Books},
    broken,
    caller::{Caller, Question},
    panicked,
    report::Report,
    service::{Place, Setup},
};
use crate::{
    args::{DoorReset, UpstreamBehaviour},
    failure::Failure,
};

pub(super) async fn run(arguments: &DoorReset) -> Result<Report, Failure> {
    let script = Script {
        behaviour: UpstreamBehaviour::Whole,
        pieces: 16,
        gap: Duration::ZERO,
        slow_gap: Duration::ZERO,
        seed: 1,
        bill_bound: false,
    };
    let upstream = Upstream::start(0, script).await?;
    let place = Place::new(&Setup::new(upstream.base_url()))?;
    let service = place.start().await?;
    let next = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _caller in 0..arguments.concurrent.max(1) {
        callers.spawn(read_and_reset(service.address, Arc::clone(&next), arguments.calls));
    }
    let mut finished = 0;
    while let Some(ended) = callers.join_next().await {
        finished += ended.map_err(|error| panicked(&error))?.map_err(|error| broken("caller", &error))?;
    }
    service.stop().await?;
    let counts = upstream.stop().await;
    let books = Books::read(&place).await?;
    let (spent, all) = (books.count(RowKind::Spent), books.all().count());
    let mut report = Report::new("reset");
    report.number("calls", arguments.calls);
    report.claim("every answer was whole", finished == arguments.calls, format!("{finished} of {}", arguments.calls));
    report.claim(
        "each call is settled once, none as abandoned",
        spent == arguments.calls as usize && all == spent,
        format!("{all} rows, {spent} of them spent"),
    );
    books.claim_complete(&mut report, &counts);
    books.claim_spent(&mut report, &counts);
    books.claim_closed(&mut report);
    place.claim_no_errors(&mut report);
    books::claim_verified(&mut report, &place).await?;
    Ok(report)
}

/// How many answers ended with `done`.
async fn read_and_reset(address: SocketAddr, next: Arc<AtomicU32>, calls: u32) -> std::io::Result<u32> {
    let mut finished = 0;
    loop {
        let number = next.fetch_add(1, Ordering::SeqCst);
        if number >= calls {
            return Ok(finished);
        }
        let question = Question::new(format!("c{number:05}")).streamed(true);
        let mut caller = Caller::ask(address, &question).await?;
        if caller.until("event: done").await? {
            finished += 1;
        }
        caller.reset()?;
    }
}
