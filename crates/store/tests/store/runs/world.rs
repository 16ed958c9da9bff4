//! What the tests share.

use std::sync::Arc;

use bylaw_agent::{
    Conversation, ConversationRecord, GivenReply, NewRun, Owner, Purpose, RunRecord, RunStore, RunWrite, Written,
};
use bylaw_contract::{
    ArtifactId, ConversationId, KeyId, LoopEvent, OwnerId, RequestId, RunEvent, RunId, StopReason, Timestamp,
    TokenUsage,
    ask::Mode,
    loop_event::{QuestionKind, ReplyAction, ReplyBy},
    runs::RunReply,
};
use serde_json::json;

pub(crate) type Store = Arc<dyn RunStore>;

pub(crate) fn id(number: u64) -> RunId {
    RunId::new(format!("run_{number:024x}")).unwrap()
}

pub(crate) fn talk(number: u64) -> ConversationId {
    ConversationId::new(format!("cnv_{number:024x}")).unwrap()
}

pub(crate) fn artifact_id(number: u64) -> ArtifactId {
    ArtifactId::new(format!("art_{number:024x}")).unwrap()
}

pub(crate) fn process(number: u64) -> OwnerId {
    OwnerId::new(format!("own_{number:024x}")).unwrap()
}

pub(crate) fn key(number: u64) -> Owner {
    Owner::Key(KeyId::new(format!("key_{number:024x}")).unwrap())
}

/// An agent's run that begins at its own number.
pub(crate) fn new(number: u64) -> NewRun {
    NewRun {
        id: id(number),
        owner: key(1),
        purpose: Purpose::Agent("leave".to_owned()),
        model: Some("small".to_owned()),
        conversation: None,
        message: "請把 \"假單\"\n\u{0}送出".to_owned(),
        request_id: RequestId::new(format!("\"{number}\\")).unwrap(),
        started_at: at(number),
    }
}

pub(crate) fn ask(number: u64, mode: Mode) -> NewRun {
    NewRun { owner: Owner::LocalDoor, purpose: Purpose::Ask(mode), model: None, ..new(number) }
}

pub(crate) fn at(number: u64) -> Timestamp {
    Timestamp(i64::try_from(number).unwrap())
}

pub(crate) fn begin(run: NewRun) -> RunWrite {
    RunWrite::Begin(Box::new(run), process(1))
}

pub(crate) fn event(run: u64, event: impl Into<RunEvent>) -> RunWrite {
    RunWrite::Event { run: id(run), at: at(run + 1), event: Box::new(event.into()) }
}

pub(crate) fn give_back(run: u64, when: u64, said: Option<&Conversation>) -> RunWrite {
    RunWrite::GiveBack { run: id(run), at: at(when), conversation: said.cloned().map(Box::new) }
}

/// An event that says which one it is.
pub(crate) fn step(number: u32) -> RunEvent {
    RunEvent::Loop(LoopEvent::ModelCall { step: number, tools: 2, last: false })
}

pub(crate) fn step_of(event: &RunEvent) -> u32 {
    match event {
        RunEvent::Loop(LoopEvent::ModelCall { step, .. }) => *step,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn ended(reason: StopReason) -> RunEvent {
    RunEvent::Loop(LoopEvent::Ended {
        reason,
        code: (reason == StopReason::Failed).then(|| "upstream_failed".to_owned()),
        message: "\u{0}over".to_owned(),
        answer: None,
        steps: 1,
        tool_calls: 1,
        usage: TokenUsage { input_tokens: 7, output_tokens: 5, ..TokenUsage::default() },
    })
}

pub(crate) fn question(number: u32) -> RunEvent {
    RunEvent::Loop(LoopEvent::Question {
        id: number,
        kind: QuestionKind::Elicitation,
        server: Some("hr".to_owned()),
        tool: None,
        arguments: None,
        message: "Which day?".to_owned(),
        schema: Some(json!({ "type": "object", "properties": { "day": { "type": "string" } } })),
    })
}

pub(crate) fn told(number: u32, action: ReplyAction, by: ReplyBy) -> RunEvent {
    RunEvent::Loop(LoopEvent::Reply { id: number, action, content: None, by })
}

pub(crate) fn given(number: u64) -> GivenReply {
    let content = Some(json!({ "day": number.to_string() }));
    GivenReply { reply: RunReply { action: ReplyAction::Accept, content }, by: Some(key(number)), at: at(number) }
}

pub(crate) fn conversation(number: u64) -> ConversationRecord {
    ConversationRecord {
        id: talk(number),
        owner: key(1),
        title: format!("假 {number}"),
        agent: Some("leave".to_owned()),
        created_at: at(number),
        updated_at: at(number),
        busy: None,
    }
}

/// What was said, as a store reads it.
pub(crate) fn said(text: &str) -> Conversation {
    serde_json::from_value(json!({ "messages": [{ "role": "user", "content": text }], "artifacts": [artifact_id(1)] }))
        .unwrap()
}

pub(crate) async fn write(store: &Store, batch: Vec<RunWrite>) -> Vec<Written> {
    store.write(batch).await.unwrap()
}

pub(crate) async fn run(store: &Store, number: u64) -> RunRecord {
    store.run(&id(number)).await.unwrap().unwrap()
}

/// The numbers and steps of a run's events.
pub(crate) async fn steps(store: &Store, number: u64) -> Vec<(u64, u32)> {
    let events = store.events(&id(number), 0, usize::MAX).await.unwrap();
    events.iter().map(|event| (event.number, step_of(&event.event))).collect()
}
