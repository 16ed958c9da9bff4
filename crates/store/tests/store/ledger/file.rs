//! What only a file has: it outlives the process, others open it, it fills the disk, and it can be damaged.

use std::error::Error;

use bylaw_contract::Timestamp;
use bylaw_gate::{
    Checkpoint, Fault, KeyHash, KeyRecord, KeyStore, LedgerError, LedgerStore, ReadableSources, Role, RowNumber,
    SealingKey, Write, seal_some, verify,
};
use bylaw_store::SqliteStore;

use super::world::{Seeded, Still, all_rows, commit, granted, hit, key, lease, moment, reserve, settle, spent, stands};
use crate::folder::Folder;

fn someone() -> KeyRecord {
    KeyRecord {
        id: key(1),
        name: "someone".to_owned(),
        role: Role::Admin,
        sources: ReadableSources::All,
        budgets: Vec::new(),
        created_at: Timestamp(1),
        expires_at: None,
        revoked_at: None,
    }
}

/// The whole chain of causes.
fn chain(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", chain(source)))
}

#[tokio::test]
async fn everything_is_there_after_reopening() {
    let folder = Folder::new();
    let store = folder.open().await;
    let signer = SealingKey::mint(&Seeded::new(1));
    KeyStore::add(&store, &someone(), &KeyHash([1; 32])).await.unwrap();
    commit(&store, vec![reserve(1, 0, 100), reserve(2, 0, 50), settle(1, spent(70), 0)]).await;
    seal_some(&store, &signer, &Still).await.unwrap();
    let (rows, open) = (all_rows(&store).await, store.open(None, 10).await.unwrap());
    let (totals, seal) = (store.totals(None, 10).await.unwrap(), store.last_seal().await.unwrap());
    let revision = KeyStore::revision(&store).await.unwrap();
    store.close().await;

    let store = folder.open().await;
    assert_eq!((all_rows(&store).await, store.open(None, 10).await.unwrap()), (rows, open));
    assert_eq!((store.totals(None, 10).await.unwrap(), store.last_seal().await.unwrap()), (totals, seal));
    assert_eq!(KeyStore::list(&store).await.unwrap(), [someone()]);
    assert_eq!(KeyStore::revision(&store).await.unwrap(), revision);
    assert_eq!(verify(&store, &signer.verifying_key(), None).await.unwrap().fault, None);
    // The lease is there as well: it still holds, and runs out when it should.
    assert_eq!(store.expire(lease(1, 0).until, 10).await.unwrap(), 0);
    assert_eq!(store.expire(moment(1), 10).await.unwrap(), 1);
}

#[tokio::test]
async fn a_key_that_another_store_revokes_is_revoked_at_once() {
    let folder = Folder::new();
    let (one, other) = (folder.open().await, folder.open().await);
    KeyStore::add(&one, &someone(), &KeyHash([1; 32])).await.unwrap();
    let known = KeyStore::revision(&other).await.unwrap();
    assert_eq!(other.by_hash(&KeyHash([1; 32])).await.unwrap(), Some(someone()));
    one.revoke(&key(1), Timestamp(5)).await.unwrap();
    assert!(KeyStore::revision(&other).await.unwrap() > known);
    assert_eq!(other.by_hash(&KeyHash([1; 32])).await.unwrap().unwrap().revoked_at, Some(Timestamp(5)));
}

#[tokio::test]
async fn a_key_cannot_be_added_twice() {
    let store = SqliteStore::in_memory().await.unwrap();
    KeyStore::add(&store, &someone(), &KeyHash([1; 32])).await.unwrap();
    let revision = KeyStore::revision(&store).await.unwrap();
    for (number, mark) in [(1, 2), (2, 1)] {
        let other = KeyRecord { id: key(number), ..someone() };
        assert!(KeyStore::add(&store, &other, &KeyHash([mark; 32])).await.is_err());
    }
    assert_eq!(KeyStore::revision(&store).await.unwrap(), revision);
}

#[tokio::test]
async fn of_two_stores_that_seal_at_the_same_time_one_is_too_late() {
    let folder = Folder::new();
    let (one, other) = (folder.open().await, folder.open().await);
    commit(&one, (0..20).map(|number| Write::Record(hit(number, 0, 1))).collect()).await;
    let signer = SealingKey::mint(&Seeded::new(1));
    let (first, second) = tokio::join!(seal_some(&one, &signer, &Still), seal_some(&other, &signer, &Still));
    assert_eq!(first.unwrap() + second.unwrap(), 20);
    assert_eq!(verify(&one, &signer.verifying_key(), None).await.unwrap().sealed, RowNumber(20));
}

/// Fills the disk with batches of reservations and hits; the number of the batch that failed, and why.
async fn fill(store: &SqliteStore) -> (u64, LedgerError) {
    for batch in 1..10_000 {
        let mut writes = vec![reserve(1_000 + batch, 0, 0)];
        writes.extend((0..20).map(|number| Write::Record(hit(number, 0, 1))));
        if let Err(error) = store.commit(&lease(1, 0), writes).await {
            return (batch, error);
        }
    }
    panic!("the disk is never full");
}

