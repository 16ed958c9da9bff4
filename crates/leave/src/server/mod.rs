//! The MCP server of the leave system: nine tools, two resources and a prompt over one desk.
//!
//! Nothing is decided here. A tool turns arguments into a request of the desk, puts the desk's question to the person
//! through the gate, and turns what comes of it into words for a model. Who asks is whoever the key or the starter of the
//! program says; no argument of any tool names a principal.

mod arguments;
mod assemble;
mod describe;
mod principals;
mod prompt;
mod reading;
mod resources;
mod schemas;
mod uses;
mod writing;

pub use assemble::{server, started_by};
pub use principals::LeaveKeys;

use bylaw_mcp::ToolStop;

use crate::{
    desk::{DeskError, Principal},
    domain::refusal::Refusal,
};

/// What a refusal is for a model: its sentence, and its code for programs.
fn refused(refusal: &Refusal, who: &Principal) -> ToolStop {
    let sentence = refusal.sentence(who.language);
    let structured = serde_json::json!({ "refused": refusal.code(), "message": sentence });
    ToolStop::refused(sentence).with_structured(structured)
}

/// How an operation that did not happen is told. What is kept cannot be reached: the log has the details.
fn stopped(error: &DeskError, who: &Principal) -> ToolStop {
    match error {
        DeskError::Refused(refusal) => refused(refusal, who),
        DeskError::Store(error) => {
            tracing::error!(cause = %error.source, "{error}");
            ToolStop::refused(if who.language.is_chinese() {
                "差勤系統目前無法存取資料，沒有任何變更。請稍後再試；若持續發生，請通知系統管理者。"
            } else {
                "The leave system cannot reach its data now, and nothing was changed. Try again later, and tell the operator if \
                 it goes on."
            })
        }
    }
}
