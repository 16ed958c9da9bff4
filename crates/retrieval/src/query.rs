//! What is asked of a generation, and what comes back.

use std::{collections::BTreeSet, sync::Arc};

use bylaw_contract::{Language, SourceName, Span};

use crate::generation::{IndexedArticle, Ordinal};

/// A question to a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    /// The question as it was written.
    pub question: &'a str,
    /// How many ranked articles at most; looked-up articles count towards it.
    pub k: usize,
    /// What may be found at all.
    pub filter: Filter<'a>,
    /// Whether articles that the best three name are added (depth 1, at most five).
    pub follow_references: bool,
}

/// Restricts what is found; means the same in every retriever.
///
/// `source` and `chapter_no` restrict what is ranked, looked up and added by reference; scores and what is known are those
/// of everything that is readable.
///
/// `readable` says what exists. A search under it says what a search of a generation of only those sources says: the same
/// hits, references, highlights, missing citations and words, with the same scores to the last bit, since articles, terms
/// and lengths are counted over the readable articles alone. Different are only:
/// - [`Ordinal`]s, which are places in the whole generation (their order is the same), and the generation's number;
/// - the time that it takes, which depends on the whole generation too.
///
/// It is not for [`Generation`](crate::Generation)'s own methods (`sources`, `find`, `article`, `refers_to`, …): they see
/// everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter<'a> {
    /// Only this source.
    pub source: Option<&'a SourceName>,
    /// Only articles below a chapter (編, 章, Part, Chapter) of this number.
    pub chapter_no: Option<u32>,
    /// The sources that the asker may read; `None`: all. What is not in it does not exist. Names that the generation does
    /// not have change nothing.
    pub readable: Option<&'a BTreeSet<SourceName>>,
}

/// What a question found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Best first. At most `k`.
    pub hits: Vec<Hit>,
    /// Articles that the best hits name and that are not hits themselves.
    pub referenced: Vec<Hit>,
    /// What the question was understood to say.
    pub question: QuestionAnalysis,
}

/// One found article.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its place in the generation.
    pub ordinal: Ordinal,
    /// The article.
    pub article: Arc<IndexedArticle>,
    /// BM25 score; 0 for articles that were looked up or referenced.
    pub score: f32,
    /// Share of the question's own information (idf-weighted terms, expansions counting for what they stand for) that
    /// this article contains, 0 to 1.
    pub coverage: f32,
    /// How it was found.
    pub kind: HitKind,
    /// Parts of the article's text that match the question, as bytes in that text; ascending, not overlapping.
    pub highlights: Vec<Span>,
}

/// How an article was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitKind {
    /// Ranked.
    Ranked,
    /// The question names it by number.
    LookedUp,
    /// A better hit names it.
    Referenced {
        /// That hit.
        from: Ordinal,
    },
}

/// What a question was understood to say.
#[derive(Clone, Debug)]
pub struct QuestionAnalysis {
    /// The language it is written in.
    pub language: Language,
    /// Its content words, question words and particles left out, in order of appearance.
    pub words: Vec<QuestionWord>,
    /// Articles that the question names by number but that do not exist: 「第九十九條」.
    pub missing_citations: Vec<String>,
    /// Whether the question names an article by number.
    pub names_an_article: bool,
}

/// One content word of a question.
///
/// CJK text is not segmented by a dictionary: a word is a glossary or topic term where one matches (longest first), else
/// a run of characters between question words, cut where its bigrams stop being known.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionWord {
    /// Where it stands in the question.
    pub span: Span,
    /// Folded text.
    pub folded: String,
    /// Who knows it.
    pub known: Known,
    /// Other folded forms of it: the rules' words for it, from the glossary.
    pub expansions: Vec<String>,
    /// The largest idf among its terms in this generation; what an unknown term would have where the corpus lacks it.
    pub idf: f32,
}

/// Who knows a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The rules use it, or one of its expansions.
    Corpus,
    /// Only the glossary: none of its forms is in the rules.
    Glossary,
    /// Only the list of topics of working life.
    Topic,
    /// Nobody.
    Nobody,
}
