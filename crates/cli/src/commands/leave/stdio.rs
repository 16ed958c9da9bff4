//! `bylaw leave stdio`: the leave system for the program that started this one.

use std::sync::Arc;

use bylaw_contract::ErrorCode;
use bylaw_leave::{
    seed::FIRST,
    server::{server, started_by},
};
use bylaw_mcp::serve_stdio;
use tokio_util::sync::CancellationToken;

use super::{desk, employee, found, language, note_calendar, open, policy, serve::asked_to_stop};
use crate::{
    args::LeaveStdio,
    config::Settings,
    failure::Failure,
    system::{SystemClock, SystemRandom},
};

pub(super) async fn run(arguments: LeaveStdio, settings: &Settings) -> Result<(), Failure> {
    let policy = policy(&arguments.policy)?;
    note_calendar(&policy);
    let store = open(settings).await?;
    if arguments.seed {
        found(&store, &policy).await?;
    }
    let who = employee(&store, arguments.employee.as_deref().unwrap_or(FIRST)).await?;
    let desk = desk(&store, policy);
    let clock = Arc::new(SystemClock::new());
    let built = server(&desk, language(arguments.lang), clock, Arc::new(SystemRandom)).await;
    let built = built.map_err(|error| Failure::from_error(ErrorCode::StorageFailed, &error))?;
    let shutdown = CancellationToken::new();
    let stop = shutdown.clone();
    tokio::spawn(async move {
        asked_to_stop().await;
        stop.cancel();
    });
    let served = serve_stdio(built, started_by(&who), shutdown).await;
    store.close().await;
    served.map_err(|error| Failure::from_error(ErrorCode::InvalidRequest, &error))
}
