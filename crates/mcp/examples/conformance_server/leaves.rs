//! The two tools that interoperability and speed are tried with: one that only lists, and one that asks first.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_mcp::{CallContext, Confirmation, Question, ServerTool, ToolAnnotations, ToolReply, ToolSpec, ToolStop};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) fn tools() -> Vec<Arc<dyn ServerTool>> {
    vec![Arc::new(ListLeaveTypes), Arc::new(CancelLeave)]
}

/// Lists without touching anything stored. The speed comparison's other server has the same data.
struct ListLeaveTypes;

fn leave_types() -> Value {
    json!({ "types": [
        { "id": "annual", "name": "特休", "unit": "hour" },
        { "id": "sick", "name": "病假", "unit": "hour" },
        { "id": "personal", "name": "事假", "unit": "hour" },
        { "id": "marriage", "name": "婚假", "unit": "day" },
        { "id": "bereavement", "name": "喪假", "unit": "day" },
        { "id": "family_care", "name": "家庭照顧假", "unit": "hour" },
        { "id": "maternity", "name": "產假", "unit": "day" },
        { "id": "official", "name": "公假", "unit": "day" },
    ] })
}

#[async_trait]
impl ServerTool for ListLeaveTypes {
    fn spec(&self) -> ToolSpec {
        let kind = json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "name": { "type": "string" },
                "unit": { "type": "string" },
            },
            "required": ["id", "name", "unit"],
        });
        let types = json!({ "type": "array", "items": kind });
        ToolSpec::new("list_leave_types", "Lists the kinds of leave there are.")
            .giving(json!({ "type": "object", "properties": { "types": types }, "required": ["types"] }))
            .that(ToolAnnotations::READS)
    }

    async fn call(&self, _call: CallContext) -> Result<ToolReply, ToolStop> {
        Ok(ToolReply::text("Eight kinds: 特休, 病假, 事假, 婚假, 喪假, 家庭照顧假, 產假, 公假.")
            .structured(leave_types()))
    }
}

struct CancelLeave;

#[derive(Deserialize)]
struct Cancelled {
    leave_id: String,
}

#[async_trait]
impl ServerTool for CancelLeave {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("cancel_leave", "Cancels an approved leave. The person is asked first.")
            .taking(json!({
                "type": "object",
                "properties": { "leave_id": { "type": "string", "description": "The leave's id, such as LV-1." } },
                "required": ["leave_id"],
            }))
            .that(ToolAnnotations::DESTROYS)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let Cancelled { leave_id } = call.parse()?;
        let question = Question::new(&leave_id, "1", format!("Cancel {leave_id}, three days of annual leave?"));
        match call.confirm(question).await? {
            Confirmation::Accepted(_) => Ok(ToolReply::text(format!("{leave_id} is cancelled."))),
            Confirmation::Declined => Err(ToolStop::refused("The person said no. Do not ask again.")),
            Confirmation::Dismissed => Err(ToolStop::refused("The person put the question away. Nothing was done.")),
            Confirmation::TimedOut => Err(ToolStop::refused("The person did not answer. Nothing was done.")),
            Confirmation::Unsupported => Err(ToolStop::refused("Your client cannot ask. Cancel it on the web page.")),
        }
    }
}
