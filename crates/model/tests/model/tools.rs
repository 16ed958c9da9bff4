//! Tools are offered, called and answered; what no provider would take is refused.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use bylaw_model::{
    ActionMode, ChatMessage, ChatModel, ChatReply, ChatRequest, Connection, CountingMeter, FinishReason, ModelError,
    Purpose, Recorder, Replay, ToolCallRequest, ToolChoice, ToolDefinition,
    scripted::{Script, ScriptedReply, ScriptedRequest},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const KEYWORD: &str = r#"{"keyword": "家庭"}"#;

fn tool(name: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition { name: name.to_owned(), description: "Finds leaves.".to_owned(), parameters }
}

fn search() -> ToolDefinition {
    tool(
        "search_leaves",
        json!({"type": "object", "properties": {"keyword": {"type": "string"}}, "required": ["keyword"]}),
    )
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCallRequest {
    ToolCallRequest { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
}

fn asking(calls: &[ToolCallRequest]) -> ChatMessage {
    ChatMessage::Assistant { content: String::new(), reasoning: None, tool_calls: calls.to_vec() }
}

fn request(messages: Vec<ChatMessage>) -> ChatRequest {
    ChatRequest { tools: [search()].into(), ..ChatRequest::new(Purpose::AgentTurn, messages, 500) }
}

fn meter() -> Arc<CountingMeter> {
    Arc::new(CountingMeter::default())
}

async fn ask(model: &ChatModel, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    ChatReply::collect(model.chat(request, CancellationToken::new()).await?).await
}

#[tokio::test]
async fn a_call_and_its_result_go_round() {
    let thinking = ScriptedReply::ToolCalls {
        text: "看看".to_owned(),
        reasoning: Some("think-42".to_owned()),
        calls: vec![call("c1", "search_leaves", KEYWORD), call("c2", "search_leaves", "{}")],
        finish_reason: "tool_calls".to_owned(),
    };
    let script = Script::new([thinking, ScriptedReply::text("七日")]);
    let model = ChatModel::scripted(script.clone(), meter());
    let mut asked = request(vec![ChatMessage::user("事假?")]);
    let reply = ask(&model, &asked).await.unwrap();
    assert_eq!(reply.tool_calls, [call("c1", "search_leaves", KEYWORD), call("c2", "search_leaves", "{}")]);
    assert_eq!((reply.text.as_str(), reply.finish_reason.clone()), ("看看", FinishReason::ToolCalls));
    asked.messages.extend([reply.message(), ChatMessage::tool("c1", "[]"), ChatMessage::tool("c2", "[]")]);
    assert_eq!(ask(&model, &asked).await.unwrap().text, "七日");
    let requests = script.requests();
    assert_eq!(requests[0].tools, [search()]);
    assert_eq!(requests[1].messages, asked.messages, "as it was, reasoning included");
    assert_eq!(requests[1].results(), ["[]", "[]"]);
}

#[tokio::test]
async fn what_a_strict_server_would_not_read_is_sent_so_that_it_does() {
    let script = Script::new([ScriptedReply::text("ok")]);
    let broken = [call("c1", "search leaves!", r#"{"keyword": "#), call("c2", "", "[7]"), call("c3", "f", " ")];
    let results = ["c1", "c2", "c3"].map(|id| ChatMessage::tool(id, "say it again"));
    let messages = [ChatMessage::user("hi"), asking(&broken)].into_iter().chain(results).collect();
    assert!(ask(&ChatModel::scripted(script.clone(), meter()), &request(messages)).await.is_ok());
    let expected = [call("c1", "search_leaves_", "{}"), call("c2", "unknown", "{}"), call("c3", "f", "{}")];
    assert_eq!(script.requests()[0].messages[1].tool_calls(), expected);
}

#[tokio::test]
async fn a_request_with_tools_has_this_form() {
    let script = Script::new([ScriptedReply::text("ok")]);
    let out = Written::default();
    let connection = Connection::scripted(script).recorded(Recorder::new(out.clone()));
    let mut asked = request(vec![
        ChatMessage::user("hi"),
        asking(&[call("c1", "search_leaves", KEYWORD)]),
        ChatMessage::tool("c1", "[]"),
    ]);
    asked.tool_choice = ToolChoice::Tool("search_leaves".to_owned());
    asked.parallel_tool_calls = Some(false);
    ask(&connection.metered(meter()), &asked).await.unwrap();
    let exchange: Value = serde_json::from_str(&out.text()).unwrap();
    insta::assert_json_snapshot!(exchange["request"]);
}

#[tokio::test]
async fn a_strict_provider_refuses() {
    let check = async |request: ChatRequest, expected: &str| {
        let script = Script::always(ScriptedReply::text("ok"));
        let end = ask(&ChatModel::scripted(script, meter()), &request).await;
        match (expected, end) {
            ("", end) => assert!(end.is_ok(), "{end:?}"),
            (fault, Err(ModelError::Status { status: 400, message, .. })) => {
                assert!(message.contains(fault), "{message}");
            }
            (fault, end) => panic!("{fault}: {end:?}"),
        }
    };
    let user = || ChatMessage::user("hi");
    let c1 = || asking(&[call("c1", "f", "{}")]);
    let of = |messages: &[ChatMessage]| request(messages.to_vec());
    check(of(&[user(), c1(), ChatMessage::tool("c1", "")]), "").await;
    check(of(&[user(), ChatMessage::tool("c1", "x")]), "answers no call").await;
    check(of(&[user(), c1(), ChatMessage::tool("c2", "x")]), "answers no call").await;
    check(of(&[user(), c1(), ChatMessage::tool("c1", "x"), ChatMessage::tool("c1", "x")]), "answers no call").await;
    check(of(&[user(), c1()]), "did not have response messages: c1").await;
    check(of(&[user(), c1(), user(), ChatMessage::tool("c1", "x")]), "did not have response messages: c1").await;
    let twice = asking(&[call("c1", "f", "{}"), call("c1", "f", "{}")]);
    check(of(&[user(), twice, ChatMessage::tool("c1", "x"), ChatMessage::tool("c1", "x")]), "not unique").await;
    check(of(&[user(), c1(), ChatMessage::tool("c1", "x"), c1(), ChatMessage::tool("c1", "x")]), "not unique").await;
    check(of(&[user(), ChatMessage::assistant("")]), "blank").await;
    let with = |tools: Vec<ToolDefinition>| ChatRequest { tools: tools.into(), ..of(&[user()]) };
    let object = |fields: Value| json!({"type": "object", "properties": fields});
    check(with(vec![tool("hr.leave/search", object(json!({})))]), "legal name").await;
    check(with(vec![tool(&"x".repeat(65), object(json!({})))]), "legal name").await;
    check(with(vec![search(), search()]), "two tools are called").await;
    check(with((0..129).map(|n| tool(&format!("t{n}"), object(json!({})))).collect()), "more than 128").await;
    check(with(vec![tool("f", json!({"type": "object"}))]), "misses properties").await;
    check(with(vec![tool("f", json!({}))]), "not of type").await;
    check(with(vec![tool("f", object(json!({"x": {"type": "array"}})))]), "missing items").await;
    check(with(vec![tool("f", object(json!({"x": {"type": "text"}})))]), "is no type").await;
    check(with(vec![tool("f", object(json!({"x": {"$ref": "#/$defs/X"}})))]), "leads nowhere").await;
    check(with(vec![tool("f", object(json!({"x": {"enum": []}})))]), "no list of values").await;
    check(with(vec![tool("f", object(json!({"x": {"required": "y"}})))]), "no list of names").await;
    check(with(vec![tool("f", object(json!({"x": {"type": ["object", "null"], "anyOf": [true]}})))]), "").await;
    let choice = ToolChoice::Tool("other".to_owned());
    check(ChatRequest { tool_choice: choice, ..of(&[user()]) }, "not among the tools").await;
}

#[test]
fn a_history_that_was_not_repaired_is_refused_too() {
    let check = |call: Value, expected: &str| {
        let request = json!({
            "model": "m", "max_tokens": 9, "stream": true,
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "x"},
            ],
        });
        let request: ScriptedRequest = serde_json::from_value(request).unwrap();
        let fault = request.fault().unwrap_or_default();
        assert!(fault.contains(expected) && (expected.is_empty() == fault.is_empty()), "{fault}");
    };
    let call = |name: &str, arguments: &str| json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
    check(call("f", "{}"), "");
    check(call("f", ""), "not a JSON object");
    check(call("f", "[]"), "not a JSON object");
    check(call("f", "{\"x\""), "not a JSON object");
    check(call("a.b", "{}"), "not the name of a tool");
}

#[tokio::test]
async fn a_model_that_cannot_call_tools_calls_them_in_words() {
    for mode in [ActionMode::JsonSchema, ActionMode::Fenced] {
        let action = format!(r#"{{"name":"search_leaves","arguments":{KEYWORD}}}"#);
        let (first, last) = match mode {
            ActionMode::Fenced => (format!("看看\n```json\n{action}\n```"), "七日".to_owned()),
            ActionMode::Native | ActionMode::JsonSchema => {
                (action, r#"{"name":"final_answer","arguments":{"text":"七日"}}"#.to_owned())
            }
        };
        let script = Script::new([ScriptedReply::text(&first), ScriptedReply::text(&last)]);
        let model = Connection::scripted(script.clone()).with_actions(mode).metered(meter());
        let mut asked = request(vec![ChatMessage::user("事假?")]);
        let reply = ask(&model, &asked).await.unwrap();
        let expected = call("call_1_0", "search_leaves", r#"{"keyword":"家庭"}"#);
        assert_eq!((reply.tool_calls.as_slice(), &reply.finish_reason), (&[expected][..], &FinishReason::ToolCalls));
        asked.messages.extend([reply.message(), ChatMessage::tool("call_1_0", "[]")]);
        let reply = ask(&model, &asked).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish_reason), ("七日", FinishReason::Stop));
        let told = &script.requests()[1];
        assert!(told.tools.is_empty() && told.messages.iter().all(|said| said.tool_calls().is_empty()));
        assert_eq!(told.messages.last().unwrap(), &ChatMessage::user("Result of search_leaves:\n[]"));
        assert_eq!(told.response_format.is_some(), mode == ActionMode::JsonSchema);
    }
}

#[tokio::test]
async fn a_probe_finds_the_best_way_to_give_tools() {
    let check = async |native: ScriptedReply, schema: ScriptedReply, fenced: &str, expected: Result<_, u16>| {
        let fenced = ScriptedReply::text(fenced);
        let script = Script::answering(move |asked: &ScriptedRequest| {
            let in_words = if asked.response_format.is_some() { &schema } else { &fenced };
            if asked.tools.is_empty() { in_words.clone() } else { native.clone() }
        });
        let found = ChatModel::scripted(script, meter()).probe_actions(CancellationToken::new()).await;
        let found = found.map_err(|error| if let ModelError::Status { status, .. } = error { status } else { 0 });
        assert_eq!(found, expected);
    };
    let refused = |status| ScriptedReply::Status { status, message: "no tools here".to_owned(), retry_after: None };
    let call = r#"{"name":"report_word","arguments":{"word":"ready"}}"#;
    let native = ScriptedReply::calls(1, &[("report_word", r#"{"word":"ready"}"#)]);
    let text = || ScriptedReply::text("ready");
    check(native, text(), "ready", Ok(Some(ActionMode::Native))).await;
    check(refused(400), ScriptedReply::text(call), "ready", Ok(Some(ActionMode::JsonSchema))).await;
    check(text(), refused(400), &format!("```json\n{call}\n```"), Ok(Some(ActionMode::Fenced))).await;
    check(text(), text(), "ready", Ok(None)).await;
    check(refused(401), text(), call, Err(401)).await;
}

/// A file in memory.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn what_was_recorded_can_be_told_again() {
    let out = Written::default();
    let asked = |text: &str| request(vec![ChatMessage::user(text)]);
    let failure = ScriptedReply::Status { status: 503, message: "busy".to_owned(), retry_after: None };
    let replies = [
        ScriptedReply::calls(1, &[("search_leaves", KEYWORD)]),
        failure,
        ScriptedReply::Unreachable,
        ScriptedReply::text("七日"),
    ];
    let questions = ["a", "b", "c", "a"];
    let outcomes = async |connection: &Connection| {
        let model = connection.metered(meter());
        let mut told = Vec::new();
        for question in questions {
            told.push(ask(&model, &asked(question)).await.map_err(|error| error.code()));
        }
        told
    };
    let recorded = outcomes(&Connection::scripted(Script::new(replies)).recorded(Recorder::new(out.clone()))).await;
    assert_eq!(out.text().lines().count(), 4);
    let replay = Replay::read(&out.text()).unwrap();
    let connection = Connection::replayed(replay.clone());
    assert_eq!(outcomes(&connection).await, recorded);
    assert_eq!(replay.left(), 0);
}

#[tokio::test]
async fn a_request_that_was_not_recorded_fails_loudly() {
    let out = Written::default();
    let asked = |text: &str| request(vec![ChatMessage::user(text)]);
    let connection =
        Connection::scripted(Script::always(ScriptedReply::text("七日"))).recorded(Recorder::new(out.clone()));
    ask(&connection.metered(meter()), &asked("a")).await.unwrap();
    let model = Connection::replayed(Replay::read(&out.text()).unwrap()).metered(meter());
    let check = async |question: &str, expected: &str| {
        let error = ask(&model, &asked(question)).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::Status { status: 501, .. }) && error.to_string().contains(expected),
            "{error}"
        );
    };
    check("b", "does not hold this request; the next recorded one differs at `/messages/0/content`").await;
    ask(&model, &asked("a")).await.unwrap();
    check("a", "holds this request 1 times, and all were told").await;
    check("b", "is at its end").await;
    let error = Replay::read("\n{\"request\":1}").unwrap_err();
    assert_eq!(error.line, 2);
}
