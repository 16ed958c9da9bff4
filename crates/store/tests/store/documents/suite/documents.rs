//! Behaviour of a document store.

use bylaw_contract::Timestamp;
use bylaw_library::DocumentStore;

use super::{name, version, version_id};

/// What answers: names and the marks of their versions.
async fn answering(store: &dyn DocumentStore) -> Vec<(String, String)> {
    let sources = store.sources().await.unwrap();
    sources.into_iter().map(|record| (record.name.to_string(), record.current.version.to_string())).collect()
}

fn expected(pairs: &[(&str, u8)]) -> Vec<(String, String)> {
    pairs.iter().map(|(source, mark)| ((*source).to_owned(), version_id(*mark).to_string())).collect()
}

pub(crate) async fn an_empty_store_has_nothing(store: &dyn DocumentStore) {
    assert!(store.sources().await.unwrap().is_empty());
    assert_eq!(store.source(&name("a.md")).await.unwrap(), None);
    assert!(store.versions(&name("a.md")).await.unwrap().is_empty());
    assert_eq!(store.version(&name("a.md"), &version_id(1)).await.unwrap(), None);
    assert_eq!(store.revision().await.unwrap(), 0);
}

pub(crate) async fn a_version_comes_back_as_it_was_put(store: &dyn DocumentStore) {
    for (mark, text) in [(1, "滿六個月者，給予三日。"), (2, "with a \u{0} character, and \"quotes\""), (3, "")]
    {
        let put = version(mark, text);
        store.put_version(&name("a.md"), &put, None).await.unwrap();
        assert_eq!(store.version(&name("a.md"), &version_id(mark)).await.unwrap(), Some(put));
    }
}

pub(crate) async fn sources_are_listed_by_name_with_the_version_that_answers(store: &dyn DocumentStore) {
    for (source, mark) in [("b.md", 1), ("員工.md", 2), ("B.md", 3), ("a/b.md", 4), ("b.md", 5)] {
        store.put_version(&name(source), &version(mark, "x"), None).await.unwrap();
    }
    assert_eq!(answering(store).await, expected(&[("B.md", 3), ("a/b.md", 4), ("b.md", 5), ("員工.md", 2)]));
}

pub(crate) async fn versions_are_listed_newest_first_and_an_old_one_can_answer_again(store: &dyn DocumentStore) {
    let marks = async || {
        let versions = store.versions(&name("a.md")).await.unwrap();
        versions.into_iter().map(|record| record.version).collect::<Vec<_>>()
    };
    for mark in [1, 2, 3] {
        store.put_version(&name("a.md"), &version(mark, "x"), None).await.unwrap();
    }
    assert_eq!(marks().await, [3, 2, 1].map(version_id));
    store.put_version(&name("a.md"), &version(1, "x"), None).await.unwrap();
    assert_eq!(marks().await, [1, 3, 2].map(version_id));
    assert_eq!(answering(store).await, expected(&[("a.md", 1)]));
}

pub(crate) async fn the_same_version_id_may_belong_to_two_sources(store: &dyn DocumentStore) {
    store.put_version(&name("a.md"), &version(1, "of a"), None).await.unwrap();
    store.put_version(&name("b.md"), &version(1, "of b"), None).await.unwrap();
    let text = async |source: &str| store.version(&name(source), &version_id(1)).await.unwrap().unwrap().document.text;
    assert_eq!((text("a.md").await, text("b.md").await), ("of a".to_owned(), "of b".to_owned()));
}

pub(crate) async fn a_deleted_source_is_not_listed_and_can_be_brought_back_in_time(store: &dyn DocumentStore) {
    let source = name("a.md");
    store.put_version(&source, &version(1, "x"), None).await.unwrap();
    assert!(store.delete(&source, Timestamp(100)).await.unwrap());
    assert!(answering(store).await.is_empty());
    assert_eq!(store.source(&source).await.unwrap().unwrap().deleted_at, Some(Timestamp(100)));
    assert!(!store.delete(&source, Timestamp(101)).await.unwrap(), "deleting twice");
    assert!(!store.undo_delete(&source, Timestamp(101)).await.unwrap(), "too late");
    assert!(store.undo_delete(&source, Timestamp(100)).await.unwrap());
    assert!(!store.undo_delete(&source, Timestamp(100)).await.unwrap(), "undoing twice");
    assert_eq!(answering(store).await, expected(&[("a.md", 1)]));
    assert!(!store.delete(&name("b.md"), Timestamp(100)).await.unwrap(), "no such source");
}

