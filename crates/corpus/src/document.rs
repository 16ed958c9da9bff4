//! What a rule document is once it has been read.

use bylaw_contract::{ArticleAddress, Language, Span, sources::Structure};
use serde::{Deserialize, Serialize};

/// A document as read: its text, and the articles that lie in it.
///
/// **Span invariant**: for every article, reference and heading here, both ends of every span lie on character
/// boundaries of `text`, `article.span` covers exactly the article's own words, articles ascend and do not overlap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The document's own title (`# 員工工作規則`, `<title>`, the law's name), if it has one.
    pub title: Option<String>,
    /// The extracted text. Citations point into it; it is stored with the version.
    pub text: String,
    /// The language most of it is written in.
    pub language: Language,
    /// What it was cut into.
    pub structure: Structure,
    /// The articles, in order.
    pub articles: Vec<Article>,
    /// Name and revision of the extractor: `markdown/1`, `text/1`, `html/1`, `jsonl/1`.
    pub extractor: String,
    /// What a person should know: duplicates, skipped parts, the fallback to sections or paragraphs.
    pub warnings: Vec<String>,
}

/// The unit of citation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Article {
    /// Unique in its document: `26-1`, `4.2`, `annex-1`, `s3`, `p12`, or the record's id.
    pub address: ArticleAddress,
    /// As the document heads it, without markup: `第 26 條之 1（遞延）`, `Article 12 (Remote work)`.
    pub title: String,
    /// The part of the title that is a caption: `遞延`; `None` where there is only a number.
    pub caption: Option<String>,
    /// Headings above it, outermost first.
    pub heading_path: Vec<Heading>,
    /// The article's words (its body, not its heading line). `document.text[span]` is the article's text.
    pub span: Span,
    /// Other articles, chapters and laws that the body names, in order of appearance.
    pub references: Vec<Reference>,
}

/// One heading above an article.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Its level.
    pub kind: HeadingKind,
    /// Its number, however written (第八章 → 8), where it has one.
    pub number: Option<u32>,
    /// The whole heading without markup: `第八章 附則`.
    pub text: String,
}

/// Levels of headings, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadingKind {
    /// 編, Book, Title.
    Book,
    /// 章, Chapter, Part.
    Chapter,
    /// 節, Section (where articles are below it).
    Section,
    /// 款 as a heading, Subsection.
    Subsection,
    /// 目 as a heading.
    Item,
    /// A heading that is none of these.
    Other,
}

/// A place in an article that names something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The words that name it, in the document's text.
    pub span: Span,
    /// What they name.
    pub target: ReferenceTarget,
}

/// What a reference names, resolved as far as this document alone allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ReferenceTarget {
    /// Articles of this document that exist: 前條, 次條, 前三條, 第 33 條, 第 12 條至第 15 條.
    Articles {
        /// In document order, without the article itself.
        articles: Vec<ArticleAddress>,
    },
    /// All articles below a heading of this document: 本章, 第八章, this Part.
    Heading {
        /// The heading's kind.
        heading: HeadingKind,
        /// Its number.
        number: u32,
    },
    /// Another law or rule by name: 勞動基準法第 38 條, 《差旅費用管理辦法》.
    OtherDocument {
        /// Its name as written, without brackets.
        name: String,
        /// The article in it, if one is named.
        article: Option<ArticleAddress>,
    },
    /// An article that this document does not have.
    Missing {
        /// Its address.
        article: ArticleAddress,
    },
}

impl Document {
    /// The article's words.
    #[must_use]
    pub fn text_of(&self, article: &Article) -> &str {
        article.span.of(&self.text).unwrap_or_default()
    }
}
