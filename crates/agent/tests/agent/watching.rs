//! What one who watches a run sees.

use std::{sync::Arc, time::Duration};

use bylaw_agent::{Journal, JournalConfig, MemoryRuns, Purpose, RunLog, RunStore, Seen, Watch};
use bylaw_answer::EventSink;
use bylaw_contract::{LoopEvent, RunEvent, ask::Mode};

use crate::{
    journal::{an_agent, answer, id, journal, new, over, step},
    support::{Counted, StoppedClock, faulty::Faulty},
};

fn delta(text: &str) -> LoopEvent {
    LoopEvent::TextDelta { text: text.to_owned() }
}

fn reply(text: &str) -> LoopEvent {
    let (text, finish) = (text.to_owned(), "stop".to_owned());
    LoopEvent::ModelReply { text, reasoning: None, calls: Vec::new(), finish, usage: None }
}

/// What is seen next, in short; `-` when nothing more comes.
async fn next(watch: &mut Watch) -> String {
    match watch.next().await.unwrap() {
        None => "-".to_owned(),
        Some(Seen::TextSoFar(text)) => format!("so far {text}"),
        Some(Seen::Shown(event)) => match &*event {
            RunEvent::Token { text } | RunEvent::Loop(LoopEvent::TextDelta { text }) => format!("+{text}"),
            other => panic!("{other:?}"),
        },
        Some(Seen::Event(event)) => {
            let name = serde_json::to_value(&event.event).unwrap()["event"].as_str().unwrap().to_owned();
            format!("{} {name}", event.number)
        }
    }
}

async fn all(mut watch: Watch) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        match next(&mut watch).await.as_str() {
            "-" => return seen,
            other => seen.push(other.to_owned()),
        }
    }
}

#[tokio::test]
async fn who_watches_sees_everything_as_it_happens() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let run = journal.hold(new(1, an_agent()));
    let watching = tokio::spawn(all(journal.watch(id(1), 0)));
    tokio::task::yield_now().await;
    run.write(vec![step(0)]).await.unwrap();
    run.show(delta("a"));
    run.show(delta("b"));
    run.write(vec![reply("ab")]).await.unwrap();
    run.write(vec![over()]).await.unwrap();
    drop(run);
    assert_eq!(watching.await.unwrap(), ["1 model_call", "+a", "+b", "2 model_reply", "3 ended"]);
}

#[tokio::test]
async fn who_comes_late_gets_the_text_so_far_and_goes_on_from_there() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let run = journal.hold(new(1, an_agent()));
    run.write(vec![step(0)]).await.unwrap();
    run.show(delta("a"));
    run.show(delta("b"));
    for (after, expected) in [(0, &["1 model_call", "so far ab"][..]), (1, &["so far ab"])] {
        let mut watch = journal.watch(id(1), after);
        for expected in expected {
            assert_eq!(next(&mut watch).await, *expected);
        }
    }
    let mut watch = journal.watch(id(1), 1);
    assert_eq!(next(&mut watch).await, "so far ab");
    run.show(delta("c"));
    assert_eq!(next(&mut watch).await, "+c");
    run.write(vec![reply("abc")]).await.unwrap();
    assert_eq!(next(&mut watch).await, "2 model_reply");
    // A reply that is whole is not said twice.
    run.show(delta("d"));
    let mut watch = journal.watch(id(1), 0);
    for expected in ["1 model_call", "2 model_reply", "so far d"] {
        assert_eq!(next(&mut watch).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn who_begins_to_watch_while_an_event_is_being_committed_sees_it() {
    let store = Arc::new(Faulty::default());
    let journal = journal(Arc::clone(&store) as Arc<dyn RunStore>);
    let run = Arc::new(journal.hold(new(1, an_agent())));
    run.write(vec![step(0)]).await.unwrap();
    store.writing.notified().await;

    let committing = store.commit.write().await;
    let writing = tokio::spawn({
        let run = Arc::clone(&run);
        async move { run.write(vec![step(1)]).await }
    });
    store.writing.notified().await;
    let mut watch = journal.watch(id(1), 1);
    let watching = tokio::spawn(async move { next(&mut watch).await });
    // It has read the store, which has nothing more, and waits for news.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    drop(committing);
    let seen = tokio::time::timeout(Duration::from_secs(5), watching).await;
    assert_eq!(seen.expect("nothing was seen").unwrap(), "2 model_call");
    writing.await.unwrap().unwrap();
}

#[tokio::test]
async fn who_is_slow_misses_pieces_of_text_and_no_event() {
    let config = JournalConfig { behind: 4, ..JournalConfig::default() };
    let journal = Journal::open(Arc::new(MemoryRuns::default()), config, Arc::new(StoppedClock), &Counted::default());
    let run = journal.hold(new(1, an_agent()));
    run.write(vec![step(0)]).await.unwrap();
    let mut watch = journal.watch(id(1), 0);
    assert_eq!(next(&mut watch).await, "1 model_call");
    for number in 1..200 {
        run.show(delta("a"));
        run.write(vec![step(number)]).await.unwrap();
    }
    run.write(vec![over()]).await.unwrap();
    drop(run);
    journal.flush().await;
    let mut seen = all(watch).await;
    seen.retain(|seen| !seen.starts_with('+'));
    let numbers: Vec<u64> = seen.iter().map(|seen| seen.split_once(' ').unwrap().0.parse().unwrap()).collect();
    assert_eq!(numbers, (2..=201).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_pieces_of_a_question_are_seen_and_its_events_when_they_are_written() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let run = journal.hold(new(1, Purpose::Ask(Mode::Auto)));
    let watch = journal.watch(id(1), 0);
    let watching = tokio::spawn(all(watch));
    tokio::task::yield_now().await;
    run.report(RunEvent::Citations { citations: Vec::new() });
    run.report(RunEvent::Token { text: "三".to_owned() });
    run.report(RunEvent::Token { text: "日".to_owned() });
    run.report(RunEvent::Done { answer: Box::new(answer(1)) });
    drop(run);
    assert_eq!(watching.await.unwrap(), ["+三", "+日", "1 citations", "2 done"]);
}

#[tokio::test]
async fn a_run_that_is_over_or_unknown_is_read_to_its_end() {
    let journal = journal(Arc::new(MemoryRuns::default()));
    let run = journal.hold(new(1, an_agent()));
    run.write((0..150).map(step).chain([over()]).collect()).await.unwrap();
    drop(run);
    journal.flush().await;
    assert_eq!(all(journal.watch(id(1), 0)).await.len(), 151);
    assert_eq!(all(journal.watch(id(1), 149)).await, ["150 model_call", "151 ended"]);
    assert_eq!(all(journal.watch(id(1), 151)).await, [""; 0]);
    assert_eq!(all(journal.watch(id(2), 0)).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_run_of_another_process_is_followed_in_the_store() {
    let store: Arc<dyn RunStore> = Arc::new(MemoryRuns::default());
    let (here, there) = (journal(Arc::clone(&store)), journal(store));
    let run = there.hold(new(1, an_agent()));
    run.write(vec![step(0)]).await.unwrap();
    let watching = tokio::spawn(all(here.watch(id(1), 0)));
    tokio::time::sleep(Duration::from_secs(5)).await;
    run.write(vec![step(1), over()]).await.unwrap();
    assert_eq!(watching.await.unwrap(), ["1 model_call", "2 model_call", "3 ended"]);
}
