//! What only a database has: it can be full, damaged, and opened by several.

use std::{error::Error, sync::Arc};

use bylaw_agent::{RunQuery, RunStore, RunStoreError, RunWrite, Written};
use bylaw_contract::StopReason;
use bylaw_store::SqliteStore;
use sqlx::Connection;

use super::world::{Store, begin, conversation, ended, event, id, new, question, step, steps, talk, write};
use crate::folder::Folder;

fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

async fn check_full_disk(store: SqliteStore) {
    let port: Store = Arc::new(store.clone());
    write(&port, vec![begin(new(1)), event(1, question(1))]).await;
    store.limit_pages(1).await.unwrap();
    let fill = async |number: u64| {
        let mut batch: Vec<RunWrite> = (0..20).map(|_| event(1, question(1))).collect();
        batch.push(begin(new(number)));
        store.write(batch).await
    };
    let mut full = 2;
    let error = loop {
        match fill(full).await {
            Ok(_) => full += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, RunStoreError::Unavailable { .. }), "{error:?}");
    let message = chain(&error);
    assert!(message.starts_with("runs cannot be kept or read: writing what happened in runs failed: "), "{message}");
    assert!(message.ends_with("database or disk is full"), "{message}");
    // Nothing is half written, again and again, and reading goes on.
    for _ in 0..3 {
        assert!(chain(&fill(full).await.unwrap_err()).ends_with("database or disk is full"));
        assert_eq!(store.run(&id(full)).await.unwrap(), None);
        let events = store.events(&id(1), 0, usize::MAX).await.unwrap();
        assert_eq!(u64::try_from(events.len()).unwrap(), 1 + (full - 2) * 20);
    }
    store.limit_pages(u32::MAX).await.unwrap();
    assert_eq!(fill(full).await.unwrap().last(), Some(&Written::Done));
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_half_written_until_there_is_room_again() {
    let folder = Folder::new();
    check_full_disk(folder.open().await).await;
    check_full_disk(SqliteStore::in_memory().await.unwrap()).await;
}

/// What `read` says of a store with a run, a question and a conversation, on which `damage` was done behind its back.
async fn damaged(damage: &'static str) -> (Folder, SqliteStore) {
    let folder = Folder::new();
    let store = folder.open().await;
    store.create_conversation(&conversation(1)).await.unwrap();
    store.write(vec![begin(new(1)), event(1, step(0)), event(1, question(1))]).await.unwrap();
    let url = format!("sqlite://{}", folder.file().display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    sqlx::query(damage).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    (folder, store)
}

#[tokio::test]
async fn what_is_damaged_is_named() {
    let run = id(1);
    let said = |read: Result<(), RunStoreError>| match read {
        Err(RunStoreError::Corrupt { what }) => what,
        other => panic!("{other:?}"),
    };
    let (_folder, store) = damaged("UPDATE run_events SET text = '{\"event\":' WHERE number = 1").await;
    let what = said(store.events(&run, 0, 9).await.map(drop));
    assert!(
        what.starts_with(&format!("event 1 of {run}: column text holds something else than it should: ")),
        "{what}"
    );
    assert_eq!(store.events(&run, 1, 9).await.unwrap().len(), 1, "what is whole is read");

    let (_folder, store) = damaged("UPDATE runs SET stop = 'bored', ended_at = 1").await;
    let what = said(store.run(&run).await.map(drop));
    assert!(what.starts_with(&format!("the run {run}: column stop holds something else")), "{what}");
    assert_eq!(what, said(store.runs(&RunQuery { limit: 9, ..RunQuery::default() }).await.map(drop)));

    let (_folder, store) = damaged("UPDATE run_questions SET given = '[]'").await;
    let what = said(store.questions(&run).await.map(drop));
    assert!(what.starts_with(&format!("question 1 of {run}: column given holds something else")), "{what}");

    let (_folder, store) = damaged("UPDATE conversations SET said = '{'").await;
    let what = said(store.conversation(&talk(1)).await.map(drop));
    assert!(what.starts_with(&format!("the conversation {}: column said holds something else", talk(1))), "{what}");

    let (_folder, store) = damaged("UPDATE runs SET kind = 'game'").await;
    let what = said(store.write(vec![event(1, step(1))]).await.map(drop));
    assert!(what.starts_with(&format!("the run {run}: column kind holds something else")), "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_on_one_file_leave_no_gaps() {
    let folder = Folder::new();
    let stores = [folder.open().await, folder.open().await];
    stores[0].write(vec![begin(new(1))]).await.unwrap();
    let writers: Vec<_> = (0..40)
        .map(|number| {
            let store = stores[number % 2].clone();
            tokio::spawn(async move { store.write(vec![event(1, step(0)), event(1, step(1))]).await.unwrap() })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let store: Store = Arc::new(stores[1].clone());
    let numbers: Vec<_> = steps(&store, 1).await.into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=80).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_was_written_is_there_when_the_file_is_opened_again() {
    let folder = Folder::new();
    let store = folder.open().await;
    store.write(vec![begin(new(1)), event(1, step(0)), event(1, ended(StopReason::Completed))]).await.unwrap();
    store.close().await;
    let store: Store = Arc::new(folder.open().await);
    assert_eq!(store.events(&id(1), 0, 9).await.unwrap().len(), 2);
    assert_eq!(write(&store, vec![event(1, step(0))]).await, [Written::Over]);
}
