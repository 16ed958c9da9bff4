//! Very many questions, and the memory of the service.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bylaw_contract::ErrorCode;
use tokio::task::JoinSet;

use super::{
    super::{
        metrics::percentile,
        process,
        upstream::{Script, Upstream},
    },
    books::{self, Books},
    caller::{Caller, Question},
    panicked,
    report::Report,
    service::{Place, Setup},
};
use crate::{
    args::{DoorSoak, UpstreamBehaviour},
    failure::Failure,
};

/// Different questions whose answers are remembered.
const REMEMBERED: u32 = 50;
/// Looks at the memory, over all questions.
const LOOKS: u32 = 20;
/// Looks that are for warming up.
const WARMING_UP: usize = 2;

#[derive(Default)]
struct Counts {
    asked: AtomicU32,
    ended: AtomicU32,
    left: AtomicU32,
    failed: AtomicU32,
    ended_us: AtomicU64,
}

pub(super) async fn run(arguments: &DoorSoak) -> Result<Report, Failure> {
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
    let counts = Arc::new(Counts::default());
    let start = Instant::now();
    let mut callers = JoinSet::new();
    for _caller in 0..arguments.connections.max(1) {
        callers.spawn(ask_on(service.address, Arc::clone(&counts), arguments.questions));
    }
    let step = (arguments.questions / LOOKS).max(1);
    let mut resident = Vec::new();
    let mut next = step;
    while !callers.is_empty() {
        tokio::select! {
            ended = callers.join_next() => {
                if let Some(ended) = ended {
                    ended.map_err(|error| panicked(&error))??;
                }
            }
            () = tokio::time::sleep(Duration::from_millis(5)) => {}
        }
        while counts.asked.load(Ordering::Relaxed).min(arguments.questions) >= next {
            resident.push(process::resident_kib_of(service.pid) as f64 / 1024.0);
            next += step;
        }
    }
    let took = start.elapsed().as_secs_f64();
    service.stop().await?;
    let asked_of_model = upstream.stop().await.requests;
    let books = Books::read(&place).await?;

    let load = |count: &AtomicU32| count.load(Ordering::Relaxed);
    let (ended, left, failed) = (load(&counts.ended), load(&counts.left), load(&counts.failed));
    let mut report = Report::new("soak");
    report.number("questions", arguments.questions);
    report.number("ended", ended);
    report.number("left", left);
    report.number("model_requests", asked_of_model);
    report.number("questions_per_s", f64::from(arguments.questions) / took);
    report.number("seconds", took);
    report.number("mean_ms", counts.ended_us.load(Ordering::Relaxed) as f64 / 1e3 / f64::from(ended.max(1)));
    let shown: Vec<String> = resident.iter().map(|mib| format!("{mib:.0}")).collect();
    report.number("resident_mib", shown.join(" "));
    let mut flat: Vec<f64> = resident.into_iter().skip(WARMING_UP).collect();
    flat.sort_by(f64::total_cmp);
    let (median, most) = (percentile(&flat, 0.5), percentile(&flat, 1.0));
    report.claim("no question fails", failed == 0, format!("{failed} failed"));
    report.claim(
        "after warming up, memory is flat within a tenth",
        !flat.is_empty() && most <= median * 1.1,
        format!("median {median:.1} MiB, at most {most:.1} MiB"),
    );
    books.claim_closed(&mut report);
    place.claim_no_errors(&mut report);
    books::claim_verified(&mut report, &place).await?;
    Ok(report)
}

async fn ask_on(address: SocketAddr, counts: Arc<Counts>, questions: u32) -> Result<(), Failure> {
    let unreachable = |error: reqwest::Error| Failure::from_error(ErrorCode::ServiceUnreachable, &error);
    let url = format!("http://{address}/ask").parse();
    let url: reqwest::Url = url.map_err(|_| Failure::new(ErrorCode::InternalError, "no URL"))?;
    let client = bylaw_model::http_client(&url).map_err(unreachable)?;
    loop {
        let number = counts.asked.fetch_add(1, Ordering::Relaxed);
        if number >= questions {
            return Ok(());
        }
        let question = question(number);
        if number % 10 == 9 {
            leave(address, &question, number).await;
            counts.left.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let start = Instant::now();
        let request = client.post(url.clone()).header("content-type", "application/json").body(question.body());
        let is_whole = match request.send().await {
            Ok(reply) if reply.status().is_success() => reply.bytes().await.is_ok(),
            Ok(_) | Err(_) => false,
        };
        let took = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        counts.ended_us.fetch_add(took, Ordering::Relaxed);
        (if is_whole { &counts.ended } else { &counts.failed }).fetch_add(1, Ordering::Relaxed);
    }
}

/// Remembered, extract and asked of the model take turns, as JSON and as events.
fn question(number: u32) -> Question {
    let own = Question::new(format!("c{number:07}")).streamed(number / 3 % 2 == 1);
    match number % 3 {
        0 => Question { call: format!("r{:02}", number / 3 % REMEMBERED), use_cache: true, ..own },
        1 => Question { mode: "extract", ..own },
        _ => own,
    }
}

/// Asks and leaves, sooner or later.
async fn leave(address: SocketAddr, question: &Question, number: u32) {
    // A caller who cannot even ask has left as well.
    if let Ok(mut caller) = Caller::ask(address, question).await {
        match number / 10 % 3 {
            0 => {}
            1 => tokio::time::sleep(Duration::from_millis(1)).await,
            _ => drop(caller.until("event: ").await),
        }
    }
}
