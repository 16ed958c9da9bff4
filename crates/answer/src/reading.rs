//! Reading the rules for one question: search, extract, and what is shown of them.

use std::time::Duration;

use bylaw_contract::{Citation, Clock, Language, Timestamp};
use bylaw_retrieval::{Found, Generation, IndexedArticle, Query};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::{
    ask::{AnswerError, Ask},
    citations,
    extract::{self, Reading},
    window::Window,
};

/// What is known once the rules have been read.
pub(crate) struct Read {
    pub(crate) window: Window,
    pub(crate) found: Found,
    pub(crate) reading: Reading,
    pub(crate) citations: Vec<Citation>,
    pub(crate) language: Language,
    pub(crate) asked_at: Timestamp,
    pub(crate) retrieve: Duration,
}

impl Read {
    /// The cited articles themselves, in the order of the citations.
    pub(crate) fn articles(&self) -> Vec<&IndexedArticle> {
        let hits = self.found.hits.iter().chain(&self.found.referenced).chain(&self.reading.extra);
        self.citations
            .iter()
            .filter_map(|citation| hits.clone().find(|hit| hit.article.id == citation.id).map(|hit| &*hit.article))
            .collect()
    }
}

/// From this many articles on, a search takes long enough that other work of the thread would notice.
const LARGE_GENERATION: usize = 5_000;

/// Runs work that uses the processor: at once where it is short, else after handing the thread's other work over.
pub fn without_stalling<T>(generation: &Generation, work: impl FnOnce() -> T) -> T {
    if generation.article_count() >= LARGE_GENERATION
        && Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
    {
        tokio::task::block_in_place(work)
    } else {
        work()
    }
}

/// Reads the rules that the asker may read.
pub(crate) fn read(clock: &dyn Clock, ask: &Ask<'_>) -> Result<Read, AnswerError> {
    without_stalling(&ask.generation, || read_here(clock, ask))
}

fn read_here(clock: &dyn Clock, ask: &Ask<'_>) -> Result<Read, AnswerError> {
    let asked_at = clock.now();
    let before = clock.elapsed();
    let window = Window::of(ask)?;
    let k = usize::try_from(ask.request.k).unwrap_or(usize::MAX);
    let filter = window.filter();
    let question = ask.request.question.as_str();
    let query = Query { question, k: k.max(extract::READING_DEPTH), filter, follow_references: true };
    let deep = ask.generation.search(&query)?;
    let reading = extract::read(&ask.generation, question, &deep, filter)?;
    let found = citations::first_hits(&deep, k, &ask.generation);
    let mut citations = citations::citations_of(&found);
    // What is quoted is always shown, also where it was ranked behind the first k.
    for sentence in &reading.extract.sentences {
        if !citations.iter().any(|citation| citation.id == sentence.id)
            && let Some(hit) =
                deep.hits.iter().chain(&deep.referenced).chain(&reading.extra).find(|hit| hit.article.id == sentence.id)
        {
            let ranked = citations.iter().take_while(|citation| citation.retrieved).count();
            let citation = citations::citation_of(hit);
            citations.insert(if citation.retrieved { ranked } else { citations.len() }, citation);
        }
    }
    let language = deep.question.language;
    let retrieve = clock.elapsed().saturating_sub(before);
    Ok(Read { window, found: deep, reading, citations, language, asked_at, retrieve })
}
