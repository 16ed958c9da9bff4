//! From a file to a version that can be stored.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use bylaw_contract::{SourceName, Timestamp, VersionId};
use bylaw_corpus::{CorpusError, Document};
use sha2::{Digest, Sha256};
use tokio::task;

use crate::{
    error::LibraryError,
    store::{StoredVersion, VersionRecord},
};

/// What reading a file came to.
pub(crate) enum Reading {
    /// It is the version that is known already.
    Known,
    /// It is another version.
    New(Box<StoredVersion>),
}

/// Reads and cuts a file, unless it is `known` byte for byte. A panic while reading is an error of this document alone.
pub(crate) async fn read(
    name: SourceName,
    path: PathBuf,
    known: Option<VersionId>,
    now: Timestamp,
) -> Result<Reading, LibraryError> {
    read_by(bylaw_corpus::read, name, path, known, now).await
}

/// Cuts the bytes of a document into articles.
type Reader = fn(&SourceName, &[u8]) -> Result<Document, CorpusError>;

async fn read_by(
    reader: Reader,
    name: SourceName,
    path: PathBuf,
    known: Option<VersionId>,
    now: Timestamp,
) -> Result<Reading, LibraryError> {
    task::spawn_blocking(move || {
        let bytes = read_bytes(&name, &path)?;
        let likely = bylaw_corpus::extractor_of(name.as_str()).map(|extractor| version_id(extractor, &bytes));
        if likely.is_some() && likely == known {
            return Ok(Reading::Known);
        }
        let document = reader(&name, &bytes)?;
        let record = VersionRecord {
            version: version_id(&document.extractor, &bytes),
            ingested_at: now,
            articles: document.articles.len(),
            extractor: document.extractor.clone(),
            warnings: document.warnings.clone(),
        };
        Ok(Reading::New(Box::new(StoredVersion { record, document })))
    })
    .await
    .map_err(|_| LibraryError::Internal { doing: "reading the document" })?
}

/// The id of the version that an extractor makes of these bytes.
fn version_id(extractor: &str, bytes: &[u8]) -> VersionId {
    let mut hash = Sha256::new();
    hash.update(extractor.as_bytes());
    hash.update([0]);
    hash.update(bytes);
    let hexadecimal: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    VersionId::new(hexadecimal).expect("a SHA-256 has 64 hexadecimal digits")
}

/// Largest file of this name's kind that is read, in bytes.
pub(crate) fn max_bytes(name: &str) -> usize {
    if name.to_ascii_lowercase().ends_with(".jsonl") {
        bylaw_corpus::MAX_COLLECTION_BYTES
    } else {
        bylaw_corpus::MAX_DOCUMENT_BYTES
    }
}

fn read_bytes(name: &SourceName, path: &Path) -> Result<Vec<u8>, LibraryError> {
    let limit = max_bytes(name.as_str());
    let too_large = |bytes| CorpusError::TooLarge { name: name.to_string(), bytes, limit };
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => LibraryError::FileNotFound { path: path.to_owned() },
        _ => LibraryError::io(path)(error),
    })?;
    let size = usize::try_from(file.metadata().map_err(LibraryError::io(path))?.len()).unwrap_or(usize::MAX);
    if size > limit {
        return Err(too_large(size).into());
    }
    let mut bytes = Vec::with_capacity(size);
    // It may grow while it is read.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(LibraryError::io(path))?;
    if bytes.len() > limit {
        return Err(too_large(bytes.len()).into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_while_reading_is_an_error_of_that_document() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = SourceName::new("a.md").unwrap();
        let read = read_by(|_, _| panic!("a mistake"), name, file.path().to_owned(), None, Timestamp(0)).await;
        assert!(matches!(read, Err(LibraryError::Internal { doing: "reading the document" })));
    }

    #[test]
    fn a_version_is_its_bytes_and_its_extractor() {
        let id = |extractor, bytes: &str| version_id(extractor, bytes.as_bytes());
        assert_eq!(id("text/1", "a"), id("text/1", "a"));
        assert_ne!(id("text/1", "a"), id("text/2", "a"));
        assert_ne!(id("text/1", "a"), id("text/1", "b"));
        assert_ne!(id("text/1", "1a"), id("text/11", "a"));
        // sha256("text/1\0a"), by another program.
        assert_eq!(id("text/1", "a").as_str(), "7980866f3fc7f3b3376090a04d436ace3c851505ee12a12872e4a0b9332c6152");
    }
}
