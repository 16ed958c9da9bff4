//! Whatever is done in whatever order: what answers is what is stored.

use std::{collections::BTreeMap, sync::Arc};

use crate::support::{House, UNDO_WINDOW, answering, ended, ingest, name, request, rules};
use bylaw_contract::documents::JobStatus;
use bylaw_library::{DocumentStore, Library, Upload};
use proptest::prelude::*;

/// Something that happens to one of three sources, in one of three texts.
#[derive(Clone, Debug)]
enum Step {
    Upload(usize, usize),
    UploadDamaged(usize),
    Ingest(usize, usize),
    RemoveFilesAndPrune,
    Delete(usize),
    Undo(usize),
    LetTimePass,
    Reopen,
}

const SOURCES: [&str; 3] = ["a.md", "b.md", "c.md"];
const WORDS: [&str; 3] = ["請假", "出差", "加班"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..3_usize, 0..3_usize).prop_map(|(source, word)| Step::Upload(source, word)),
        1 => (0..3_usize).prop_map(Step::UploadDamaged),
        2 => (0..3_usize, 0..3_usize).prop_map(|(source, word)| Step::Ingest(source, word)),
        1 => Just(Step::RemoveFilesAndPrune),
        2 => (0..3_usize).prop_map(Step::Delete),
        2 => (0..3_usize).prop_map(Step::Undo),
        1 => Just(Step::LetTimePass),
        1 => Just(Step::Reopen),
    ]
}

/// What should answer, kept in the simplest way.
#[derive(Default)]
struct Model {
    answering: BTreeMap<usize, usize>,
    deleted: BTreeMap<usize, usize>,
    /// Sources that were last taken from the folder.
    from_folder: std::collections::BTreeSet<usize>,
}

impl Model {
    fn put(&mut self, source: usize, word: usize) {
        self.answering.insert(source, word);
        self.deleted.remove(&source);
    }

    fn delete(&mut self, source: usize) -> bool {
        let word = self.answering.remove(&source);
        word.is_some_and(|word| self.deleted.insert(source, word).is_none())
    }

    fn undo(&mut self, source: usize) -> bool {
        self.deleted.remove(&source).is_some_and(|word| self.answering.insert(source, word).is_none())
    }
}

async fn upload(library: &Arc<Library>, source: usize, bytes: Vec<u8>) -> JobStatus {
    let job = library.submit(name(SOURCES[source]), String::new(), Upload::Bytes(bytes)).await.unwrap();
    ended(library, &job.job_id).await.status
}

async fn follows_the_model(steps: Vec<Step>) {
    let house = House::new().await;
    std::fs::create_dir(house.path("rules")).unwrap();
    let mut library = house.open().await;
    let mut model = Model::default();
    for step in steps {
        match step.clone() {
            Step::Upload(source, word) => {
                let unchanged = model.answering.get(&source) == Some(&word);
                let status = upload(&library, source, rules(WORDS[word], 1).into_bytes()).await;
                assert_eq!(status, JobStatus::Done);
                model.put(source, word);
                if !unchanged {
                    model.from_folder.remove(&source);
                }
            }
            Step::UploadDamaged(source) => {
                assert_eq!(upload(&library, source, vec![0xff]).await, JobStatus::Failed);
            }
            Step::Ingest(source, word) => {
                let file = house.write(&format!("rules/{}", SOURCES[source]), rules(WORDS[word], 1));
                ingest(&library, &[house.path("rules")], false).await;
                std::fs::remove_file(file).unwrap();
                model.put(source, word);
                model.from_folder.insert(source);
            }
            Step::RemoveFilesAndPrune => {
                ingest(&library, &[house.path("rules")], true).await;
                for source in model.from_folder.clone() {
                    model.delete(source);
                }
            }
            Step::Delete(source) => {
                let deleted = library.delete(&name(SOURCES[source]), &request()).await.is_ok();
                assert_eq!(deleted, model.delete(source), "{step:?}");
            }
            Step::Undo(source) => {
                let undone = library.undo_delete(&name(SOURCES[source]), &request()).await.is_ok();
                assert_eq!(undone, model.undo(source), "{step:?}");
            }
            Step::LetTimePass => {
                house.clock.advance(UNDO_WINDOW + 1);
                model.deleted.clear();
            }
            Step::Reopen => {
                drop(library);
                library = house.open().await;
            }
        }
        let expected: Vec<(String, bool)> =
            model.answering.keys().map(|source| (SOURCES[*source].to_owned(), true)).collect();
        let actual: Vec<(String, bool)> = answering(&library.generation())
            .into_iter()
            .zip(model.answering.values())
            .map(|((source, text), word)| (source, text.contains(WORDS[*word])))
            .collect();
        assert_eq!(actual, expected, "after {step:?}");
        let stored = house.store.sources().await.unwrap();
        let built = library.generation();
        assert!(matches_stored(&built, &stored), "after {step:?}: {stored:?}");
    }
}

fn matches_stored(built: &bylaw_retrieval::Generation, stored: &[bylaw_library::SourceRecord]) -> bool {
    let stored = stored.iter().map(|record| (&record.name, &record.current.version));
    built.sources().iter().map(|source| (&source.name, &source.version)).eq(stored)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_generation_is_always_the_stored_answering_versions(steps in prop::collection::vec(step(), 1..12)) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(follows_the_model(steps));
    }
}
