//! What a person has to allow, and a no that is final.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bylaw_agent::{Agent, ApprovalPolicy, Approvals, Ask, Elicitations, Limits, Question, ServerTools, Toolbox};
use bylaw_contract::{
    LoopEvent,
    loop_event::{ReplyAction, ReplyBy, ToolStatus},
};
use bylaw_mcp::{ClientOptions, Elicit, ElicitReply, Elicitation};
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::support::{
    Person, Ran, Scripted, agent, calls,
    raw::{Raw, Say, tool},
    says, search, setup, update,
};

const LV1: &str = r#"{"leave_id":"LV-1","status":"cancelled"}"#;
const LV2: &str = r#"{"leave_id":"LV-2","status":"cancelled"}"#;

fn policy(policy: ApprovalPolicy) -> Approvals {
    Approvals { policy, ..Approvals::default() }
}

async fn asking(agent: &Agent, person: Option<&Arc<Person>>, replies: Vec<ScriptedReply>) -> Ran {
    let mut setup = setup(Script::new(replies));
    setup.with.ask = person.map(|person| Arc::clone(person) as Arc<dyn Ask>);
    setup.run(agent, &mut Default::default()).await
}

async fn with_policy(tool: &Scripted, approvals: Approvals) -> Agent {
    Agent { approvals, ..agent([search(), tool.clone()]).await }
}

fn twice() -> Vec<ScriptedReply> {
    let changed = r#"{"status":"cancelled","leave_id":"LV-1","note":"please"}"#;
    vec![
        calls("a", &[("search_leaves", "{\"keyword\":\"k\"}"), ("update_leave_status", LV1)]),
        calls("b", &[("update_leave_status", changed), ("update_leave_status", LV2)]),
        says("DONE"),
    ]
}

#[tokio::test]
async fn an_approval_is_good_for_one_call_with_the_arguments_that_were_shown() {
    let (tool, person) = (update(), Person::answering(ElicitReply::Accept(json!({}))));
    let ran = asking(&with_policy(&tool, policy(ApprovalPolicy::Destructive)).await, Some(&person), twice()).await;
    assert_eq!((ran.answer(), tool.calls().len(), person.asked()), ("DONE", 3, 3), "reading needs none");
    let shown: Vec<String> = {
        let asked = person.asked.lock().unwrap();
        asked.iter().map(|q| serde_json::Value::Object(q.arguments.clone().unwrap()).to_string()).collect()
    };
    assert_eq!(shown, tool.calls());
}

#[tokio::test]
async fn a_no_is_final_for_the_same_tool_and_target() {
    let (tool, person) = (update(), Person::answering(ElicitReply::Decline));
    let ran = asking(&with_policy(&tool, policy(ApprovalPolicy::Destructive)).await, Some(&person), twice()).await;
    assert_eq!((ran.answer(), tool.calls().len(), person.asked()), ("DONE", 0, 2), "about LV-1 nobody is asked again");
    let results = ran.results();
    assert!(results[1].contains("said no to this call") && results[1].contains("final"), "{}", results[1]);
    assert!(results[2].contains("said no to this before"), "{}", results[2]);
}

#[tokio::test]
async fn a_question_that_is_put_away_is_not_a_no() {
    let (tool, person) = (update(), Person::answering(ElicitReply::Cancel));
    let ran = asking(&with_policy(&tool, policy(ApprovalPolicy::All)).await, Some(&person), twice()).await;
    assert_eq!((tool.calls().len(), person.asked()), (0, 4));
    assert!(ran.results()[1].contains("That is not a no"), "{}", ran.results()[1]);
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_is_not_made_and_the_log_says_who_decided() {
    let tool = update();
    let ran = asking(&with_policy(&tool, policy(ApprovalPolicy::Destructive)).await, None, twice()).await;
    assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 0));
    let by: Vec<_> =
        ran.events.iter().filter_map(|e| if let LoopEvent::Reply { by, .. } = e { Some(*by) } else { None }).collect();
    assert!(!by.is_empty() && by.iter().all(|by| *by == ReplyBy::Policy), "{by:?}");
}

#[tokio::test]
async fn nobody_is_asked_where_the_policy_says_never() {
    let (tool, person) = (update(), Person::answering(ElicitReply::Decline));
    asking(&with_policy(&tool, policy(ApprovalPolicy::Never)).await, Some(&person), twice()).await;
    assert_eq!((tool.calls().len(), person.asked()), (3, 0));
}

/// A server whose tool asks before it does what it is told.
async fn asking_server(reply: ElicitReply, replies: Vec<ScriptedReply>) -> (Ran, Arc<Person>, Raw) {
    let id = || json!({ "leave_id": { "type": "string" } });
    let tools = json!([tool("cancel_approved_leave", false, id()), tool("set_status", false, id())]);
    let server = Raw::newer(tools, |asked| {
        let done = |text: &str| {
            Say::Result(json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] }))
        };
        match (asked.tool(), asked.params.get("inputResponses")) {
            ("cancel_approved_leave", None) => Say::Result(json!({
                "resultType": "input_required", "requestState": "sealed",
                "inputRequests": { "sure": { "method": "elicitation/create", "params": { "mode": "form",
                    "message": "Really?", "requestedSchema": { "type": "object", "properties": { "yes": { "type": "boolean" } } } } } },
            })),
            ("cancel_approved_leave", Some(responses)) => {
                assert_eq!(asked.params["requestState"], "sealed");
                done(&format!("the person chose {}", responses["sure"]["action"]))
            }
            _ => done("status set"),
        }
    })
    .await;
    let person = Person::answering(reply);
    let elicitations = Elicitations::default();
    let client = server.client_with("hr", ClientOptions::default(), Some(elicitations.clone()));
    let agent = Agent::new("", Toolbox::builder().server(client, ServerTools::default()).build().await);
    let mut setup = setup(Script::new(replies));
    setup.with.ask = Some(Arc::clone(&person) as Arc<dyn Ask>);
    setup.with.elicitations = Some(elicitations);
    (setup.run(&agent, &mut Default::default()).await, person, server)
}

