//! `/runs`: the whole story of a run, over HTTP.

use axum::http::Method;
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::{Value, json};

use crate::{
    door::{Door, Plan, Reply},
    servers::Leaves,
};

/// An agent that has the leave system, and whose person must allow what destroys.
pub(crate) fn leave_agent(server: &Leaves) -> String {
    format!(
        "prompt = \"You help with leaves.\"\n[approvals]\npolicy = \"destructive\"\n[servers.hr]\nurl = \"{}\"\n",
        server.url
    )
}

pub(crate) const ALONE: &str = "prompt = \"You talk.\"\n";

pub(crate) fn calls(number: usize, calls: &[(&str, &str)]) -> ScriptedReply {
    ScriptedReply::calls(number, calls)
}

pub(crate) const LEAVE: &str = r#"{"leave_id":"LV-1"}"#;

/// One event as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<u64>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// What an event stream told, comments left out.
pub(crate) fn told(stream: &str) -> Vec<Told> {
    let blocks = stream.split_terminator("\n\n").filter(|block| !block.starts_with(':'));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let prefix = format!("{name}: ");
                block.lines().find_map(|line| line.strip_prefix(prefix.as_str()))
            };
            let data: Value = serde_json::from_str(field("data").unwrap()).unwrap();
            let name = field("event").unwrap().to_owned();
            assert!(data["event"] == name.as_str() || name == "error", "{block}");
            Told { id: field("id").map(|id| id.parse().unwrap()), name, data }
        })
        .collect()
}

impl Door {
    /// Starts a run; its id.
    pub(crate) async fn start(&self, body: &Value) -> String {
        let reply = self.post("/runs", &body.to_string()).await;
        assert_eq!(reply.status, 202, "{}", reply.text());
        reply.json()["run_id"].as_str().unwrap().to_owned()
    }

    /// All events of a run, to its end.
    pub(crate) async fn events_of(&self, run: &str) -> Vec<Told> {
        told(&self.get(&format!("/runs/{run}/events")).await.text())
    }

    /// Waits until a run asks, and gives the question.
    pub(crate) async fn question(&self, run: &str) -> Value {
        loop {
            let detail = self.get(&format!("/runs/{run}")).await.json();
            if let Some(question) = detail["questions"].as_array().unwrap().first() {
                return question.clone();
            }
            assert_ne!(detail["run"]["status"], "ended", "{detail}");
            tokio::task::yield_now().await;
        }
    }

    pub(crate) async fn answer(&self, run: &str, question: u64, body: &Value) -> Reply {
        self.post(&format!("/runs/{run}/replies/{question}"), &body.to_string()).await
    }

    pub(crate) async fn cancel(&self, run: &str) -> Reply {
        self.call(Method::DELETE, &format!("/runs/{run}"), &[], Vec::new()).await
    }
}

