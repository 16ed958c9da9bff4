//! What a model is told of a call that was not made: what to fix.

use bylaw_model::ToolCallRequest;
use serde_json::Value;

use crate::{
    names::nearest,
    toolbox::{Entry, Shelf},
};

/// A call of a reply that was cut off.
pub(crate) const CUT_OFF: &str =
    "Your reply was cut off, so none of its calls was made. Send this call again, with shorter arguments.";

/// A call that a person just refused.
pub(crate) const DECLINED: &str = "The person said no to this call, and it was not made. Their no is final: do not try it \
                                   again, and do not reach the same by other means. Tell them so.";

/// A call that a person refused before.
pub(crate) const DECLINED_BEFORE: &str = "The person said no to this before, and it was not made. Their no is final: they \
                                          are not asked again. Do not reach the same by other means.";

/// A call that needs a person, where there is none.
pub(crate) const NOBODY: &str =
    "This call needs a person's approval, and nobody can be asked here. It was not made; do not try it again.";

/// A call whose question was put away.
pub(crate) const UNANSWERED: &str =
    "The person did not answer whether this call may be made, so it was not made. That is not a no.";

/// What is added to the result of a call in which a person refused what the server asked.
pub(crate) const REFUSED_IN_CALL: &str = "\n[The person said no to this. Their no is final: do not try it again, and do not \
                                          reach the same by other means.]";

/// Most bytes of a schema that are told to a model that got the arguments wrong.
const MAX_SCHEMA_BYTES: usize = 4_000;

pub(crate) fn not_made(why: &str) -> String {
    format!("This call was not made: {why}.")
}

pub(crate) fn repeated(count: u32, last: Option<&str>) -> String {
    let last = last.unwrap_or("(It brought nothing yet.)");
    format!(
        "[This call was asked for {count} times now, so it was not made again. Its last result is below. Do something \
         else, or answer.]\n{last}"
    )
}

pub(crate) fn unknown_tool(name: &str, tools: &Shelf) -> String {
    let near = nearest(name, tools.names());
    if near.is_empty() {
        return format!("There is no tool `{name}`, nor any other. Answer without tools.");
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("There is no tool `{name}`, and nothing was called. The nearest are {}.", near.join(", "))
}

/// What was wrong with the arguments, and what they should be.
pub(crate) fn invalid(request: &ToolCallRequest, entry: &Entry, problems: &[String]) -> String {
    let schema = Value::Object(entry.info.schema.clone()).to_string();
    let schema = if schema.len() <= MAX_SCHEMA_BYTES { format!("\nIts schema: {schema}") } else { String::new() };
    format!(
        "{} was not called, because its arguments are wrong. Correct them and call it again.\n- {}{schema}",
        request.name,
        problems.join("\n- ")
    )
}