async fn check_full_disk(store: &SqliteStore) {
    commit(store, vec![reserve(1, 0, 100), reserve(2, 0, 50)]).await;
    store.limit_pages(1).await.unwrap();
    let (failed, error) = fill(store).await;
    assert!(matches!(error, LedgerError::Unavailable { .. }), "{error:?}");
    let message = chain(&error);
    assert!(message.starts_with("the ledger cannot be used: writing a batch failed: "), "{message}");
    assert!(message.ends_with("database or disk is full"), "{message}");

    // Nothing is half written, again and again, and reading goes on.
    for _ in 0..5 {
        let writes = (0..200).map(|number| Write::Record(hit(number, 0, 1))).collect();
        let error = store.commit(&lease(1, 0), writes).await.unwrap_err();
        assert!(chain(&error).ends_with("database or disk is full"), "{}", chain(&error));
        assert_eq!(store.last_row().await.unwrap(), RowNumber((failed - 1) * 20));
        assert_eq!(u64::try_from(all_rows(store).await.len()).unwrap(), (failed - 1) * 20);
        assert_eq!(u64::try_from(store.open(None, 100_000).await.unwrap().len()).unwrap(), 2 + failed - 1);
        assert_eq!(stands(store).await, (0, 150, 0));
    }

    store.limit_pages(u32::MAX).await.unwrap();
    let written = commit(store, vec![settle(1, spent(70), 0), reserve(3, 0, 10)]).await;
    assert_eq!(written[1], granted(10));
    assert_eq!(stands(store).await, (70, 60, 0));
    let signer = SealingKey::mint(&Seeded::new(1));
    while seal_some(store, &signer, &Still).await.unwrap() > 0 {}
    assert_eq!(verify(store, &signer.verifying_key(), None).await.unwrap().fault, None);
}

#[tokio::test]
async fn on_a_full_disk_nothing_is_reserved_and_reading_goes_on_until_there_is_room_again() {
    let folder = Folder::new();
    let store = folder.open().await;
    check_full_disk(&store).await;
    store.check().await.unwrap();
}

#[tokio::test]
async fn a_full_database_in_memory_recovers_as_well() {
    check_full_disk(&SqliteStore::in_memory().await.unwrap()).await;
}

/// A sealed ledger of rows 1 to 5 on which `damage` was done behind its back, and the checkpoint from before.
async fn damaged(damage: &'static str) -> (Folder, SqliteStore, SealingKey, Checkpoint) {
    use sqlx::Connection;
    let folder = Folder::new();
    let store = folder.open().await;
    let signer = SealingKey::mint(&Seeded::new(1));
    commit(&store, (1..=5).map(|number| Write::Record(hit(number, 0, 1))).collect()).await;
    seal_some(&store, &signer, &Still).await.unwrap();
    let checkpoint = store.last_seal().await.unwrap().unwrap().checkpoint();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(folder.file());
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(damage).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    (folder, store, signer, checkpoint)
}

#[tokio::test]
async fn verifying_names_a_row_whose_text_was_changed_or_that_is_gone() {
    for (damage, fault) in [
        (
            r#"UPDATE ledger SET text = replace(text, '"amount":1', '"amount":2') WHERE number = 3"#,
            Fault::RowChanged(RowNumber(3)),
        ),
        ("UPDATE ledger SET text = text || ' ' WHERE number = 4", Fault::RowChanged(RowNumber(4))),
        ("DELETE FROM ledger WHERE number = 2", Fault::RowMissing(RowNumber(2))),
        ("DELETE FROM ledger WHERE number = 5", Fault::RowMissing(RowNumber(5))),
        ("DELETE FROM seals; DELETE FROM ledger", Fault::CutOff { sealed: RowNumber(0), checkpoint: RowNumber(5) }),
    ] {
        let (_folder, store, signer, checkpoint) = damaged(damage).await;
        let found = verify(&store, &signer.verifying_key(), Some(checkpoint)).await.unwrap();
        assert_eq!(found.fault, Some(fault), "{damage}");
    }
}

#[tokio::test]
async fn verifying_names_what_cannot_be_read() {
    for (damage, expected) in [
        ("UPDATE ledger SET text = '{}' WHERE number = 3", "row 3: not a row of a ledger: missing field `number`"),
        (
            r#"UPDATE ledger SET text = replace(text, '"number":3', '"number":4') WHERE number = 3"#,
            "row 3: its text says 4",
        ),
        ("UPDATE seals SET links = x'00'", "the seal that begins at row 1: links have 32 bytes each"),
    ] {
        let (_folder, store, signer, _) = damaged(damage).await;
        let error = verify(&store, &signer.verifying_key(), None).await.unwrap_err();
        assert!(matches!(&error, LedgerError::Corrupt { what } if what.starts_with(expected)), "{error}");
    }
}

#[tokio::test]
async fn a_row_that_is_damaged_on_disk_is_named_and_the_others_can_be_read() {
    let (folder, store, signer, _) = damaged("").await;
    store.close().await;
    let mut bytes = std::fs::read(folder.file()).unwrap();
    let place = bytes.windows(11).position(|window| window == br#"{"number":3"#).unwrap();
    bytes[place] = b'?';
    std::fs::write(folder.file(), bytes).unwrap();
    let store = folder.open().await;
    let error = verify(&store, &signer.verifying_key(), None).await.unwrap_err().to_string();
    assert!(error.starts_with("the ledger is corrupt: row 3: not a row of a ledger: "), "{error}");
    assert!(error.ends_with("; nothing is spent until it is repaired or restored from a backup"), "{error}");
    let rows = store.rows(&bylaw_gate::RowFilter::default(), RowNumber(3), 10).await.unwrap();
    assert_eq!(rows.len(), 2);
}

#[tokio::test]
async fn an_open_reservation_that_cannot_be_read_is_named() {
    let (_folder, store, _, _) = damaged(
        "INSERT INTO reservations (id, owner, labels, budgets, amount, at, day)
         VALUES ('rsv_000000000000000000000001', 'nobody', '{}', '[]', 1, 1, '2026-03-01')",
    )
    .await;
    for error in [store.open(None, 10).await.unwrap_err(), store.expire(moment(0), 10).await.unwrap_err()] {
        let message = error.to_string();
        assert!(message.contains("the reservation \"rsv_000000000000000000000001\": column owner"), "{message}");
    }
}
