//! What is offered, and what is not.

use bylaw_contract::Language;
use bylaw_handover::HandoverSettings;
use serde_json::{Value, json};

use crate::support::{Pipe, ScriptedDoor};

async fn tools(settings: HandoverSettings) -> Vec<Value> {
    let mut pipe = Pipe::open_with(ScriptedDoor::of([]), settings).await;
    pipe.request("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone()
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().unwrap()
}

#[tokio::test]
async fn three_tools_and_nothing_else_in_either_language() {
    for (language, snapshot) in [(Language::TraditionalChinese, "tools_zh"), (Language::English, "tools_en")] {
        let tools = tools(HandoverSettings { language, ..HandoverSettings::default() }).await;
        assert_eq!(tools.iter().map(name).collect::<Vec<_>>(), ["search_rules", "read_article", "ask"]);
        insta::assert_json_snapshot!(snapshot, tools);
    }
}

#[tokio::test]
async fn two_more_names_for_clients_that_insist_on_them() {
    let tools = tools(HandoverSettings { aliases: true, ..HandoverSettings::default() }).await;
    assert_eq!(tools.iter().map(name).collect::<Vec<_>>(), ["search_rules", "read_article", "ask", "search", "fetch"]);
    let takes =
        |tool: &Value| tool["inputSchema"]["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!((takes(&tools[3]), takes(&tools[4])), (vec!["query".to_owned()], vec!["id".to_owned()]));
}

#[tokio::test]
async fn what_is_permission_or_spending_is_no_parameter() {
    let tools = tools(HandoverSettings { aliases: true, ..HandoverSettings::default() }).await;
    let expected = [
        ("search_rules", vec!["k", "query"]),
        // The source is part of an article's address here, and no filter.
        ("read_article", vec!["article", "source"]),
        ("ask", vec!["max_steps", "mode", "question"]),
        ("search", vec!["query"]),
        ("fetch", vec!["id"]),
    ];
    for (tool, (name, expected)) in tools.iter().zip(expected) {
        assert_eq!(tool["name"], name);
        let schema = &tool["inputSchema"];
        let mut takes: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        takes.sort_unstable();
        assert_eq!(takes, expected);
        assert_eq!(schema["additionalProperties"], false, "{name}");
    }
    for forbidden in
        ["source", "chapter_no", "max_cost", "max_twd", "max_wall_ms", "timeout", "key", "api_key", "use_cache", "k"]
    {
        assert!(tools[2]["inputSchema"]["properties"].get(forbidden).is_none(), "{forbidden}");
        let mut pipe = Pipe::open(ScriptedDoor::of([])).await;
        let mut arguments = json!({ "question": "事假幾天" });
        arguments[forbidden] = "x".into();
        let called = pipe.call("ask", arguments).await;
        assert!(called.is_error && called.text.contains(forbidden), "{}", called.text);
    }
}

#[tokio::test]
async fn descriptions_tell_a_model_what_not_to_do() {
    let all = |tools: Vec<Value>| tools.iter().map(|tool| tool["description"].to_string()).collect::<Vec<_>>();
    let chinese = all(tools(HandoverSettings::default()).await);
    assert!(chinese[0].contains("就算規章根本沒有規定，它也會列出最接近的幾條"), "{}", chinese[0]);
    assert!(chinese[0].contains("相似度不是把握程度"), "{}", chinese[0]);
    assert!(chinese[2].contains("您自己已經是 agent，通常不需要再叫另一個 agent"), "{}", chinese[2]);
    assert!(chinese[2].contains("不要原樣再問一次"), "{}", chinese[2]);
    let english = all(tools(HandoverSettings { language: Language::English, ..HandoverSettings::default() }).await);
    assert!(english[0].contains("also where the rules say nothing"), "{}", english[0]);
    assert!(english[0].contains("Similarity is not confidence"), "{}", english[0]);
    assert!(english[2].contains("you are an agent already: you rarely need another"), "{}", english[2]);
    assert!(english[2].contains("do not ask the same again word for word"), "{}", english[2]);
}

#[tokio::test]
async fn one_prompt_in_the_language_of_the_question() {
    let mut pipe = Pipe::open(ScriptedDoor::of([])).await;
    let prompts = pipe.request("prompts/list", json!({})).await["result"]["prompts"].clone();
    assert_eq!(prompts.as_array().unwrap().len(), 1);
    for (question, expected) in
        [("特休幾天", "請先用 search_rules"), ("How much leave?", "Look it up with search_rules")]
    {
        let params = json!({ "name": "answer_from_rules", "arguments": { "question": question } });
        let reply = pipe.request("prompts/get", params).await;
        let text = reply["result"]["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with(question) && text.contains(expected), "{text}");
    }
}
