//! What the model says in each case.

use std::time::Duration;

use super::super::case::Case;

/// One answer of the model.
pub(super) enum Turn {
    Reply(Reply),
    /// An HTTP status instead.
    Refusal {
        status: u16,
        message: &'static str,
        retry_after: Option<Duration>,
    },
}

/// What a model says.
pub(super) struct Reply {
    pub(super) text: &'static str,
    pub(super) reasoning: Option<&'static str>,
    pub(super) calls: Vec<Call>,
    pub(super) finish: &'static str,
    /// Whether the tokens are told.
    pub(super) counts: bool,
}

/// A call as the model writes it.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: &'static str,
}

/// What a request offers and remembers, as far as the script looks.
pub(super) struct Heard<'a> {
    /// How many requests of this run came before.
    pub(super) number: usize,
    /// The names of the tools.
    pub(super) tools: Vec<&'a str>,
    /// Whether what the model thought came back with it.
    pub(super) thought: bool,
}

/// What the model thinks where it has to be told so.
pub(super) const THOUGHT: &str = "think-42";

const RIGHT_SEARCH: &str = r#"{"keyword": "家庭"}"#;
const RIGHT_UPDATE: &str = r#"{"leave_id": "LV-7f3a91", "status": "submitted"}"#;

/// The model's part in a case; `wait` is how long it asks to wait where it refuses for the moment.
pub(super) fn turn(case: Case, heard: &Heard<'_>, wait: Duration) -> Turn {
    let search = |arguments| vec![call("c1", heard.named("search_leaves"), arguments)];
    let update = |arguments| vec![call("c1", heard.named("update_leave_status"), arguments)];
    let only = |name| vec![call("c1", heard.named(name), "{}")];
    let both = || {
        vec![
            call("c1", heard.named("search_leaves"), RIGHT_SEARCH),
            call("c2", heard.named("update_leave_status"), RIGHT_UPDATE),
        ]
    };
    let first = heard.number == 0;
    let then_right = |wrong: Vec<Call>, right: Vec<Call>| match heard.number {
        0 => calling(wrong),
        1 => calling(right),
        _ => done(),
    };
    let once = |calls: Vec<Call>| if first { calling(calls) } else { done() };
    match case {
        Case::BadJson => then_right(search(r#"{"keyword": "家庭"#), search(RIGHT_SEARCH)),
        Case::ArrayArgs => then_right(search(r#"["家庭"]"#), search(RIGHT_SEARCH)),
        Case::UnknownTool => {
            then_right(vec![call("c1", "search_leave".to_owned(), RIGHT_SEARCH)], search(RIGHT_SEARCH))
        }
        Case::SchemaViolation => then_right(update(r#"{"leave_id": 7, "status": "teleported"}"#), update(RIGHT_UPDATE)),
        Case::EmptyArgs => once(vec![call("c1", heard.named("ping_hr"), "")]),
        Case::DupIds => {
            let search = |arguments| call("c1", heard.named("search_leaves"), arguments);
            once(vec![search(RIGHT_SEARCH), search(r#"{"keyword": "病假"}"#)])
        }
        Case::ParallelOneError | Case::ParallelOneRpcError => once(both()),
        Case::LoopForever => calling(search(RIGHT_SEARCH)),
        Case::RateLimit if heard.number == 1 => {
            Turn::Refusal { status: 429, message: "too many requests", retry_after: Some(wait) }
        }
        Case::FinishStopWithCalls if first => ending(search(RIGHT_SEARCH), "stop"),
        Case::FinishLengthValidJson if first => ending(update(RIGHT_UPDATE), "length"),
        Case::FinishStopWithCalls | Case::FinishLengthValidJson => done(),
        Case::ReasoningRoundtrip if first => {
            said(Reply { reasoning: Some(THOUGHT), ..reply(search(RIGHT_SEARCH), "tool_calls") })
        }
        Case::ReasoningRoundtrip if !heard.thought => {
            Turn::Refusal { status: 400, message: "reasoning_content must be passed back", retry_after: None }
        }
        Case::ReasoningRoundtrip => done(),
        Case::EmptyAnswer => match heard.number {
            0 => calling(search(RIGHT_SEARCH)),
            1 => ending(Vec::new(), "stop"),
            _ => done(),
        },
        Case::PageTwo => once(only("page_two_tool")),
        Case::LongDottedName => {
            let name = heard.tools.iter().find(|name| name.starts_with("hr")).copied().unwrap_or("missing");
            once(vec![call("c1", name.to_owned(), RIGHT_SEARCH)])
        }
        Case::UsageNull => {
            let reply = if first { reply(search(RIGHT_SEARCH), "tool_calls") } else { last("DONE") };
            said(Reply { counts: false, ..reply })
        }
        Case::Mcp500
        | Case::Session404
        | Case::StructuredOnly
        | Case::ImageResult
        | Case::HugeResult
        | Case::RateLimit
        | Case::NoProperties
        | Case::Hang => {
            // The refusal took a turn.
            let number = heard.number - usize::from(case == Case::RateLimit && heard.number > 1);
            match number {
                0 => calling(search(RIGHT_SEARCH)),
                1 => calling(vec![call("c2", heard.named("update_leave_status"), RIGHT_UPDATE)]),
                _ => done(),
            }
        }
    }
}

/// Where nothing goes wrong: what a model says after so many results.
pub(super) fn calm(heard: &Heard<'_>) -> Reply {
    let calling = |name, arguments| reply(vec![call("", heard.named(name), arguments)], "tool_calls");
    match heard.number {
        0 => calling("search_leaves", RIGHT_SEARCH),
        1 => calling("update_leave_status", RIGHT_UPDATE),
        _ => last("LV-7f3a91 已送出。"),
    }
}

impl Heard<'_> {
    /// A tool of that name, also if its name was changed on the way.
    fn named(&self, name: &str) -> String {
        self.tools.iter().find(|tool| tool.ends_with(name)).copied().unwrap_or(name).to_owned()
    }
}

fn call(id: &str, name: String, arguments: &'static str) -> Call {
    Call { id: id.to_owned(), name, arguments }
}

fn reply(calls: Vec<Call>, finish: &'static str) -> Reply {
    Reply { text: "", reasoning: None, calls, finish, counts: true }
}

fn last(text: &'static str) -> Reply {
    Reply { text, ..reply(Vec::new(), "stop") }
}

fn said(reply: Reply) -> Turn {
    Turn::Reply(reply)
}

fn calling(calls: Vec<Call>) -> Turn {
    ending(calls, "tool_calls")
}

fn ending(calls: Vec<Call>, finish: &'static str) -> Turn {
    said(reply(calls, finish))
}

fn done() -> Turn {
    said(last("DONE"))
}
