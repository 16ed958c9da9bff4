//! Many callers at once, and a budget that is worth a few calls.

use std::{collections::BTreeMap, net::SocketAddr, time::Duration};

use bylaw_contract::{ErrorCode, accounts::BudgetsResponse};
use bylaw_gate::RowKind;
use tokio::{sync::watch, task::JoinSet};

use super::{
    super::upstream::{Script, Upstream},
    books::{self, Books},
    broken,
    caller::{Caller, Question},
    panicked,
    report::Report,
    service::{INPUT_PRICE, Place, Setup},
};
use crate::{
    args::{DoorOverspend, UpstreamBehaviour},
    failure::Failure,
};

/// So cheap that an answer of any length costs a micro-dollar: nothing is won by shortening it, and the budget is worth a
/// whole number of calls.
const OUTPUT_PRICE: &str = "0.000001";

pub(super) async fn run(arguments: &DoorOverspend) -> Result<Report, Failure> {
    let gap = Duration::from_millis(20);
    let script =
        Script { behaviour: UpstreamBehaviour::Whole, pieces: 16, gap, slow_gap: gap, seed: 1, bill_bound: true };
    let upstream = Upstream::start(0, script).await?;
    let mut setup = Setup { output_price: OUTPUT_PRICE, ..Setup::new(upstream.base_url()) };
    let price = price_of_a_call(&setup).await?;
    upstream.reset();
    let limit = price * i64::from(arguments.worth);
    setup.budget = Some(limit);
    let place = Place::new(&setup)?;
    let service = place.start().await?;
    let (over, is_over) = watch::channel(false);
    let watching = tokio::spawn(watch_budget(service.address, is_over));
    let mut callers = JoinSet::new();
    for number in 0..arguments.callers {
        let (address, question) = (service.address, Question::new(name(number)).streamed(number % 2 == 1));
        callers.spawn(async move { Caller::ask(address, &question).await?.end().await });
    }
    let mut outcomes = BTreeMap::<String, u32>::new();
    while let Some(ended) = callers.join_next().await {
        let reply = ended.map_err(|error| panicked(&error))?.map_err(|error| broken("caller", &error))?;
        let outcome = reply.answer().and_then(|answer| answer["outcome"].as_str().map(str::to_owned));
        *outcomes.entry(outcome.unwrap_or_else(|| format!("status {}", reply.status))).or_default() += 1;
    }
    over.send_replace(true);
    let (samples, most) = watching.await.map_err(|error| panicked(&error))??;
    service.stop().await?;
    let counts = upstream.stop().await;
    let books = Books::read(&place).await?;

    let mut report = Report::new("overspend");
    report.number("callers", arguments.callers);
    report.number("limit_micro_usd", limit);
    report.number("samples", samples);
    let spent = books.count(RowKind::Spent);
    report.claim(
        "exactly as many are admitted as the budget is worth",
        counts.completed == u64::from(arguments.worth.min(arguments.callers))
            && counts.requests == counts.completed
            && spent as u64 == counts.completed,
        format!("{} requests, {} completed, {spent} spent; callers: {outcomes:?}", counts.requests, counts.completed),
    );
    report.claim(
        "settled and reserved stay within the limit at every look",
        samples > 0 && most <= limit,
        format!("at most {most} of {limit} micro-USD in {samples} looks"),
    );
    // The answers cost less than a micro-dollar each, rounded up.
    let bill = i64::try_from(counts.prompt_tokens).unwrap_or(i64::MAX) * INPUT_PRICE
        + i64::try_from(counts.completed).unwrap_or(i64::MAX);
    report.claim("the model's bill stays within the limit", bill <= limit, format!("{bill} of {limit} micro-USD"));
    let booked = books.booked();
    report.claim("what is booked is the bill", booked == bill, format!("{booked} booked, {bill} billed"));
    books.claim_closed(&mut report);
    place.claim_no_errors(&mut report);
    books::claim_verified(&mut report, &place).await?;
    Ok(report)
}

/// All of one length, so that all cost the same.
fn name(number: u32) -> String {
    format!("c{number:06}")
}

/// What one call reserves, found out by making one.
async fn price_of_a_call(setup: &Setup) -> Result<i64, Failure> {
    let place = Place::new(setup)?;
    let service = place.start().await?;
    let asked = Caller::ask(service.address, &Question::new(name(0))).await;
    let reply = asked.map_err(|error| broken("caller", &error))?.end().await;
    let reply = reply.map_err(|error| broken("caller", &error))?;
    service.stop().await?;
    let books = Books::read(&place).await?;
    let row = books.row(&name(0)).map(|stored| stored.row.reserved.0);
    row.ok_or_else(|| Failure::new(ErrorCode::InternalError, format!("a call without a row: {}", reply.body)))
}

/// Looks at the budget all the time: how often, and the most that it held.
async fn watch_budget(address: SocketAddr, is_over: watch::Receiver<bool>) -> Result<(u32, i64), Failure> {
    let url = format!("http://{address}/budgets").parse();
    let url: reqwest::Url = url.map_err(|_| Failure::new(ErrorCode::InternalError, "no URL"))?;
    let unreachable = |error: reqwest::Error| Failure::from_error(ErrorCode::ServiceUnreachable, &error);
    let client = bylaw_model::http_client(&url).map_err(unreachable)?;
    let (mut samples, mut most) = (0, 0);
    while !*is_over.borrow() {
        let reply = client.get(url.clone()).send().await.map_err(unreachable)?.text().await.map_err(unreachable)?;
        let budgets: BudgetsResponse = serde_json::from_str(&reply)
            .map_err(|_| Failure::new(ErrorCode::InternalError, format!("GET /budgets: {reply}")))?;
        for state in &budgets.service {
            let held = state.settled.micro_usd.0 + state.reserved.micro_usd.0 + state.debt.micro_usd.0;
            most = most.max(held);
        }
        samples += 1;
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok((samples, most))
}
