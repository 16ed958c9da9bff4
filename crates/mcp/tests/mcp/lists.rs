//! What tools a server has.

use bylaw_mcp::{ClientOptions, McpClient, McpError, ToolAnnotations};
use serde_json::{Value, json};

use crate::support::{
    arguments, call, connect, host,
    leaves::{Era, Served},
    options,
    raw::{Raw, Say},
};

#[tokio::test]
async fn every_page_is_read_and_every_tool_described() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let tools = connect(served.server()).await.tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let expected =
            ["echo", "cancel_leave", "slow", "steps", "confirm", "login", "whoami", "shapes", "never_enough", "grow"];
        assert_eq!(names, expected, "{era:?}");
        let echo = &tools[0];
        assert_eq!((echo.title.as_deref(), echo.description.as_deref()), (Some("Echo"), Some("The tool echo.")));
        let schema = json!({ "type": "object", "properties": { "keyword": { "type": "string" } } });
        assert_eq!(*echo.input_schema, arguments(schema));
        assert!(echo.output_schema.is_some());
        let expected = ToolAnnotations { read_only: true, destructive: false, idempotent: false, open_world: false };
        assert_eq!(echo.annotations, expected);
        assert_eq!(tools[1].annotations, ToolAnnotations::default());
    }
}

fn page(tools: impl Iterator<Item = String>, next: Option<&str>) -> Say {
    let tools: Vec<Value> = tools.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    let mut page = json!({ "tools": tools });
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    Say::Result(page)
}

fn tools_of(say: impl Fn(usize) -> Say + Send + Sync + 'static) -> impl Future<Output = Raw> {
    Raw::greeting(move |asked| say(asked.params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap_or(7))))
}

#[tokio::test]
async fn a_list_without_end_is_refused_in_one_line() {
    let check = async |raw: Raw, expected: &str, pages: usize| {
        let limits = ClientOptions { max_tools: 50, max_list_bytes: 10_000, ..options() };
        let client = McpClient::connect(raw.server(), limits, host()).await.unwrap();
        assert_eq!(client.tools().await.unwrap_err().to_string(), expected);
        assert_eq!(raw.count("tools/list"), pages);
    };
    let same = tools_of(|_| page(std::iter::empty(), Some("1"))).await;
    let expected = "raw lists its tools without end: a page points back to an earlier one; its paging must be repaired";
    check(same, expected, 2).await;

    let round = tools_of(|n| page(std::iter::empty(), Some(["1", "2", "0"][n % 3]))).await;
    check(round, expected, 4).await;

    let empty = tools_of(|n| page(std::iter::empty(), Some(&(n + 1).to_string()))).await;
    let expected = "raw lists its tools without end: more than 50 pages; its paging must be repaired";
    check(empty, expected, 51).await;

    let many = tools_of(|n| page((0..20).map(|tool| format!("t{n}_{tool}")), Some(&(n + 1).to_string()))).await;
    check(many, "raw lists more than 50 tools; offer fewer, or raise max_tools", 3).await;

    let long = tools_of(|_| page(std::iter::once("x".repeat(20_000)), None)).await;
    check(long, "raw describes its tools in more than 10000 bytes; shorten them, or raise max_list_bytes", 1).await;
}

#[tokio::test]
async fn five_thousand_tools_are_refused_by_default_and_taken_when_allowed() {
    let raw = tools_of(|_| page((0..5_000).map(|n| format!("tool_{n}")), None)).await;
    let client = McpClient::connect(raw.server(), options(), host()).await.unwrap();
    let expected = McpError::TooManyTools { server: "raw".to_owned(), limit: 1_000 };
    assert_eq!(client.tools().await, Err(expected));
    let more = ClientOptions { max_tools: 5_000, ..options() };
    let client = McpClient::connect(raw.server(), more, host()).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 5_000);
}

#[tokio::test]
async fn one_odd_tool_does_not_hide_the_others() {
    let raw = Raw::greeting(|_| {
        Say::Result(json!({ "tools": [
            { "name": "no_schema" },
            { "description": "no name" },
            { "name": "twice", "description": "first", "inputSchema": {} },
            { "name": "twice", "description": "second", "inputSchema": {} },
        ] }))
    })
    .await;
    let tools = connect(raw.server()).await.tools().await.unwrap();
    let read: Vec<(&str, Option<&str>)> =
        tools.iter().map(|tool| (tool.name.as_str(), tool.description.as_deref())).collect();
    assert_eq!(read, [("no_schema", None), ("twice", Some("first"))]);
    assert_eq!(*tools[0].input_schema, arguments(json!({ "type": "object" })));
}

#[tokio::test]
async fn news_of_changed_tools_are_heard() {
    for era in [Era::Newer, Era::Older] {
        let served = Served::start(era).await;
        let client = connect(served.server()).await;
        let mut changes = client.list_changes();
        if era == Era::Newer {
            // Here a client must have asked for the news before there are any.
            served.world.started.notified().await;
        }
        let before = client.tools().await.unwrap().len();
        call(&client, "grow").await.unwrap();
        changes.changed().await.unwrap();
        assert_eq!(client.tools().await.unwrap().len(), before + 1, "{era:?}");
    }
}
