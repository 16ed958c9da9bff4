//! Agent mode of a question: the loop as the researcher that `answer` asks for, with four tools of this process.
//!
//! ```text
//!   search ─ read_article ─► what the window shows, put down in the notebook ─► check ─► answer, which ends the run
//! ```
//!
//! The tools belong to one question and see the rules through its window only. A model that answers in plain text has
//! answered, too.

mod answer;
mod check;
mod draft;
mod log;
mod prompt;
mod read_article;
mod search;

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bylaw_answer::{Research, Researched, Researcher};
use bylaw_contract::Randomness;
use bylaw_model::FinishReason;

use self::{answer::GiveAnswer, check::Check, log::Told, read_article::ReadArticle, search::Search};
use crate::{
    agent::{Agent, RunWith},
    arguments::Validation,
    conversation::Conversation,
    limits::Limits,
    toolbox::Toolbox,
};

/// Most tokens of one reply: as many as the pipeline allows an answer.
const MAX_OUTPUT_TOKENS: u32 = 900;

/// Most calls of tools for each step that is allowed.
const CALLS_PER_STEP: u32 = 8;

/// Most bytes of one result. The tools stay below it, so that nothing has to be kept aside.
const RESULT_BYTES: usize = 128 * 1024;

/// Researches answers with the loop.
#[derive(Clone)]
pub struct LoopResearcher {
    randomness: Arc<dyn Randomness>,
}

impl LoopResearcher {
    /// One that takes its ids from here.
    #[must_use]
    pub fn new(randomness: Arc<dyn Randomness>) -> Self {
        Self { randomness }
    }
}

impl fmt::Debug for LoopResearcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopResearcher").finish_non_exhaustive()
    }
}

#[async_trait]
impl Researcher for LoopResearcher {
    async fn research(&self, research: Research) -> Researched {
        let agent = agent(&research).await;
        let with = RunWith {
            run_id: research.run_id.clone(),
            log: Arc::new(Told::new(&research)),
            cancel: research.cancel.clone(),
            ..RunWith::new(research.model.clone(), Arc::clone(&self.randomness))
        };
        let end = agent.run(&mut Conversation::default(), &research.question, with).await;
        let (model, finish_reason) = end.last_reply.unwrap_or((String::new(), FinishReason::Stop));
        Researched {
            answer: end.answer,
            reason: end.stop.reason,
            code: end.code,
            message: end.stop.message,
            model,
            finish_reason,
        }
    }
}

/// The agent of one question.
async fn agent(research: &Research) -> Agent {
    let tools = Toolbox::builder()
        .validation(Validation::Coerce)
        .tool(Search(research.clone()))
        .tool(ReadArticle(research.clone()));
    let tools = if research.self_check { tools.tool(Check(research.clone())) } else { tools };
    let tools = tools.tool(GiveAnswer(research.clone())).build().await;
    Agent {
        name: "ask".to_owned(),
        limits: Limits {
            steps: research.max_steps,
            tool_calls: research.max_steps.saturating_mul(CALLS_PER_STEP),
            // Whoever waits has a limit.
            wall_time: Duration::MAX,
            result_bytes: RESULT_BYTES,
            ..Limits::default()
        },
        max_output_tokens: MAX_OUTPUT_TOKENS,
        ..Agent::new(prompt::prompt(research.language, research.max_steps, research.self_check), tools)
    }
}

/// Text in the language of the question.
fn say(research: &Research, chinese: &'static str, english: &'static str) -> &'static str {
    if research.language.is_chinese() { chinese } else { english }
}
