//! Calls that failed are tried again, and never longer than their caller waits.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bylaw_contract::Randomness;
use bylaw_model::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, Connection, CountingMeter, ModelError, Purpose, Reasoning,
    ReasoningField, Retries,
    scripted::{Script, ScriptedEnd, ScriptedReply, ScriptedRequest},
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Always the same byte.
struct Same(u8);

impl Randomness for Same {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0);
    }
}

fn patient(script: &Script, attempts: u32, random: u8) -> (ChatModel, CountingMeter) {
    let meter = CountingMeter::default();
    let connection = Connection::scripted(script.clone()).with_retries(Retries::new(attempts, Arc::new(Same(random))));
    (connection.metered(Arc::new(meter.clone())), meter)
}

fn question() -> ChatRequest {
    ChatRequest::new(Purpose::AgentTurn, vec![ChatMessage::user("特休幾天?")], 50)
}

async fn ask(model: &ChatModel, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    ChatReply::collect(model.chat(request, CancellationToken::new()).await?).await
}

fn status(status: u16, retry_after: Option<u64>) -> ScriptedReply {
    let retry_after = retry_after.map(Duration::from_secs);
    ScriptedReply::Status { status, message: "slow down".to_owned(), retry_after }
}

/// A script of these replies and a good one, and the moments at which it was asked.
fn timed(replies: impl IntoIterator<Item = ScriptedReply>) -> (Script, Arc<Mutex<Vec<Instant>>>) {
    let replies = Mutex::new(replies.into_iter().chain([ScriptedReply::text("七日")]).collect::<Vec<_>>());
    let moments = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&moments);
    let script = Script::answering(move |_: &ScriptedRequest| {
        record.lock().unwrap().push(Instant::now());
        let mut replies = replies.lock().unwrap();
        if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
    });
    (script, moments)
}

