//! What an agent has done so far for one answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bylaw_contract::{
    ArticleId, Language, StopReason,
    ask::{AgentTrace, StepEvent},
};
use bylaw_retrieval::{Hit, HitKind};

use crate::checked::Checked;

/// Longest that a query or a problem is told in a step, in characters.
const IN_SHORT: usize = 80;

/// What an agent has done so far for one answer: whoever does it writes it down here at once, so that it is known also if
/// the work is cut off.
#[derive(Debug, Default)]
pub struct Notebook(Mutex<Notes>);

/// What stands in a notebook.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Every article that was shown to the model, in order, each once, with what found it first.
    pub read: Vec<Hit>,
    /// The step that is under way, from 1; 0 before the first.
    pub step: u32,
    /// Steps that have been completed or are under way: turns that used tools.
    pub steps: u32,
    /// What was searched for.
    pub queries: Vec<String>,
    /// Drafts that were checked.
    pub checks: u32,
    /// Whether the last check found a problem.
    pub flagged: bool,
    /// The last draft that was checked.
    pub checked: Option<String>,
    /// What the model is writing now, outside of calls.
    pub writing: String,
    /// The answer as the model wrote it.
    pub answer: Option<String>,
}

impl Notebook {
    /// Puts down that a search was made, and what it showed.
    pub fn searched(&self, query: &str, hits: &[Hit]) {
        let mut notes = self.lock();
        notes.queries.push(query.to_owned());
        hits.iter().for_each(|hit| notes.shown(hit));
    }

    /// Puts down that an article was read. `named_by` are the articles read so far that name it, if any do.
    pub fn read(&self, mut hit: Hit, named_by: impl Fn(&Hit) -> bool) {
        let mut notes = self.lock();
        if let Some(from) = notes.read.iter().find(|read| named_by(read)) {
            hit.kind = HitKind::Referenced { from: from.ordinal };
        }
        notes.shown(&hit);
    }

    /// Puts down that a draft was checked, and whether a problem was found.
    pub fn checked(&self, draft: &str, flagged: bool) {
        let mut notes = self.lock();
        notes.checks += 1;
        notes.flagged = flagged;
        notes.checked = Some(draft.to_owned());
    }

    /// Puts down that a model is about to be asked, after so many completed steps. For the last time, it makes no other.
    pub fn asks(&self, completed: u32, last: bool) {
        let mut notes = self.lock();
        (notes.steps, notes.step) = (completed, completed + u32::from(!last));
        notes.writing.clear();
    }

    /// Puts down a piece of what the model writes.
    pub fn writes(&self, piece: &str) {
        self.lock().writing.push_str(piece);
    }

    /// Puts down that the model's reply calls tools: what it wrote beside them is no answer, and the step is one that
    /// counts.
    pub fn calls(&self) {
        let mut notes = self.lock();
        notes.steps = notes.step;
        notes.writing.clear();
    }

    /// Puts down the answer as the model wrote it.
    pub fn answered(&self, answer: &str) {
        self.lock().answer = Some(answer.to_owned());
    }

    /// A step, numbered and in short.
    #[must_use]
    pub fn step(&self, tool: &str, query: &str, found: Vec<ArticleId>, problem: Option<&str>) -> StepEvent {
        let step = self.lock().step;
        StepEvent { step, tool: short(tool), query: short(query), found, problem: problem.map(short) }
    }

    /// The articles that the model was shown.
    #[must_use]
    pub fn given(&self) -> Vec<ArticleId> {
        self.lock().given()
    }

    /// A copy of what stands in it.
    #[must_use]
    pub fn notes(&self) -> Notes {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Nothing is left half-done under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Notes {
    fn shown(&mut self, hit: &Hit) {
        if !self.read.iter().any(|read| read.article.id == hit.article.id) {
            self.read.push(hit.clone());
        }
    }

    pub(crate) fn given(&self) -> Vec<ArticleId> {
        self.read.iter().map(|hit| hit.article.id.clone()).collect()
    }

    /// What there is of an answer that was cut off: what was being written, once something had been read, or the last
    /// draft.
    pub(crate) fn draft(&self) -> Option<&str> {
        let writing = Some(self.writing.as_str()).filter(|text| !self.read.is_empty() && !text.trim().is_empty());
        writing.or(self.checked.as_deref())
    }

    /// The same as it may be shown; empty if there is nothing.
    pub(crate) fn shown_draft(&self, language: Language) -> String {
        self.draft().map_or_else(String::new, |draft| Checked::of(draft, &self.given(), language).text)
    }

    /// What an answer tells of it.
    pub(crate) fn trace(&self, llm_calls: u32, stopped: Option<StopReason>) -> AgentTrace {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let distinct: std::collections::BTreeSet<&String> = self.queries.iter().collect();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        AgentTrace {
            steps: self.steps,
            searches: count(self.queries.len()),
            llm_calls,
            queries: self.queries.clone(),
            repeats: count(self.queries.len() - distinct.len()),
            hit_cap: stopped == Some(StopReason::Steps),
            n_checks: self.checks,
            flagged: self.flagged,
            revised: match (&self.checked, &self.answer) {
                (Some(checked), Some(answer)) => bare(checked) != bare(answer),
                (None, _) | (_, None) => false,
            },
            stopped_reason: stopped,
            stopped_at_step: stopped.map(|_| self.steps),
        }
    }
}

/// A text on one line, not too long.
fn short(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(IN_SHORT) {
        Some((cut, _)) => format!("{}…", &flat[..cut]),
        None => flat,
    }
}
