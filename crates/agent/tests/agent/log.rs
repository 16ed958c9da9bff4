//! What has an effect is written down before it has it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use bylaw_agent::{RunLog, RunLogError, ToolInfo, text_outcome};
use bylaw_contract::LoopEvent;
use bylaw_model::scripted::{Script, ScriptedReply};
use serde_json::json;

use crate::support::{Ran, Scripted, agent, calls, says, setup};

/// Writes down what happens, in one list with what the model and the tools do; fails from some write on.
struct Diary {
    seen: Arc<Mutex<Vec<String>>>,
    writes: AtomicUsize,
    fails_at: usize,
}

#[async_trait]
impl RunLog for Diary {
    async fn write(&self, events: Vec<LoopEvent>) -> Result<(), RunLogError> {
        if self.writes.fetch_add(1, Ordering::SeqCst) >= self.fails_at {
            return Err(RunLogError("the disk is full".to_owned()));
        }
        let name = |event: &LoopEvent| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
        self.seen.lock().unwrap().extend(events.iter().map(name));
        Ok(())
    }

    fn show(&self, event: LoopEvent) {
        assert!(!event.is_logged());
    }
}

async fn run_until(fails_at: usize) -> (Vec<String>, Ran) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (by_tool, by_model) = (Arc::clone(&seen), Arc::clone(&seen));
    let tool = Scripted::new(ToolInfo::changing("change", "", json!({})), move |_| {
        by_tool.lock().unwrap().push("TOOL".to_owned());
        Ok(text_outcome("done"))
    });
    let script = Script::answering(move |request| -> ScriptedReply {
        by_model.lock().unwrap().push("MODEL".to_owned());
        if request.results().is_empty() { calls("c", &[("change", "{}")]) } else { says("DONE") }
    });
    let mut setup = setup(script);
    setup.with.log = Arc::new(Diary { seen: Arc::clone(&seen), writes: AtomicUsize::new(0), fails_at });
    let ran = setup.run(&agent([tool]).await, &mut Default::default()).await;
    let seen = seen.lock().unwrap().clone();
    (seen, ran)
}

const WHOLE: [&str; 11] = [
    "started",
    "model_call",
    "MODEL",
    "model_reply",
    "tool_call",
    "TOOL",
    "tool_result",
    "model_call",
    "MODEL",
    "model_reply",
    "ended",
];

#[tokio::test]
async fn the_intent_is_written_before_the_effect_and_the_result_after() {
    let (seen, ran) = run_until(usize::MAX).await;
    assert_eq!((seen.as_slice(), ran.reason().as_str()), (&WHOLE.map(str::to_owned)[..], "completed"));
}

#[tokio::test]
async fn nothing_happens_that_could_not_be_written_down() {
    for fails_at in 0..7 {
        let (seen, ran) = run_until(fails_at).await;
        let effects = seen.iter().filter(|seen| seen.chars().all(char::is_uppercase)).count();
        let intents = seen.iter().filter(|seen| ["model_call", "tool_call"].contains(&seen.as_str())).count();
        assert_eq!(effects, intents, "{seen:?}");
        assert_eq!((ran.reason().as_str(), ran.end.code), ("failed", Some("storage_failed")));
        assert!(seen.iter().zip(WHOLE).all(|(seen, expected)| seen == expected), "{seen:?}");
    }
}

#[tokio::test]
async fn a_result_that_could_not_be_written_down_is_told_all_the_same() {
    let (seen, ran) = run_until(4).await;
    assert_eq!(seen.last().map(String::as_str), Some("TOOL"));
    assert_eq!(ran.results(), ["done"], "nobody is told that it was not made");
}
