//! What a person has to allow, and what a person has refused.

use std::collections::{BTreeMap, BTreeSet};

use bylaw_mcp::ToolAnnotations;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Which calls need a person's approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalPolicy {
    /// Those that may destroy or overwrite something. What a tool does not say of itself is assumed to be the worst.
    Destructive,
    /// All.
    All,
    /// None: the tools ask for themselves.
    #[default]
    Never,
}

/// Whether calls of one tool need an approval, whatever the policy says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolApproval {
    /// Each.
    Always,
    /// None.
    Never,
}

/// Which calls need a person's approval. An approval is good for one call with exactly the arguments that were shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approvals {
    /// In general.
    #[serde(default)]
    pub policy: ApprovalPolicy,
    /// By tool: its own name, or the one that the model sees.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolApproval>,
    /// Whether a no ends the run.
    #[serde(default)]
    pub stop_on_decline: bool,
}

impl Approvals {
    pub(crate) fn needed(&self, own: &str, shown: &str, annotations: &ToolAnnotations) -> bool {
        match self.tools.get(shown).or_else(|| self.tools.get(own)) {
            Some(ToolApproval::Always) => true,
            Some(ToolApproval::Never) => false,
            None => match self.policy {
                ApprovalPolicy::All => true,
                ApprovalPolicy::Never => false,
                ApprovalPolicy::Destructive => annotations.destructive && !annotations.read_only,
            },
        }
    }
}

/// What a person refused in this run. Their no is final.
#[derive(Debug, Default)]
pub(crate) struct Declined(Vec<Refusal>);

#[derive(Debug)]
struct Refusal {
    tool: String,
    /// What the call was about.
    target: BTreeSet<String>,
    /// Whether the target is named by an id, and not just by all that was said.
    is_named: bool,
}

impl Declined {
    /// Remembers that a call was refused; `tool` is its server and name.
    pub(crate) fn remember(&mut self, tool: &str, arguments: &Map<String, Value>) {
        let (target, is_named) = target(arguments);
        self.0.push(Refusal { tool: tool.to_owned(), target, is_named });
    }

    /// Whether a call was refused before: the same tool on the same target.
    pub(crate) fn is_refused(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let said = leaves(arguments);
        self.0.iter().any(|refusal| refusal.tool == tool && refusal.target.is_subset(&said))
    }

    /// Whether a call is about something on which another call was refused: a change of it needs an approval of its own.
    pub(crate) fn touches(&self, arguments: &Map<String, Value>) -> bool {
        let said = leaves(arguments);
        self.0.iter().any(|refusal| refusal.is_named && !refusal.target.is_disjoint(&said))
    }
}

/// What a call is about: the values of its ids; without any, all that it says.
fn target(arguments: &Map<String, Value>) -> (BTreeSet<String>, bool) {
    let is_id = |key: &str| {
        let lower = key.to_ascii_lowercase();
        matches!(lower.as_str(), "id" | "uri" | "url" | "path" | "key") || lower.ends_with("_id") || key.ends_with("Id")
    };
    let mut ids = BTreeSet::new();
    for (key, value) in arguments {
        if is_id(key) {
            collect(value, &mut ids);
        }
    }
    if ids.is_empty() { (leaves(arguments), false) } else { (ids, true) }
}

fn leaves(arguments: &Map<String, Value>) -> BTreeSet<String> {
    let mut leaves = BTreeSet::new();
    arguments.values().for_each(|value| collect(value, &mut leaves));
    leaves
}

fn collect(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            into.insert(number.to_string());
        }
        Value::String(text) => {
            into.insert(text.trim().to_lowercase());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, into)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_covers_the_same_tool_on_the_same_target_and_reaches_to_others() {
        let mut declined = Declined::default();
        let object = |value: Value| value.as_object().unwrap().clone();
        declined.remember("hr/cancel", &object(json!({ "leave_id": "LV-1", "reason": "x" })));
        declined.remember("hr/purge", &Map::new());
        declined.remember("hr/mail", &object(json!({ "to": "a", "text": "b" })));
        let check = |tool: &str, arguments: Value, refused: bool, touches: bool| {
            let arguments = object(arguments);
            let found = (declined.is_refused(tool, &arguments), declined.touches(&arguments));
            assert_eq!(found, (refused, touches), "{tool} {arguments:?}");
        };
        check("hr/cancel", json!({ "leave_id": "LV-1", "reason": "y" }), true, true);
        check("hr/cancel", json!({ "leave_id": "lv-1 " }), true, true);
        check("hr/cancel", json!({ "leave_id": "LV-2" }), false, false);
        check("hr/update", json!({ "id": "LV-1", "status": "cancelled" }), false, true);
        check("hr/purge", json!({ "confirm": true }), true, false);
        check("hr/mail", json!({ "to": "a", "text": "b" }), true, false);
        check("hr/mail", json!({ "to": "a", "text": "c" }), false, false);
    }

    #[test]
    fn who_has_to_be_asked() {
        let changes = ToolAnnotations::default();
        let adds = ToolAnnotations { destructive: false, ..changes };
        let reads = ToolAnnotations { read_only: true, destructive: false, ..changes };
        let check = |policy, expected: [bool; 3]| {
            let approvals = Approvals { policy, ..Approvals::default() };
            assert_eq!([changes, adds, reads].map(|a| approvals.needed("t", "t", &a)), expected, "{policy:?}");
        };
        check(ApprovalPolicy::Destructive, [true, false, false]);
        check(ApprovalPolicy::All, [true, true, true]);
        check(ApprovalPolicy::Never, [false, false, false]);
        let tools = BTreeMap::from([("t".to_owned(), ToolApproval::Always), ("u".to_owned(), ToolApproval::Never)]);
        let approvals = Approvals { policy: ApprovalPolicy::Destructive, tools, ..Approvals::default() };
        assert!(approvals.needed("t", "hr__t", &reads) && !approvals.needed("u", "u", &changes));
    }
}
