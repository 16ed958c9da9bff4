//! Names that every provider takes, and schemas that it does not refuse.

use bylaw_agent::{Agent, SchemaDialect, Toolbox};
use bylaw_agent::{ServerTools, ToolInfo, text_outcome};
use serde_json::json;

use crate::support::{
    Scripted, builder, calls,
    raw::{Raw, Say, said, tool},
    run, says,
};

#[tokio::test]
async fn the_same_name_on_two_servers_is_two_tools() {
    let tools = || json!([tool("search", true, json!({})), tool("only", true, json!({}))]);
    let (hr, it) = (Raw::tools(tools(), |_| said("from hr")).await, Raw::tools(tools(), |_| said("from it")).await);
    let toolbox = Toolbox::builder()
        .server(hr.client("hr"), ServerTools::default())
        .server(it.client("it"), ServerTools { only: vec!["search".to_owned()], ..ServerTools::default() });
    let toolbox = toolbox.build().await;
    assert_eq!(toolbox.names(), ["hr__search", "only", "it__search"], "a prefix only where two share a name");
    let both = calls("c", &[("it__search", "{}"), ("hr__search", "{}")]);
    let ran = run(&Agent::new("", toolbox), [both, says("DONE")]).await;
    assert_eq!((ran.answer(), ran.results()), ("DONE", vec!["from it".to_owned(), "from hr".to_owned()]));
    assert_eq!((hr.calls(), it.calls()), (vec!["search {}".to_owned()], vec!["search {}".to_owned()]));
}

#[tokio::test]
async fn a_name_that_no_provider_takes_is_changed_on_the_way_out_and_back() {
    let name = "hr.leave/search_by_keyword_in_the_archive_of_all_previous_years_and_departments_v2";
    let server = Raw::tools(json!([tool(name, true, json!({}))]), |_| said("found")).await;
    let names = async || {
        let toolbox = Toolbox::builder().server(server.client("hr"), ServerTools::default()).build().await;
        (toolbox.names(), toolbox)
    };
    let (shown, toolbox) = names().await;
    assert_eq!(shown, names().await.0, "the same after a restart");
    assert!(shown[0].len() == 64 && shown[0].starts_with("hr_leave_search_by_keyword"), "{shown:?}");
    let ran = run(&Agent::new("", toolbox), [calls("c", &[(&shown[0], "{}")]), says("DONE")]).await;
    assert_eq!((ran.answer(), server.calls()), ("DONE", vec![format!("{name} {{}}")]));
}

#[tokio::test]
async fn all_pages_of_a_list_are_read() {
    let server = Raw::start(|asked| match (asked.method.as_str(), asked.params["cursor"].as_str()) {
        ("tools/list", None) => Say::Result(
            json!({ "tools": [tool("a", true, json!({})), tool("b", true, json!({}))], "nextCursor": "p2" }),
        ),
        ("tools/list", _) => Say::Result(json!({ "tools": [tool("page_two_tool", true, json!({}))] })),
        ("tools/call", _) => said("two"),
        _ => Say::Error(-32601, "no such method"),
    })
    .await;
    let toolbox = Toolbox::builder().server(server.client("hr"), ServerTools::default()).build().await;
    let ran = run(&Agent::new("", toolbox), [calls("c", &[("page_two_tool", "{}")]), says("DONE")]).await;
    assert_eq!(ran.results(), ["two"]);
}

#[tokio::test]
async fn a_list_that_changes_is_read_again() {
    let listed = std::sync::atomic::AtomicUsize::new(0);
    let server = Raw::start(move |asked| match asked.method.as_str() {
        "tools/list" => {
            let n = listed.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Say::Result(json!({ "tools": [tool(if n == 0 { "old" } else { "new" }, true, json!({}))] }))
        }
        "tools/call" if asked.session.as_deref() == Some("s1") => Say::Status(404, "no such session"),
        "tools/call" => said("ok"),
        _ => Say::Error(-32601, "no such method"),
    })
    .await;
    let toolbox = Toolbox::builder().server(server.client("hr"), ServerTools::default()).build().await;
    let ran = run(&Agent::new("", toolbox), [calls("c", &[("old", "{}")]), says("DONE")]).await;
    let offered = |at: usize| ran.script.requests()[at].tools[0].name.clone();
    assert_eq!((offered(0).as_str(), offered(1).as_str()), ("old", "new"));
}

fn rich() -> Scripted {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["filter"],
        "$defs": { "Filter": { "type": ["object", "null"], "additionalProperties": false, "properties": {
            "q": { "anyOf": [{ "type": "string", "pattern": "^LV-" }, { "type": "null" }] } } } },
        "properties": { "filter": { "$ref": "#/$defs/Filter" } }, "additionalProperties": false,
    });
    Scripted::new(ToolInfo::reading("find", "", schema), |_| Ok(text_outcome("found")))
}

#[tokio::test]
async fn a_provider_gets_the_schema_it_takes_and_the_call_is_held_against_the_original() {
    for (dialect, has_reference) in [(SchemaDialect::Full, true), (SchemaDialect::Plain, false)] {
        let tool = rich();
        let agent = Agent::new("", builder([tool.clone()]).schemas(dialect).build().await);
        let replies = [
            calls("a", &[("find", r#"{"filter":{"q":"LV-1"}}"#), ("find", r#"{"filter":null}"#)]),
            calls("b", &[("find", r#"{"filter":{"q":"x"}}"#), ("find", r#"{"filter":{"extra":1}}"#)]),
            says("DONE"),
        ];
        let ran = run(&agent, replies).await;
        assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 2), "{dialect:?}");
        let sent = ran.script.requests()[0].tools[0].parameters.to_string();
        assert_eq!((sent.contains("$ref"), sent.contains("$schema")), (has_reference, has_reference), "{sent}");
    }
}

#[tokio::test]
async fn a_schema_without_properties_gets_some() {
    for schema in [json!({ "type": "object" }), json!({})] {
        let tool = Scripted::new(ToolInfo::reading("ping", "", schema), |_| Ok(text_outcome("pong")));
        let ran =
            run(&Agent::new("", builder([tool]).build().await), [calls("a", &[("ping", "")]), says("DONE")]).await;
        assert_eq!(ran.results(), ["pong"]);
        assert_eq!(ran.script.requests()[0].tools[0].parameters, json!({ "type": "object", "properties": {} }));
    }
}

#[tokio::test]
async fn no_more_tools_are_offered_than_a_provider_takes_and_that_is_said() {
    let many =
        (0..300).map(|n| Scripted::new(ToolInfo::reading(&format!("t{n}"), "", json!({})), |_| Ok(text_outcome("ok"))));
    let toolbox = builder(many).build().await;
    let problems = toolbox.problems();
    assert!(problems[0].contains("there are 300 tools"), "{problems:?}");
    let ran = run(&Agent::new("", toolbox), [says("DONE")]).await;
    assert_eq!(ran.answer(), "DONE");
}

#[tokio::test]
async fn a_tool_that_is_called_like_ours_goes_first() {
    let info = ToolInfo::reading("read_artifact", "", json!({}));
    let tool = Scripted::new(info, |_| Ok(text_outcome("x".repeat(20_000))));
    let twice = [calls("a", &[("read_artifact", "{}")]), calls("b", &[("read_artifact", "{\"id\":1}")]), says("DONE")];
    let ran = run(&Agent::new("", builder([tool.clone()]).build().await), twice).await;
    assert_eq!((ran.answer(), tool.calls().len()), ("DONE", 2));
}
