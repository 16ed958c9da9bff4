//! The program that started this one, as a client of a service.

use std::sync::Arc;

use bylaw_contract::ErrorCode;
use bylaw_handover::{FrontDoor, HandoverParts, server};
use bylaw_mcp::{CallLimits, Principal, serve_stdio};
use tokio_util::sync::CancellationToken;

use crate::{
    args::McpService, client::Client, commands::leave::asked_to_stop, config::Settings, failure::Failure,
    front_door::HttpDoor, system::SystemRandom,
};

/// Where a service is unless somebody says otherwise.
const USUAL_URL: &str = "http://127.0.0.1:8024";

pub(super) async fn run(service: &McpService, settings: &Settings) -> Result<(), Failure> {
    let url = service.url.as_deref().or(settings.mcp.url.as_deref()).unwrap_or(USUAL_URL);
    let door = HttpDoor(Client::new(url, settings.client_key.as_ref())?);
    serve(Arc::new(door), settings, CancellationToken::new()).await
}

/// Serves whoever started this program until they hang up, or the program is told to stop.
pub(super) async fn serve(
    door: Arc<dyn FrontDoor>,
    settings: &Settings,
    shutdown: CancellationToken,
) -> Result<(), Failure> {
    let parts = HandoverParts {
        door,
        settings: settings.mcp.handover.clone(),
        limits: CallLimits::default(),
        random: Arc::new(SystemRandom),
    };
    let server = server(parts).map_err(|error| Failure::from_error(ErrorCode::InternalError, &error))?;
    let stop = shutdown.clone();
    tokio::spawn(async move {
        asked_to_stop().await;
        stop.cancel();
    });
    let served = serve_stdio(server, Principal::new("whoever started this program"), shutdown).await;
    served.map_err(|error| Failure::from_error(ErrorCode::InvalidRequest, &error))
}
