//! What a journal writes down: in order, durable when it was awaited, and never in the way of an answer.

use std::sync::Arc;

use bylaw_agent::{
    ArtifactStore, BeginError, ConversationRecord, Journal, JournalConfig, JournalTallies, MemoryRuns, NewRun, Owner,
    Purpose, RunLog, RunStore,
};
use bylaw_answer::EventSink;
use bylaw_contract::{
    ArtifactId, ConversationId, LoopEvent, RequestId, RunEvent, RunId, Stop, StopReason, Timestamp, TokenUsage,
    ask::{Answer, Mode},
};
use bylaw_store::SqliteStore;
use bytes::Bytes;
use proptest::{collection::vec, prelude::*};
use serde_json::json;

use crate::support::{Counted, StoppedClock, faulty::Faulty};

pub(crate) fn id(number: u64) -> RunId {
    RunId::new(format!("run_{number:024x}")).unwrap()
}

pub(crate) fn new(number: u64, purpose: Purpose) -> NewRun {
    NewRun {
        id: id(number),
        owner: Owner::LocalDoor,
        purpose,
        model: None,
        conversation: None,
        message: "特休幾天？".to_owned(),
        request_id: RequestId::new("r").unwrap(),
        started_at: Timestamp(0),
    }
}

pub(crate) fn an_agent() -> Purpose {
    Purpose::Agent("leave".to_owned())
}

pub(crate) fn journal(store: Arc<dyn RunStore>) -> Journal {
    Journal::open(store, JournalConfig::default(), Arc::new(StoppedClock), &Counted::default())
}

pub(crate) fn step(number: u32) -> LoopEvent {
    LoopEvent::ModelCall { step: number, tools: 0, last: false }
}

pub(crate) fn over() -> LoopEvent {
    let (reason, usage) = (StopReason::Completed, TokenUsage::default());
    LoopEvent::Ended { reason, code: None, message: String::new(), answer: None, steps: 0, tool_calls: 0, usage }
}

fn citations() -> RunEvent {
    RunEvent::Citations { citations: Vec::new() }
}

pub(crate) fn answer(run: u64) -> Answer {
    serde_json::from_value(json!({
        "answer": "三日。", "outcome": "answered", "note": "", "answered_by": { "by": "extract" }, "sentences": [], "citations": [],
        "usage": { "input_tokens": 0, "output_tokens": 0, "cached": false, "model_calls": 0, "cost_micro_usd": 0,
            "estimated": false, "avoided_micro_usd": 0, "cost": "0", "currency": "TWD", "cost_twd": null,
            "avoided_twd": null },
        "timing": { "embed_ms": 0.0, "retrieve_ms": 0.0, "llm_ms": 0.0, "serialize_ms": 0.0, "total_ms": 0.0,
            "overhead_ms": 0.0 },
        "retriever": "lexical", "mode": "extract", "agent": null, "request_id": "r", "run_id": id(run), "asked_at": 0
    }))
    .unwrap()
}

fn done(run: u64) -> RunEvent {
    RunEvent::Done { answer: Box::new(answer(run)) }
}

pub(crate) async fn names(store: &dyn RunStore, run: u64) -> Vec<String> {
    let events = store.events(&id(run), 0, usize::MAX).await.unwrap();
    let name = |event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
    events.into_iter().map(|kept| name(kept.event)).collect()
}

#[derive(Clone, Copy, Debug)]
enum Doing {
    /// Writes so many events, and waits.
    Write(u32),
    Report,
    Show,
    Yield,
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![(1..4_u32).prop_map(Doing::Write), Just(Doing::Report), Just(Doing::Show), Just(Doing::Yield)]
}

async fn steps(store: &dyn RunStore, run: u64) -> Vec<u32> {
    let events = store.events(&id(run), 0, usize::MAX).await.unwrap();
    assert!(events.iter().zip(1..).all(|(event, number)| event.number == number), "no gaps");
    let step = |event| match event {
        RunEvent::Loop(LoopEvent::ModelCall { step, .. }) => step,
        other => panic!("{other:?}"),
    };
    events.into_iter().map(|event| step(event.event)).collect()
}

