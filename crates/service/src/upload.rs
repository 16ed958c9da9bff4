//! A document arriving in a form, written to disk as it comes.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use axum::{
    body::Body,
    extract::{
        DefaultBodyLimit, FromRequest, Multipart, Request,
        multipart::{Field, MultipartError},
    },
    http::{HeaderMap, StatusCode, header},
};
use bylaw_contract::{ErrorCode, RequestId, SourceName, documents::IngestJob};
use bylaw_library::{LibraryError, Upload};
use futures_util::{StreamExt, stream};
use tokio::{fs::File, io::AsyncWriteExt};

use crate::{body::too_slow, caller::Caller, error::Failure, service::Service};

const PREFIX: &str = "incoming-";
const SUFFIX: &str = ".part";

/// Boundaries and headers of a form, over the file itself.
const FORM_OVERHEAD_BYTES: u64 = 16 * 1024;

/// Longest text field: a source's name is at most 200 characters.
const TEXT_FIELD_BYTES: usize = 1024;

/// Most bytes of a form that may arrive without a piece of a field coming out: the parser keeps them in memory until a
/// field's headers end, and hostile ones never do.
const MAX_UNCLAIMED_BYTES: usize = 1024 * 1024;

/// Refuses an upload by its announced size, before a byte of it is read.
fn check_announced_size(headers: &HeaderMap, limit: u64) -> Result<(), Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match announced {
        Some(bytes) if bytes > limit.saturating_add(FORM_OVERHEAD_BYTES) => Err(too_large(limit)),
        _ => Ok(()),
    }
}

/// Removes what a crash left behind. Whoever serves holds the data directory alone, so no upload is running.
pub(crate) fn remove_remains(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
            && let Err(error) = fs::remove_file(entry.path())
        {
            tracing::warn!(%error, ?name, "an unfinished upload cannot be removed");
        }
    }
}

/// Reads a form with one `file`, and hands it to the library.
pub(crate) async fn receive(service: &Service, caller: &Caller, request: Request) -> Result<IngestJob, Failure> {
    check_announced_size(request.headers(), service.settings.upload_limit_bytes)?;
    let _permit = service
        .uploads
        .try_acquire()
        .map_err(|_| Failure::new(ErrorCode::Overloaded, "too many uploads at once; try again shortly"))?;
    let wait = service.settings.read_timeout;
    let unclaimed = Arc::new(AtomicUsize::new(0));
    let mut form = open(request, service.settings.upload_limit_bytes, Arc::clone(&unclaimed)).await?;
    let mut document: Option<(Incoming, Option<String>)> = None;
    let mut source: Option<String> = None;
    while let Some(mut field) =
        tokio::time::timeout(wait, form.next_field()).await.map_err(|_| too_slow())?.map_err(unreadable)?
    {
        unclaimed.store(0, Relaxed);
        match field.name() {
            Some("file") if document.is_none() => {
                let file_name = field.file_name().map(str::to_owned);
                document = Some((save(service, &mut field, &unclaimed).await?, file_name));
            }
            Some("source") if source.is_none() => source = Some(text(service, &mut field).await?),
            Some(name @ ("file" | "source")) => {
                return Err(Failure::invalid(format!("{name}: given twice; send one document per request")));
            }
            Some(name) => {
                return Err(Failure::invalid(format!("{name}: unknown field; known are file, source")));
            }
            None => return Err(Failure::invalid("the form has a field without a name")),
        }
    }
    let (incoming, file_name) = document.ok_or_else(|| {
        Failure::invalid("file: is required").with_hint("send the document as a form field named `file`")
    })?;
    let name = source_name(source.as_deref(), file_name.as_deref())?;
    caller.check_may_write(&name)?;
    let path = file_name.unwrap_or_else(|| name.to_string());
    Ok(service.library.submit(name, path, Upload::File(incoming.path.clone())).await?)
}

/// The form's parser, fed piece by piece: by itself it takes all that is there at once, however much that is.
async fn open(request: Request, limit: u64, unclaimed: Arc<AtomicUsize>) -> Result<Multipart, Failure> {
    let paced = |body: Body| {
        let start = (body.into_data_stream(), unclaimed, false);
        Body::from_stream(stream::unfold(start, |(mut pieces, unclaimed, pause)| async move {
            if pause {
                tokio::task::yield_now().await;
            }
            let piece = pieces.next().await?;
            let waiting = piece.as_ref().map_or(0, |piece| unclaimed.fetch_add(piece.len(), Relaxed));
            let piece = if waiting > MAX_UNCLAIMED_BYTES { Err(axum::Error::new(EndlessHeaders)) } else { piece };
            Some((piece, (pieces, unclaimed, true)))
        }))
    };
    let mut request = request.map(paced);
    let whole = usize::try_from(limit.saturating_add(FORM_OVERHEAD_BYTES)).unwrap_or(usize::MAX);
    DefaultBodyLimit::max(whole).apply(&mut request);
    Multipart::from_request(request, &())
        .await
        .map_err(|rejection| Failure::invalid(format!("the form cannot be read: {}", rejection.body_text())))
}

