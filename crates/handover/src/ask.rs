//! `ask`: a question that the service answers.

use std::{pin::pin, time::Duration};

use async_trait::async_trait;
use bylaw_contract::{
    Language,
    ask::{Answer, AskRequest, Mode},
};
use bylaw_mcp::{CallContext, Caller, Progress, ProgressReporter, ServerTool, ToolReply, ToolSpec, ToolStop};
use tokio::{sync::mpsc, time::MissedTickBehavior};

use crate::{
    DoorError, News, Visit, answer_text, describe, error_text,
    search_rules::clamped,
    spoken::spoken,
    visit::{Desk, within},
};

/// How much longer than its wall time a question may take: for the door's last words.
const LAST_WORDS: Duration = Duration::from_secs(8);

/// How often a client hears that work goes on, when there is no other news: many give up on a silence of 30 seconds.
const STILL_AT_IT: Duration = Duration::from_secs(10);

/// News that wait to be told. More are thrown away.
const MOST_NEWS: usize = 64;

pub(crate) struct AskRules(pub(crate) Desk);

#[async_trait]
impl ServerTool for AskRules {
    fn spec(&self) -> ToolSpec {
        describe::ask(self.0.settings.max_steps)
    }

    fn wrong(&self, caller: &Caller, problems: &str) -> ToolStop {
        self.0.wrong(caller, problems)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let visit = self.0.visit(&call.caller, &call.cancel);
        let question = call.arguments["question"].as_str().unwrap_or_default();
        let language = spoken(question, call.caller.language);
        let (request, note) = self.request(question, &call, language);
        request.check().map_err(|error| error_text::wrong(&error.to_string(), &visit.request_id, language))?;
        let answer = self.answer(&visit, &request, &call.progress, language).await;
        let answer = answer.map_err(|error| error_text::told(&error, &visit, language, None))?;
        Ok(answer_text::reply(&answer, note.as_slice(), language))
    }
}

impl AskRules {
    /// The request that goes to the door. What the operator decides is not among the arguments.
    fn request(&self, question: &str, call: &CallContext, language: Language) -> (AskRequest, Option<String>) {
        let settings = &self.0.settings;
        let mode = call.arguments.get("mode").cloned().and_then(|mode| serde_json::from_value(mode).ok());
        let mut request = AskRequest::new(question);
        request.mode = mode.unwrap_or_default();
        request.source = settings.source.as_ref().map(ToString::to_string);
        let millis = u64::try_from(settings.max_wall.as_millis()).unwrap_or(u64::MAX);
        request.max_wall_ms = Some(millis.into());
        request.stream = true;
        let most = settings.max_steps;
        let (steps, note) = clamped("max_steps", call.arguments.get("max_steps"), most, most, language);
        if request.mode != Mode::Agent {
            return (request, None);
        }
        request.max_steps = Some(steps);
        (request, note)
    }

    /// The answer, and meanwhile what becomes known, told to whoever wants to know.
    async fn answer(
        &self,
        visit: &Visit,
        request: &AskRequest,
        progress: &ProgressReporter,
        language: Language,
    ) -> Result<Answer, DoorError> {
        let (sender, news) = mpsc::channel(MOST_NEWS);
        let limit = self.0.settings.max_wall + LAST_WORDS;
        let answering = within(visit, limit, self.0.door.ask(visit, request, sender));
        if !progress.is_wanted() {
            return answering.await;
        }
        let telling = pin!(tell(news, progress, language));
        tokio::select! {
            answer = answering => answer,
            never = telling => match never {},
        }
    }
}

async fn tell(
    mut news: mpsc::Receiver<News>,
    progress: &ProgressReporter,
    language: Language,
) -> std::convert::Infallible {
    let mut still = tokio::time::interval(STILL_AT_IT);
    still.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut done = 0.0;
    loop {
        let heard = tokio::select! {
            Some(heard) = news.recv() => Some(heard),
            _ = still.tick() => None,
        };
        done += 1.0;
        let message = Some(in_words(heard.as_ref(), language));
        progress.report(Progress { done, total: None, message }).await;
    }
}

fn in_words(news: Option<&News>, language: Language) -> String {
    match (news, language.is_chinese()) {
        (Some(News::Step(step)), true) => {
            format!("第 {} 步 {} {}（{} 條）", step.step, step.tool, step.query, step.found.len())
        }
        (Some(News::Found(articles)), true) => format!("查到 {articles} 條，正在作答"),
        (Some(News::Written(chars)), true) => format!("已寫 {chars} 字"),
        (None, true) => "處理中".to_owned(),
        (Some(News::Step(step)), false) => {
            format!("step {}: {} {} ({} articles)", step.step, step.tool, step.query, step.found.len())
        }
        (Some(News::Found(articles)), false) => format!("{articles} articles found, answering"),
        (Some(News::Written(chars)), false) => format!("{chars} characters written"),
        (None, false) => "working".to_owned(),
    }
}
