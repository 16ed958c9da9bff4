//! Following files and folders.

use std::{path::PathBuf, sync::Arc, time::Duration};

use crate::support::{House, answering, ingest, name, names, request, rules};
use bylaw_library::{FolderReport, Library, LibraryError};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// A library that follows some roots, and what it reports.
struct Followed {
    reports: mpsc::UnboundedReceiver<FolderReport>,
    cancel: CancellationToken,
    task: JoinHandle<Result<(), LibraryError>>,
}

impl Followed {
    fn start(library: &Arc<Library>, roots: &[PathBuf]) -> Self {
        let (sender, reports) = mpsc::unbounded_channel();
        let cancel = CancellationToken::new();
        let report = Box::new(move |report| sender.send(report).unwrap_or_default());
        let watching =
            Arc::clone(library).watch_gathering(Duration::from_millis(10), roots.to_vec(), report, cancel.clone());
        Self { reports, cancel, task: tokio::spawn(watching) }
    }

    /// Waits for the reports until `enough` is satisfied by all of them together.
    async fn until(&mut self, what: &str, enough: impl Fn(&FolderReport) -> bool) {
        let mut seen = Vec::new();
        loop {
            let next = tokio::time::timeout(Duration::from_secs(30), self.reports.recv()).await;
            let report = next.unwrap_or_else(|_| panic!("{what}: {seen:?}")).unwrap();
            let done = enough(&report);
            seen.push(report);
            if done {
                return;
            }
        }
    }

    async fn stop(self) {
        self.cancel.cancel();
        self.task.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn new_changed_and_deleted_files_are_followed() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    let mut followed = Followed::start(&library, &[house.path("rules")]);
    followed.until("the first round", |report| report.added == [name("a.md")]).await;

    house.write("rules/new folder/b.md", rules("出差", 1));
    followed.until("a new folder", |report| report.added == [name("new folder/b.md")]).await;

    std::fs::write(&file, rules("加班", 1)).unwrap();
    followed.until("a changed file", |report| report.updated == [name("a.md")]).await;
    assert!(answering(&library.generation())[0].1.contains("加班"));

    std::fs::remove_file(&file).unwrap();
    followed.until("a deleted file", |report| report.deleted == [name("a.md")]).await;
    assert_eq!(names(&library), ["new folder/b.md"]);
    followed.stop().await;
}

#[tokio::test]
async fn a_single_file_is_followed_through_the_ways_editors_save() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    house.write("rules/other.md", rules("出差", 1));
    let library = house.open().await;
    let mut followed = Followed::start(&library, std::slice::from_ref(&file));
    followed.until("the first round", |report| report.added == [name("a.md")]).await;

    let draft = house.write("rules/.a.md.swp", rules("加班", 1));
    std::fs::rename(draft, &file).unwrap();
    followed.until("replaced by renaming", |report| report.updated == [name("a.md")]).await;

    std::fs::remove_file(&file).unwrap();
    followed.until("removed", |report| report.deleted == [name("a.md")]).await;
    std::fs::write(&file, rules("加班", 1)).unwrap();
    followed.until("written again", |report| report.added == [name("a.md")]).await;
    assert_eq!(names(&library), ["a.md"], "its neighbours are none of its business");
    followed.stop().await;
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_reported_and_tried_again() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    let mut followed = Followed::start(&library, &[house.path("rules")]);
    followed.until("the first round", |report| report.added == [name("a.md")]).await;
    std::fs::write(&file, b"\xff").unwrap();
    followed.until("a damaged file", |report| report.failed.len() == 1).await;
    assert_eq!(names(&library), ["a.md"], "the old version answers");
    std::fs::write(&file, rules("加班", 1)).unwrap();
    followed.until("repaired", |report| report.updated == [name("a.md")]).await;
    followed.stop().await;
}

#[tokio::test]
async fn a_source_that_a_person_deleted_stays_deleted_until_its_file_changes() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, &[house.path("rules")], true).await;
    let mut followed = Followed::start(&library, &[house.path("rules")]);
    library.delete(&name("a.md"), &request()).await.unwrap();
    house.write("rules/b.md", rules("出差", 1));
    followed.until("something else changed", |report| report.added == [name("b.md")]).await;
    assert_eq!(names(&library), ["b.md"]);
    std::fs::write(&file, rules("加班", 1)).unwrap();
    followed.until("its file changed", |report| report.added == [name("a.md")]).await;
    followed.stop().await;
}

#[tokio::test]
async fn a_followed_folder_that_vanishes_is_reported_and_its_sources_keep_answering() {
    let house = House::new().await;
    house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    let mut followed = Followed::start(&library, &[house.path("rules")]);
    followed.until("the first round", |report| report.added == [name("a.md")]).await;
    std::fs::rename(house.path("rules"), house.path("elsewhere")).unwrap();
    followed.until("vanished", |report| !report.failed.is_empty()).await;
    assert_eq!(names(&library), ["a.md"]);
    followed.stop().await;
}

#[tokio::test]
async fn what_does_not_exist_cannot_be_followed() {
    let house = House::new().await;
    let library = house.open().await;
    let followed = Followed::start(&library, &[house.path("nowhere")]);
    let refused = followed.task.await.unwrap();
    assert!(matches!(refused, Err(LibraryError::FileNotFound { .. })), "{refused:?}");
}
