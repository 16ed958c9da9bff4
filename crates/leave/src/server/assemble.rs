//! One server over one desk, ready to be mounted.

use std::sync::Arc;

use bylaw_contract::{Clock, Language, Randomness};
use bylaw_mcp::{ConfirmationGate, ConfirmationKey, ServerTool, ToolServer, ToolServerError, Words};

use super::{principals, prompt::Plan, reading, resources::Papers, uses::Tickets, writing};
use crate::{
    desk::Desk,
    domain::{ids::EmployeeId, store::StoreError},
};

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The secret that seals confirmations cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is offered is not understood by every client; a test holds that this does not happen.
    #[error(transparent)]
    Offered(#[from] ToolServerError),
}

/// The leave system's MCP server, in this language.
///
/// # Errors
/// If the store does not answer.
pub async fn server(
    desk: &Desk,
    language: Language,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
) -> Result<Arc<ToolServer>, ServerError> {
    let mut fresh = [0; 32];
    random.fill(&mut fresh);
    let key = ConfirmationKey::new(&desk.store().seal(&fresh).await?);
    let uses = Arc::new(Tickets(Arc::clone(desk.store())));
    let terms = desk.policy().terms;
    let gate = ConfirmationGate::new(key, uses, Arc::clone(&clock), Arc::clone(&random));
    let gate = gate.with_patience(terms.answer_within, terms.confirm_for);
    let tools: Vec<Arc<dyn ServerTool>> =
        reading::tools(desk).into_iter().chain(writing::tools(desk, &clock, &random)).collect();
    let server = ToolServer::builder("bylaw-leave", env!("CARGO_PKG_VERSION"))
        .titled(Words::new("Leave", "差勤系統"))
        .instructed(Words::new(
            "Leaves of the person who is signed in. Look a leave up before you change it, and use the id that was shown. A \
             leave moves one step at a time. When the person says no, stop: no other tool may reach the same end. Every refusal \
             says what to do next.",
            "登入者本人的差勤假單。更新假單前必須先查詢取得真實 ID；假單狀態只能逐級推進；使用者拒絕後不得改用其他工具達成。每一則拒絕訊息都會說明下一步該怎麼做。",
        ))
        .in_language(language)
        .tools(tools)
        .resources(Papers::new(desk))
        .prompt(Plan)
        .gate(gate);
    Ok(server.build()?)
}

/// The principal of a program that was started for this employee.
#[must_use]
pub fn started_by(employee: &EmployeeId) -> bylaw_mcp::Principal {
    principals::started(employee)
}
