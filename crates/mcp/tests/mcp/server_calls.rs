//! Our own server, called by our own client.

use std::sync::atomic::Ordering;

use bylaw_mcp::{CallLimits, CallOptions, Content, Era, HttpOptions, McpError, ResourceBody, ToolAnnotations};
use futures_util::future::Either;
use serde_json::json;

use crate::support::{
    arguments, call,
    desk::{Mounted, client},
    text, wire,
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
async fn whoever_says_which_language_they_read_is_spoken_to_in_it() {
    let mounted = Mounted::start().await;
    for (wanted, title) in
        [("zh-TW,zh;q=0.9,en;q=0.8", "查假單"), ("en", "Look up"), ("*", "Look up"), ("fr", "Look up")]
    {
        let body =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": wire::meta(false) } });
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
            ("authorization", "Bearer amy"),
            ("accept-language", wanted),
        ];
        let listed = wire::send(&mounted.url, "POST", &headers, body.to_string().as_bytes()).await.message();
        assert_eq!(listed["result"]["tools"][0]["title"], title, "{wanted}: {listed}");
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

#[tokio::test]
async fn what_is_no_tool_and_what_is_no_argument_is_said() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, Some("amy"), None).await;
        assert!(matches!(call(&client, "fly").await, Err(McpError::Refused { .. })), "{era:?}");
        for (wrong, expected) in [
            (json!({}), "\"id\" is a required property"),
            (json!({ "id": 7 }), "`id`: 7 is not of type \"string\""),
            (json!({ "id": "LV-1", "as": "boss" }), "('as' was unexpected)"),
        ] {
            let refused = client.call("look_up", &arguments(wrong), CallOptions::default()).await.unwrap();
            assert!(refused.is_error);
            let told = text(&refused);
            assert!(told.contains(expected) && told.ends_with("Correct them and call again."), "{era:?}: {told}");
        }
    }
}

#[tokio::test]
async fn every_kind_of_content_arrives_as_it_was_sent() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, None, None).await;
        let expected = [
            Content::Text("text".into()),
            Content::Image { mime: "image/png".into(), bytes: "image".into() },
            Content::Audio { mime: "audio/wav".into(), bytes: "sound".into() },
            Content::Resource { uri: "leave://1".into(), mime: None, body: ResourceBody::Text("words".into()) },
            Content::Link {
                uri: "leave://2".into(),
                name: "two".into(),
                description: Some("the second".into()),
                mime: None,
            },
        ];
        assert_eq!(call(&client, "shapes").await.unwrap().content, expected, "{era:?}");
    }
}

/// On the wire: a client may hear of a reply before it has read the news that came ahead of it.
#[tokio::test]
async fn progress_goes_ahead_of_the_reply() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let mut body = wire::calling("steps");
        let reply = match era {
            Era::Older => {
                let session = wire::session(&mounted.url, "amy").await;
                body["params"]["_meta"] = json!({ "progressToken": "p" });
                wire::in_session(&mounted.url, "amy", &session, "POST", &body).await
            }
            Era::Newer => {
                body["params"]["_meta"] = wire::meta(false);
                body["params"]["_meta"]["progressToken"] = json!("p");
                let headers =
                    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "steps")];
                wire::send(&mounted.url, "POST", &headers, body.to_string().as_bytes()).await
            }
        };
        let messages = reply.messages();
        let news: Vec<_> = messages.iter().map(|message| message["params"]["progress"].as_f64()).collect();
        assert_eq!(news, [Some(1.0), Some(2.0), Some(3.0), None], "{era:?}: {}", reply.body);
        let step = json!({ "progressToken": "p", "progress": 2.0, "total": 3.0, "message": "step 2" });
        assert_eq!(messages[1]["params"], step);
        assert_eq!(messages[3]["result"]["content"][0]["text"], "done");
    }
}

#[tokio::test]
async fn who_gives_up_is_heard_by_the_tool() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, None, None).await;
        let how = CallOptions::default();
        let cancel = how.cancel.clone();
        let nothing = arguments(json!({}));
        let (called, ()) = tokio::join!(client.call("wait", &nothing, how), async {
            mounted.desk.started.take().await;
            cancel.cancel();
        });
        assert!(matches!(called, Err(McpError::Cancelled { .. })), "{era:?}");
        mounted.desk.cancelled.take().await;
    }
}

#[tokio::test]
async fn in_the_newer_era_a_connection_that_breaks_cancels_its_call() {
    let mounted = Mounted::start().await;
    let mut params = json!({ "name": "wait", "arguments": {} });
    params["_meta"] = wire::meta(false);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "wait")];
    let connection = wire::begin(&mounted.url, "POST", &headers, body.as_bytes(), body.len()).await;
    mounted.desk.started.take().await;
    drop(connection);
    mounted.desk.cancelled.take().await;
}

#[tokio::test]
async fn a_tool_that_panics_fails_alone() {
    let mounted = Mounted::start().await;
    for era in BOTH {
        let client = client(&mounted, era, None, None).await;
        let failed = call(&client, "panic").await.unwrap();
        assert!(failed.is_error && text(&failed).contains("not known"), "{era:?}: {}", text(&failed));
        assert!(!call(&client, "who").await.unwrap().is_error, "{era:?}");
    }
}

