//! An answer as text for a reader, with tokens and an end as OpenAI names them.

use bylaw_contract::{
    ArticleId, Language, Outcome, RunId, StopReason,
    ask::{Answer, AnswerUsage},
    openai::{
        Beside, ChatChoice, ChatCompletion, ChatReply, ChatUsage, CompletionTokensDetails, FinishReason,
        PromptTokensDetails, completion_id,
    },
};

use crate::openai::{
    links::{self, Base},
    markers::Markers,
};

/// How an answer is told to one caller.
#[derive(Debug)]
pub(crate) struct Telling {
    pub(crate) run: RunId,
    /// In seconds since 1970.
    pub(crate) created: i64,
    pub(crate) model: &'static str,
    pub(crate) messages_not_used: usize,
    pub(crate) language: Language,
    pub(crate) base: Base,
}

impl Telling {
    /// What follows the answer's own text: why there is none or not all of it, what the rules say nearest to the question,
    /// and the articles. `markers` has seen the text, of which there was some if `said`.
    pub(crate) fn rest(&self, answer: &Answer, said: bool, markers: &mut Markers) -> String {
        let mut blocks = Vec::new();
        blocks.extend(answer.stop.as_ref().map(|stop| stop.message.clone()));
        if answer.outcome != Outcome::Answered {
            blocks.push(answer.note.clone());
        }
        if answer.outcome == Outcome::Degraded && answer.stop.is_none() {
            blocks.extend(answer.warnings.iter().cloned());
        }
        let sentences = answer.extract.as_ref().map(|extract| extract.sentences.as_slice()).unwrap_or_default();
        for sentence in sentences {
            let number = markers.number(sentence.id.clone());
            blocks.push(format!("> {} [{number}]", sentence.text.replace('\n', "\n> ")));
        }
        let quoted: Vec<ArticleId> = sentences.iter().map(|sentence| sentence.id.clone()).collect();
        let mut lines: Vec<(usize, String)> = Vec::new();
        let mut list = links::listed(&answer.citations, &quoted);
        // What has a number is listed, whatever became of it.
        let numbered = answer.citations.iter().filter(|citation| markers.numbered().contains(&citation.id));
        list.extend(
            numbered.filter(|citation| !list.iter().any(|listed| listed.id == citation.id)).collect::<Vec<_>>(),
        );
        for citation in &list {
            let number = markers.number(citation.id.clone());
            lines.push((number, links::line(number, citation, &self.base)));
        }
        lines.sort_unstable();
        if !lines.is_empty() {
            let used = list.iter().any(|citation| citation.used);
            let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
            blocks.push(format!("{}\n\n{}", links::heading(used, self.language), lines.join("\n")));
        }
        let rest = blocks.join("\n\n");
        if said && !rest.is_empty() { format!("\n\n{rest}") } else { rest }
    }

    /// What OpenAI's shape has no place for.
    pub(crate) fn beside(&self, answer: Answer) -> Beside {
        let notice = if self.language.is_chinese() {
            "只有使用者的最後一則訊息會當成問題；之前的對話與系統訊息沒有用到。"
        } else {
            "Only the last message of the user is the question; earlier turns and system messages are not used."
        };
        Beside { messages_not_used: self.messages_not_used, notice: notice.to_owned(), answer }
    }

    /// The whole answer.
    pub(crate) fn completion(&self, answer: Answer) -> ChatCompletion {
        let mut markers = Markers::default();
        let own = answer.answer.as_deref().or(answer.draft.as_deref()).unwrap_or_default();
        let mut content = markers.push(own, |id| is_cited(&answer, id));
        content.push_str(&markers.rest());
        content.push_str(&self.rest(&answer, !own.is_empty(), &mut markers));
        ChatCompletion {
            id: completion_id(&self.run),
            object: "chat.completion".to_owned(),
            created: self.created,
            model: self.model.to_owned(),
            choices: vec![ChatChoice {
                index: 0,
                message: ChatReply { role: "assistant".to_owned(), content, refusal: None },
                finish_reason: finish_reason(&answer),
                logprobs: None,
            }],
            usage: usage(&answer.usage),
            bylaw: self.beside(answer),
        }
    }
}

fn is_cited(answer: &Answer, id: &ArticleId) -> bool {
    answer.citations.iter().any(|citation| citation.id == *id)
}

/// Why the answer ends.
pub(crate) fn finish_reason(answer: &Answer) -> FinishReason {
    match answer.stop.as_ref().map(|stop| stop.reason) {
        None | Some(StopReason::Completed | StopReason::Refused) => FinishReason::Stop,
        Some(
            StopReason::Steps
            | StopReason::ToolCalls
            | StopReason::RepeatedCall
            | StopReason::Context
            | StopReason::Cost
            | StopReason::Time
            | StopReason::Cancelled
            | StopReason::UpstreamIncomplete
            | StopReason::UpstreamTimeout
            | StopReason::Failed,
        ) => FinishReason::Length,
    }
}

/// Tokens in OpenAI's names.
pub(crate) fn usage(usage: &AnswerUsage) -> ChatUsage {
    let tokens = usage.tokens;
    ChatUsage {
        prompt_tokens: tokens.input_tokens,
        completion_tokens: tokens.output_tokens,
        total_tokens: tokens.input_tokens.saturating_add(tokens.output_tokens),
        prompt_tokens_details: PromptTokensDetails { cached_tokens: tokens.cached_input_tokens },
        completion_tokens_details: CompletionTokensDetails { reasoning_tokens: tokens.reasoning_tokens },
    }
}
