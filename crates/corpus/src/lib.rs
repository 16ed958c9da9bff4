//! From the bytes of a rule document to its articles.
//!
//! ```text
//!   bytes ─ extract ─► text ─ structure ─► articles ─ references ─► graph
//!                       │        └ numerals: 第二十六條之一 = 第 26 條之 1 = 26-1
//!                       └ stored with the version; every span points into it
//! ```
//!
//! Its one promise is the **span invariant**: `document.text[article.span]` is the article, byte for byte. It knows
//! nothing of search, models, storage or the network.

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::allow_attributes,
        clippy::print_stderr,
        reason = "a failing test should panic, and tests talk to people"
    )
)]

mod chinese;
mod decode;
mod document;
mod english;
mod error;
mod extract;
mod fallback;
mod html;
mod jsonl;
mod language;
mod markdown;
mod marker;
mod mentions;
mod numerals;
mod references;
mod selection;
mod sentences;
mod structure;
mod text;
mod warnings;

pub use document::{Article, Document, Heading, HeadingKind, Reference, ReferenceTarget};
pub use error::{CorpusError, READ_TODAY};
pub use mentions::{ArticleMention, article_mentions};
pub use numerals::parse_number;
pub use sentences::sentences;

use bylaw_contract::SourceName;

/// Largest single document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 64 * 1024 * 1024;
/// Largest JSONL collection that is read, in bytes.
pub const MAX_COLLECTION_BYTES: usize = 512 * 1024 * 1024;

/// The kinds of document that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Markdown,
    Text,
    Html,
    Jsonl,
}

impl Format {
    /// The format that a name's extension stands for.
    fn of(name: &str) -> Option<Self> {
        let (stem, extension) = name.rsplit('/').next()?.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Self::Markdown),
            "txt" => Some(Self::Text),
            "html" | "htm" => Some(Self::Html),
            "jsonl" => Some(Self::Jsonl),
            _ => None,
        }
    }
}

impl Format {
    /// What [`Document::extractor`] says of documents in this format.
    const fn extractor(self) -> &'static str {
        match self {
            Self::Markdown => "markdown/1",
            Self::Text => "text/1",
            Self::Html => "html/1",
            Self::Jsonl => "jsonl/1",
        }
    }
}

/// Name and revision of the extractor that [`read`] chooses for this name, so that bytes which were read before need not
/// be read again. `None` where it has none.
#[must_use]
pub fn extractor_of(name: &str) -> Option<&'static str> {
    Format::of(name).map(Format::extractor)
}

/// Reads a document, choosing the extractor from the name's extension.
///
/// # Errors
/// See [`CorpusError`]; nothing is guessed and nothing replaced.
pub fn read(name: &SourceName, bytes: &[u8]) -> Result<Document, CorpusError> {
    let format = Format::of(name.as_str()).ok_or_else(|| CorpusError::UnsupportedFormat { name: name.to_string() })?;
    let limit = match format {
        Format::Markdown | Format::Text => MAX_DOCUMENT_BYTES,
        Format::Html => html::MAX_PAGE_BYTES,
        Format::Jsonl => MAX_COLLECTION_BYTES,
    };
    if bytes.len() > limit {
        return Err(CorpusError::TooLarge { name: name.to_string(), bytes: bytes.len(), limit });
    }
    if format == Format::Jsonl {
        return jsonl::read(name, bytes);
    }
    let text = decode::decode(name, bytes)?;
    let extracted = match format {
        Format::Markdown => markdown::extract(text),
        Format::Html => html::extract(&text),
        Format::Text | Format::Jsonl => text::extract(text),
    };
    if extracted.lines.is_empty() {
        // Only marks, rules or hidden parts.
        return Err(CorpusError::Empty { name: name.to_string() });
    }
    Ok(structure::build(extracted))
}

/// Whether [`read`] has an extractor for this name's extension.
#[must_use]
pub fn is_readable(name: &str) -> bool {
    Format::of(name).is_some()
}

#[cfg(test)]
mod tests;
