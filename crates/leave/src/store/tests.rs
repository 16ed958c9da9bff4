//! What only this store promises.

use std::path::Path;

use super::*;
use crate::{
    domain::{
        calendar::{SAMPLE, WorkCalendar},
        history::Happening,
        rules::OnceRecord,
        status::Status,
        time::Day,
    },
    seed::company,
};

const NOW: Timestamp = Timestamp(1_772_416_800_000);

async fn seeded(file: &Path) -> SqliteLeaves {
    let store = SqliteLeaves::open(file).await.unwrap();
    let calendar = WorkCalendar::parse(SAMPLE).unwrap();
    let company = company(&calendar, Day::new(2026, 3, 2).unwrap()).unwrap();
    assert!(store.found(&company, NOW).await.unwrap());
    store
}

fn id(text: &str) -> EmployeeId {
    EmployeeId::new(text).unwrap()
}

fn entry(leave: &Leave, reason: &str) -> HistoryEntry {
    HistoryEntry {
        leave: Some(leave.id.clone()),
        at: NOW,
        actor: Some(leave.applicant.clone()),
        client: "tests".to_owned(),
        tool: "tests".to_owned(),
        what: Happening::Moved,
        version: leave.version,
        detail: "submitted".to_owned(),
        reason: reason.to_owned(),
    }
}

async fn submitted(store: &SqliteLeaves, reason: &str) -> Change {
    let book = store.book(&id("E001")).await.unwrap().unwrap();
    let draft = book.leaves.iter().find(|leave| leave.id.as_str() == "LV-7f3a91").unwrap();
    let leave =
        Leave { status: Status::Submitted, version: draft.version + 1, reason: reason.to_owned(), ..draft.clone() };
    Change { by: id("E001"), entry: entry(&leave, reason), leave, revision: book.revision, ticket: None, once: None }
}

