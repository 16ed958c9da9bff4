//! What is right for each case.

use std::{collections::HashSet, time::Duration};

use bylaw_contract::StopReason;
use serde_json::{Value, json};

use super::{case::Case, ended::Ended};

/// Something that must be so, and whether it is.
pub(super) type Claim = (&'static str, bool);

/// Most bytes of a request after a result that is large.
const MAX_REQUEST: usize = 64 * 1024;

const SEARCH: &str = "search_leaves";
const UPDATE: &str = "update_leave_status";

/// What must be so after a run of `case`; a model that refuses for the moment asks to wait so long.
pub(super) fn of(case: Case, ended: &Ended, wait: Duration) -> Vec<Claim> {
    let mut claims = Vec::new();
    if case != Case::LoopForever {
        claims.push(("the run ends with the model's answer", ended.is_done()));
    }
    claims.push(("no request is refused as wrong", !ended.seen.status.contains(&400)));
    claims.extend(of_case(case, ended, wait));
    claims
}

fn of_case(case: Case, ended: &Ended, wait: Duration) -> Vec<Claim> {
    let executed = |names: &[&str]| ended.executed() == names;
    let both = || ("both tools are called once", executed(&[SEARCH, UPDATE]));
    let searched = || ("the search is made once", executed(&[SEARCH]));
    match case {
        Case::BadJson | Case::ArrayArgs => vec![
            ("only the right call is made", executed(&[SEARCH]) && argument(ended, 0) == &json!({ "keyword": "家庭" })),
            ("the model is told what was wrong", ended.says(0, "arguments are wrong")),
        ],
        Case::EmptyArgs => {
            vec![("the tool is called without arguments", executed(&["ping_hr"]) && is_empty(argument(ended, 0)))]
        }
        Case::UnknownTool => vec![
            ("the tool that is not there is not called, nor the one that is like it", executed(&[SEARCH])),
            ("the model is told the nearest name", ended.says(0, SEARCH)),
        ],
        Case::SchemaViolation => vec![
            ("only the right call is made", executed(&[UPDATE]) && argument(ended, 0)["status"] == "submitted"),
            ("the model is told the field and its values", ended.says(0, "leave_id") && ended.says(0, "draft")),
        ],
        Case::DupIds => {
            let ids: HashSet<&str> = ended.results().iter().map(|(id, _)| *id).collect();
            let words: Vec<&Value> = ended.seen.exec.iter().map(|(_, arguments)| &arguments["keyword"]).collect();
            vec![
                ("both calls are made once", executed(&[SEARCH, SEARCH]) && words == ["家庭", "病假"]),
                ("each has a result under an id of its own", ended.results().len() == 2 && ids.len() == 2),
            ]
        }
        Case::ParallelOneError => {
            vec![both(), ("the model is told what the tool refuses", ended.says(1, "409 not allowed from draft"))]
        }
        Case::ParallelOneRpcError => vec![both(), ("the model is told what broke", ended.says(1, "db down"))],
        Case::Mcp500 => vec![
            ("a call that may have happened is not repeated", executed(&[SEARCH, UPDATE])),
            ("the model is told that it failed", ended.says(0, "500")),
        ],
        Case::Session404 => {
            vec![
                both(),
                ("a new session is begun, once", ended.seen.inits == 2),
                ("the call arrives in it", ended.says(1, "LV-7f3a91")),
            ]
        }
        Case::StructuredOnly => vec![both(), ("the model is told the structure", ended.says(0, "LV-7f3a91"))],
        Case::ImageResult => vec![
            both(),
            ("the model is told that there is a picture", ended.says(0, "image/png")),
            ("its bytes are in no request", ended.largest_request() < MAX_REQUEST && !ended.says(0, "QUJDQUJD")),
        ],
        Case::HugeResult => vec![
            both(),
            ("no request grows with it", ended.largest_request() < MAX_REQUEST),
            ("the model is told that it was cut", ended.says(0, "cut: bytes")),
        ],
        Case::LoopForever => {
            let reason = ended.end.as_ref().map(|end| end.stop.reason);
            vec![
                ("the run ends because a call is repeated", reason == Some(StopReason::RepeatedCall)),
                ("the call is made three times at most", (1..=3).contains(&ended.seen.exec.len())),
                ("the model is asked eight times at most", ended.seen.chat.len() <= 8),
                ("what was done is not lost", ended.end.as_ref().is_some_and(|end| end.transcript.len() > 2)),
            ]
        }
        Case::RateLimit => vec![
            both(),
            (
                "it is asked once more, and no earlier than told",
                ended.seen.status == [200, 429, 200, 200] && waited(ended) >= wait,
            ),
        ],
        Case::FinishStopWithCalls | Case::ReasoningRoundtrip => vec![searched()],
        Case::FinishLengthValidJson => vec![
            ("no call of a reply that was cut off is made", ended.seen.exec.is_empty()),
            ("the model is told so", ended.says(0, "cut off")),
        ],
        Case::EmptyAnswer => vec![searched(), ("the model is asked once more", ended.seen.chat.len() == 3)],
        Case::PageTwo => vec![("the tool of the second page is called", executed(&["page_two_tool"]))],
        Case::LongDottedName => {
            let own = "hr.leave/search_by_keyword_in_the_archive_of_all_previous_years_and_departments_v2";
            vec![("the tool is called by its own name", executed(&[own]))]
        }
        Case::NoProperties => vec![both()],
        Case::UsageNull => vec![
            searched(),
            (
                "what was used is an estimate",
                ended.end.as_ref().is_some_and(|end| end.usage_is_estimated && end.usage.input_tokens > 0),
            ),
        ],
        Case::Hang => vec![
            both(),
            ("the model is told that nobody knows", ended.says(1, "may have happened") || ended.says(1, "unknown")),
        ],
    }
}

fn argument(ended: &Ended, at: usize) -> &Value {
    ended.seen.exec.get(at).map_or(&Value::Null, |(_, arguments)| arguments)
}

fn is_empty(arguments: &Value) -> bool {
    arguments.is_null() || arguments.as_object().is_some_and(serde_json::Map::is_empty)
}

/// Between the request that was refused for the moment and the next.
fn waited(ended: &Ended) -> Duration {
    let gap = ended.seen.t.get(2).zip(ended.seen.t.get(1)).map_or(0.0, |(next, refused)| next - refused);
    Duration::try_from_secs_f64(gap).unwrap_or_default()
}