fn waits(moments: &Mutex<Vec<Instant>>) -> Vec<u128> {
    moments.lock().unwrap().windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_is_tried_again_after_a_wait() {
    let check = async |failures: &[ScriptedReply], random: u8, expected: &[u128]| {
        let (script, moments) = timed(failures.to_vec());
        let (model, meter) = patient(&script, 4, random);
        assert_eq!(ask(&model, &question()).await.unwrap().text, "七日");
        assert_eq!(waits(&moments), expected, "{failures:?}");
        let counts = meter.snapshot();
        let attempts = failures.len() as u64 + 1;
        assert_eq!((counts.attempts, counts.settled, counts.reported), (attempts, attempts, 1), "each has its permit");
    };
    // As long as told, and up to a tenth longer.
    check(&[status(429, Some(3))], 0, &[3_000]).await;
    check(&[status(429, Some(3))], 255, &[3_300]).await;
    check(&[status(503, Some(20))], 255, &[21_000]).await;
    // Where nothing is told: twice as long each time, between half of it and all.
    check(&[status(429, None), status(500, None), status(529, None)], 0, &[250, 500, 1_000]).await;
    check(&[status(502, None), status(504, None)], 255, &[500, 1_000]).await;
    check(&[ScriptedReply::ending([""; 0], ScriptedEnd::Cut)], 0, &[250]).await;
    check(&[ScriptedReply::Raw("data: {\"error\":{\"message\":\"no slot\",\"code\":503}}\n\n".to_owned())], 0, &[250])
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_was_not_sent_is_tried_again_too() {
    let script = Script::new([ScriptedReply::Unreachable, ScriptedReply::text("七日")]);
    let (model, meter) = patient(&script, 2, 0);
    assert_eq!(ask(&model, &question()).await.unwrap().text, "七日");
    assert_eq!((meter.snapshot().not_sent, meter.snapshot().reported), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_told_at_once() {
    let check = async |failure: ScriptedReply, attempts: u32| {
        let (script, moments) = timed([failure.clone()]);
        let (model, _) = patient(&script, attempts, 0);
        let before = Instant::now();
        assert!(ask(&model, &question()).await.is_err(), "{failure:?}");
        assert_eq!((waits(&moments).len(), Instant::now() - before), (0, Duration::ZERO), "{failure:?}");
    };
    for code in [400, 401, 403, 404, 422] {
        check(status(code, Some(1)), 4).await;
    }
    check(status(429, Some(31)), 4).await;
    check(status(429, Some(1)), 1).await;
    let used_up = "You exceeded your current quota, please check your plan".to_owned();
    check(ScriptedReply::Status { status: 429, message: used_up, retry_after: None }, 4).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_tried_again_after_the_first_piece() {
    let script = Script::new([ScriptedReply::ending(["七"], ScriptedEnd::Cut), ScriptedReply::text("七日")]);
    let (model, meter) = patient(&script, 4, 0);
    assert!(matches!(ask(&model, &question()).await, Err(ModelError::Incomplete)));
    assert_eq!(meter.snapshot().attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn there_are_at_most_so_many_attempts_and_the_last_failure_is_told() {
    let script = Script::always(status(503, None));
    let (model, meter) = patient(&script, 3, 0);
    assert!(matches!(ask(&model, &question()).await, Err(ModelError::Status { status: 503, .. })));
    assert_eq!((meter.snapshot().attempts, meter.snapshot().settled), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn no_wait_goes_past_the_deadline() {
    let request = |wait| ChatRequest { deadline: Some(Instant::now() + Duration::from_secs(wait)), ..question() };
    let (script, moments) = timed([status(429, Some(3))]);
    let (model, _) = patient(&script, 4, 0);
    let before = Instant::now();
    let error = ask(&model, &request(3)).await.unwrap_err();
    assert!(matches!(error, ModelError::Status { status: 429, retry_after: Some(_), .. }), "{error:?}");
    assert_eq!((moments.lock().unwrap().len(), Instant::now() - before), (1, Duration::ZERO));
    let (script, moments) = timed([status(429, Some(3))]);
    assert!(ask(&patient(&script, 4, 0).0, &request(4)).await.is_ok());
    assert_eq!(waits(&moments), [3_000]);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_cuts_an_attempt_also_while_it_is_told() {
    let check = async |reply: ScriptedReply| {
        let script = Script::always(reply).with_patience(Duration::from_secs(600));
        let (model, meter) = patient(&script, 4, 0);
        let deadline = Instant::now() + Duration::from_secs(2);
        let error = ask(&model, &ChatRequest { deadline: Some(deadline), ..question() }).await.unwrap_err();
        assert!(matches!(error, ModelError::TimedOut { waited } if waited == Duration::from_secs(2)), "{error:?}");
        assert_eq!((Instant::now(), meter.snapshot().settled), (deadline, 1));
    };
    check(ScriptedReply::NeverAnswers).await;
    check(ScriptedReply::text("late").after(Duration::from_secs(3))).await;
    check(ScriptedReply::ending(["七"], ScriptedEnd::Stalls)).await;
}

#[tokio::test(start_paused = true)]
async fn a_limit_keeps_everyone_of_the_connection_quiet() {
    let (script, moments) = timed([status(429, Some(3))]);
    let (model, _) = patient(&script, 4, 0);
    let question = question();
    let (first, second) = tokio::join!(ask(&model, &question), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        ask(&model, &question).await
    });
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(waits(&moments), [3_000, 0]);
    // Whoever cannot wait so long is told.
    let (script, _) = timed([status(429, Some(3))]);
    let (model, meter) = patient(&script, 1, 0);
    ask(&model, &question).await.unwrap_err();
    let deadline = Some(Instant::now() + Duration::from_secs(1));
    let error = ask(&model, &ChatRequest { deadline, ..question }).await.unwrap_err();
    assert!(matches!(error, ModelError::Status { status: 429, .. }), "{error:?}");
    assert_eq!(meter.snapshot().attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn cancelling_ends_a_wait() {
    let script = Script::always(status(429, Some(20)));
    let (model, _) = patient(&script, 4, 0);
    let cancel = CancellationToken::new();
    let question = question();
    let (result, ()) = tokio::join!(model.chat(&question, cancel.clone()), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert!(matches!(result.err(), Some(ModelError::Cancelled)));
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_named() {
    let check = async |reply: ScriptedReply| {
        let (model, _) = patient(&Script::always(reply.clone()), 4, 0);
        let error = ask(&model, &question()).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::ContextTooLong { message } if !message.is_empty()),
            "{reply:?}: {error:?}"
        );
    };
    let refused = |message: &str| ScriptedReply::Status { status: 400, message: message.to_owned(), retry_after: None };
    check(refused("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000."))
        .await;
    check(refused("the request exceeds the available context size, try increasing it")).await;
    check(refused("prompt is too long: 210000 tokens > 200000 maximum")).await;
    check(refused("Requested token count exceeds the model's maximum context length of 4096 tokens")).await;
    check(ScriptedReply::Raw(r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#.to_owned())).await;
}

#[tokio::test]
async fn a_field_that_is_refused_is_left_out_from_there_on() {
    let thought = Reasoning { text: "think-42".to_owned(), field: ReasoningField::ReasoningContent };
    let before =
        ChatMessage::Assistant {
            content: "七日".to_owned(), reasoning: Some(thought.clone()), tool_calls: Vec::new()
        };
    let request =
        ChatRequest { messages: vec![ChatMessage::user("hi"), before, ChatMessage::user("so?")], ..question() };
    let script = Script::answering(|request: &ScriptedRequest| {
        let refuse =
            |message: &str| ScriptedReply::Status { status: 400, message: message.to_owned(), retry_after: None };
        if request.stream_options.is_some() {
            refuse("Unknown parameter: 'stream_options'")
        } else if request.messages.iter().any(|said| matches!(said, ChatMessage::Assistant { reasoning: Some(_), .. }))
        {
            refuse("property 'reasoning_content' is unsupported")
        } else {
            ScriptedReply::text("ok")
        }
    });
    let meter = CountingMeter::default();
    let model = ChatModel::scripted(script.clone(), Arc::new(meter.clone()));
    assert_eq!(ask(&model, &request).await.unwrap().text, "ok");
    assert_eq!(ask(&model, &request).await.unwrap().text, "ok");
    assert_eq!((script.requests().len(), meter.snapshot().attempts), (4, 4), "two refusals, learned for good");
    // Unless it is required.
    let script = Script::answering(|_: &ScriptedRequest| ScriptedReply::Status {
        status: 400,
        message: "The reasoning_content in the thinking mode must be passed back to the API.".to_owned(),
        retry_after: None,
    });
    ask(&ChatModel::scripted(script.clone(), Arc::new(CountingMeter::default())), &request).await.unwrap_err();
    let sent = &script.requests()[0].messages[1];
    assert!(matches!(sent, ChatMessage::Assistant { reasoning: Some(sent), .. } if *sent == thought));
    assert_eq!(script.requests().len(), 1);
}