pub(crate) async fn a_new_version_brings_a_deleted_source_back(store: &dyn DocumentStore) {
    let source = name("a.md");
    for mark in [1, 1, 2] {
        store.put_version(&source, &version(mark, "x"), None).await.unwrap();
        assert_eq!(answering(store).await, expected(&[("a.md", mark)]));
        store.delete(&source, Timestamp(100)).await.unwrap();
    }
}

pub(crate) async fn purging_forgets_what_was_deleted_before_and_nothing_else(store: &dyn DocumentStore) {
    for (source, deleted_at) in [("old.md", Some(99)), ("new.md", Some(100)), ("kept.md", None)] {
        store.put_version(&name(source), &version(1, "x"), None).await.unwrap();
        if let Some(at) = deleted_at {
            store.delete(&name(source), Timestamp(at)).await.unwrap();
        }
    }
    assert_eq!(store.purge(Timestamp(100)).await.unwrap(), 1);
    assert_eq!(store.source(&name("old.md")).await.unwrap(), None);
    assert_eq!(store.version(&name("old.md"), &version_id(1)).await.unwrap(), None);
    assert!(store.source(&name("new.md")).await.unwrap().is_some());
    assert_eq!(answering(store).await, expected(&[("kept.md", 1)]));
}

pub(crate) async fn the_revision_grows_exactly_when_what_answers_changes(store: &dyn DocumentStore) {
    let source = name("a.md");
    let mut before = store.revision().await.unwrap();
    let mut check = async |what: &str, changes: bool| {
        let now = store.revision().await.unwrap();
        assert_eq!(now > before, changes, "{what}: {before} -> {now}");
        before = now;
    };
    store.put_version(&source, &version(1, "x"), None).await.unwrap();
    check("new source", true).await;
    store.put_version(&source, &version(1, "x"), None).await.unwrap();
    check("same version again", false).await;
    store.put_version(&source, &version(2, "y"), None).await.unwrap();
    check("new version", true).await;
    store.set_origin(&source, Some("/rules")).await.unwrap();
    check("origin", false).await;
    store.delete(&source, Timestamp(1)).await.unwrap();
    check("deleted", true).await;
    store.delete(&source, Timestamp(2)).await.unwrap();
    check("deleted again", false).await;
    store.undo_delete(&source, Timestamp(1)).await.unwrap();
    check("brought back", true).await;
    store.delete(&source, Timestamp(3)).await.unwrap();
    check("deleted once more", true).await;
    store.purge(Timestamp(4)).await.unwrap();
    check("purged", false).await;
}

pub(crate) async fn an_origin_is_that_of_the_last_time_a_source_was_taken(store: &dyn DocumentStore) {
    let source = name("a.md");
    let origin = async || store.source(&source).await.unwrap().and_then(|record| record.origin);
    store.set_origin(&source, Some("/nowhere")).await.unwrap();
    assert_eq!(origin().await, None, "no such source yet");
    store.put_version(&source, &version(1, "x"), None).await.unwrap();
    assert_eq!(origin().await, None);
    store.set_origin(&source, Some("/rules")).await.unwrap();
    assert_eq!(origin().await.as_deref(), Some("/rules"));
    store.set_origin(&source, None).await.unwrap();
    assert_eq!(origin().await, None);
    store.put_version(&source, &version(1, "x"), Some("/other")).await.unwrap();
    assert_eq!(origin().await.as_deref(), Some("/other"), "the same version, taken from elsewhere");
    store.put_version(&source, &version(2, "y"), None).await.unwrap();
    assert_eq!(origin().await, None, "an upload");
}

pub(crate) async fn a_withdrawn_version_leaves_the_source_as_it_was(store: &dyn DocumentStore) {
    let source = name("a.md");
    store.put_version(&source, &version(1, "x"), Some("/rules")).await.unwrap();
    store.delete(&source, Timestamp(7)).await.unwrap();
    let before = store.source(&source).await.unwrap();
    store.put_version(&source, &version(2, "y"), None).await.unwrap();
    store.withdraw(&source, before.as_ref()).await.unwrap();
    assert_eq!(store.source(&source).await.unwrap(), before);
    let newest = store.versions(&source).await.unwrap().into_iter().next();
    assert_eq!(newest.map(|record| record.version), Some(version_id(1)));
}

pub(crate) async fn withdrawing_the_only_version_forgets_the_source(store: &dyn DocumentStore) {
    let source = name("a.md");
    store.withdraw(&source, None).await.unwrap();
    store.put_version(&source, &version(1, "x"), None).await.unwrap();
    let revision = store.revision().await.unwrap();
    store.withdraw(&source, None).await.unwrap();
    assert_eq!(store.source(&source).await.unwrap(), None);
    assert_eq!(store.version(&source, &version_id(1)).await.unwrap(), None);
    assert!(store.revision().await.unwrap() > revision);
}
