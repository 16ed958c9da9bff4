//! Retrieve once, answer once: a model's answer over the articles that were found.

use bylaw_contract::{ArticleId, Language, TokenUsage, ask::Sentence};
use bylaw_model::{ChatDelta, ChatModel, ChatRequest, FinishReason, ModelError, Purpose};
use bylaw_retrieval::IndexedArticle;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::{attribution, id_filter::IdFilter, prompts};

/// Most tokens that an answer may have. Four sentences with their ids take a few hundred.
const MAX_OUTPUT_TOKENS: u32 = 900;

/// What came of asking the model.
#[derive(Debug)]
pub(crate) struct Reply {
    /// What was shown of its text.
    pub(crate) text: String,
    /// The same, sentence by sentence.
    pub(crate) sentences: Vec<Sentence>,
    /// The model said that the articles do not answer.
    pub(crate) says_not_in_rules: bool,
    /// What the provider counted.
    pub(crate) usage: TokenUsage,
    /// Whether a request left.
    pub(crate) was_sent: bool,
    /// How it ended.
    pub(crate) end: ReplyEnd,
}

/// How a model's reply ended.
#[derive(Debug)]
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
}

/// Asks the model, and gives what can be shown of the reply to `show`, piece by piece.
pub(crate) async fn ask(
    model: &ChatModel,
    language: Language,
    question: &str,
    articles: &[&IndexedArticle],
    cancel: &CancellationToken,
    show: &mut (dyn FnMut(String) + Send),
) -> Reply {
    let request = ChatRequest {
        purpose: Purpose::Answer,
        messages: prompts::messages(language, question, articles),
        max_output_tokens: MAX_OUTPUT_TOKENS,
    };
    let given: Vec<ArticleId> = articles.iter().map(|article| article.id.clone()).collect();
    let mut filter = IdFilter::new(given.iter().cloned());
    let mut usage = TokenUsage::default();
    let mut was_sent = false;
    let end = read(model, &request, cancel, &mut was_sent, &mut usage, &mut |piece| {
        let shown = filter.push(piece);
        if !shown.is_empty() {
            show(shown);
        }
    })
    .await;
    let (rest, filtered) = filter.finish();
    if !rest.is_empty() {
        show(rest);
    }
    Reply {
        sentences: attribution::attribute(&filtered, &given, language),
        says_not_in_rules: filtered.says_not_in_rules,
        text: filtered.text,
        usage,
        was_sent,
        end,
    }
}

async fn read(
    model: &ChatModel,
    request: &ChatRequest,
    cancel: &CancellationToken,
    was_sent: &mut bool,
    usage: &mut TokenUsage,
    take: &mut (dyn FnMut(&str) + Send),
) -> ReplyEnd {
    let opened = tokio::select! {
        biased;
        () = cancel.cancelled() => return ReplyEnd::Broken(ModelError::Cancelled),
        opened = model.chat(request, cancel.clone()) => opened,
    };
    let mut stream = match opened {
        Ok(stream) => stream,
        Err(error) => {
            *was_sent = !matches!(error, ModelError::Refused(_) | ModelError::Unreachable { .. });
            return ReplyEnd::Broken(error);
        }
    };
    *was_sent = true;
    loop {
        let next = tokio::select! {
            biased;
            () = cancel.cancelled() => return ReplyEnd::Broken(ModelError::Cancelled),
            next = stream.next() => next,
        };
        match next {
            Some(Ok(ChatDelta::Text(text))) => take(&text),
            Some(Ok(ChatDelta::End { finish_reason, usage: reported, model })) => {
                *usage = reported.unwrap_or_default();
                return ReplyEnd::Whole { model, finish_reason };
            }
            Some(Err(error)) => return ReplyEnd::Broken(error),
            None => return ReplyEnd::Broken(ModelError::Incomplete),
        }
    }
}
