//! The scripted model keeps the promises of a real one.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bylaw_contract::TokenUsage;
use bylaw_model::{
    Attempt, ChatDelta, ChatMessage, ChatModel, ChatRequest, CountingMeter, FinishReason, Meter, MeterCounts,
    ModelError, Permit, Purpose, Refused, Role, Settlement,
    scripted::{Script, ScriptedEnd, ScriptedReply},
};
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

fn request(messages: &[(Role, &str)]) -> ChatRequest {
    let message = |&(role, content): &(Role, &str)| match role {
        Role::System => ChatMessage::system(content),
        Role::User => ChatMessage::user(content),
        Role::Assistant | Role::Tool => ChatMessage::assistant(content),
    };
    ChatRequest::new(Purpose::Answer, messages.iter().map(message).collect(), 50)
}

fn question() -> ChatRequest {
    request(&[(Role::System, "Answer."), (Role::User, "特休幾天?")])
}

/// All text of a reply, and how it ended.
async fn ask(model: &ChatModel, request: &ChatRequest) -> (String, Result<ChatDelta, ModelError>) {
    let mut text = String::new();
    let mut stream = match model.chat(request, CancellationToken::new()).await {
        Ok(stream) => stream,
        Err(error) => return (text, Err(error)),
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(ChatDelta::Text(piece)) => text.push_str(&piece),
            end => {
                assert!(stream.next().await.is_none(), "nothing comes after the end");
                return (text, end);
            }
        }
    }
    panic!("the stream had no end");
}

#[tokio::test]
async fn each_reply_ends_and_is_settled_as_scripted() {
    let one = |counts: MeterCounts| MeterCounts { attempts: 1, settled: 1, ..counts };
    let usage = TokenUsage { input_tokens: 100, output_tokens: 4, ..TokenUsage::default() };
    let check = async |reply: ScriptedReply, text: &str, end: &str, counts: MeterCounts| {
        let meter = CountingMeter::default();
        let script = Script::new([reply.clone()]).with_patience(Duration::from_millis(20));
        let (told, ended) = ask(&ChatModel::scripted(script, Arc::new(meter.clone())), &question()).await;
        let ended = ended.map_or_else(|error| error.to_string(), |end| format!("{end:?}"));
        assert!(told == text && ended.contains(end), "{reply:?}: {told} {ended}");
        assert_eq!(meter.snapshot(), one(counts), "{reply:?}");
    };
    let reported = MeterCounts { reported: 1, usage, ..MeterCounts::default() };
    let unreported = |text_bytes| MeterCounts { unreported: 1, text_bytes, ..MeterCounts::default() };
    check(ScriptedReply::pieces(["七日", "之內"]), "七日之內", "Stop", reported).await;
    let silent = ScriptedEnd::Finished { finish_reason: FinishReason::Length, usage: None };
    check(ScriptedReply::ending(["七日"], silent), "七日", "Length", unreported(6)).await;
    check(ScriptedReply::ending(["七日"], ScriptedEnd::Cut), "七日", "before it was complete", unreported(6)).await;
    check(ScriptedReply::ending(["七日"], ScriptedEnd::Error("full".to_owned())), "七日", "200: full", unreported(6))
        .await;
    check(ScriptedReply::ending(["七日"], ScriptedEnd::Stalls), "七日", "within 20ms", unreported(6)).await;
    check(ScriptedReply::ending([""; 0], ScriptedEnd::Cut), "", "before it was complete", unreported(0)).await;
    check(ScriptedReply::NeverAnswers, "", "within 20ms", unreported(0)).await;
    let retry_after = Some(Duration::from_secs(3));
    let busy = ScriptedReply::Status { status: 429, message: "slow down".to_owned(), retry_after };
    check(busy, "", "429: slow down", unreported(0)).await;
    check(ScriptedReply::Unreachable, "", "cannot reach", MeterCounts { not_sent: 1, ..MeterCounts::default() }).await;
}

#[tokio::test]
async fn a_request_that_no_provider_would_take_is_refused() {
    let check = async |request: ChatRequest, expected: Option<&str>| {
        let script = Script::always(ScriptedReply::text("ok"));
        let model = ChatModel::scripted(script.clone(), Arc::new(CountingMeter::default()));
        let (_, end) = ask(&model, &request).await;
        match expected {
            None => assert!(end.is_ok()),
            Some(fault) => assert!(
                matches!(&end, Err(ModelError::Status { status: 400, message, .. }) if message.contains(fault)),
                "{end:?}"
            ),
        }
        assert_eq!(script.requests().len(), 1);
    };
    check(question(), None).await;
    check(request(&[]), Some("messages must not be empty")).await;
    check(request(&[(Role::System, "Answer.")]), Some("user message")).await;
    check(request(&[(Role::User, " ")]), Some("blank")).await;
    check(ChatRequest { max_output_tokens: 0, ..question() }, Some("max_tokens")).await;
}

#[tokio::test]
async fn requests_are_recorded_and_replies_come_in_order() {
    let script = Script::new([ScriptedReply::text("one"), ScriptedReply::text("two")]);
    let model = ChatModel::scripted(script.clone(), Arc::new(CountingMeter::default()));
    assert_eq!(ask(&model, &question()).await.0, "one");
    assert_eq!(ask(&model.clone(), &question()).await.0, "two");
    let (_, end) = ask(&model, &question()).await;
    assert!(matches!(end, Err(ModelError::Status { status: 500, .. })));
    let requests = script.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].messages, question().messages);
    assert_eq!((requests[0].max_tokens, requests[0].model.as_str()), (50, model.name()));
}

