//! The same question from many callers at once.

use std::time::Duration;

use bylaw_gate::RowKind;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{
    super::upstream::{Script, Upstream},
    books::{self, Books},
    broken,
    caller::{Caller, Question, Reply},
    panicked,
    report::Report,
    service::{Place, Setup},
    until,
};
use crate::{
    args::{DoorFlight, UpstreamBehaviour},
    failure::Failure,
};

pub(super) async fn run(arguments: &DoorFlight) -> Result<Report, Failure> {
    let script = Script {
        behaviour: UpstreamBehaviour::Whole,
        pieces: 10,
        gap: Duration::from_millis(150),
        slow_gap: Duration::ZERO,
        seed: 1,
        bill_bound: false,
    };
    let upstream = Upstream::start(0, script).await?;
    let place = Place::new(&Setup::new(upstream.base_url()))?;
    let service = place.start().await?;
    let mut report = Report::new("flight");
    let callers = arguments.callers as usize;
    report.number("callers", callers);
    // JSON and events take turns. The call's name is a part of the question, so all have the same one.
    let question = |call: &str, number: usize| Question {
        use_cache: true,
        ..Question::new(call).streamed(number.is_multiple_of(2))
    };

    let mut asking = JoinSet::new();
    for number in 0..callers {
        let (address, question) = (service.address, question("together", number));
        asking.spawn(async move { Caller::ask(address, &question).await?.end().await });
    }
    let replies = all(asking).await?;
    let requests = upstream.requests_and_open().0;
    report.claim("the model is asked once", requests == 1, format!("{requests} requests"));
    claim_equal(&mut report, &replies, callers);

    upstream.reset();
    let first = question("leaving", 0);
    let mut leader = Caller::ask(service.address, &first).await.map_err(|error| broken("caller", &error))?;
    until(Duration::from_secs(30), || upstream.requests_and_open().0 == 1).await;
    let mut asking = JoinSet::new();
    for number in 1..callers {
        let (address, question) = (service.address, question("leaving", number));
        asking.spawn(async move { Caller::ask(address, &question).await?.end().await });
    }
    let heard = leader.until("event: token").await.map_err(|error| broken("caller", &error))?;
    leader.reset().map_err(|error| broken("caller", &error))?;
    let replies = all(asking).await?;
    let requests = upstream.requests_and_open().0;
    let found = format!("{requests} requests, first word heard: {heard}");
    report.claim(
        "the first leaves after its first word, and the model is still asked once",
        heard && requests == 1,
        found,
    );
    claim_equal(&mut report, &replies, callers - 1);

    service.stop().await?;
    let counts = upstream.stop().await;
    report.claim("the model's answer was not cut", counts.completed == 1, format!("{} completed", counts.completed));
    let books = Books::read(&place).await?;
    let (all, spent) = (books.all().count(), books.count(RowKind::Spent));
    report.claim("two calls are booked as spent", all == 2 && spent == 2, format!("{all} rows, {spent} spent"));
    books.claim_closed(&mut report);
    place.claim_no_errors(&mut report);
    books::claim_verified(&mut report, &place).await?;
    Ok(report)
}

async fn all(mut asking: JoinSet<std::io::Result<Reply>>) -> Result<Vec<Reply>, Failure> {
    let mut replies = Vec::new();
    while let Some(ended) = asking.join_next().await {
        replies.push(ended.map_err(|error| panicked(&error))?.map_err(|error| broken("caller", &error))?);
    }
    Ok(replies)
}

fn claim_equal(report: &mut Report, replies: &[Reply], callers: usize) {
    let answers: Vec<Value> = replies.iter().filter_map(Reply::answer).collect();
    let texts: Vec<&str> = answers.iter().filter_map(|answer| answer["answer"].as_str()).collect();
    let equal = texts.iter().all(|text| Some(text) == texts.first());
    let paid = answers.iter().filter(|answer| answer["usage"]["cached"] == false).count();
    report.claim(
        "everyone has the same answer",
        texts.len() == callers && equal,
        format!("{} answers of {callers}, equal: {equal}, {paid} paid for", texts.len()),
    );
}