/// Does everything in one run; everything that was awaited is in the store when the wait is over.
async fn live(journal: Journal, run: u64, all: Vec<Doing>) -> u32 {
    let open = journal.hold(new(run, an_agent()));
    let mut next = 0;
    for doing in all {
        match doing {
            Doing::Write(count) => {
                open.write((next..next + count).map(step).collect()).await.unwrap();
                next += count;
                assert_eq!(steps(&**journal.store(), run).await, (0..next).collect::<Vec<_>>());
            }
            Doing::Report => {
                open.report(RunEvent::Loop(step(next)));
                next += 1;
            }
            Doing::Show => open.show(LoopEvent::TextDelta { text: "…".to_owned() }),
            Doing::Yield => tokio::task::yield_now().await,
        }
    }
    // So that its last event is not the one of a run that was left.
    std::mem::forget(open);
    next
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_run_has_its_events_in_order_and_what_was_awaited_is_there(runs in vec(vec(doing(), 0..12), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let journal = journal(Arc::new(MemoryRuns::default()));
            let all = (0..).zip(runs).map(|(run, all)| tokio::spawn(live(journal.clone(), run, all)));
            for (run, done) in (0..).zip(all.collect::<Vec<_>>()) {
                let count = done.await.unwrap();
                assert!(journal.flush().await);
                assert_eq!(steps(&**journal.store(), run).await, (0..count).collect::<Vec<_>>());
            }
        });
    }
}

#[tokio::test]
async fn what_many_runs_write_at_once_is_one_commit() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let runs: Vec<_> = (0..50).map(|number| journal.hold(new(number, an_agent()))).collect();
    futures_util::future::join_all(runs.iter().map(|run| run.write(vec![step(0), step(1)]))).await;
    assert_eq!(journal.tallies(), JournalTallies { commits: 1, events: 100, lost: 0 });
}

#[tokio::test]
async fn an_extract_is_one_write_when_it_is_over() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let run = journal.hold(new(1, Purpose::Ask(Mode::Auto)));
    run.report(citations());
    run.report(RunEvent::Token { text: "三日。".to_owned() });
    journal.flush().await;
    assert_eq!(journal.store().run(&id(1)).await.unwrap(), None, "nothing is written before it is over");
    run.report(done(1));
    drop(run);
    journal.flush().await;
    assert_eq!(names(&**journal.store(), 1).await, ["citations", "done"]);
    assert_eq!(journal.tallies(), JournalTallies { commits: 1, events: 2, lost: 0 });
}

#[tokio::test]
async fn a_pipeline_is_seen_while_it_goes_on_and_ends_with_its_failure() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let run = journal.hold(new(1, Purpose::Ask(Mode::Pipeline)));
    run.report(citations());
    journal.flush().await;
    assert_eq!(names(&**journal.store(), 1).await, ["citations"]);
    let stop = Stop { reason: StopReason::UpstreamTimeout, at_step: 0, message: String::new() };
    run.report(RunEvent::Failed { stop, code: "upstream_timeout".to_owned(), message: String::new() });
    drop(run);
    journal.flush().await;
    assert_eq!(names(&**journal.store(), 1).await, ["citations", "failed"]);
    let ended = journal.store().run(&id(1)).await.unwrap().unwrap().ended.unwrap();
    assert_eq!(ended.reason, StopReason::UpstreamTimeout);
}

