//! Retrieve once, answer once: a model's answer over the articles that were found.

use std::sync::Arc;

use bylaw_contract::{ArticleId, Language, MicroUsd, RunId, StopReason, ask::Sentence};
use bylaw_model::{ChatDelta, ChatMessage, ChatModel, ChatRequest, FinishReason, ModelError, Purpose};
use bylaw_retrieval::IndexedArticle;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::{
    attribution,
    bill::{Bill, Charges},
    cache::{CachedCall, Caches},
    digest::{Digest, Parts},
    id_filter::IdFilter,
    prompts,
};

/// Most tokens that an answer may have. Four sentences with their ids take a few hundred.
const MAX_OUTPUT_TOKENS: u32 = 900;

/// What a model is asked for one answer.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) language: Language,
    messages: Vec<ChatMessage>,
    given: Vec<ArticleId>,
}

impl Assignment {
    /// The question over these articles.
    pub(crate) fn new(language: Language, question: &str, articles: &[&IndexedArticle]) -> Self {
        Self {
            language,
            messages: prompts::messages(language, question, articles),
            given: articles.iter().map(|article| article.id.clone()).collect(),
        }
    }

    /// What the reply depends on: the model, its parameters, and the messages.
    fn key(&self, model: &str) -> Digest {
        let parts = Parts::new("call").text(model).number(u64::from(MAX_OUTPUT_TOKENS));
        let add = |parts: Parts, message: &ChatMessage| parts.number(message.role() as u64).text(message.content());
        self.messages.iter().fold(parts, add).finish()
    }
}

/// What came of asking the model.
#[derive(Debug)]
pub(crate) struct Reply {
    /// What was shown of its text.
    pub(crate) text: String,
    /// The same, sentence by sentence.
    pub(crate) sentences: Vec<Sentence>,
    /// The model said that the articles do not answer.
    pub(crate) says_not_in_rules: bool,
    /// What it cost.
    pub(crate) charges: Charges,
    /// The run whose reply was remembered and given again, and what that one had cost.
    pub(crate) repeats: Option<(RunId, MicroUsd)>,
    /// The limit that stopped an agent, where the model then answered with what it had.
    pub(crate) stopped: Option<StopReason>,
    /// How it ended.
    pub(crate) end: ReplyEnd,
}

/// How a model's reply ended.
#[derive(Clone, Debug)]
pub(crate) enum ReplyEnd {
    /// It is whole.
    Whole {
        /// The model's name for itself.
        model: String,
        /// Why it ended.
        finish_reason: FinishReason,
    },
    /// It broke.
    Broken(ModelError),
    /// An agent stopped without an answer.
    Stopped(Stopped),
    /// The task that asked is gone: something is wrong inside.
    Lost,
}

/// Why an agent stopped.
#[derive(Clone, Debug)]
pub(crate) struct Stopped {
    pub(crate) reason: StopReason,
    /// A stable code, where something broke.
    pub(crate) code: Option<&'static str>,
    /// One sentence.
    pub(crate) message: String,
}

impl Reply {
    /// What is told of a call whose task is gone.
    pub(crate) fn lost() -> Self {
        Self {
            text: String::new(),
            sentences: Vec::new(),
            says_not_in_rules: false,
            charges: Charges::default(),
            repeats: None,
            stopped: None,
            end: ReplyEnd::Lost,
        }
    }
}

/// Asks the model, or remembers what it said; gives what can be shown of the reply to `show`, piece by piece.
pub(crate) async fn ask(
    model: &ChatModel,
    assignment: &Assignment,
    caches: Option<&Caches>,
    (run_id, bill): (&RunId, &Bill),
    cancel: &CancellationToken,
    show: &mut (dyn FnMut(String) + Send),
) -> Reply {
    let mut filter = IdFilter::new(assignment.given.iter().cloned());
    let mut written = String::new();
    let mut take = |piece: &str| {
        written.push_str(piece);
        let shown = filter.push(piece);
        if !shown.is_empty() {
            show(shown);
        }
    };
    let key = assignment.key(model.name());
    let remembered = caches.and_then(|caches| caches.calls.get(&key));
    let (end, repeats) = match &remembered {
        Some(call) => {
            take(&call.text);
            let end = ReplyEnd::Whole { model: call.model.clone(), finish_reason: call.finish_reason.clone() };
            (end, Some((call.run_id.clone(), call.cost)))
        }
        None => (read(model, assignment, cancel, &mut take).await, None),
    };
    let charges = bill.charges();
    if let (Some(caches), None, ReplyEnd::Whole { model, finish_reason: FinishReason::Stop }) = (caches, &repeats, &end)
    {
        let call = CachedCall {
            text: written,
            finish_reason: FinishReason::Stop,
            model: model.clone(),
            cost: charges.cost,
            run_id: run_id.clone(),
        };
        caches.calls.insert(key, Arc::new(call));
    }
    let (rest, filtered) = filter.finish();
    if !rest.is_empty() {
        show(rest);
    }
    Reply {
        sentences: attribution::attribute(&filtered, &assignment.given, assignment.language),
        says_not_in_rules: filtered.says_not_in_rules,
        text: filtered.text,
        charges,
        repeats,
        stopped: None,
        end,
    }
}

async fn read(
    model: &ChatModel,
    assignment: &Assignment,
    cancel: &CancellationToken,
    take: &mut (dyn FnMut(&str) + Send),
) -> ReplyEnd {
    let request = ChatRequest::new(Purpose::Answer, assignment.messages.clone(), MAX_OUTPUT_TOKENS);
    let opened = tokio::select! {
        biased;
        () = cancel.cancelled() => return ReplyEnd::Broken(ModelError::Cancelled),
        opened = model.chat(&request, cancel.clone()) => opened,
    };
    let mut stream = match opened {
        Ok(stream) => stream,
        Err(error) => return ReplyEnd::Broken(error),
    };
    loop {
        let next = tokio::select! {
            biased;
            () = cancel.cancelled() => return ReplyEnd::Broken(ModelError::Cancelled),
            next = stream.next() => next,
        };
        match next {
            Some(Ok(ChatDelta::Text(text))) => take(&text),
            // What is thought is not part of the answer, and nothing was offered that could be called.
            Some(Ok(ChatDelta::Reasoning(_) | ChatDelta::ToolCall(_) | ChatDelta::CutToolCall(_))) => {}
            Some(Ok(ChatDelta::End { finish_reason, model, .. })) => return ReplyEnd::Whole { model, finish_reason },
            Some(Err(error)) => return ReplyEnd::Broken(error),
            None => return ReplyEnd::Broken(ModelError::Incomplete),
        }
    }
}