#[tokio::test]
async fn a_change_is_written_once_and_from_the_present_state_only() {
    let folder = tempfile::tempdir().unwrap();
    let store = seeded(&folder.path().join("leave.db")).await;
    let mut change = submitted(&store, "").await;
    let record = |reply: &str| OnceRecord {
        key: OnceKey::new("key").unwrap(),
        fingerprint: "same".to_owned(),
        reply: reply.to_owned(),
        at: NOW,
    };
    change.once = Some(record("first"));
    change.ticket = Some(Ticket { text: "ticket".to_owned(), expires: Timestamp(NOW.0 + 1) });
    let old = Timestamp(0);
    let stale = Change { revision: change.revision + 1, ..change.clone() };
    assert_eq!(store.apply(&stale, old).await.unwrap(), Applied::Stale);
    // Neither the key nor the ticket was used by what was not done.
    assert_eq!(store.apply(&change, old).await.unwrap(), Applied::Done);
    assert_eq!(store.apply(&change, old).await.unwrap(), Applied::Before(record("first")));
    assert_eq!(store.apply(&Change { once: None, ..change.clone() }, old).await.unwrap(), Applied::TicketUsed);
    let again = Change { once: None, ticket: None, ..change.clone() };
    assert_eq!(store.apply(&again, old).await.unwrap(), Applied::Stale);
    let new = Leave { version: 1, ..change.leave.clone() };
    let revision = store.book(&id("E001")).await.unwrap().unwrap().revision;
    let taken = Change { leave: new, revision, ..again };
    assert_eq!(store.apply(&taken, old).await.unwrap(), Applied::IdTaken);
    assert_eq!(store.leave(&change.leave.id).await.unwrap().unwrap(), change.leave);
    assert_eq!(store.history(&change.leave.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_no_that_comes_between_reading_and_writing_is_not_overtaken() {
    let folder = tempfile::tempdir().unwrap();
    let store = seeded(&folder.path().join("leave.db")).await;
    let change = submitted(&store, "").await;
    let leave = LeaveId::new("LV-2c40d8").unwrap();
    let decline = Decline {
        leave: leave.clone(),
        effect: crate::domain::effect::Effect::Revoke,
        by: id("E001"),
        at: NOW,
        tool: crate::domain::effect::Tool::CancelApprovedLeave,
    };
    let ticket = Ticket { text: "ticket".to_owned(), expires: Timestamp(NOW.0 + 1) };
    assert!(store.decline(&decline, &ticket, &change.entry).await.unwrap());
    assert!(!store.decline(&decline, &ticket, &change.entry).await.unwrap(), "the ticket was used");
    assert!(!store.spend(&ticket, NOW).await.unwrap());
    assert_eq!(store.apply(&change, Timestamp(0)).await.unwrap(), Applied::Stale);
    assert_eq!(store.book(&id("E001")).await.unwrap().unwrap().declines, std::slice::from_ref(&decline));
    assert_eq!(store.reopen(&leave, &change.entry).await.unwrap(), [decline]);
    assert!(store.book(&id("E001")).await.unwrap().unwrap().declines.is_empty());
}

#[tokio::test]
async fn history_is_only_added_to() {
    let folder = tempfile::tempdir().unwrap();
    let store = seeded(&folder.path().join("leave.db")).await;
    for sql in ["UPDATE history SET reason = 'x'", "DELETE FROM history"] {
        let error = sqlx::query(sql).execute(&store.writer).await.unwrap_err();
        assert!(error.to_string().contains("history is only added to"), "{error}");
    }
}

#[tokio::test]
async fn what_was_shown_is_noted_without_waiting_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = seeded(&folder.path().join("leave.db")).await;
    for (pool, level) in [(&store.writer, 2), (&store.quiet, 1)] {
        let found: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await.unwrap();
        assert_eq!(found, level);
    }
    let leave = LeaveId::new("LV-7f3a91").unwrap();
    for (version, at) in [(1, 10), (2, 20)] {
        store.note_shown(&id("E001"), &[(leave.clone(), version)], Timestamp(at)).await.unwrap();
        let shown = store.shown(&id("E001"), &leave).await.unwrap().unwrap();
        assert_eq!((shown.version, shown.at), (version, Timestamp(at)));
    }
    assert_eq!(store.shown(&id("E002"), &leave).await.unwrap(), None);
}

#[tokio::test]
async fn a_full_disk_refuses_a_write_and_forgets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = seeded(&folder.path().join("leave.db")).await;
    store.limit_pages(1).await.unwrap();
    let mut refused = false;
    for number in 0..200 {
        let mut written = submitted(&store, "").await.entry;
        written.reason = format!("{number} {}", "x".repeat(400));
        refused |= store.record(&written).await.is_err();
    }
    assert!(refused, "the disk was not full");
    let change = submitted(&store, &"長".repeat(500)).await;
    assert!(store.apply(&change, Timestamp(0)).await.is_err());
    assert_eq!(store.leave(&change.leave.id).await.unwrap().unwrap().status, Status::Draft);
    store.limit_pages(10_000).await.unwrap();
    let change = submitted(&store, "").await;
    assert_eq!(store.apply(&change, Timestamp(0)).await.unwrap(), Applied::Done);
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leave.db");
    std::fs::write(&file, "this is no database, whatever its name says; it is long enough to be looked at twice")
        .unwrap();
    let error = SqliteLeaves::open(&file).await.unwrap_err();
    assert!(error.source.to_string().contains("leave.db is not a leave database"), "{}", error.source);
    let newer = folder.path().join("newer.db");
    let store = seeded(&newer).await;
    sqlx::query("UPDATE _sqlx_migrations SET version = 9999").execute(&store.writer).await.unwrap();
    store.close().await;
    let error = SqliteLeaves::open(&newer).await.unwrap_err();
    assert!(error.source.to_string().contains("newer version"), "{}", error.source);
}

#[tokio::test]
async fn a_secret_is_kept_as_its_hash_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leave.db");
    let store = seeded(&file).await;
    let random = |byte: u8| {
        struct Bytes(u8);
        impl bylaw_contract::Randomness for Bytes {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(self.0);
            }
        }
        Bytes(byte)
    };
    struct Still;
    impl bylaw_contract::Clock for Still {
        fn now(&self) -> Timestamp {
            NOW
        }
        fn elapsed(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }
    }
    let (key, secret) = crate::keys::create(&store, &id("E001"), &Still, &random(0xab)).await.unwrap();
    assert!(crate::keys::create(&store, &id("E999"), &Still, &random(1)).await.is_err());
    let found = crate::keys::authenticate(&store, secret.reveal()).await.unwrap();
    assert_eq!(found.map(|key| key.employee), Some(id("E001")));
    assert!(store.revoke_key(&key.id, NOW).await.unwrap());
    assert!(!store.revoke_key(&key.id, NOW).await.unwrap());
    assert_eq!(crate::keys::authenticate(&store, secret.reveal()).await.unwrap(), None);
    assert_eq!(format!("{secret:?}"), "Secret(***)");
    store.close().await;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(20).any(|window| window == &secret.reveal().as_bytes()[6..26]));
    }
}
