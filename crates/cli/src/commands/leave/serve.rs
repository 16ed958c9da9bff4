//! `bylaw leave serve`: the leave system for MCP clients on this machine.

use std::{net::Ipv4Addr, sync::Arc};

use bylaw_contract::ErrorCode;
use bylaw_leave::server::{LeaveKeys, server};
use bylaw_mcp::{HttpMount, HttpOptions, listen};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{desk, found, language, note_calendar, open, policy, seed};
use crate::{
    args::LeaveServe,
    config::Settings,
    failure::Failure,
    system::{SystemClock, SystemRandom},
    terminal::{self, Format},
};

pub(super) async fn run(arguments: LeaveServe, settings: &Settings, format: Format) -> Result<(), Failure> {
    let policy = policy(&arguments.policy)?;
    note_calendar(&policy);
    let store = open(settings).await?;
    let is_new = arguments.seed && found(&store, &policy).await?;
    let made = if is_new { seed::make_keys(&store).await? } else { Vec::new() };
    let desk = desk(&store, policy);
    let clock = Arc::new(SystemClock::new());
    let built = server(&desk, language(arguments.lang), clock.clone(), Arc::new(SystemRandom)).await;
    let built = built.map_err(|error| Failure::from_error(ErrorCode::StorageFailed, &error))?;
    let address = (Ipv4Addr::LOCALHOST, arguments.port);
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(ErrorCode::AddressUnavailable, format!("127.0.0.1:{}: {error}", arguments.port))
            .hint("choose another port with --port; 0 takes any that is free")
    })?;
    let port = listener.local_addr().map_or(arguments.port, |address| address.port());
    let shutdown = CancellationToken::new();
    let keys = Arc::new(LeaveKeys::new(Arc::new(store.clone()), clock.clone()));
    let mount = HttpMount::new(built, keys, clock, HttpOptions::default(), shutdown.clone());
    let url = format!("http://127.0.0.1:{port}/mcp");
    match format {
        Format::Json => terminal::json(&json!({ "url": url, "keys": seed::as_json(&made) })),
        Format::Text => {
            if is_new {
                seed::write(&made);
            }
            terminal::line(format!("The leave system answers at {url}"));
        }
    }
    let stop = shutdown.clone();
    tokio::spawn(async move {
        asked_to_stop().await;
        stop.cancel();
    });
    listen(listener, mount.router(), shutdown).await;
    store.close().await;
    Ok(())
}

/// Ctrl-C, or the word of whoever manages the machine.
pub(crate) async fn asked_to_stop() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