#[tokio::test]
async fn a_reply_may_depend_on_its_request() {
    let script = Script::answering(|request| ScriptedReply::text(request.messages[1].content()));
    let model = ChatModel::scripted(script, Arc::new(CountingMeter::default()));
    assert_eq!(ask(&model, &question()).await.0, "特休幾天?");
}

#[tokio::test]
async fn cancelling_ends_the_stream_and_settles_what_came() {
    let meter = CountingMeter::default();
    let script =
        Script::new([ScriptedReply::ending(["七日"], ScriptedEnd::Stalls)]).with_patience(Duration::from_secs(600));
    let model = ChatModel::scripted(script, Arc::new(meter.clone()));
    let cancel = CancellationToken::new();
    let mut stream = model.chat(&question(), cancel.clone()).await.unwrap();
    cancel.cancel();
    assert_eq!(stream.next().await.unwrap().unwrap(), ChatDelta::Text("七日".to_owned()));
    assert!(matches!(stream.next().await, Some(Err(ModelError::Cancelled))));
    assert!(stream.next().await.is_none());
    assert_eq!((meter.snapshot().unreported, meter.snapshot().text_bytes), (1, 6));
}

#[tokio::test]
async fn a_call_that_is_cancelled_beforehand_is_no_attempt() {
    let meter = CountingMeter::default();
    let script = Script::new([]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = ChatModel::scripted(script.clone(), Arc::new(meter.clone())).chat(&question(), cancel).await;
    assert!(matches!(result, Err(ModelError::Cancelled)));
    assert_eq!((meter.snapshot(), script.requests().len()), (MeterCounts::default(), 0));
}

#[tokio::test]
async fn settled_before_the_end_is_told_and_when_the_stream_is_dropped() {
    let meter = CountingMeter::default();
    let model = ChatModel::scripted(Script::always(ScriptedReply::pieces(["ab", "cd"])), Arc::new(meter.clone()));
    let mut stream = model.chat(&question(), CancellationToken::new()).await.unwrap();
    assert_eq!(meter.snapshot().settled, 0);
    while let Some(item) = stream.next().await {
        assert_eq!(meter.snapshot().settled, u64::from(matches!(item, Ok(ChatDelta::End { .. }))));
    }
    let dropped = model.chat(&question(), CancellationToken::new()).await.unwrap();
    drop(dropped);
    assert_eq!((meter.snapshot().settled, meter.snapshot().text_bytes), (2, 2));
}

/// Admits nothing, and keeps what it was asked.
#[derive(Debug, Default)]
struct ClosedMeter(std::sync::Mutex<Vec<Attempt>>);

#[async_trait]
impl Meter for ClosedMeter {
    async fn admit(&self, attempt: &Attempt) -> Result<Box<dyn Permit>, Refused> {
        self.0.lock().unwrap().push(attempt.clone());
        Err(Refused { reason: "the day's budget is used up".to_owned() })
    }
}

#[tokio::test]
async fn nothing_leaves_without_a_permit() {
    let meter = Arc::new(ClosedMeter::default());
    let script = Script::new([]);
    let (_, end) = ask(&ChatModel::scripted(script.clone(), Arc::clone(&meter) as Arc<dyn Meter>), &question()).await;
    assert!(matches!(end, Err(ModelError::Refused(Refused { reason })) if reason.contains("budget")));
    assert!(script.requests().is_empty());
    let asked = meter.0.lock().unwrap().clone();
    assert_eq!((asked.len(), asked[0].max_output_tokens, asked[0].model.as_str()), (1, 50, "scripted"));
    let body = r#"{"model":"scripted","messages":[{"role":"system","content":"Answer."},{"role":"user","content":"特休幾天?"}],"max_tokens":50,"temperature":0,"stream":true,"stream_options":{"include_usage":true}}"#;
    assert_eq!(asked[0].prompt_token_bound, body.len() as u64 + 64);
}

/// Admits everything, for at most so many tokens.
#[derive(Debug)]
struct FrugalMeter(u32);

struct FrugalPermit(u32);

#[async_trait]
impl Meter for FrugalMeter {
    async fn admit(&self, _attempt: &Attempt) -> Result<Box<dyn Permit>, Refused> {
        Ok(Box::new(FrugalPermit(self.0)))
    }
}

impl Permit for FrugalPermit {
    fn max_output_tokens(&self) -> u32 {
        self.0
    }

    fn settle(self: Box<Self>, _settlement: Settlement) {}
}

#[tokio::test]
async fn a_permit_may_lower_what_is_asked_for_and_never_raise_it() {
    for (allowed, asked_for) in [(7, 7), (50, 50), (9_000, 50)] {
        let script = Script::new([ScriptedReply::text("seven")]);
        ask(&ChatModel::scripted(script.clone(), Arc::new(FrugalMeter(allowed))), &question()).await.1.unwrap();
        assert_eq!(script.requests()[0].max_tokens, asked_for, "{allowed}");
    }
}
