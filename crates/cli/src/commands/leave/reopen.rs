//! `bylaw leave reopen`: the only way back from a person's no.

use bylaw_contract::ErrorCode;
use bylaw_leave::domain::{ids::LeaveId, store::LeaveStore};

use super::{desk, open, policy};
use crate::{
    args::{LeavePolicy, LeaveReopen},
    config::Settings,
    failure::Failure,
    terminal::{self, Format},
};

pub(super) async fn run(arguments: LeaveReopen, settings: &Settings, format: Format) -> Result<(), Failure> {
    let invalid = |error| Failure::new(ErrorCode::InvalidRequest, format!("{:?}: {error}", arguments.leave));
    let id = LeaveId::new(&*arguments.leave).map_err(invalid)?;
    let store = open(settings).await?;
    if store.leave(&id).await?.is_none() {
        store.close().await;
        return Err(Failure::new(ErrorCode::NotFound, format!("there is no leave {id}"))
            .hint("ids look like LV-7f3a91; a refusal names the one it is about"));
    }
    let reopened = desk(&store, policy(&LeavePolicy::default())?).reopen(&id, arguments.reason.trim()).await;
    store.close().await;
    let reopened = reopened?;
    if format == Format::Json {
        let effects: Vec<&str> = reopened.iter().map(|decline| decline.effect.as_str()).collect();
        terminal::json(&serde_json::json!({ "leave_id": id, "reopened": effects }));
        return Ok(());
    }
    if reopened.is_empty() {
        terminal::line(format!("Nobody has said no about {id}; nothing has changed."));
    }
    for decline in reopened {
        terminal::line(format!(
            "{id}: {} may be asked again ({} had declined). This is on record.",
            decline.effect, decline.by
        ));
    }
    Ok(())
}
