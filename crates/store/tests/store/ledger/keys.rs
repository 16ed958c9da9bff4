//! Behaviour of a store of keys.

use bylaw_contract::{MicroUsd, SourceName, Timestamp};
use bylaw_gate::{Budget, KeyHash, KeyRecord, KeyStore, Period, ReadableSources, Role};

use super::world::key;

fn record(number: u64) -> KeyRecord {
    KeyRecord {
        id: key(number),
        name: "人資部".to_owned(),
        role: Role::Editor,
        sources: ReadableSources::Only(["員工/規則.md", "a.md"].map(|name| SourceName::new(name).unwrap()).into()),
        budgets: vec![
            Budget { limit: MicroUsd(i64::MAX), period: Period::Day },
            Budget { limit: MicroUsd(0), period: Period::Once },
        ],
        // The order of creation is not the clock's.
        created_at: Timestamp(-5),
        expires_at: Some(Timestamp(9)),
        revoked_at: None,
    }
}

fn hash(mark: u8) -> KeyHash {
    KeyHash([mark; 32])
}

pub(crate) async fn a_key_is_found_by_its_hash_as_it_was_added(store: &dyn KeyStore) {
    let plain = KeyRecord {
        sources: ReadableSources::All,
        role: Role::Reader,
        budgets: Vec::new(),
        expires_at: None,
        ..record(2)
    };
    store.add(&record(1), &hash(1)).await.unwrap();
    store.add(&plain, &hash(0xff)).await.unwrap();
    assert_eq!(store.by_hash(&hash(1)).await.unwrap(), Some(record(1)));
    assert_eq!(store.by_hash(&hash(0xff)).await.unwrap(), Some(plain));
    assert_eq!(store.by_hash(&hash(2)).await.unwrap(), None);
}

pub(crate) async fn keys_are_listed_in_the_order_of_their_creation(store: &dyn KeyStore) {
    assert_eq!(store.list().await.unwrap(), []);
    for number in [9, 2, 5] {
        store.add(&record(number), &hash(u8::try_from(number).unwrap())).await.unwrap();
    }
    assert_eq!(store.list().await.unwrap(), [9, 2, 5].map(record));
    let entries = [9, 2, 5].map(|number| (hash(number), record(u64::from(number))));
    assert_eq!(store.entries().await.unwrap(), entries);
}

pub(crate) async fn a_key_is_revoked_once(store: &dyn KeyStore) {
    for mark in [1, 2] {
        store.add(&record(u64::from(mark)), &hash(mark)).await.unwrap();
    }
    assert!(store.revoke(&key(1), Timestamp(7)).await.unwrap());
    assert!(!store.revoke(&key(1), Timestamp(8)).await.unwrap());
    assert!(!store.revoke(&key(3), Timestamp(8)).await.unwrap());
    let revoked = KeyRecord { revoked_at: Some(Timestamp(7)), ..record(1) };
    assert_eq!(store.by_hash(&hash(1)).await.unwrap(), Some(revoked.clone()));
    assert_eq!(store.list().await.unwrap(), [revoked, record(2)]);
}

pub(crate) async fn the_revision_grows_exactly_when_keys_change(store: &dyn KeyStore) {
    let start = store.revision().await.unwrap();
    store.add(&record(1), &hash(1)).await.unwrap();
    let added = store.revision().await.unwrap();
    assert!(added > start);
    store.revoke(&key(2), Timestamp(7)).await.unwrap();
    assert_eq!(store.revision().await.unwrap(), added);
    store.revoke(&key(1), Timestamp(7)).await.unwrap();
    let revoked = store.revision().await.unwrap();
    assert!(revoked > added);
    store.revoke(&key(1), Timestamp(7)).await.unwrap();
    assert_eq!(store.revision().await.unwrap(), revoked);
}
