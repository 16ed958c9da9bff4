//! `search_rules`: the nearest articles, without a model.

use async_trait::async_trait;
use bylaw_contract::{
    Language,
    search::{SearchRequest, SearchResponse},
};
use bylaw_mcp::{CallContext, Caller, ServerTool, ToolReply, ToolSpec, ToolStop};
use serde_json::{Value, json};

use crate::{
    DoorError, Visit, answer_text, articles_text, describe, error_text,
    sentences::Label,
    spoken::spoken,
    visit::{Desk, PATIENCE, within},
};

pub(crate) struct SearchRules(pub(crate) Desk);

#[async_trait]
impl ServerTool for SearchRules {
    fn spec(&self) -> ToolSpec {
        describe::search_rules()
    }

    fn wrong(&self, caller: &Caller, problems: &str) -> ToolStop {
        self.0.wrong(caller, problems)
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let visit = self.0.visit(&call.caller, &call.cancel);
        let query = call.arguments["query"].as_str().unwrap_or_default();
        let language = spoken(query, call.caller.language);
        let (k, note) = clamped("k", call.arguments.get("k"), describe::FOUND, describe::MOST_FOUND, language);
        let found = find(&self.0, &visit, query, k, language).await?;
        Ok(reply(&found, k, note, language))
    }
}

/// What a search finds, at most `k` articles and what they name.
pub(crate) async fn find(
    desk: &Desk,
    visit: &Visit,
    query: &str,
    k: u32,
    language: Language,
) -> Result<SearchResponse, ToolStop> {
    let mut request = SearchRequest::new(query);
    request.k = k;
    request.source = desk.settings.source.as_ref().map(ToString::to_string);
    request.check().map_err(|error| {
        // The model knows the argument by another name.
        let problem = error.to_string().replacen("question:", "query:", 1);
        error_text::wrong(&problem, &visit.request_id, language)
    })?;
    let found = within(visit, PATIENCE, desk.door.search(visit, &request)).await;
    found.map_err(|error: DoorError| error_text::told(&error, visit, language, None))
}

/// A number within 1 and `most`, and what is said if it had to be moved there. Whatever number a model writes, it gets
/// something: a call that fails for a number is made again with another.
pub(crate) fn clamped(
    name: &str,
    given: Option<&Value>,
    otherwise: u32,
    most: u32,
    language: Language,
) -> (u32, Option<String>) {
    let Some(given) = given.and_then(Value::as_number) else { return (otherwise.clamp(1, most), None) };
    let number = given.as_f64().unwrap_or(f64::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was clamped before")]
    let set = number.clamp(1.0, f64::from(most)) as u32;
    let told = (f64::from(set) - number).abs() > f64::EPSILON;
    let note = told.then(|| {
        if language.is_chinese() {
            format!("（{name} 已改為 {set}：這裡允許 1 到 {most}。）")
        } else {
            format!("({name} was set to {set}: 1 to {most} is allowed here.)")
        }
    });
    (set, note)
}

fn reply(found: &SearchResponse, k: u32, note: Option<String>, language: Language) -> ToolReply {
    let mut blocks: Vec<String> = note.iter().cloned().collect();
    let listed = articles_text::list(&found.hits, language);
    if found.hits.is_empty() {
        blocks.push(Label::Nothing.words(language).to_owned());
    } else {
        blocks.push(Label::Nearest.words(language).to_owned());
        blocks.push(listed.text);
    }
    let articles: Vec<Value> = found.hits.iter().map(answer_text::article).collect();
    let mut structured = json!({
        "articles": articles,
        "articles_shown": listed.shown,
        "k": k,
        "request_id": found.request_id,
    });
    if let Some(note) = note {
        structured["notes"] = json!([note]);
    }
    ToolReply::text(blocks.join("\n\n")).structured(structured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_moved_into_its_range_and_that_is_said() {
        let rows = [
            (json!(null), 5, false),
            (json!(1), 1, false),
            (json!(10), 10, false),
            (json!(3.0), 3, false),
            (json!(0), 1, true),
            (json!(-1), 1, true),
            (json!(1_000_000_000), 10, true),
            (json!(1e300), 10, true),
            (json!(u64::MAX), 10, true),
            (json!(i64::MIN), 1, true),
        ];
        for (given, expected, told) in rows {
            let (k, note) = clamped("k", Some(&given), 5, 10, Language::English);
            assert_eq!((k, note.is_some()), (expected, told), "{given}");
        }
        let (_, note) = clamped("k", Some(&json!(99)), 5, 10, Language::English);
        assert_eq!(note.unwrap(), "(k was set to 10: 1 to 10 is allowed here.)");
    }
}
