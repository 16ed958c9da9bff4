//! A draft as a model hands it in: its text, and the articles it says that it rests on.

use bylaw_answer::{Checked, Research};
use bylaw_contract::ArticleId;
use serde_json::{Map, Value, json};

/// The arguments of a tool that takes a draft.
pub(super) fn schema(text: &str, citations: &str) -> Value {
    json!({
        "type": "object", "required": ["text"], "additionalProperties": false,
        "properties": {
            "text": { "type": "string", "description": text },
            "citations": { "type": "array", "items": { "type": "string" }, "description": citations },
        },
    })
}

/// The text of a draft with its citations in it: a list beside a text that cites nothing itself stands for markers at its
/// end, which are the model's own.
pub(super) fn text(research: &Research, arguments: &Map<String, Value>) -> Result<String, String> {
    let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default().trim();
    if text.is_empty() {
        return Err("`text` is empty: write the answer there.".to_owned());
    }
    let listed = arguments.get("citations").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let listed: Vec<&str> = listed.map(bare).filter(|id| !id.is_empty()).collect();
    let checked = check(research, text);
    if checked.says_not_in_rules || checked.cites() || checked.has_invalid() || listed.is_empty() {
        return Ok(text.to_owned());
    }
    let markers: String = listed.iter().map(|id| format!("[{id}]")).collect();
    Ok(format!("{text}{markers}"))
}

/// Checks a draft against what was shown so far.
pub(super) fn check(research: &Research, text: &str) -> Checked {
    Checked::of(text, &research.notebook.given(), research.language)
}

/// The articles that a checked text cites, each once.
pub(super) fn cited(checked: &Checked) -> Vec<ArticleId> {
    let mut cited: Vec<ArticleId> = Vec::new();
    for id in checked.sentences.iter().flat_map(|sentence| &sentence.citations) {
        if !cited.contains(id) {
            cited.push(id.clone());
        }
    }
    cited
}

/// What is wrong with a checked text, and how to mend it; `None` if nothing is.
pub(super) fn problems(research: &Research, checked: &Checked) -> Option<String> {
    let faulty: Vec<String> = checked
        .sentences
        .iter()
        .filter(|sentence| !sentence.problems.is_empty())
        .map(|sentence| format!("- {}: {}", sentence.problems.join(", "), sentence.text))
        .collect();
    if faulty.is_empty() {
        return None;
    }
    let given: Vec<String> = research.notebook.given().iter().map(ToString::to_string).collect();
    let ids = if given.is_empty() { "none: search first".to_owned() } else { given.join(", ") };
    Some(format!(
        "{}\nno_citation: end the sentence with the id of the article that says it. invalid_citation: it cites what you \
         have not read. wrong_script: write the characters of the question's script. Ids that you may cite: {ids}.",
        faulty.join("\n")
    ))
}

fn bare(id: &str) -> &str {
    id.trim().trim_matches(['[', ']', '【', '】'])
}