#[derive(Debug, thiserror::Error)]
#[error("a field of the form does not begin")]
struct EndlessHeaders;

/// A file that is removed when it is dropped, unless the library has moved it away.
struct Incoming {
    path: PathBuf,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // Usually the library has it by now.
        let _ = fs::remove_file(&self.path);
    }
}

async fn save(service: &Service, field: &mut Field<'_>, unclaimed: &AtomicUsize) -> Result<Incoming, Failure> {
    let (folder, limit) = (&service.settings.uploads, service.settings.upload_limit_bytes);
    let path = folder.join(format!("{PREFIX}{}{SUFFIX}", RequestId::mint(&*service.random)));
    let failed = |source| Failure::from(LibraryError::Io { path: path.clone(), source });
    tokio::fs::create_dir_all(folder).await.map_err(failed)?;
    let mut file = File::create_new(&path).await.map_err(failed)?;
    let incoming = Incoming { path: path.clone() };
    let mut received: u64 = 0;
    while let Some(piece) = next_piece(service, field).await? {
        unclaimed.store(0, Relaxed);
        received = received.saturating_add(piece.len() as u64);
        if received > limit {
            return Err(too_large(limit));
        }
        file.write_all(&piece).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)?;
    Ok(incoming)
}

async fn text(service: &Service, field: &mut Field<'_>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    while let Some(piece) = next_piece(service, field).await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > TEXT_FIELD_BYTES {
            return Err(Failure::invalid("source: must have 1 to 200 characters"));
        }
    }
    String::from_utf8(bytes).map_err(|_| Failure::invalid("source: is not UTF-8"))
}

async fn next_piece(service: &Service, field: &mut Field<'_>) -> Result<Option<bytes::Bytes>, Failure> {
    let piece = tokio::time::timeout(service.settings.read_timeout, field.chunk()).await.map_err(|_| too_slow())?;
    piece.map_err(unreadable)
}

#[expect(clippy::needless_pass_by_value, reason = "used in map_err")]
fn unreadable(error: MultipartError) -> Failure {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Failure::new(ErrorCode::PayloadTooLarge, "the form is larger than the limit for documents");
    }
    Failure::invalid(format!("the form cannot be read: {}", error.body_text()))
}

fn too_large(limit: u64) -> Failure {
    Failure::new(ErrorCode::PayloadTooLarge, format!("the document is larger than {limit} bytes"))
        .with_hint("split the document, or raise the upload limit")
}

/// The name that was asked for, or the last part of the file's own: browsers send bare names, other programs whole paths
/// of either kind.
fn source_name(asked: Option<&str>, file_name: Option<&str>) -> Result<SourceName, Failure> {
    let (field, name) = match (asked, file_name) {
        (Some(name), _) => ("source", name),
        (None, Some(name)) => ("file", name.rsplit(['/', '\\']).next().unwrap_or(name)),
        (None, None) => {
            return Err(Failure::invalid("file: has no file name").with_hint("give one, or a field `source`"));
        }
    };
    SourceName::new(name)
        .map_err(|error| Failure::invalid(format!("{field}: {name:?} does not name a source: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_named_by_the_field_or_by_the_last_part_of_the_file_name() {
        let rows = [
            (None, Some("rules.md"), Some("rules.md")),
            (None, Some("../../etc/rules.md"), Some("rules.md")),
            (None, Some(r"C:\Users\hr\規則.md"), Some("規則.md")),
            (Some("hr/rules.md"), Some("x.md"), Some("hr/rules.md")),
            (Some("hr/rules.md"), None, Some("hr/rules.md")),
            (Some("../rules.md"), Some("x.md"), None),
            (Some("/etc/passwd"), Some("x.md"), None),
            (Some(""), Some("x.md"), None),
            (None, Some(".."), None),
            (None, Some("a/"), None),
            (None, Some("a\u{0}.md"), None),
            (None, None, None),
        ];
        for (asked, file_name, expected) in rows {
            let name = source_name(asked, file_name).ok().map(|name| name.to_string());
            assert_eq!(name.as_deref(), expected, "{asked:?} {file_name:?}");
        }
    }
}
