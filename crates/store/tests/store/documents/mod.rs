//! Documents, jobs and kept answers: the behaviour of every store, and what only a file has.

mod suite;

use std::path::Path;

use self::suite::{name, version, version_id};
use crate::folder::Folder;
use bylaw_library::{DocumentStore, StoreError};
use bylaw_store::SqliteStore;

/// Runs each behaviour on a store in memory, and on one in a file.
macro_rules! behaves {
    ($($module:ident :: { $($behaviour:ident),+ $(,)? }),+ $(,)?) => {
        mod in_memory {
            $($(#[tokio::test]
            async fn $behaviour() {
                let store = bylaw_store::SqliteStore::in_memory().await.unwrap();
                super::suite::$module::$behaviour(&store).await;
            })+)+
        }

        mod in_a_file {
            $($(#[tokio::test]
            async fn $behaviour() {
                let folder = crate::folder::Folder::new();
                let store = folder.open().await;
                super::suite::$module::$behaviour(&store).await;
                store.close().await;
            })+)+
        }
    };
}

behaves!(
    answers::{
        an_answer_is_kept_under_its_owner_and_name,
        the_first_answer_stays,
        old_answers_are_forgotten,
    },
    documents::{
        an_empty_store_has_nothing,
        a_version_comes_back_as_it_was_put,
        sources_are_listed_by_name_with_the_version_that_answers,
        versions_are_listed_newest_first_and_an_old_one_can_answer_again,
        the_same_version_id_may_belong_to_two_sources,
        a_deleted_source_is_not_listed_and_can_be_brought_back_in_time,
        a_new_version_brings_a_deleted_source_back,
        purging_forgets_what_was_deleted_before_and_nothing_else,
        the_revision_grows_exactly_when_what_answers_changes,
        an_origin_is_that_of_the_last_time_a_source_was_taken,
        a_withdrawn_version_leaves_the_source_as_it_was,
        withdrawing_the_only_version_forgets_the_source,
    },
    jobs::{
        a_job_comes_back_as_it_was_added_and_updated,
        a_job_cannot_be_added_twice,
        the_newest_jobs_come_first_up_to_the_limit,
        unfinished_jobs_come_oldest_first,
        unfinished_jobs_can_be_ended_except_some,
    },
);

/// The whole chain of causes.
fn chain(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

async fn refusal(file: &Path) -> String {
    chain(&SqliteStore::open(file).await.expect_err("it is refused"))
}

#[tokio::test]
async fn what_was_put_is_there_after_reopening() {
    let folder = Folder::new();
    let file = folder.file();
    let store = SqliteStore::open(&file).await.unwrap();
    store.put_version(&name("a.md"), &version(1, "x"), None).await.unwrap();
    store.close().await;
    let store = SqliteStore::open(&file).await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.version(&name("a.md"), &version_id(1)).await.unwrap(), Some(version(1, "x")));
    assert_eq!(store.revision().await.unwrap(), 1);
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_others_changes() {
    let folder = Folder::new();
    let file = folder.file();
    // Opened together, so that both find a file without tables.
    let (one, other) = tokio::join!(SqliteStore::open(&file), SqliteStore::open(&file));
    let (one, other) = (one.unwrap(), other.unwrap());
    for mark in 1..=20 {
        let (writer, reader) = if mark % 2 == 0 { (&one, &other) } else { (&other, &one) };
        writer.put_version(&name("a.md"), &version(mark, "x"), None).await.unwrap();
        assert_eq!(reader.revision().await.unwrap(), u64::from(mark));
        assert_eq!(reader.source(&name("a.md")).await.unwrap().unwrap().current.version, version_id(mark));
    }
}

#[tokio::test]
async fn writers_in_two_stores_wait_for_each_other() {
    let folder = Folder::new();
    let file = folder.file();
    let (one, other) = (SqliteStore::open(&file).await.unwrap(), SqliteStore::open(&file).await.unwrap());
    let many = async |store: &SqliteStore, source: &str| {
        for mark in 1..=25 {
            store.put_version(&name(source), &version(mark, "x"), None).await.unwrap();
        }
    };
    tokio::join!(many(&one, "a.md"), many(&other, "b.md"));
    assert_eq!(one.revision().await.unwrap(), 50);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    for (file, bytes) in [("garbage", "第一條 本規則依勞動基準法訂定。\n".repeat(200)), ("short", "hello".to_owned())]
    {
        let file = folder.path().join(file);
        std::fs::write(&file, &bytes).unwrap();
        let message = refusal(&file).await;
        assert!(message.contains("is not a Bylaw database; move it away"), "{message}");
        assert!(message.contains(&file.display().to_string()), "{message}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_left_alone() {
    let folder = Folder::new();
    let file = folder.file();
    execute(&file, "CREATE TABLE songs (title TEXT)").await;
    let message = refusal(&file).await;
    assert!(message.contains("is not a Bylaw database"), "{message}");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    let file = folder.file();
    SqliteStore::open(&file).await.unwrap().close().await;
    execute(
        &file,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'from the future', TRUE, x'00', 0)",
    )
    .await;
    let message = refusal(&file).await;
    assert!(message.contains("was written by a newer version of the program"), "{message}");
}

#[tokio::test]
async fn a_database_that_cannot_be_created_is_named() {
    let folder = Folder::new();
    let file = folder.path().join("no such folder").join("bylaw.sqlite");
    let message = refusal(&file).await;
    assert!(message.contains(&file.display().to_string()), "{message}");
}

#[tokio::test]
async fn a_large_document_is_kept_whole() {
    let store = SqliteStore::in_memory().await.unwrap();
    let put = version(1, &"滿六個月者，給予三日。\n".repeat(400_000));
    store.put_version(&name("a.md"), &put, None).await.unwrap();
    assert!(store.version(&name("a.md"), &version_id(1)).await.unwrap() == Some(put));
}

#[tokio::test]
async fn a_document_that_does_not_fit_on_the_disk_is_refused_and_taken_when_there_is_room() {
    let folder = Folder::new();
    for store in [SqliteStore::open(&folder.file()).await, SqliteStore::in_memory().await] {
        let store = store.unwrap();
        store.put_version(&name("a.md"), &version(1, "x"), None).await.unwrap();
        store.limit_pages(1).await.unwrap();
        let large = version(2, &"滿六個月者，給予三日。\n".repeat(1_000));
        for _ in 0..3 {
            let message = chain(&store.put_version(&name("b.md"), &large, None).await.unwrap_err());
            assert!(message.ends_with("database or disk is full"), "{message}");
            assert_eq!(store.sources().await.unwrap().len(), 1);
            assert_eq!(store.revision().await.unwrap(), 1);
        }
        store.limit_pages(u32::MAX).await.unwrap();
        store.put_version(&name("b.md"), &large, None).await.unwrap();
        assert_eq!(store.version(&name("b.md"), &version_id(2)).await.unwrap(), Some(large));
    }
}

/// Changes a file behind the store's back.
async fn execute(file: &Path, sql: &'static str) {
    use sqlx::Connection;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
