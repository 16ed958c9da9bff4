//! Behaviour of a job store.

use bylaw_contract::{
    ErrorCode, JobId, Timestamp,
    documents::{IngestJob, JobEffect, JobError, JobStatus},
};
use bylaw_library::{JobRecord, JobStore};

use super::name;

fn id(mark: u8) -> JobId {
    JobId::new(format!("job_{mark:024x}")).unwrap()
}

fn record(mark: u8, status: JobStatus) -> JobRecord {
    let job = IngestJob {
        job_id: id(mark),
        status,
        source: name("員工/規則.md"),
        path: "C:\\rules\\規則.md".to_owned(),
        stage: String::new(),
        percent: 0,
        chunks: 0,
        effect: None,
        warnings: Vec::new(),
        elapsed_ms: None,
        error: None,
        // All at one moment: the order of acceptance is not the clock's.
        created_at: Timestamp(1),
    };
    JobRecord { job, updated_at: Timestamp(1) }
}

fn marks(records: Vec<JobRecord>) -> Vec<JobId> {
    records.into_iter().map(|record| record.job.job_id).collect()
}

pub(crate) async fn a_job_comes_back_as_it_was_added_and_updated(store: &dyn JobStore) {
    assert_eq!(store.job(&id(1)).await.unwrap(), None);
    let mut job = record(1, JobStatus::Queued);
    store.add(&job).await.unwrap();
    assert_eq!(store.job(&id(1)).await.unwrap(), Some(job.clone()));
    job.job.status = JobStatus::Failed;
    job.job.stage = "indexing".to_owned();
    job.job.percent = 100;
    job.job.chunks = 155_851;
    job.job.effect = Some(JobEffect::Updated);
    job.job.warnings = vec!["第 27 條出現兩次".to_owned()];
    job.job.elapsed_ms = Some(12.75);
    job.job.error = Some(JobError { code: ErrorCode::InvalidEncoding, message: "byte 7 is not UTF-8".to_owned() });
    job.updated_at = Timestamp(9);
    store.update(&job).await.unwrap();
    assert_eq!(store.job(&id(1)).await.unwrap(), Some(job));
}

pub(crate) async fn a_job_cannot_be_added_twice(store: &dyn JobStore) {
    store.add(&record(1, JobStatus::Queued)).await.unwrap();
    assert!(store.add(&record(1, JobStatus::Queued)).await.is_err());
}

pub(crate) async fn the_newest_jobs_come_first_up_to_the_limit(store: &dyn JobStore) {
    for mark in [9, 2, 5] {
        store.add(&record(mark, JobStatus::Done)).await.unwrap();
    }
    assert_eq!(marks(store.newest(2).await.unwrap()), [5, 2].map(id));
    assert_eq!(marks(store.newest(0).await.unwrap()), []);
    assert_eq!(marks(store.newest(u32::MAX).await.unwrap()), [5, 2, 9].map(id));
}

pub(crate) async fn unfinished_jobs_come_oldest_first(store: &dyn JobStore) {
    let all = [
        (4, JobStatus::Queued),
        (3, JobStatus::Running),
        (2, JobStatus::Done),
        (1, JobStatus::Failed),
        (0, JobStatus::Queued),
    ];
    for (mark, status) in all {
        store.add(&record(mark, status)).await.unwrap();
    }
    assert_eq!(marks(store.unfinished().await.unwrap()), [4, 3, 0].map(id));
}

pub(crate) async fn unfinished_jobs_can_be_ended_except_some(store: &dyn JobStore) {
    let all = [(1, JobStatus::Queued), (2, JobStatus::Running), (3, JobStatus::Done), (4, JobStatus::Queued)];
    for (mark, status) in all {
        store.add(&record(mark, status)).await.unwrap();
    }
    let error = JobError { code: ErrorCode::StorageFailed, message: "the bytes are gone".to_owned() };
    assert_eq!(store.fail_unfinished(&[id(4)], &error, JobStatus::Failed).await.unwrap(), 2);
    let ended = store.job(&id(2)).await.unwrap().unwrap().job;
    assert_eq!((ended.status, ended.error), (JobStatus::Failed, Some(error)));
    assert_eq!(store.job(&id(3)).await.unwrap(), Some(record(3, JobStatus::Done)));
    assert_eq!(marks(store.unfinished().await.unwrap()), [4].map(id));
}
