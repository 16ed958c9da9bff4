//! Our own server, called by our own client.

use std::sync::{Arc, Mutex};

use bylaw_mcp::{
    CallOptions, Content, Era, HttpOptions, McpError, Progress, ProgressSink, ResourceBody, ToolAnnotations,
};
use serde_json::json;

use crate::support::{
    arguments, call,
    desk::{Mounted, client},
    text,
};

const BOTH: [Era; 2] = [Era::Older, Era::Newer];

#[tokio::test]
async fn tools_are_listed_as_they_were_offered_in_either_era() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, Some("amy"), None).await;
        let tools = client.tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let expected =
            ["look_up", "who", "cancel", "reject", "shorten", "ask_twice", "wait", "hold", "steps", "shapes", "panic"];
        assert_eq!(names, expected, "{era:?}");
        let look_up = &tools[0];
        assert_eq!(look_up.title.as_deref(), Some("Look up"));
        assert_eq!(look_up.description.as_deref(), Some("Looks one leave up."));
        assert_eq!(look_up.annotations, ToolAnnotations::READS);
        assert_eq!(tools[2].annotations, ToolAnnotations::DESTROYS);
        assert_eq!(look_up.input_schema["required"], json!(["id"]));
        assert_eq!(look_up.output_schema.as_ref().unwrap()["required"], json!(["id"]));
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    let mounted = Mounted::start_with(HttpOptions::default(), |builder| builder.entries_per_page(2)).await;
    for era in BOTH {
        let client = client(&mounted, era, None, None).await;
        assert_eq!(client.tools().await.unwrap().len(), 11, "{era:?}");
    }
}

#[tokio::test]
async fn a_call_brings_a_text_and_what_a_program_reads() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, Some("amy"), None).await;
        let found = client.call("look_up", &arguments(json!({ "id": "LV-1" })), CallOptions::default()).await.unwrap();
        assert!(!found.is_error, "{era:?}");
        assert_eq!(text(&found), "LV-1 is yours.");
        assert_eq!(found.structured, Some(json!({ "id": "LV-1" })));
        let refused =
            client.call("look_up", &arguments(json!({ "id": "LV-9" })), CallOptions::default()).await.unwrap();
        assert!(refused.is_error);
        assert_eq!(text(&refused), "There is no leave LV-9. Search for it first.");
        let who = text(&call(&client, "who").await.unwrap());
        assert_eq!(who, format!("amy through bylaw, {}", if era == Era::Older { "older" } else { "newer" }));
    }
}