pub(crate) fn names(told: &[Told]) -> Vec<&str> {
    told.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn a_run_reads_asks_waits_acts_and_answers() {
    let server = Leaves::open().await;
    let script = Script::new([
        calls(1, &[("read_leave", LEAVE)]),
        calls(2, &[("delete_leave", LEAVE)]),
        ScriptedReply::pieces(["The leave ", "is gone."]),
    ]);
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let run = door.start(&json!({ "agent": "leave", "message": "Delete LV-1" })).await;
    let question = door.question(&run).await;
    assert_eq!((&question["kind"], &question["tool"]), (&json!("approval"), &json!("delete_leave")));
    assert_eq!(door.get(&format!("/runs/{run}")).await.json()["run"]["status"], "waiting");
    assert_eq!(server.calls(), [r#"read_leave {"leave_id":"LV-1"}"#]);
    let taken = door.answer(&run, 1, &json!({ "action": "accept" })).await;
    assert_eq!((taken.status.as_u16(), &taken.json()["action"]), (200, &json!("accept")));
    let told = door.events_of(&run).await;
    let logged: Vec<&Told> = told.iter().filter(|event| event.id.is_some()).collect();
    let numbers: Vec<u64> = logged.iter().filter_map(|event| event.id).collect();
    assert_eq!(numbers, (1..=logged.len() as u64).collect::<Vec<u64>>(), "numbered from 1, without a gap");
    assert_eq!(
        logged.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(),
        [
            "started",
            "model_call",
            "model_reply",
            "tool_call",
            "tool_result",
            "model_call",
            "model_reply",
            "question",
            "reply",
            "tool_call",
            "tool_result",
            "model_call",
            "model_reply",
            "ended",
        ]
    );
    assert_eq!(told.last().unwrap().data["answer"], "The leave is gone.");
    let detail = door.get(&format!("/runs/{run}")).await.json();
    assert_eq!((&detail["answer"], &detail["run"]["stop"]), (&json!("The leave is gone."), &json!("completed")));
    assert_eq!((&detail["steps"], &detail["tool_calls"]), (&json!(2), &json!(2)));
    assert_eq!(server.calls()[1], r#"delete_leave {"leave_id":"LV-1"}"#);
}

/// One run with deltas, a tool and two model calls, told in numbers and names.
async fn finished() -> (Door, String, Leaves) {
    let server = Leaves::open().await;
    let script = Script::new([calls(1, &[("read_leave", LEAVE)]), ScriptedReply::pieces(["It ", "is ", "there."])]);
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let run = door.start(&json!({ "agent": "leave", "message": "Is LV-1 there?" })).await;
    door.events_of(&run).await;
    (door, run, server)
}

#[tokio::test]
async fn whoever_comes_back_hears_the_rest_and_nothing_twice_wherever_they_were_cut_off() {
    let (door, run, _server) = finished().await;
    let path = format!("/runs/{run}/events");
    let whole = told(&door.get(&path).await.text());
    assert!(whole.len() >= 8 && whole.iter().all(|event| event.id.is_some()), "{:?}", names(&whole));
    for cut in 0..=whole.len() {
        let heard = &whole[..cut];
        let last = heard.last().map_or(0, |event| event.id.unwrap()).to_string();
        let header = door.call(Method::GET, &path, &[("last-event-id", last.as_str())], Vec::new()).await;
        let query = door.get(&format!("{path}?after={last}")).await;
        // A browser that reconnects says both, and the header is the news.
        let both =
            door.call(Method::GET, &format!("{path}?after=0"), &[("last-event-id", last.as_str())], vec![]).await;
        for reply in [header, query, both] {
            assert_eq!(reply.status.as_u16(), if cut == whole.len() { 204 } else { 200 }, "{cut}");
            assert_eq!([heard, &told(&reply.text())].concat(), whole, "cut at {cut}");
        }
    }
    let (status, code, message) = door.call(Method::GET, &path, &[("last-event-id", "x")], Vec::new()).await.error();
    assert_eq!((status, code.as_str()), (422, "invalid_request"));
    assert!(message.starts_with("Last-Event-ID"), "{message}");
}

/// A run that speaks and then waits, watched by somebody from its beginning and by somebody who comes late.
#[tokio::test]
async fn text_is_shown_as_it_comes_and_whoever_comes_late_hears_it_so_far() {
    use axum::{body::Body, http::Request};
    use bylaw_model::scripted::ScriptedEnd;
    use futures_util::StreamExt;
    use tower::ServiceExt;

    let says = ScriptedReply::ending(["Just ", "a ", "moment"], ScriptedEnd::Stalls);
    let script = Script::always(says).with_patience(std::time::Duration::from_secs(600));
    let door = Plan::new().model(script).agent("talk", ALONE).open().await;
    let run = door.start(&json!({ "agent": "talk", "message": "Hello" })).await;
    let watch = async |until: &str| {
        let request = Request::get(format!("/runs/{run}/events")).body(Body::empty()).unwrap();
        let reply = bylaw_service::router(std::sync::Arc::clone(&door.service)).oneshot(request).await.unwrap();
        let mut body = reply.into_body().into_data_stream();
        let mut text = String::new();
        while !text.contains(until) {
            text.push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
        }
        text
    };
    let said = |stream: &str| -> String {
        let events = told(stream);
        assert!(events.iter().all(|event| event.id.is_some() != event.name.starts_with("text_")), "{events:?}");
        let texts = events.iter().filter(|event| event.name.starts_with("text_"));
        texts.map(|event| event.data["text"].as_str().unwrap()).collect()
    };
    let early = watch("moment").await;
    assert_eq!(said(&early), "Just a moment");
    let late = watch("moment").await;
    assert_eq!(said(&late), "Just a moment");
    assert_eq!(names(&told(&late)), ["started", "model_call", "text_so_far"]);
    // Whoever watched has left, and the run goes on.
    assert_eq!(door.get(&format!("/runs/{run}")).await.json()["run"]["status"], "running");
    assert_eq!(door.cancel(&run).await.json()["cancelled"], true);
    let rest = door.events_of(&run).await;
    assert_eq!(
        (rest.last().unwrap().name.as_str(), &rest.last().unwrap().data["reason"]),
        ("ended", &json!("cancelled"))
    );
}

#[tokio::test]
async fn a_run_is_cancelled_within_a_fifth_of_a_second_whatever_it_waits_for() {
    let server = Leaves::open().await;
    let waiting = [("wait_for_leave", LEAVE), ("delete_leave", LEAVE), ("cancel_leave", LEAVE)];
    for (tool, arguments) in waiting {
        let script = Script::always(calls(1, &[(tool, arguments)])).with_patience(std::time::Duration::from_secs(600));
        let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
        let run = door.start(&json!({ "agent": "leave", "message": "go" })).await;
        while !server.asked(tool) && door.runner.counts().waiting == 0 {
            tokio::task::yield_now().await;
        }
        let before = std::time::Instant::now();
        assert_eq!(door.cancel(&run).await.json()["cancelled"], true, "{tool}");
        let events = door.events_of(&run).await;
        assert!(before.elapsed() < std::time::Duration::from_secs(2), "{tool}: {:?}", before.elapsed());
        let last = &events.last().unwrap().data;
        assert_eq!(
            (&last["reason"], &last["message"]),
            (&json!("cancelled"), &json!("the run was cancelled")),
            "{tool}"
        );
        assert_eq!(door.cancel(&run).await.json()["cancelled"], false, "it is over");
        assert_eq!(door.runner.counts().active, 0);
    }
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_by_name() {
    let door = Plan::new().model(Script::always(ScriptedReply::text("x"))).agent("talk", ALONE).open().await;
    let nobodys = format!("cnv_{}", "0".repeat(24));
    let rows = [
        (json!({ "agent": "nobody", "message": "x" }), 404, "agent_not_found", "there are talk"),
        (json!({ "message": "x" }), 422, "invalid_request", "agent: is required"),
        (json!({ "agent": "talk" }), 422, "invalid_request", "message: is required"),
        (json!({ "agent": "talk", "message": " " }), 422, "invalid_request", "message: empty"),
        (json!({ "agent": "talk", "message": "x", "tools": [] }), 422, "invalid_request", "tools: unknown field"),
        (json!({ "agent": "talk", "message": "x", "conversation": nobodys }), 404, "conversation_not_found", "no conv"),
        (json!({ "agent": "talk", "message": "x", "conversation": "x" }), 422, "invalid_request", "conversation"),
        (json!({ "agent": "talk", "message": "x", "limits": { "max_cost": "0" } }), 422, "invalid_request", "max_cost"),
        (json!({ "agent": "talk", "message": "x", "limits": { "max_cost": "x" } }), 422, "invalid_request", "max_cost"),
        (json!({ "agent": "talk", "message": "x", "limits": { "max_turns": 2 } }), 422, "invalid_request", "max_turns"),
    ];
    for (body, status, code, says) in rows {
        let (got, got_code, message) = door.post("/runs", &body.to_string()).await.error();
        assert_eq!((got, got_code.as_str()), (status, code), "{body}: {message}");
        assert!(message.contains(says), "{body}: {message}");
    }
    assert!(door.get("/runs").await.json()["runs"].as_array().unwrap().is_empty(), "nothing was begun");
    let without = Plan::new().agent("talk", ALONE).open().await;
    let (status, code, message) = without.post("/runs", r#"{"agent":"talk","message":"x"}"#).await.error();
    assert_eq!((status, code.as_str()), (422, "no_model"), "{message}");
}

#[tokio::test]
async fn a_caller_may_ask_for_less_than_the_agents_limits_and_no_more() {
    let server = Leaves::open().await;
    let agent = format!("{}[limits]\nsteps = 2\n", leave_agent(&server));
    for (asked, steps) in [(1, 1), (2, 2), (100, 2)] {
        let replies = (1..9).map(|n| calls(n, &[("read_leave", &format!(r#"{{"leave_id":"LV-{n}"}}"#))]));
        let door = Plan::new().model(Script::new(replies)).agent("leave", agent.as_str()).open().await;
        let limits = json!({ "max_steps": asked });
        let run = door.start(&json!({ "agent": "leave", "message": "go", "limits": limits })).await;
        let end = door.events_of(&run).await.pop().unwrap().data;
        assert_eq!((&end["reason"], &end["steps"]), (&json!("steps"), &json!(steps)), "{asked}: {end}");
    }
}

#[tokio::test]
async fn money_ends_a_run_and_what_it_spent_is_on_the_books() {
    let door = Plan::new().model(Script::always(ScriptedReply::text("x"))).paid().agent("talk", ALONE).open().await;
    let run = door.start(&json!({ "agent": "talk", "message": "x", "limits": { "max_cost": "0.000032" } })).await;
    let end = door.events_of(&run).await.pop().unwrap().data;
    assert_eq!(end["reason"], "cost", "{end}");
    let run = door.start(&json!({ "agent": "talk", "message": "x" })).await;
    let end = door.events_of(&run).await.pop().unwrap().data;
    assert_eq!(end["reason"], "completed", "{end}");
    assert!(door.gate.flush().await);
    let usage = door.get("/usage").await.json();
    assert_eq!(usage["total"]["paid_calls"], 1, "{usage}");
}

#[tokio::test]
async fn a_run_is_seen_by_its_principal_and_by_admins_and_by_nobody_else() {
    let server = Leaves::open().await;
    let script = Script::always(calls(1, &[("delete_leave", LEAVE)]));
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let (owner, other) =
        (door.key(bylaw_gate::Role::Reader, None).await, door.key(bylaw_gate::Role::Editor, None).await);
    let admin = door.key(bylaw_gate::Role::Admin, None).await;
    let started = door.post_as(&owner, "/runs", r#"{"agent":"leave","message":"go"}"#).await.json();
    let run = started["run_id"].as_str().unwrap().to_owned();
    while door.runner.counts().waiting == 0 {
        tokio::task::yield_now().await;
    }
    let never = format!("run_{}", "f".repeat(24));
    let reply = br#"{"action":"accept"}"#.to_vec();
    let json = [("content-type", "application/json")];
    let doors: [(Method, &str, Vec<u8>); 4] = [
        (Method::GET, "", vec![]),
        (Method::GET, "/events", vec![]),
        (Method::DELETE, "", vec![]),
        (Method::POST, "/replies/1", reply.clone()),
    ];
    for (method, rest, body) in doors {
        let hidden = door.call_as(&other, method.clone(), &format!("/runs/{run}{rest}"), &json, body.clone()).await;
        let absent = door.call_as(&other, method, &format!("/runs/{never}{rest}"), &json, body).await;
        let (hidden, absent) = (hidden.error(), absent.error());
        assert_eq!((hidden.0, hidden.1.as_str()), (404, "run_not_found"), "{rest}");
        assert_eq!(hidden.2.replace(&run, "ID"), absent.2.replace(&never, "ID"), "in the same words");
    }
    let listed = async |key| door.get_as(key, "/runs").await.json()["runs"].as_array().unwrap().len();
    assert_eq!([listed(&owner).await, listed(&other).await, listed(&admin).await], [1, 0, 1]);
    let (status, code, _) = door.get_as(&other, &format!("/runs?key={}", owner.id)).await.error();
    assert_eq!((status, code.as_str()), (403, "forbidden"));
    assert_eq!(door.get_as(&admin, &format!("/runs/{run}")).await.json()["run"]["key"], owner.id.as_str());
    // An approval is somebody's own word.
    let denied = door.call_as(&admin, Method::POST, &format!("/runs/{run}/replies/1"), &json, reply).await.error();
    assert_eq!((denied.0, denied.1.as_str()), (403, "forbidden"));
    let cancelled = door.call_as(&admin, Method::DELETE, &format!("/runs/{run}"), &[], vec![]).await.json();
    assert_eq!(cancelled["cancelled"], true);
    assert!(server.calls().is_empty());
}

#[tokio::test]
async fn a_key_that_is_revoked_takes_its_runs_with_it() {
    use bylaw_contract::Clock;
    use bylaw_gate::KeyStore;

    let server = Leaves::open().await;
    let script = Script::always(calls(1, &[("delete_leave", LEAVE)]));
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let (owner, admin) =
        (door.key(bylaw_gate::Role::Reader, None).await, door.key(bylaw_gate::Role::Admin, None).await);
    let started = door.post_as(&owner, "/runs", r#"{"agent":"leave","message":"go"}"#).await.json();
    let run = started["run_id"].as_str().unwrap().to_owned();
    let path = format!("/runs/{run}/events");
    let revoke = async {
        while door.runner.counts().waiting == 0 {
            tokio::task::yield_now().await;
        }
        door.keys.revoke(&owner.id, door.clock.now()).await.unwrap();
        door.clock.forward(std::time::Duration::from_millis(100));
    };
    let (heard, ()) = tokio::join!(door.get_as(&owner, &path), revoke);
    let heard = told(&heard.text());
    let last = heard.last().unwrap();
    assert_eq!((last.name.as_str(), &last.data["code"]), ("error", &json!("invalid_key")), "{heard:?}");
    let all = told(&door.get_as(&admin, &path).await.text());
    let end = &all.last().unwrap().data;
    assert_eq!((&end["reason"], &end["code"]), (&json!("cancelled"), &json!("invalid_key")), "{end}");
}

#[tokio::test]
async fn more_runs_than_there_is_room_for_are_refused_and_may_come_later() {
    let server = Leaves::open().await;
    let script = Script::always(calls(1, &[("delete_leave", LEAVE)]));
    let room = bylaw_agent::Room { working: 1, waiting: 1 };
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).room(room).open().await;
    let body = json!({ "agent": "leave", "message": "go" });
    let run = door.start(&body).await;
    let refused = door.post("/runs", &body.to_string()).await;
    assert_eq!((refused.error().0, refused.error().1.as_str()), (503, "overloaded"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    door.question(&run).await;
    assert_eq!(door.post("/runs", &body.to_string()).await.error().0, 503, "one waits for a person");
    assert!(door.runner.cancel(&run.parse().unwrap()));
    door.events_of(&run).await;
    door.start(&body).await;
}

/// A tool of the process with a fault in it.
struct Faulty;

#[async_trait::async_trait]
impl bylaw_agent::Tool for Faulty {
    fn info(&self) -> bylaw_agent::ToolInfo {
        bylaw_agent::ToolInfo::reading("faulty", "Breaks.", json!({ "type": "object", "properties": {} }))
    }

    async fn call(
        &self,
        _: serde_json::Map<String, Value>,
        _: bylaw_agent::ToolContext,
    ) -> Result<bylaw_mcp::ToolOutcome, String> {
        panic!("a fault of the test's own")
    }
}

#[tokio::test]
async fn a_tool_that_panics_ends_its_run_and_nothing_else() {
    let script = Script::always(calls(1, &[("faulty", "{}")]));
    let door = Plan::new().model(script).agent("talk", ALONE).tool(Faulty).open().await;
    let run = door.start(&json!({ "agent": "talk", "message": "x" })).await;
    let end = door.events_of(&run).await.pop().unwrap().data;
    assert_eq!((&end["reason"], &end["code"]), (&json!("failed"), &json!("internal_error")), "{end}");
    assert!(!end.to_string().contains("fault of the test"), "{end}");
    assert_eq!(door.runner.counts().active, 0);
    assert_eq!(door.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_server_that_is_not_there_leaves_the_run_its_other_tools() {
    let server = Leaves::open().await;
    let agent = format!("{}[servers.gone]\nurl = \"http://127.0.0.1:1/mcp\"\n", leave_agent(&server));
    let script = Script::new([calls(1, &[("read_leave", LEAVE)]), ScriptedReply::text("There.")]);
    let door = Plan::new().model(script).agent("leave", agent).open().await;
    let run = door.start(&json!({ "agent": "leave", "message": "go" })).await;
    let end = door.events_of(&run).await.pop().unwrap().data;
    assert_eq!((&end["reason"], &end["answer"]), (&json!("completed"), &json!("There.")), "{end}");
}

#[tokio::test]
async fn runs_that_go_on_when_the_service_stops_say_so() {
    let server = Leaves::open().await;
    let script = Script::always(calls(1, &[("wait_for_leave", LEAVE)]));
    let door = Plan::new().model(script).agent("leave", leave_agent(&server)).open().await;
    let run = door.start(&json!({ "agent": "leave", "message": "go" })).await;
    door.runner.shut_down().await;
    let end = door.events_of(&run).await.pop().unwrap().data;
    assert_eq!((&end["reason"], &end["code"]), (&json!("cancelled"), &json!("shutting_down")), "{end}");
    let (status, code, _) = door.post("/runs", r#"{"agent":"leave","message":"go"}"#).await.error();
    assert_eq!((status, code.as_str()), (503, "shutting_down"));
}

#[tokio::test]
async fn runs_are_listed_page_by_page_the_latest_first() {
    let door = Plan::new().model(Script::always(ScriptedReply::text("x"))).agent("talk", ALONE).open().await;
    let mut started = Vec::new();
    for number in 0..5 {
        let run = door.start(&json!({ "agent": "talk", "message": format!("{number}") })).await;
        door.events_of(&run).await;
        started.insert(0, run);
    }
    let (mut listed, mut before) = (Vec::new(), String::new());
    loop {
        let page = door.get(&format!("/runs?limit=2{before}")).await.json();
        let runs = page["runs"].as_array().unwrap().clone();
        assert!(runs.len() <= 2);
        listed.extend(runs.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(listed, started);
    let count = async |query: &str| door.get(&format!("/runs?{query}")).await.json()["runs"].as_array().unwrap().len();
    assert_eq!([count("kind=agent").await, count("kind=ask").await, count("status=running").await], [5, 0, 0]);
    for bad in ["limit=x", "before=x", "status=lost", "colour=red"] {
        assert_eq!(door.get(&format!("/runs?{bad}")).await.error().0, 422, "{bad}");
    }
}
