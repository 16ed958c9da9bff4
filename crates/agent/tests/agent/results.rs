//! What a model reads of a result.

use bylaw_agent::{Agent, Limits, ServerTools, ToolInfo, Toolbox, text_outcome};
use bylaw_contract::LoopEvent;
use bylaw_mcp::{Content, ResourceBody, ToolOutcome};
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::support::{
    Scripted, agent, calls,
    raw::{Raw, Say, tool},
    run, says, setup,
};

fn returning(outcome: ToolOutcome) -> Scripted {
    Scripted::new(ToolInfo::reading("get", "", json!({})), move |_| Ok(outcome.clone()))
}

async fn told(outcome: ToolOutcome) -> String {
    let ran = run(&agent([returning(outcome)]).await, [calls("c", &[("get", "{}")]), says("DONE")]).await;
    assert_eq!(ran.answer(), "DONE");
    ran.results().remove(0)
}

#[tokio::test]
async fn a_structured_result_is_told_as_json_and_only_once() {
    let structured = Some(json!({ "items": [{ "id": "LV-7f3a91" }] }));
    let with = |content| ToolOutcome { is_error: false, structured: structured.clone(), content };
    let text = |text: &str| Content::Text(text.to_owned());
    let json = r#"{"items":[{"id":"LV-7f3a91"}]}"#;
    assert_eq!(told(with(vec![])).await, json);
    assert_eq!(
        told(with(vec![text(r#"{ "items": [ {"id": "LV-7f3a91"} ] }"#)])).await,
        r#"{ "items": [ {"id": "LV-7f3a91"} ] }"#
    );
    assert_eq!(told(with(vec![text("one leave")])).await, format!("one leave\n{json}"));
    assert_eq!(told(ToolOutcome::default()).await, "(The tool returned nothing.)");
}

#[tokio::test]
async fn pictures_and_files_are_kept_aside_and_never_pasted() {
    let bytes = || vec![0_u8; 60_000].into();
    let outcome = ToolOutcome {
        content: vec![
            Content::Text("shot".to_owned()),
            Content::Image { mime: "image/png".to_owned(), bytes: bytes() },
            Content::Resource { uri: "leave://1".to_owned(), mime: None, body: ResourceBody::Bytes(bytes()) },
            Content::Link { uri: "leave://2".to_owned(), name: "two".to_owned(), description: None, mime: None },
        ],
        ..ToolOutcome::default()
    };
    let ran = run(&agent([returning(outcome)]).await, [calls("c", &[("get", "{}")]), says("DONE")]).await;
    let told = &ran.results()[0];
    assert!(told.contains("shot\n[image image/png, 60000 bytes, kept as art_"), "{told}");
    assert!(told.contains("[resource leave://1, application/octet-stream, 60000 bytes, kept as art_"), "{told}");
    assert!(told.len() < 400, "{told}");
    let kept = ran.events.iter().find_map(|event| match event {
        LoopEvent::ToolResult { artifacts, .. } => Some(artifacts.len()),
        _ => None,
    });
    assert_eq!(kept, Some(2));
}

#[tokio::test]
async fn a_huge_result_is_cut_and_can_be_read_on() {
    let text: String = (0..100_000).map(|n| format!("第{n:08}行 ")).collect();
    let size = text.len();
    let tool = returning(text_outcome(text.clone()));
    let script = Script::answering(move |request| {
        let results = request.results();
        match results.len() {
            0 => calls("a", &[("get", "{}")]),
            1 => {
                let id = results[0].split("\"id\":\"").nth(1).unwrap()[..28].to_owned();
                assert!(request.tools.iter().any(|tool| tool.name == "read_artifact"));
                let arguments = format!("{{\"id\":\"{id}\",\"offset\":1000000}}");
                calls(
                    "b",
                    &[("read_artifact", &arguments), ("read_artifact", "{\"id\":\"art_000000000000000000000000\"}")],
                )
            }
            _ => says("DONE"),
        }
    });
    let ran = setup(script).run(&agent([tool]).await, &mut Default::default()).await;
    let results = ran.results();
    assert!(
        results[0].len() < 17_000 && results[0].contains(&format!("of {size} are not shown")),
        "{}",
        results[0].len()
    );
    assert!(results[0].starts_with("第00000000行") && results[0].ends_with("第00099999行 "));
    assert!(results[1].starts_with("[bytes ") && results[1].contains("read on at offset"), "{}", &results[1][..80]);
    assert!(text.contains(results[1].split_once('\n').unwrap().1));
    assert!(results[2].contains("no artifact"), "of another conversation: {}", results[2]);
    assert!(!ran.script.requests()[0].tools.iter().any(|tool| tool.name == "read_artifact"));
}

#[tokio::test]
async fn a_tool_that_says_it_failed_never_ends_the_run() {
    let failed = ToolOutcome { is_error: true, ..text_outcome("403 you may not approve your own leave") };
    let tool = returning(failed);
    let same = |id: &str| calls(id, &[("get", "{}")]);
    let ran = run(&agent([tool.clone()]).await, [same("a"), same("b"), same("c"), says("DONE")]).await;
    assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 2), "the third is the same call once more");
    assert_eq!(ran.results()[0], "The tool failed: 403 you may not approve your own leave");
    assert!(ran.results()[2].contains("3 times") && ran.results()[2].contains("403"), "{}", ran.results()[2]);
}

#[tokio::test]
async fn characters_that_no_provider_takes_are_shown_as_symbols() {
    assert_eq!(told(text_outcome("a\u{0}b\u{1b}[31mc\u{7f}\nd\te")).await, "a␀b␛[31mc␡\nd\te");
    // What is no character at all comes from a server only.
    let server = Raw::tools(json!([tool("get", true, json!({}))]), |_| {
        Say::Raw(r#"{"content":[{"type":"text","text":"half \ud83d of it \u0000"}]}"#.to_owned())
    })
    .await;
    let toolbox = Toolbox::builder().server(server.client("hr"), ServerTools::default()).build().await;
    let ran = run(&Agent::new("", toolbox), [calls("c", &[("get", "{}")]), says("DONE")]).await;
    assert_eq!(ran.results(), ["half \u{fffd} of it ␀"]);
}

#[tokio::test]
async fn an_artifact_of_an_earlier_run_of_the_conversation_can_be_read_on() {
    let mut conversation = Default::default();
    let mut agent = agent([returning(text_outcome("x".repeat(500)))]).await;
    agent.limits = Limits { result_bytes: 100, ..Limits::default() };
    let first = setup(Script::new([calls("a", &[("get", "{}")]), says("DONE")]));
    let artifacts = std::sync::Arc::clone(&first.with.artifacts);
    first.run(&agent, &mut conversation).await;
    let id = conversation.artifacts()[0].to_string();
    let read = calls("b", &[("read_artifact", &format!("{{\"id\":\"{id}\"}}"))]);
    let mut second = setup(Script::new([read, says("DONE")] as [ScriptedReply; 2]));
    second.with.artifacts = artifacts;
    let ran = second.run(&agent, &mut conversation).await;
    assert!(ran.results()[0].starts_with("[bytes 0 to 100 of 500"), "{}", ran.results()[0]);
}
