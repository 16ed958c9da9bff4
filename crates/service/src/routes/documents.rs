//! `/documents`: bringing rule documents in, as jobs.

use std::{path::Path, sync::Arc};

use axum::{
    extract::{FromRequest, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use bylaw_contract::{
    ErrorCode, JobId, SourceName,
    documents::{IngestJob, IngestRequest},
};
use bylaw_gate::Principal;
use bylaw_library::{Library, LibraryError, Upload};
use serde::Deserialize;

use crate::{
    body::{JsonBody, media_type},
    caller::Caller,
    error::Failure,
    parameters::{Parameters, Tail},
    reply,
    service::Service,
    upload,
};

/// A document in a form.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "describes the form in the OpenAPI document; the form itself is read as a stream")]
pub(crate) struct DocumentForm {
    /// The document.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
    /// The source's name; the file's own name without it.
    source: Option<String>,
}

/// Accepts a document: an upload, or a file below the documents root.
///
/// The document is kept when the reply arrives; the job at `Location` says when its articles answer.
#[utoipa::path(
    post,
    path = "/documents",
    tag = "documents",
    request_body(content((DocumentForm = "multipart/form-data"), (IngestRequest = "application/json"))),
    responses((
        status = 202,
        description = "The job",
        body = IngestJob,
        headers(("location" = String, description = "Address of the job")),
    ))
)]
pub(crate) async fn submit(
    State(service): State<Arc<Service>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Failure> {
    let job = match media_type(request.headers()) {
        Some("application/json") => {
            let JsonBody(ingest) = JsonBody::<IngestRequest>::from_request(request, &service).await?;
            by_path(&service, &caller, ingest).await?
        }
        Some("multipart/form-data") => upload::receive(&service, &caller, request).await?,
        _ => {
            return Err(Failure::new(
                ErrorCode::UnsupportedMediaType,
                "the body must be a form with a file, or JSON with a path",
            )
            .with_hint("send multipart/form-data with a field `file`, or application/json with {\"path\": ...}"));
        }
    };
    let mut reply = reply::json(StatusCode::ACCEPTED, &job, 512)?;
    if let Ok(location) = HeaderValue::try_from(format!("/documents/{}", job.job_id)) {
        reply.headers_mut().insert(header::LOCATION, location);
    }
    Ok(reply)
}

async fn by_path(service: &Service, caller: &Caller, ingest: IngestRequest) -> Result<IngestJob, Failure> {
    if ingest.ocr {
        return Err(Failure::invalid("ocr: scanned pages are not read yet; leave it out or false"));
    }
    let name = name_below(&ingest.path);
    // Before the file is looked for: whether there is one is for those who may read it.
    if let Ok(name) = &name {
        caller.check_may_write(name)?;
    }
    let root = service.settings.documents_root.as_deref();
    let file = Library::resolve_below(root, &ingest.path).map_err(|error| in_callers_words(error, &ingest.path))?;
    Ok(service.library.submit(name?, ingest.path, Upload::Copy(file)).await?)
}

/// The path of this machine is nobody's business.
fn in_callers_words(error: LibraryError, path: &str) -> Failure {
    match error {
        LibraryError::FileNotFound { .. } => {
            Failure::new(ErrorCode::DocumentNotFound, format!("there is no file {path:?} below the documents root"))
        }
        error => Failure::from(error),
    }
}

/// A source is named by its path below the root.
fn name_below(path: &str) -> Result<SourceName, Failure> {
    let parts: Vec<String> = Path::new(path)
        .components()
        .filter(|part| !matches!(part, std::path::Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    SourceName::new(parts.join("/"))
        .map_err(|error| Failure::new(ErrorCode::InvalidPath, format!("{path:?} does not name a source: {error}")))
}

/// Parameters of `GET /documents`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    /// How many; clamped to 1–100, 20 without it.
    limit: Option<i64>,
}

/// Lists the newest jobs first.
#[utoipa::path(
    get,
    path = "/documents",
    tag = "documents",
    params(("limit" = Option<i64>, Query, description = "How many, 1 to 100; 20 without it")),
    responses((status = 200, description = "The newest jobs first", body = Vec<IngestJob>))
)]
pub(crate) async fn list(
    State(service): State<Arc<Service>>,
    Caller(caller): Caller,
    Parameters(page): Parameters<Page>,
) -> Result<Response, Failure> {
    let limit = u32::try_from(page.limit.unwrap_or(20).clamp(1, 100)).unwrap_or(20);
    reply::ok(&newest_readable(&service.library, limit, &caller).await?)
}

/// The newest jobs about sources that the caller may read: looked for further and further back.
async fn newest_readable(library: &Library, limit: u32, caller: &Principal) -> Result<Vec<IngestJob>, LibraryError> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut window = limit;
    loop {
        let mut jobs = library.jobs(window).await?;
        let all = jobs.len() < usize::try_from(window).unwrap_or(usize::MAX);
        jobs.retain(|job| caller.may_read(&job.source));
        if all || jobs.len() >= wanted || window == u32::MAX {
            jobs.truncate(wanted);
            return Ok(jobs);
        }
        window = window.saturating_mul(8);
    }
}

/// Shows one job.
#[utoipa::path(
    get,
    path = "/documents/{job}",
    tag = "documents",
    params(("job" = String, Path, description = "The job's id")),
    responses((status = 200, description = "The job", body = IngestJob))
)]
pub(crate) async fn job(
    State(service): State<Arc<Service>>,
    Caller(caller): Caller,
    tail: Tail,
) -> Result<Response, Failure> {
    let text = Tail::decode(&tail.0)?;
    let missing = || Failure::new(ErrorCode::JobNotFound, format!("there is no job {text:?}"));
    let id = JobId::new(text.as_str()).map_err(|_| missing())?;
    let job = service.library.job(&id).await?.filter(|job| caller.may_read(&job.source));
    reply::ok(&job.ok_or_else(missing)?)
}
