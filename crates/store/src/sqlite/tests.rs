//! Who waits for whom.

use std::error::Error;

use bylaw_gate::{KeyHash, KeyStore, LedgerError, LedgerStore, RowFilter, RowNumber};
use tempfile::TempDir;

use super::SqliteStore;

async fn in_a_file() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("bylaw.sqlite")).await.unwrap();
    (folder, store)
}

fn busy<T>(read: Result<T, LedgerError>) -> String {
    match read.err() {
        Some(error @ LedgerError::Unavailable { .. }) => error.source().unwrap().to_string(),
        other => panic!("{other:?}"),
    }
}

/// Whatever waits for the report that is held here fails, since nobody ever gives it back.
#[tokio::test]
async fn a_report_holds_up_neither_keys_nor_health_nor_spending() {
    let (_folder, store) = in_a_file().await;
    let _report = store.reports.acquire().await.unwrap();
    assert_eq!(KeyStore::revision(&store).await.unwrap(), 0);
    assert_eq!(store.by_hash(&KeyHash([1; 32])).await.unwrap(), None);
    assert_eq!(store.entries().await.unwrap(), []);
    store.check().await.unwrap();
    assert_eq!(store.accounts(&[]).await.unwrap(), []);
    assert_eq!(store.last_row().await.unwrap(), RowNumber(0));
    assert_eq!(store.last_seal().await.unwrap(), None);
}

#[tokio::test]
async fn a_report_waits_for_the_one_before_it_and_then_says_so() {
    let (_folder, store) = in_a_file().await;
    let report = store.reports.acquire().await.unwrap();
    tokio::time::pause();
    let (all, start) = (RowFilter::default(), RowNumber(0));
    for said in [
        busy(store.usage(&all).await),
        busy(store.rows(&all, start, 1).await),
        busy(store.totals(None, 1).await),
        busy(store.open(None, 1).await),
        busy(store.seals(start, 1).await),
    ] {
        assert_eq!(said, "another report is being made; try again when it is done");
    }
    tokio::time::resume();
    drop(report);
    assert_eq!(store.usage(&all).await.unwrap(), []);
}
