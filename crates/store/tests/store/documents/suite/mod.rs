//! What every backend must do, said once over the ports. A backend's test file lists these for its own store.

pub(crate) mod answers;
pub(crate) mod documents;
pub(crate) mod jobs;

use bylaw_contract::{ArticleAddress, Language, SourceName, Span, Timestamp, VersionId, sources::Structure};
use bylaw_corpus::{Article, Document, Heading, HeadingKind, Reference, ReferenceTarget};
use bylaw_library::{StoredVersion, VersionRecord};

pub(crate) fn name(text: &str) -> SourceName {
    SourceName::new(text).unwrap()
}

/// A version id that ends in `mark`.
pub(crate) fn version_id(mark: u8) -> VersionId {
    VersionId::new(format!("{mark:064x}")).unwrap()
}

/// A version of one article that says `text`, with everything in it that a version can have.
pub(crate) fn version(mark: u8, text: &str) -> StoredVersion {
    let address = |text: &str| ArticleAddress::new(text).unwrap();
    let document = Document {
        title: Some("員工工作規則".to_owned()),
        text: text.to_owned(),
        language: Language::TraditionalChinese,
        structure: Structure::Articles,
        articles: vec![Article {
            address: address("26-1"),
            title: "第 26 條之 1（遞延）".to_owned(),
            caption: Some("遞延".to_owned()),
            heading_path: vec![Heading {
                kind: HeadingKind::Chapter, number: Some(4), text: "第四章 請假".to_owned()
            }],
            span: Span::new(0, text.len()),
            references: vec![
                Reference {
                    span: Span::new(0, 0),
                    target: ReferenceTarget::OtherDocument {
                        name: "勞動基準法".to_owned(),
                        article: Some(address("38")),
                    },
                },
                Reference { span: Span::new(0, 0), target: ReferenceTarget::Missing { article: address("99") } },
            ],
        }],
        extractor: "markdown/1".to_owned(),
        warnings: vec!["第 27 條出現兩次".to_owned()],
    };
    let record = VersionRecord {
        version: version_id(mark),
        ingested_at: Timestamp(i64::from(mark)),
        articles: document.articles.len(),
        extractor: document.extractor.clone(),
        warnings: document.warnings.clone(),
    };
    StoredVersion { record, document }
}
