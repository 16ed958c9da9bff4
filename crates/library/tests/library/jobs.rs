//! Ingestion jobs.

use std::sync::Arc;

use crate::support::{House, answering, ended, entries, ingest, name, names, request, rules};
use bylaw_contract::{
    ErrorCode, JobId,
    documents::{JobEffect, JobStatus},
};
use bylaw_library::{DocumentStore, Library, Upload};
use tokio_util::sync::CancellationToken;

async fn submit(library: &Library, source: &str, text: &str) -> JobId {
    let upload = Upload::Bytes(text.as_bytes().to_vec());
    library.submit(name(source), source.to_owned(), upload).await.unwrap().job_id
}

#[tokio::test]
async fn a_job_goes_from_queued_to_done_and_then_its_articles_answer() {
    let house = House::new().await;
    let library = house.open().await;
    let upload = Upload::Bytes(rules("請假", 3).into_bytes());
    let job = library.submit(name("hr/a.md"), "C:\\a.md".to_owned(), upload).await.unwrap();
    assert_eq!((job.status, job.path.as_str(), job.percent), (JobStatus::Queued, "C:\\a.md", 0));
    assert_eq!(library.job(&job.job_id).await.unwrap(), Some(job.clone()));
    assert!(names(&library).is_empty());
    let job = ended(&library, &job.job_id).await;
    assert_eq!((job.status, job.effect, job.percent, job.chunks), (JobStatus::Done, Some(JobEffect::Added), 100, 3));
    assert_eq!((job.stage.as_str(), job.error), ("", None));
    assert_eq!(names(&library), ["hr/a.md"]);
    assert!(entries(&house.directory().uploads()).is_empty());
}

#[tokio::test]
async fn a_job_says_what_it_did_to_its_source() {
    let house = House::new().await;
    let library = house.open().await;
    let mut effects = Vec::new();
    for word in ["請假", "請假", "出差", "請假"] {
        let id = submit(&library, "a.md", &rules(word, 1)).await;
        let job = ended(&library, &id).await;
        assert_eq!(job.chunks, 1);
        effects.push(job.effect.unwrap());
    }
    assert_eq!(effects, [JobEffect::Added, JobEffect::Unchanged, JobEffect::Updated, JobEffect::Updated]);
    let detail = library.source(&name("a.md"), &request()).await.unwrap();
    assert_eq!(detail.versions.len(), 2, "an old version answers again");
    assert!(detail.versions[0].current);
}

#[tokio::test]
async fn a_failed_update_leaves_the_old_version_answering_and_says_why() {
    let house = House::new().await;
    let library = house.open().await;
    let id = submit(&library, "a.md", &rules("請假", 1)).await;
    ended(&library, &id).await;
    let before = answering(&library.generation());
    let cases: [(&[u8], ErrorCode, &str); 2] = [
        (b"abc\xff\xfe", ErrorCode::InvalidEncoding, "byte 3 is not UTF-8"),
        (b"", ErrorCode::EmptyDocument, "there is no text"),
    ];
    for (bytes, code, words) in cases {
        let job = library.submit(name("a.md"), String::new(), Upload::Bytes(bytes.to_vec())).await.unwrap();
        let job = ended(&library, &job.job_id).await;
        let error = job.error.unwrap();
        assert_eq!((job.status, error.code), (JobStatus::Failed, code));
        assert!(error.message.contains(words) && error.message.chars().count() <= 300, "{}", error.message);
        assert_eq!(answering(&library.generation()), before);
    }
    assert!(entries(&house.directory().uploads()).is_empty());
}

#[tokio::test]
async fn what_cannot_be_read_or_stored_is_refused_before_there_is_a_job() {
    let house = House::new().await;
    let library = house.open().await;
    let huge = house.path("huge.md");
    std::fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    let cases = [
        ("a.exe", Upload::Bytes(vec![b'x']), ErrorCode::UnsupportedFormat),
        ("a.md", Upload::Copy(huge.clone()), ErrorCode::DocumentTooLarge),
        ("a.md", Upload::File(huge), ErrorCode::DocumentTooLarge),
        ("a.md", Upload::Copy(house.path("nowhere.md")), ErrorCode::DocumentNotFound),
        ("a.md", Upload::File(house.path("nowhere.md")), ErrorCode::StorageFailed),
    ];
    for (source, upload, code) in cases {
        let what = format!("{source} {upload:?}");
        let error = library.submit(name(source), String::new(), upload).await.unwrap_err();
        assert_eq!(error.code(), code, "{what}: {error}");
    }
    assert!(library.jobs(10).await.unwrap().is_empty());
    assert!(entries(&house.directory().uploads()).is_empty());
}

#[tokio::test]
async fn a_file_is_taken_over_or_copied() {
    let house = House::new().await;
    let library = house.open().await;
    let taken = house.write("taken.md", rules("請假", 1));
    let copied = house.write("copied.md", rules("出差", 1));
    library.submit(name("taken.md"), String::new(), Upload::File(taken.clone())).await.unwrap();
    let last = library.submit(name("copied.md"), String::new(), Upload::Copy(copied.clone())).await.unwrap();
    ended(&library, &last.job_id).await;
    assert_eq!((taken.exists(), copied.exists()), (false, true));
    assert_eq!(names(&library), ["copied.md", "taken.md"]);
}

