//! The tools that change things. The desk decides; the gate asks.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_contract::{Clock, Randomness};
use bylaw_mcp::{CallContext, ServerTool, ToolReply, ToolSpec, ToolStop};

use super::{
    arguments::{CancelApprovedLeave, CreateLeave, UpdateLeave, UpdateLeaveStatus},
    describe, principals,
    reading::{one, stranger},
    stopped,
};
use crate::{
    desk::{Cancel, Desk, DeskError, Principal, Reply, SetStatus},
    domain::{
        effect::Tool,
        ids::random_hex,
        rules::{Answer, Confirmation, Question},
    },
};

pub(super) fn tools(desk: &Desk, clock: &Arc<dyn Clock>, random: &Arc<dyn Randomness>) -> Vec<Arc<dyn ServerTool>> {
    let writing =
        |tool: &Tool| Writing { tool: *tool, desk: desk.clone(), clock: Arc::clone(clock), random: Arc::clone(random) };
    let tools = Tool::ALL.iter().filter(|tool| !tool.is_read_only());
    tools.map(|tool| Arc::new(writing(tool)) as Arc<dyn ServerTool>).collect()
}

struct Writing {
    tool: Tool,
    desk: Desk,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
}

/// A step that may have to be asked for.
enum Step {
    Set(SetStatus),
    Cancel(Cancel),
}

impl Writing {
    async fn step(&self, who: &Principal, step: &Step, confirmation: &Confirmation) -> Result<Reply, DeskError> {
        match step {
            Step::Set(set) => self.desk.set_status(who, set, confirmation).await,
            Step::Cancel(cancel) => self.desk.cancel(who, cancel, confirmation).await,
        }
    }

    /// Takes the step; if the desk wants a person asked, asks, and comes back with the answer.
    async fn take(&self, call: &CallContext, who: &Principal, step: &Step) -> Result<ToolReply, ToolStop> {
        let told = |error: DeskError| stopped(&error, who);
        let question = match self.step(who, step, &Confirmation::NotAsked).await.map_err(told)? {
            Reply::Done(view) => return one(&view, who),
            Reply::Ask(question) => question,
        };
        // What the answer is bound to is in the binding: principal, tool, arguments, leave and version.
        let put =
            bylaw_mcp::Question::new(question.leave.as_str(), question.binding.as_str(), question.message.as_str());
        let answered = call.confirm(put).await?;
        if call.cancel.is_cancelled() {
            return Err(ToolStop::refused("The call was cancelled, and nothing was done."));
        }
        let confirmation = self.confirmation(question, &answered);
        match self.step(who, step, &confirmation).await.map_err(told)? {
            Reply::Done(view) => one(&view, who),
            // An answer was given, and the desk asks no more for it.
            Reply::Ask(_) => Err(stranger()),
        }
    }

    /// The gate has used the answer up already, durably; what the desk is given is fresh and short-lived.
    fn confirmation(&self, question: Question, answered: &bylaw_mcp::Confirmation) -> Confirmation {
        let answer = match answered {
            bylaw_mcp::Confirmation::Accepted(_) => Answer::Accepted,
            bylaw_mcp::Confirmation::Declined => Answer::Declined,
            bylaw_mcp::Confirmation::Dismissed => Answer::Dismissed,
            bylaw_mcp::Confirmation::TimedOut => return Confirmation::TimedOut,
            bylaw_mcp::Confirmation::Unsupported => return Confirmation::CannotAsk,
        };
        let expires = self.clock.now().plus(self.desk.policy().terms.confirm_for);
        Confirmation::Answered { binding: question.binding, ticket: random_hex::<16>(&*self.random), expires, answer }
    }
}

#[async_trait]
impl ServerTool for Writing {
    fn spec(&self) -> ToolSpec {
        describe::of(self.tool)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let who = principals::of(&call.caller).ok_or_else(stranger)?;
        let told = |error: DeskError| stopped(&error, &who);
        match self.tool {
            Tool::CreateLeave => {
                let create = call.parse::<CreateLeave>()?.into();
                one(&self.desk.create(&who, &create).await.map_err(told)?, &who)
            }
            Tool::UpdateLeave => {
                let update = call.parse::<UpdateLeave>()?.into();
                one(&self.desk.update(&who, &update).await.map_err(told)?, &who)
            }
            Tool::UpdateLeaveStatus => {
                let set = call.parse::<UpdateLeaveStatus>()?.into();
                self.take(&call, &who, &Step::Set(set)).await
            }
            Tool::CancelApprovedLeave => {
                let cancel = call.parse::<CancelApprovedLeave>()?.into();
                self.take(&call, &who, &Step::Cancel(cancel)).await
            }
            Tool::SearchLeaves
            | Tool::GetLeave
            | Tool::ListPendingApprovals
            | Tool::LeaveBalance
            | Tool::ListLeaveTypes => Err(stranger()),
        }
    }
}
