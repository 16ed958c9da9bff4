//! A run that is cancelled ends at once, and leaves a conversation that can go on.

use std::{sync::Arc, time::Duration};

use bylaw_agent::{Agent, Conversation, ServerTools, Toolbox};
use bylaw_model::{
    ChatMessage,
    scripted::{Script, ScriptedReply},
};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{
    agent, calls,
    raw::{Raw, Say, said, tool},
    says, search, setup,
};

const CALL: (&str, &str) = ("search_leaves", "{\"keyword\":\"a\"}");

async fn hanging() -> Agent {
    let mut tool = search();
    tool.hangs = true;
    agent([tool]).await
}

#[tokio::test(start_paused = true)]
async fn a_tool_call_is_cut_short_and_the_conversation_goes_on() {
    let (agent, mut conversation) = (hanging().await, Conversation::default());
    let first = setup(Script::new([calls("c", &[CALL, CALL])]));
    let cancel = first.with.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
        cancel.cancel();
    });
    let started = Instant::now();
    let ran = first.run(&agent, &mut conversation).await;
    assert!(started.elapsed() <= Duration::from_millis(1_200), "{:?}", started.elapsed());
    assert_eq!((ran.reason().as_str(), ran.results().len()), ("cancelled", 2));
    assert!(ran.results()[0].contains("cancelled"), "{:?}", ran.results());
    let ran = setup(Script::new([says("DONE")])).run(&agent, &mut conversation).await;
    assert_eq!(ran.answer(), "DONE");
}

#[tokio::test(start_paused = true)]
async fn a_model_call_is_cut_short() {
    let slow = ScriptedReply::after(says("late"), Duration::from_secs(60));
    let setup = setup(Script::new([slow]).with_patience(Duration::from_secs(120)));
    let cancel = setup.with.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    let started = Instant::now();
    let ran = setup.run(&hanging().await, &mut Conversation::default()).await;
    assert_eq!((ran.reason().as_str(), started.elapsed()), ("cancelled", Duration::from_secs(1)));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_future_is_dropped_leaves_a_valid_conversation() {
    let (agent, mut conversation) = (hanging().await, Conversation::default());
    let first = setup(Script::new([calls("c", &[CALL, CALL])]));
    let run = first.run(&agent, &mut conversation);
    assert!(tokio::time::timeout(Duration::from_secs(5), run).await.is_err());
    let told: Vec<&str> = conversation.messages().iter().map(ChatMessage::content).collect();
    assert_eq!(told.iter().filter(|told| told.contains("cancelled and its outcome is unknown")).count(), 2, "{told:?}");
    let ran = setup(Script::new([says("DONE")])).run(&agent, &mut conversation).await;
    assert_eq!(ran.answer(), "DONE");
}

#[tokio::test]
async fn a_server_is_told_that_its_call_was_cancelled() {
    let server = Raw::tools(json!([tool("slow", false, json!({}))]), |_| Say::Nothing).await;
    let agent = Agent::new("", Toolbox::builder().server(server.client("hr"), ServerTools::default()).build().await);
    let setup = setup(Script::new([calls("c", &[("slow", "{}")])]));
    let (cancel, asked) = (setup.with.cancel.clone(), Arc::clone(&server.asked));
    tokio::spawn(async move {
        while !asked.lock().unwrap().iter().any(|asked| asked.method == "tools/call") {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    let ran = setup.run(&agent, &mut Conversation::default()).await;
    assert_eq!(ran.reason(), "cancelled");
    assert!(ran.results()[0].contains("cancelled"), "{:?}", ran.results());
    assert!(ran.results()[0].contains("may have happened"), "{:?}", ran.results());
    tokio::time::timeout(Duration::from_secs(20), async {
        while server.count("notifications/cancelled") == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_lists_its_tools_anew() {
    let listed = std::sync::atomic::AtomicUsize::new(0);
    let server = Raw::start(move |asked| match asked.method.as_str() {
        // The first of the toolbox, the second of the new connection.
        "tools/list" if listed.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2 => {
            Say::Result(json!({ "tools": [tool("look", true, json!({}))] }))
        }
        "tools/list" => Say::Nothing,
        "tools/call" if asked.session.as_deref() == Some("s1") => Say::Status(404, "no such session"),
        "tools/call" => said("ok"),
        _ => Say::Error(-32601, "no such method"),
    })
    .await;
    let agent = Agent::new("", Toolbox::builder().server(server.client("hr"), ServerTools::default()).build().await);
    let setup = setup(Script::new([calls("c", &[("look", "{}")])]));
    let (cancel, asked) = (setup.with.cancel.clone(), Arc::clone(&server.asked));
    tokio::spawn(async move {
        while asked.lock().unwrap().iter().filter(|asked| asked.method == "tools/list").count() < 3 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    let ran = tokio::time::timeout(Duration::from_secs(20), setup.run(&agent, &mut Conversation::default())).await;
    let ran = ran.unwrap();
    assert_eq!((ran.reason().as_str(), ran.results()), ("cancelled", vec!["ok".to_owned()]));
}