#[tokio::test]
async fn jobs_that_wait_together_share_one_generation() {
    let house = House::new().await;
    let library = house.open().await;
    let mut last = None;
    for source in ["a.md", "b.md", "c.md", "d.md"] {
        last = Some(submit(&library, source, &rules(source, 1)).await);
    }
    ended(&library, &last.unwrap()).await;
    assert_eq!(names(&library).len(), 4);
    assert_eq!(library.generation().number().0, 1);
    let newest: Vec<String> = library.jobs(2).await.unwrap().into_iter().map(|job| job.source.to_string()).collect();
    assert_eq!(newest, ["d.md", "c.md"]);
}

#[tokio::test]
async fn two_jobs_for_one_source_are_done_in_order() {
    let house = House::new().await;
    let library = house.open().await;
    let first = submit(&library, "a.md", &rules("請假", 1)).await;
    let second = submit(&library, "a.md", &rules("出差", 1)).await;
    let second = ended(&library, &second).await;
    let first = library.job(&first).await.unwrap().unwrap();
    assert_eq!((first.effect, second.effect), (Some(JobEffect::Added), Some(JobEffect::Updated)));
    assert!(answering(&library.generation())[0].1.contains("出差"));
}

#[tokio::test]
async fn jobs_left_over_from_a_crash_are_done_by_the_next_start() {
    let house = House::new().await;
    let library = house.open().await;
    let queued = submit(&library, "a.md", &rules("請假", 1)).await;
    let running = submit(&library, "b.md", &rules("出差", 1)).await;
    // A crash in the middle of the second one: its version is stored, nothing is published, the row says running.
    let mut record = bylaw_library::JobStore::job(&house.store, &running).await.unwrap().unwrap();
    record.job.status = JobStatus::Running;
    record.job.stage = "indexing".to_owned();
    record.job.percent = 50;
    record.job.effect = Some(JobEffect::Added);
    house.jobs().update(&record).await.unwrap();
    drop(library);
    let other = House::new().await;
    let elsewhere = other.open().await;
    let same = submit(&elsewhere, "b.md", &rules("出差", 1)).await;
    ended(&elsewhere, &same).await;
    let version = other.store.versions(&name("b.md")).await.unwrap().remove(0).version;
    let version = other.store.version(&name("b.md"), &version).await.unwrap().unwrap();
    house.store.put_version(&name("b.md"), &version, None).await.unwrap();

    let library = house.open().await;
    assert_eq!(names(&library), ["b.md"], "what is stored answers");
    let running = ended(&library, &running).await;
    let queued = ended(&library, &queued).await;
    for job in [queued, running] {
        assert_eq!((job.status, job.effect), (JobStatus::Done, Some(JobEffect::Added)), "{}", job.source);
    }
    assert_eq!(names(&library), ["a.md", "b.md"]);
}

#[tokio::test]
async fn cancelled_work_puts_its_jobs_back_and_changes_nothing() {
    let house = House::new().await;
    let library = house.open().await;
    let id = submit(&library, "a.md", &rules("請假", 2)).await;
    let cancel = CancellationToken::new();
    let work = tokio::spawn(Arc::clone(&library).work(cancel.clone()));
    // Somewhere between its beginning and its end; where that is differs from run to run, what holds does not.
    crate::support::until(async || {
        let job = library.job(&id).await.unwrap().unwrap();
        (job.status != JobStatus::Queued).then_some(())
    })
    .await;
    cancel.cancel();
    work.await.unwrap();
    let job = library.job(&id).await.unwrap().unwrap();
    let stored: Vec<String> =
        house.store.sources().await.unwrap().into_iter().map(|record| record.name.to_string()).collect();
    assert_eq!(names(&library), stored);
    match job.status {
        JobStatus::Queued => assert!(stored.is_empty()),
        JobStatus::Done => assert_eq!(stored, ["a.md"]),
        other => panic!("{other:?}"),
    }
    assert_eq!(ended(&library, &id).await.status, JobStatus::Done);
}

#[tokio::test]
async fn a_second_worker_returns_at_once() {
    let house = House::new().await;
    let library = house.open().await;
    let cancel = CancellationToken::new();
    let work = tokio::spawn(Arc::clone(&library).work(cancel.clone()));
    tokio::task::yield_now().await;
    Arc::clone(&library).work(CancellationToken::new()).await;
    let id = submit(&library, "a.md", &rules("請假", 1)).await;
    crate::support::until(async || (library.job(&id).await.unwrap().unwrap().status == JobStatus::Done).then_some(()))
        .await;
    cancel.cancel();
    work.await.unwrap();
}

#[tokio::test]
async fn an_upload_is_no_longer_pruned_with_the_folder_it_replaces() {
    let house = House::new().await;
    let file = house.write("rules/a.md", rules("請假", 1));
    let library = house.open().await;
    ingest(&library, &[house.path("rules")], true).await;
    let id = submit(&library, "a.md", &rules("出差", 1)).await;
    ended(&library, &id).await;
    std::fs::remove_file(file).unwrap();
    ingest(&library, &[house.path("rules")], true).await;
    assert_eq!(names(&library), ["a.md"]);
}
