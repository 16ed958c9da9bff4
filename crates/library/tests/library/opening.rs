//! Opening a library: after a crash, beside another process, on a damaged index.

use std::sync::Arc;

use crate::support::{House, UNDO_WINDOW, answering, entries, ingest, name, names, request, rules};
use bylaw_contract::{ErrorCode, documents::JobStatus};
use bylaw_library::{DocumentStore, Library, LibraryError, LockHolder, ServiceLock, Upload};

#[tokio::test]
async fn an_empty_library_answers_from_an_empty_generation() {
    let house = House::new().await;
    let library = house.open().await;
    assert_eq!((library.generation().number().0, library.generation().article_count()), (0, 0));
    assert!(library.sources().await.unwrap().is_empty());
    assert!(entries(&house.directory().generations()).is_empty());
}

#[tokio::test]
async fn a_generation_that_matches_what_is_stored_answers_without_being_built_again() {
    let house = House::new().await;
    let rules = house.write("rules/a.md", rules("請假", 3));
    ingest(&*house.open().await, &[rules], false).await;
    let library = house.open().await;
    assert_eq!(library.generation().number().0, 1);
    assert_eq!(library.generation().article_count(), 3);
}

#[tokio::test]
async fn what_was_stored_but_not_published_before_a_crash_answers_after_the_next_start() {
    let house = House::new().await;
    house.write("rules/a.md", rules("請假", 1));
    house.write("rules/b.md", rules("出差", 1));
    ingest(&*house.open().await, &[house.path("rules")], false).await;
    house.store.delete(&name("a.md"), bylaw_contract::Timestamp(1_000_000)).await.unwrap();
    let library = house.open().await;
    assert_eq!(names(&library), ["b.md"]);
    assert_eq!(library.generation().number().0, 2);
}

#[tokio::test]
async fn an_unfinished_build_is_ignored_and_removed() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    ingest(&*house.open().await, &[file], false).await;
    let unfinished = house.directory().building(bylaw_contract::GenerationNumber(2));
    std::fs::create_dir(&unfinished).unwrap();
    std::fs::write(unfinished.join("meta.json"), "{").unwrap();
    let library = house.open().await;
    assert_eq!(library.generation().number().0, 1);
    assert_eq!(entries(&house.directory().generations()), ["000001"]);
}

#[tokio::test]
async fn a_damaged_generation_is_built_again() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 2));
    ingest(&*house.open().await, &[file], false).await;
    let folder = house.directory().generation(bylaw_contract::GenerationNumber(1));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::write(path, "damaged").unwrap();
        }
    }
    let library = house.open().await;
    assert_eq!((library.generation().number().0, library.generation().article_count()), (2, 2));
}

#[tokio::test]
async fn a_lost_index_folder_is_built_again() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 2));
    ingest(&*house.open().await, &[file], false).await;
    std::fs::remove_dir_all(house.directory().generations()).unwrap();
    assert_eq!(house.open().await.generation().article_count(), 2);
}

#[tokio::test]
async fn uploads_without_a_job_go_and_jobs_without_their_bytes_fail() {
    let house = House::new().await;
    let library = house.open().await;
    let upload = || Upload::Bytes(rules("請假", 1).into_bytes());
    let kept = library.submit(name("a.md"), "a.md".to_owned(), upload()).await.unwrap();
    let lost = library.submit(name("b.md"), "b.md".to_owned(), upload()).await.unwrap();
    drop(library);
    std::fs::remove_file(house.directory().upload(&lost.job_id)).unwrap();
    std::fs::write(house.directory().uploads().join("incoming-1"), "x").unwrap();
    let library = house.open().await;
    assert_eq!(entries(&house.directory().uploads()), [format!("{}.bin", kept.job_id)]);
    let lost = library.job(&lost.job_id).await.unwrap().unwrap();
    assert_eq!(lost.status, JobStatus::Failed);
    assert_eq!(lost.error.unwrap().message, "the bytes of this document were lost; send it again");
    assert_eq!(library.job(&kept.job_id).await.unwrap().unwrap().status, JobStatus::Queued);
}

#[tokio::test]
async fn sources_deleted_long_ago_are_forgotten_when_the_library_opens() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, &[file], false).await;
    library.delete(&name("a.md"), &request()).await.unwrap();
    house.clock.advance(UNDO_WINDOW);
    let library = house.open().await;
    assert!(house.store.source(&name("a.md")).await.unwrap().is_some(), "it can still be brought back");
    drop(library);
    house.clock.advance(1);
    house.open().await;
    assert_eq!(house.store.source(&name("a.md")).await.unwrap(), None);
}

