//! Values for tests.

use bylaw_contract::{ArticleId, Span, VersionId};
use bylaw_retrieval::IndexedArticle;

/// An article with nothing around it.
pub(crate) fn article(source: &str, address: &str, text: &str) -> IndexedArticle {
    let id: ArticleId = format!("{source}#{address}").parse().unwrap();
    IndexedArticle {
        id,
        title: format!("第 {address} 條"),
        caption: None,
        heading_path: Vec::new(),
        span: Span::new(0, text.len()),
        text: text.to_owned(),
        version: VersionId::new("0".repeat(64)).unwrap(),
        source_title: None,
    }
}