#[tokio::test]
async fn calls_of_one_principal_leave_room_for_others() {
    let limits = CallLimits { running: 3, running_of_one: 2, waiting: 1 };
    let mounted = Mounted::start_with(HttpOptions::default(), |builder| builder.limits(limits)).await;
    let amy = client(&mounted, Era::Newer, Some("amy"), None).await;
    let bob = client(&mounted, Era::Newer, Some("bob"), None).await;
    let hold = || {
        let amy = amy.clone();
        tokio::spawn(async move { text(&call(&amy, "hold").await.unwrap()) })
    };
    let calls = [hold(), hold(), hold()];
    for _ in 0..2 {
        mounted.desk.started.take().await;
    }
    assert_eq!(text(&call(&bob, "who").await.unwrap()), "bob through bylaw, newer", "whatever waits");
    assert_eq!(mounted.desk.at_once.load(Ordering::SeqCst), 2);
    for _ in 0..3 {
        mounted.desk.go_on.give();
    }
    for call in calls {
        assert_eq!(call.await.unwrap(), "held");
    }
}

#[tokio::test]
async fn more_calls_than_may_wait_are_refused() {
    let limits = CallLimits { running: 1, running_of_one: 1, waiting: 0 };
    let mounted = Mounted::start_with(HttpOptions::default(), |builder| builder.limits(limits)).await;
    let client = client(&mounted, Era::Newer, Some("amy"), None).await;
    let (first, second) = (client.clone(), client.clone());
    let held = tokio::spawn(async move { text(&call(&first, "hold").await.unwrap()) });
    mounted.desk.started.take().await;
    // One waits for its turn, whichever of the two comes first.
    let one = tokio::spawn(async move { text(&call(&second, "who").await.unwrap()) });
    let other = tokio::spawn(async move { text(&call(&client, "who").await.unwrap()) });
    let (refused, waiting) = match futures_util::future::select(one, other).await {
        Either::Left(ended) | Either::Right(ended) => ended,
    };
    assert_eq!(refused.unwrap(), "Too many calls are waiting, and nothing was done. Call again in a few seconds.");
    mounted.desk.go_on.give();
    assert_eq!(held.await.unwrap(), "held");
    assert_eq!(waiting.await.unwrap(), "amy through bylaw, newer");
}

#[tokio::test]
async fn resources_are_listed_and_read_as_far_as_the_caller_may() {
    let mounted = Mounted::start().await;
    let listed = wire::newer(&mounted.url, "amy", "resources/list", json!({})).await;
    let uris: Vec<_> = listed["result"]["resources"].as_array().unwrap().iter().map(|r| &r["uri"]).collect();
    assert_eq!(uris, ["leave://policy", "leave://of/amy"]);
    assert_eq!(listed["result"]["resources"][0]["title"], "Policy");
    let templates = wire::newer(&mounted.url, "amy", "resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "leave://of/{employee}");
    let read = async |uri: &str| wire::newer(&mounted.url, "amy", "resources/read", json!({ "uri": uri })).await;
    let policy = &read("leave://policy").await["result"]["contents"][0];
    assert_eq!((&policy["text"], &policy["mimeType"]), (&json!("Ask first."), &json!("text/plain")));
    assert_eq!(read("leave://of/amy").await["result"]["contents"][0]["blob"], "bm9uZQ==");
    for hidden in ["leave://of/bob", "leave://never"] {
        let error = &read(hidden).await["error"];
        let expected = json!(format!("there is no resource {hidden}"));
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &expected));
    }
}

#[tokio::test]
async fn prompts_are_listed_and_rendered() {
    let mounted = Mounted::start().await;
    let listed = wire::newer(&mounted.url, "amy", "prompts/list", json!({})).await;
    assert_eq!(listed["result"]["prompts"][0]["arguments"][0], json!({ "name": "month", "required": true }));
    let get = async |params: serde_json::Value| wire::newer(&mounted.url, "amy", "prompts/get", params).await;
    let rendered = get(json!({ "name": "plan", "arguments": { "month": "May" } })).await;
    assert_eq!(rendered["result"]["messages"][0]["content"]["text"], "Plan the leaves of amy in May.");
    assert_eq!(rendered["result"]["messages"][0]["role"], "user");
    for (params, expected) in [
        (json!({ "name": "plan" }), "the argument month is missing"),
        (json!({ "name": "plan", "arguments": { "month": 5 } }), "the argument month must be a text"),
        (json!({ "name": "sing" }), "there is no prompt sing"),
    ] {
        assert_eq!(get(params).await["error"]["message"], expected);
    }
}

#[tokio::test]
async fn a_page_that_is_not_there_is_refused() {
    let mounted = Mounted::start_with(HttpOptions::default(), |builder| builder.entries_per_page(4)).await;
    let list = async |cursor: &str| wire::newer(&mounted.url, "amy", "tools/list", json!({ "cursor": cursor })).await;
    assert_eq!(list("8").await["result"]["tools"].as_array().unwrap().len(), 3);
    for junk in ["", "x", "-1", "11", "99999999999999999999"] {
        assert_eq!(list(junk).await["error"]["code"], -32602, "{junk}");
    }
}