fn cancel(id: &str, leave: &str) -> ScriptedReply {
    calls(id, &[("cancel_approved_leave", &format!("{{\"leave_id\":\"{leave}\"}}"))])
}

#[tokio::test]
async fn a_servers_question_reaches_the_person_and_its_answer_the_server_and_the_model() {
    let check = async |reply: ElicitReply, action: ReplyAction, said: &str| {
        let (ran, person, server) = asking_server(reply, vec![cancel("a", "LV-1"), says("DONE")]).await;
        assert_eq!((ran.answer(), person.asked(), server.calls().len()), ("DONE", 1, 2));
        assert!(ran.results()[0].contains(said), "{}", ran.results()[0]);
        let at = |wanted: fn(&LoopEvent) -> bool| ran.events.iter().position(wanted).unwrap();
        let logged = ran
            .events
            .iter()
            .find_map(|e| if let LoopEvent::Reply { action, by, .. } = e { Some((*action, *by)) } else { None });
        assert_eq!(logged, Some((action, ReplyBy::Person)));
        let order = [
            at(|e| matches!(e, LoopEvent::ToolCall { .. })),
            at(|e| matches!(e, LoopEvent::Question { .. })),
            at(|e| matches!(e, LoopEvent::Reply { .. })),
            at(|e| matches!(e, LoopEvent::ToolResult { .. })),
        ];
        assert!(order.is_sorted(), "{order:?}");
        ran.results()[0].contains("Their no is final")
    };
    assert!(!check(ElicitReply::Accept(json!({ "yes": true })), ReplyAction::Accept, "\"accept\"").await);
    assert!(check(ElicitReply::Decline, ReplyAction::Decline, "\"decline\"").await);
    assert!(!check(ElicitReply::Cancel, ReplyAction::Cancel, "\"cancel\"").await, "putting away is no decision");
}

#[tokio::test]
async fn what_a_person_refused_a_server_is_not_reached_by_another_call() {
    let other = calls("c", &[("set_status", "{\"leave_id\":\"LV-1\"}"), ("set_status", "{\"leave_id\":\"LV-2\"}")]);
    let replies = vec![cancel("a", "LV-1"), cancel("b", "LV-1"), other, says("DONE")];
    let (ran, person, server) = asking_server(ElicitReply::Decline, replies).await;
    let results = ran.results();
    assert!(results[1].contains("said no to this before"), "{}", results[1]);
    assert!(results[2].contains("said no to this call"), "another change of LV-1 is asked about: {}", results[2]);
    assert_eq!((results[3].as_str(), person.asked()), ("status set", 2));
    assert_eq!(server.calls().len(), 3, "{:?}", server.calls());
    let declined =
        ran.events.iter().filter(|e| matches!(e, LoopEvent::ToolResult { status: ToolStatus::Declined, .. }));
    assert_eq!(declined.count(), 2);
}

#[tokio::test]
async fn a_no_ends_the_run_where_that_is_wanted() {
    let (tool, person) = (update(), Person::answering(ElicitReply::Decline));
    let approvals = Approvals { stop_on_decline: true, ..policy(ApprovalPolicy::Destructive) };
    let ran = asking(&with_policy(&tool, approvals).await, Some(&person), twice()).await;
    assert_eq!((ran.reason().as_str(), ran.end.steps, person.asked()), ("cancelled", 1, 1));
    assert_eq!(ran.end.stop.message, "the person said no, and that ends this run");
}

/// A person who thinks for a while, and then says yes.
struct Slow(Duration);

#[async_trait]
impl Ask for Slow {
    async fn ask(&self, _: Question) -> ElicitReply {
        tokio::time::sleep(self.0).await;
        ElicitReply::Accept(json!({}))
    }
}

#[tokio::test(start_paused = true)]
async fn a_runs_time_stands_still_while_a_person_thinks_and_they_are_not_waited_for_without_end() {
    let check = async |thinks: u64, calls_made: usize| {
        let tool = update();
        let limits =
            Limits { wall_time: Duration::from_secs(5), approval_wait: Duration::from_secs(100), ..Limits::default() };
        let agent = Agent { limits, ..with_policy(&tool, policy(ApprovalPolicy::Destructive)).await };
        let mut setup = setup(Script::new(twice()));
        setup.with.ask = Some(Arc::new(Slow(Duration::from_secs(thinks))));
        let ran = setup.run(&agent, &mut Default::default()).await;
        assert_eq!((ran.answer(), tool.calls().len()), ("DONE", calls_made));
    };
    check(50, 3).await;
    check(150, 0).await;
}

#[tokio::test]
async fn a_question_that_belongs_to_no_run_is_put_away() {
    let question = Elicitation {
        server: "hr".to_owned(),
        tool: None,
        message: "Really?".to_owned(),
        schema: json!({ "type": "object" }),
    };
    assert_eq!(Elicitations::default().elicit(question).await, ElicitReply::Cancel);
}
