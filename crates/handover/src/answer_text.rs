//! An answer as a model reads it, and as a program does.

use bylaw_contract::{
    Citation, Language, Stop, StopReason,
    ask::{Answer, SentenceStatus},
};
use bylaw_mcp::ToolReply;
use serde_json::{Map, Value, json};

use crate::{
    articles_text,
    sentences::{self, Label},
};

/// The reply. `notes` are said first: what was changed about the call.
pub(crate) fn reply(answer: &Answer, notes: &[String], language: Language) -> ToolReply {
    let mut blocks: Vec<String> = Vec::new();
    let stop = answer.stop.as_ref().filter(|stop| stop.reason != StopReason::Completed);
    if let Some(stop) = stop {
        blocks.push(sentences::stop_notice(stop.reason, looked_up(answer), language));
    }
    blocks.extend(notes.iter().cloned());
    if stop.is_none() && !is_answered(answer) {
        blocks.push(sentences::outcome(answer.outcome, language).to_owned());
    }
    blocks.extend(answer.warnings.iter().map(|warning| format!("({warning})")));
    blocks.extend(answer.answer.clone());
    blocks.extend(headed(Label::Draft, answer.draft.clone(), language));
    let unsupported = answer.sentences.iter().filter(|sentence| sentence.status == SentenceStatus::Unsupported);
    blocks.extend(headed(
        Label::Unsupported,
        lines(unsupported.map(|sentence| sentence.text.trim().to_owned())),
        language,
    ));
    let extract = answer.extract.iter().flat_map(|extract| &extract.sentences);
    let verbatim = extract.map(|sentence| format!("[{}] {}", sentence.id, sentence.text.trim()));
    blocks.extend(headed(Label::Verbatim, lines(verbatim), language));
    let listed = articles_text::list(&answer.citations, language);
    let shown = listed.shown;
    blocks.extend(headed(Label::Found, Some(listed.text).filter(|text| !text.is_empty()), language));
    blocks.push(footer(answer, language));
    ToolReply::text(blocks.join("\n\n")).structured(structured(answer, stop, shown, notes, language))
}

fn is_answered(answer: &Answer) -> bool {
    answer.answer.is_some() && answer.outcome == bylaw_contract::Outcome::Answered
}

/// How often was looked up. Only an agent decides that; the pipeline looks up once, which needs no telling.
fn looked_up(answer: &Answer) -> Option<u32> {
    answer.agent.as_ref().map(|trace| trace.searches)
}

fn lines(entries: impl Iterator<Item = String>) -> Option<String> {
    let entries: Vec<String> = entries.collect();
    (!entries.is_empty()).then(|| entries.join("\n"))
}

fn headed(label: Label, text: Option<String>, language: Language) -> Option<String> {
    Some(format!("{}\n\n{}", label.words(language), text?))
}

/// What it was called and what it cost, for whoever reports a problem.
fn footer(answer: &Answer, language: Language) -> String {
    let (id, usage) = (&answer.request_id, &answer.usage);
    if language.is_chinese() {
        format!("（request_id={id}；花費 {} {}）", usage.cost, usage.currency)
    } else {
        format!("(request_id={id}; cost {} {})", usage.cost, usage.currency)
    }
}

/// The answer for a program. What the articles say is in the text: a payload that says everything twice fills a context.
fn structured(answer: &Answer, stop: Option<&Stop>, shown: usize, notes: &[String], language: Language) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("outcome", json!(answer.outcome));
    let meaning = match stop {
        Some(stop) => sentences::stop(stop.reason, language),
        None => sentences::outcome(answer.outcome, language),
    };
    put("meaning", meaning.into());
    if let Some(text) = &answer.answer {
        put("answer", text.as_str().into());
    }
    if let Some(stop) = stop {
        let mut told = json!({ "reason": stop.reason, "at_step": stop.at_step });
        if let Some(times) = looked_up(answer) {
            told["looked_up"] = times.into();
        }
        put("stop", told);
    }
    put("articles", answer.citations.iter().map(article).collect());
    put("articles_shown", shown.into());
    put("mode", json!(answer.mode));
    put("cost", answer.usage.cost.as_str().into());
    put("currency", answer.usage.currency.as_str().into());
    put("total_ms", json!(answer.timing.total_ms));
    if !notes.is_empty() {
        put("notes", notes.into());
    }
    put("request_id", json!(answer.request_id));
    put("run_id", json!(answer.run_id));
    Value::Object(fields)
}

/// An article for a program: where it is and what it is to the reply, without its words.
pub(crate) fn article(citation: &Citation) -> Value {
    json!({
        "id": citation.id,
        "source": citation.source,
        "article": citation.article,
        "title": citation.title,
        "used": citation.used,
        "retrieved": citation.retrieved,
        "referenced": citation.referenced,
    })
}