#[tokio::test]
async fn an_answer_that_another_run_was_paid_for_leaves_no_run() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let asked_twice = journal.hold(new(3, Purpose::Ask(Mode::Pipeline))).that_may_repeat();
    for (number, run) in [(2, journal.hold(new(2, Purpose::Ask(Mode::Auto)))), (3, asked_twice)] {
        run.report(citations());
        journal.flush().await;
        run.report(done(1));
        drop(run);
        journal.flush().await;
        assert_eq!(journal.store().run(&id(number)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_run_that_is_left_is_written_down_as_cancelled() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    for (number, purpose, last) in
        [(1, an_agent(), "ended"), (2, Purpose::Ask(Mode::Auto), "failed"), (3, Purpose::Ask(Mode::Agent), "failed")]
    {
        let run = journal.hold(new(number, purpose));
        run.report(citations());
        drop(run);
        journal.flush().await;
        assert_eq!(names(&**journal.store(), number).await, ["citations", last]);
        let ended = journal.store().run(&id(number)).await.unwrap().unwrap().ended.unwrap();
        assert_eq!((ended.reason, ended.code.as_deref()), (StopReason::Cancelled, Some("cancelled")));
    }
}

#[tokio::test]
async fn a_store_that_fails_stops_who_waits_and_nobody_else() {
    let store = SqliteStore::in_memory().await.unwrap();
    let journal = journal(Arc::new(store.clone()));
    store.close().await;
    let run = journal.hold(new(1, Purpose::Ask(Mode::Auto)));
    run.report(citations());
    run.report(done(1));
    drop(run);
    journal.flush().await;
    assert_eq!(journal.tallies(), JournalTallies { commits: 0, events: 0, lost: 3 });
    let run = journal.hold(new(2, an_agent()));
    let error = run.write(vec![step(0)]).await.unwrap_err().to_string();
    assert!(error.starts_with("the run's log failed: runs cannot be kept or read: writing"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_that_has_begun_is_written_once_the_store_works_again() {
    let store = Arc::new(Faulty::default());
    let journal = journal(Arc::clone(&store) as _);
    conversation(&**journal.store()).await;
    let run = journal.begin(NewRun { conversation: Some(talk()), ..new(1, an_agent()) }).await.unwrap();
    let asked = journal.hold(new(2, Purpose::Ask(Mode::Pipeline)));
    asked.report(citations());
    journal.flush().await;
    store.fail(true);
    assert!(run.write(vec![step(0)]).await.is_err());
    asked.report(done(2));
    drop((run, asked));
    journal.flush().await;
    assert_eq!(journal.store().run(&id(1)).await.unwrap().unwrap().ended, None);
    store.fail(false);
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    journal.flush().await;
    assert_eq!(names(&*store, 1).await, ["ended"]);
    assert_eq!(names(&*store, 2).await, ["citations", "done"]);
    assert_eq!(journal.store().conversation(&talk()).await.unwrap().unwrap().0.busy, None);
    assert_eq!(journal.tallies().lost, 0);
}

#[tokio::test]
async fn what_is_handed_over_faster_than_it_is_written_is_dropped_and_counted() {
    let config = JournalConfig { queue: 6, ..JournalConfig::default() };
    let store = Arc::new(MemoryRuns::default());
    let journal = Journal::open(store, config, Arc::new(StoppedClock), &Counted::default());
    // Nobody writes before this task waits.
    for number in 0..5 {
        let run = journal.hold(new(number, Purpose::Ask(Mode::Auto)));
        run.report(citations());
        run.report(done(number));
    }
    journal.flush().await;
    assert_eq!(journal.tallies().lost, 9);
    for number in 0..5 {
        assert_eq!(journal.store().run(&id(number)).await.unwrap().is_some(), number < 2, "{number}");
    }
    let run = journal.hold(new(9, Purpose::Ask(Mode::Auto)));
    run.report(done(9));
    journal.flush().await;
    assert!(journal.store().run(&id(9)).await.unwrap().is_some(), "places are given back");
}

fn talk() -> ConversationId {
    ConversationId::new(format!("cnv_{:024x}", 1)).unwrap()
}

async fn conversation(store: &dyn RunStore) {
    let (title, agent, busy, created_at) = (String::new(), None, None, Timestamp(0));
    let owner = Owner::LocalDoor;
    let record = ConversationRecord { id: talk(), owner, title, agent, created_at, updated_at: created_at, busy };
    assert!(store.create_conversation(&record).await.unwrap());
}

#[tokio::test]
async fn a_conversation_is_had_until_it_is_given_back_or_its_run_is_dropped() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let within = |number| NewRun { conversation: Some(talk()), ..new(number, an_agent()) };
    assert!(matches!(journal.begin(within(1)).await, Err(BeginError::NoSuchConversation)));
    conversation(&**journal.store()).await;
    let run = journal.begin(within(1)).await.unwrap();
    let busy = journal.begin(within(2)).await.unwrap_err();
    assert_eq!(busy.to_string(), format!("the conversation is busy with {}; wait for that run, or cancel it", id(1)));
    run.write(vec![over()]).await.unwrap();
    assert!(matches!(journal.begin(within(2)).await, Err(BeginError::Busy(_))), "what was said is still to come");
    run.give_back(&Default::default()).await.unwrap();
    let next = journal.begin(within(2)).await.unwrap();
    assert!(run.give_back(&Default::default()).await.is_err(), "only who has it gives it back");
    drop(run);
    journal.flush().await;
    assert!(matches!(journal.begin(within(3)).await, Err(BeginError::Busy(_))), "nor does its end");
    drop(next);
    journal.begin(within(3)).await.unwrap();
}

#[tokio::test]
async fn runs_of_a_process_that_is_gone_are_ended_and_give_their_conversation_back() {
    let store: Arc<dyn RunStore> = Arc::new(MemoryRuns::default());
    conversation(&*store).await;
    // The clock stands still, so a lease that is no longer than nothing has always run out.
    let config = JournalConfig { lease: std::time::Duration::from_millis(3), ..JournalConfig::default() };
    let (clock, randomness) = (Arc::new(StoppedClock), Counted::default());
    let gone = Journal::open(Arc::clone(&store), config, clock, &randomness);
    let run = gone.begin(NewRun { conversation: Some(talk()), ..new(1, an_agent()) }).await.unwrap();
    run.write(vec![step(0)]).await.unwrap();
    assert_eq!(gone.end_lost(9).await.unwrap(), 0, "it lives");
    store.keep_process(&store.run(&id(1)).await.unwrap().unwrap().process, Timestamp(-1)).await.unwrap();
    assert_eq!(journal(Arc::clone(&store)).end_lost(9).await.unwrap(), 1);
    assert_eq!(names(&*store, 1).await, ["model_call", "ended"]);
    let record = store.run(&id(1)).await.unwrap().unwrap();
    assert_eq!(record.ended.unwrap().code.as_deref(), Some("run_lost"));
    assert_eq!(store.conversation(&talk()).await.unwrap().unwrap().0.busy, None);
    assert!(run.write(vec![step(1)]).await.is_err(), "whoever was taken for gone does nothing more");
}

#[tokio::test]
async fn artifacts_are_those_of_the_owner_and_no_more_than_a_run_may_have() {
    let config = JournalConfig { artifact_bytes: 4, ..JournalConfig::default() };
    let store = Arc::new(MemoryRuns::default());
    let journal = Journal::open(store, config, Arc::new(StoppedClock), &Counted::default());
    let run = journal.begin(new(1, an_agent())).await.unwrap();
    let artifact = |number: u64, text: &'static str| {
        let id = ArtifactId::new(format!("art_{number:024x}")).unwrap();
        bylaw_agent::Artifact { id, mime: "text/plain".to_owned(), bytes: Bytes::from(text) }
    };
    run.artifacts().put(artifact(1, "abc")).await.unwrap();
    let error = run.artifacts().put(artifact(2, "de")).await.unwrap_err().to_string();
    assert_eq!(error, "the artifact store failed: this run has more than 4 bytes of them");
    let key = bylaw_contract::KeyId::new(format!("key_{:024x}", 1)).unwrap();
    let stranger = journal.begin(NewRun { owner: Owner::Key(key), ..new(2, an_agent()) }).await.unwrap();
    let friend = journal.begin(new(3, an_agent())).await.unwrap();
    let id = artifact(1, "").id;
    assert_eq!(run.artifacts().get(&id).await.unwrap(), Some(artifact(1, "abc")));
    assert_eq!(friend.artifacts().get(&id).await.unwrap(), Some(artifact(1, "abc")));
    assert_eq!(stranger.artifacts().get(&id).await.unwrap(), None);
}
