//! Several calls in one reply.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use bylaw_agent::{Agent, Tool, ToolContext, ToolInfo, Toolbox, text_outcome};
use bylaw_mcp::ToolOutcome;
use bylaw_model::{ToolCallRequest, scripted::ScriptedReply};
use serde_json::{Map, Value, json};

use crate::support::{Scripted, agent, calls, run, says, search};

fn with_ids(ids: &[&str]) -> ScriptedReply {
    let call = |(at, id): (usize, &&str)| ToolCallRequest {
        id: (*id).to_owned(),
        name: "search_leaves".to_owned(),
        arguments: format!("{{\"keyword\":\"k{at}\"}}"),
    };
    let calls = ids.iter().enumerate().map(call).collect();
    ScriptedReply::ToolCalls { text: String::new(), reasoning: None, calls, finish_reason: "tool_calls".to_owned() }
}

#[tokio::test]
async fn ids_that_are_the_same_or_missing_are_told_apart() {
    for ids in [["c1", "c1"], ["", ""], ["c1", ""]] {
        let tool = search();
        // Twice: an id of the turn before is not taken again either.
        let ran = run(&agent([tool.clone()]).await, [with_ids(&ids), with_ids(&ids), says("DONE")]).await;
        assert_eq!((ran.answer(), tool.calls().len(), ran.results().len()), ("DONE", 4, 4), "{ids:?}");
    }
}

fn failing(name: &str, message: &'static str) -> Scripted {
    Scripted::new(ToolInfo::reading(name, "", json!({ "type": "object" })), move |_| Err(message.to_owned()))
}

#[tokio::test]
async fn a_call_that_fails_does_not_spoil_the_others_and_results_keep_the_order_of_calls() {
    let mut hanging = failing("hangs", "");
    hanging.hangs = true;
    hanging.info.timeout = Some(std::time::Duration::from_millis(10));
    let tools = [search(), failing("breaks", "the database is down"), hanging];
    let three = [("search_leaves", "{\"keyword\":\"a\"}"), ("breaks", "{}"), ("hangs", "{}")];
    let ran = run(&agent(tools).await, [calls("c", &three), says("DONE")]).await;
    let results = ran.results();
    assert_eq!((ran.answer(), results.len()), ("DONE", 3));
    assert_eq!(results[0], "found \"a\"");
    assert_eq!(results[1], "the database is down");
    assert!(results[2].contains("did not end within 10ms"), "{}", results[2]);
}

/// Tells how many of its calls ran at once, and in which order they came.
#[derive(Clone)]
struct Crowd {
    info: ToolInfo,
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    order: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Tool for Crowd {
    fn info(&self) -> ToolInfo {
        self.info.clone()
    }

    async fn call(&self, arguments: Map<String, Value>, _: ToolContext) -> Result<ToolOutcome, String> {
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        for _ in 0..5 {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
        self.order.lock().unwrap().push(format!("{}{}", self.info.name, arguments["n"]));
        Ok(text_outcome("ok"))
    }
}

async fn crowd(in_parallel: bool, wanted: &[(&str, &str)]) -> (usize, Vec<String>) {
    let schema = || json!({ "type": "object", "properties": { "n": {} }, "required": ["n"] });
    let reads = Crowd {
        info: ToolInfo::reading("read", "", schema()),
        now: Arc::default(),
        most: Arc::default(),
        order: Arc::default(),
    };
    let writes = Crowd { info: ToolInfo::changing("write", "", schema()), ..reads.clone() };
    let toolbox = Toolbox::builder().tool(reads.clone()).tool(writes).build().await;
    let agent = Agent { in_parallel, ..Agent::new("", toolbox) };
    let ran = run(&agent, [calls("c", wanted), says("DONE")]).await;
    assert_eq!((ran.answer(), ran.results().len()), ("DONE", wanted.len()));
    (reads.most.load(Ordering::SeqCst), reads.order.lock().unwrap().clone())
}

#[tokio::test]
async fn what_only_reads_runs_together_and_changes_run_alone_and_in_order() {
    let read = [("read", "{\"n\":1}"), ("read", "{\"n\":2}"), ("read", "{\"n\":3}")];
    assert_eq!(crowd(true, &read).await.0, 3);
    let mixed = [("read", "{\"n\":1}"), ("write", "{\"n\":2}"), ("write", "{\"n\":3}"), ("read", "{\"n\":4}")];
    let (most, order) = crowd(true, &mixed).await;
    assert_eq!((most, order.join(" ")), (1, "read1 write2 write3 read4".to_owned()));
}

#[tokio::test]
async fn a_provider_that_asks_for_several_calls_all_the_same_gets_them_one_after_another() {
    let read = [("read", "{\"n\":1}"), ("read", "{\"n\":2}"), ("read", "{\"n\":3}")];
    let (most, order) = crowd(false, &read).await;
    assert_eq!((most, order.len()), (1, 3));
}
