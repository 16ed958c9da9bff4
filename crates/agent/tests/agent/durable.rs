//! The loop over a database: an intent is on disk before its effect, also when the process is killed in between.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use bylaw_agent::{
    Agent, Journal, MemoryArtifacts, RunLog, RunStore, Tool, ToolContext, ToolInfo, Toolbox, text_outcome,
};
use bylaw_contract::Timestamp;
use bylaw_mcp::ToolOutcome;
use bylaw_model::scripted::Script;
use bylaw_store::SqliteStore;
use serde_json::{Map, Value, json};

use crate::{
    journal::{an_agent, id, journal, names, new},
    support::{calls, folder, says, setup},
};

/// A tool that changes something, and looks into the store while it does.
struct Changes {
    store: SqliteStore,
    seen: Arc<Mutex<Vec<String>>>,
    /// It says so and never ends.
    hangs: bool,
}

#[async_trait]
impl Tool for Changes {
    fn info(&self) -> ToolInfo {
        ToolInfo::changing("change", "", json!({}))
    }

    async fn call(&self, _: Map<String, Value>, _: ToolContext) -> Result<ToolOutcome, String> {
        *self.seen.lock().unwrap() = names(&self.store, 1).await;
        if self.hangs {
            #[expect(clippy::print_stdout, reason = "the parent process waits for this line")]
            {
                println!("{CALLED}");
            }
            std::future::pending::<()>().await;
        }
        Ok(text_outcome("done"))
    }
}

async fn run(store: &SqliteStore, journal: &Journal, hangs: bool) -> Vec<String> {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let tool = Changes { store: store.clone(), seen: Arc::clone(&seen), hangs };
    let agent = Agent::new("You help.", Toolbox::builder().tool(tool).build().await);
    let mut setup = setup(Script::new([calls("c", &[("change", "{}")]), says("DONE")]));
    setup.with.run_id = id(1);
    setup.with.artifacts = Arc::new(MemoryArtifacts::default());
    setup.with.log = Arc::new(journal.hold(new(1, an_agent()))) as Arc<dyn RunLog>;
    setup.run(&agent, &mut Default::default()).await;
    seen.lock().unwrap().split_off(0)
}

#[tokio::test]
async fn an_intent_is_in_the_store_before_its_effect_and_the_result_after() {
    let folder = folder();
    let store = SqliteStore::open(&folder.path().join("bylaw.sqlite")).await.unwrap();
    let journal = journal(Arc::new(store.clone()));
    let before = run(&store, &journal, false).await;
    assert_eq!(before, ["started", "model_call", "model_reply", "tool_call"]);
    let after = ["tool_result", "model_call", "model_reply", "ended"].map(str::to_owned);
    assert_eq!(names(&store, 1).await, [before, after.to_vec()].concat());
    assert_eq!(journal.tallies().lost, 0);
    store.close().await;
}

const CALLED: &str = "the tool was called";
const FOLDER: &str = "BYLAW_TEST_KILLED_RUN";

/// The test below, as the process that it kills.
async fn be_killed(folder: &Path) {
    let store = SqliteStore::open(&folder.join("bylaw.sqlite")).await.unwrap();
    let journal = journal(Arc::new(store.clone()));
    run(&store, &journal, true).await;
}

#[tokio::test]
async fn a_killed_process_leaves_the_intent_and_the_run_is_ended_by_others() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return be_killed(Path::new(&folder)).await;
    }
    let folder = folder();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["durable::a_killed_process_leaves_the_intent_and_the_run_is_ended_by_others", "--exact", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains(CALLED)), "the tool is called");
    child.kill().unwrap();
    child.wait().unwrap();

    let store = SqliteStore::open(&folder.path().join("bylaw.sqlite")).await.unwrap();
    let kept = ["started", "model_call", "model_reply", "tool_call"];
    assert_eq!(names(&store, 1).await, kept);
    assert_eq!(store.lost(Timestamp(i64::MAX), 9).await.unwrap().len(), 1);
    // The clock of these tests stands still, so its lease is made to have run out.
    let record = store.run(&id(1)).await.unwrap().unwrap();
    store.keep_process(&record.process, Timestamp(-1)).await.unwrap();
    assert_eq!(journal(Arc::new(store.clone())).end_lost(9).await.unwrap(), 1);
    assert_eq!(names(&store, 1).await, [&kept[..], &["ended"]].concat());
    store.close().await;
}