#[tokio::test]
async fn a_reader_beside_a_writer_follows_it_and_writes_nothing() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let missing = Library::open_reader(house.settings()).await.err().unwrap();
    assert!(matches!(missing, LibraryError::NothingIndexed { .. }), "{missing:?}");
    assert!(missing.to_string().contains("ingest documents first"), "{missing}");
    assert_eq!(missing.code(), ErrorCode::NotReady);

    let writer = house.open().await;
    ingest(&writer, std::slice::from_ref(&file), false).await;
    let before = entries(house.directory().root());
    let reader = Library::open_reader(house.settings()).await.unwrap();
    assert!(!reader.refresh().await.unwrap());
    assert_eq!(reader.sources().await.unwrap().len(), 1);
    assert!(reader.source(&name("a.md"), &request()).await.is_ok());

    let held = reader.generation();
    for words in ["出差", "加班", "報支", "退休"] {
        std::fs::write(&file, rules(words, 1)).unwrap();
        ingest(&writer, std::slice::from_ref(&file), false).await;
    }
    assert!(answering(&held)[0].1.contains("請假"), "what it opened can still be read");
    assert!(reader.refresh().await.unwrap());
    assert!(answering(&reader.generation())[0].1.contains("退休"));

    let refused = reader.delete(&name("a.md"), &request()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::DataDirectoryLocked, "{refused}");
    assert!(reader.submit(name("b.md"), "b.md".to_owned(), Upload::Bytes(vec![b'x'])).await.is_err());
    assert!(reader.ingest_paths(&[file], false, &|_| {}).await.is_err());
    assert_eq!(entries(house.directory().root()), before);
}

#[tokio::test]
async fn a_library_takes_the_lock_itself_when_it_changes_something_and_nobody_holds_it() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    assert_eq!(ServiceLock::holder(&house.directory()), None, "reading needs no lock");
    ingest(&library, &[file], false).await;
    assert!(ServiceLock::holder(&house.directory()).is_some());
    drop(library);
    assert_eq!(ServiceLock::holder(&house.directory()), None);
}

#[tokio::test]
async fn a_caller_who_holds_the_lock_opens_for_writing_and_keeps_it() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let holder = LockHolder { pid: 1, address: Some("127.0.0.1:8024".to_owned()) };
    let lock = ServiceLock::acquire(&house.directory(), &holder).unwrap();
    let library = house.open().await;
    ingest(&library, &[file], false).await;
    drop(library);
    assert_eq!(ServiceLock::holder(&house.directory()), Some(holder));
    drop(lock);
}

#[tokio::test]
async fn beside_another_process_that_writes_a_library_opens_for_reading() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, std::slice::from_ref(&file), false).await;
    drop(library);
    // Locked as another process would: this process does not know that it holds it.
    let elsewhere = std::fs::File::options().write(true).open(house.directory().lock()).unwrap();
    elsewhere.lock().unwrap();
    let library = house.open().await;
    assert_eq!(names(&library), ["a.md"]);
    let refused = library.ingest_paths(&[file], false, &|_| {}).await.unwrap_err();
    assert!(matches!(refused, LibraryError::Locked { .. }), "{refused:?}");

    std::fs::remove_dir_all(house.directory().generations()).unwrap();
    let nothing = Library::open(house.settings()).await.err().unwrap();
    assert!(matches!(nothing, LibraryError::Locked { .. }), "{nothing:?}");
}

#[tokio::test]
async fn a_failed_publication_leaves_what_is_stored_as_it_was() {
    let house = House::new().await;
    house.write("rules/a.md", rules("請假", 1));
    house.write("rules/b.md", rules("出差", 1));
    let library = house.open().await;
    ingest(&library, &[house.path("rules")], false).await;
    library.delete(&name("b.md"), &request()).await.unwrap();
    let stored = async || (house.store.sources().await.unwrap(), house.store.source(&name("b.md")).await.unwrap());
    let before = stored().await;

    // A file where the folder of generations should be: nothing can be built.
    let generations = house.directory().generations();
    std::fs::rename(&generations, house.path("aside")).unwrap();
    std::fs::write(&generations, "").unwrap();
    house.write("rules/a.md", rules("加班", 1));
    house.write("rules/c.md", rules("報支", 1));
    assert!(library.ingest_paths(&[house.path("rules")], true, &|_| {}).await.is_err());
    assert!(library.delete(&name("a.md"), &request()).await.is_err());
    assert!(library.undo_delete(&name("b.md"), &request()).await.is_err());
    let job = library.submit(name("d.md"), String::new(), Upload::Bytes(rules("退休", 1).into_bytes())).await.unwrap();
    let job = crate::support::ended(&library, &job.job_id).await;
    assert_eq!((job.status, job.effect), (JobStatus::Failed, None));
    assert_eq!(job.error.unwrap().code, ErrorCode::StorageFailed);
    assert_eq!(stored().await, before);
    assert_eq!(names(&library), ["a.md"]);

    std::fs::remove_file(&generations).unwrap();
    std::fs::rename(house.path("aside"), &generations).unwrap();
    ingest(&library, &[house.path("rules")], true).await;
    assert_eq!(names(&library), ["a.md", "b.md", "c.md"]);
}

#[tokio::test]
async fn a_change_is_completed_although_its_caller_stopped_waiting() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, &[file], false).await;
    {
        let (source, label) = (name("a.md"), request());
        let deleting = library.delete(&source, &label);
        tokio::pin!(deleting);
        // Polled once and dropped, like a handler whose client hangs up.
        assert!(futures_once(deleting.as_mut()).await.is_none());
    }
    crate::support::until(async || names(&library).is_empty().then_some(())).await;
    assert!(house.store.sources().await.unwrap().is_empty());
}

/// Polls a future once.
async fn futures_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[test]
fn a_library_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<Library>>();
}
