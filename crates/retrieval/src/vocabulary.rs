//! The words that are known beside those of the rules: glossary, topics, short names of laws.
//!
//! All of them, and the question words, are found in a question by one automaton, leftmost-longest, so that a glossary
//! word is never cut by a question word inside it.

mod build;
mod file;
mod matching;

use aho_corasick::AhoCorasick;

use crate::terms::PlacedTerm;

pub(crate) use matching::{Match, Unit, UnitKind, Units};

/// A form of a word: something a rule may say.
pub(crate) type FormId = u32;

/// How much a form counts that stands for a word of the question, against the word's own bigrams. The word itself also
/// has its characters, which count nearly as much again: so a synonym weighs about half of the word, and what people
/// merely say for it (a hint) about a third.
pub(crate) const GROUP_WEIGHT: f32 = 1.0;
/// See [`GROUP_WEIGHT`].
pub(crate) const HINT_WEIGHT: f32 = 0.7;

/// Glossary and topics, ready for matching. Immutable; an operator's edit makes a new one.
pub struct Vocabulary {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
    groups: Vec<Vec<FormId>>,
    hints: Vec<Vec<FormId>>,
    forms: Vec<Form>,
    /// Folded alias and folded full name, sorted by alias.
    aliases: Vec<(Box<str>, Box<str>)>,
}

/// What a matched pattern stands for.
#[derive(Clone, Debug, Default)]
struct Pattern {
    form: Option<FormId>,
    group: Option<u32>,
    hints: Vec<u32>,
    topic: bool,
    question_word: bool,
}

/// A glossary word in the terms of an index.
#[derive(Debug)]
pub(crate) struct Form {
    /// Folded text, words stemmed.
    pub(crate) folded: Box<str>,
    /// Terms that an article must have, side by side.
    pub(crate) terms: Box<[PlacedTerm]>,
    /// Whether any of it is Chinese.
    pub(crate) is_cjk: bool,
    group: Option<u32>,
}

/// Why a glossary or topic file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct VocabularyError {
    /// The file's name.
    pub name: String,
    /// What is wrong and where (line and column where known).
    pub problem: String,
}

const GLOSSARY: (&str, &str) = ("glossary.toml", include_str!("../data/glossary.toml"));
const TOPICS: (&str, &str) = ("topics.toml", include_str!("../data/topics.toml"));
const QUESTION_WORDS: &str = include_str!("../data/question-words.txt");

impl Vocabulary {
    /// The glossary and topics that ship with the program.
    #[must_use]
    pub fn builtin() -> Self {
        match Self::from_files(&[GLOSSARY, TOPICS]) {
            Ok(vocabulary) => vocabulary,
            // Compiled in, and read by a test: it cannot fail where this runs.
            Err(error) => unreachable!("{error}"),
        }
    }

    /// What ships, extended by an operator's glossary (`name` and TOML text, same format). A `[[group]]` that shares a
    /// term with a shipped group extends it; `[[law]]` entries add short names; `replace = true` at the top starts from
    /// nothing instead (topics of the file, if it has any, then replace the shipped ones).
    ///
    /// # Errors
    /// If the text is not valid TOML, has unknown keys, or an entry is empty.
    pub fn with_operator_file(name: &str, text: &str) -> Result<Self, VocabularyError> {
        let file = file::read(name, text)?;
        if !file.replace {
            Self::from_files(&[GLOSSARY, TOPICS, (name, text)])
        } else if file.topic.is_empty() {
            Self::from_files(&[TOPICS, (name, text)])
        } else {
            Self::from_files(&[(name, text)])
        }
    }

    fn from_files(files: &[(&str, &str)]) -> Result<Self, VocabularyError> {
        let mut builder = build::Builder::default();
        for (name, text) in files {
            builder.add(file::read(name, text)?);
        }
        builder.question_words(QUESTION_WORDS);
        builder.finish()
    }

    /// The form of this id.
    pub(crate) fn form(&self, id: FormId) -> &Form {
        &self.forms[id as usize]
    }

    /// All forms, by id.
    pub(crate) fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// What a law's short name stands for, by the `[[law]]` entries; both folded.
    pub(crate) fn law_aliases(&self) -> &[(Box<str>, Box<str>)] {
        &self.aliases
    }

    /// Calls `each` with every form that the rules may use for a matched word, the most alike first, and its weight.
    /// A form comes at most once.
    pub(crate) fn expansions(&self, found: &Match, mut each: impl FnMut(FormId, f32)) {
        let pattern = &self.patterns[found.pattern];
        let mut seen: Vec<FormId> = pattern.form.into_iter().collect();
        let mut offer = |form: FormId, weight: f32| {
            if seen.len() <= MAX_EXPANSIONS && !seen.contains(&form) {
                seen.push(form);
                each(form, weight);
            }
        };
        for &form in pattern.group.iter().flat_map(|&group| &self.groups[group as usize]) {
            offer(form, GROUP_WEIGHT);
        }
        for &form in pattern.hints.iter().flat_map(|&hint| &self.hints[hint as usize]) {
            offer(form, HINT_WEIGHT);
            // The rules may use any word of the group for what the hint names.
            for &other in self.forms[form as usize].group.iter().flat_map(|&group| &self.groups[group as usize]) {
                offer(other, HINT_WEIGHT);
            }
        }
    }
}

/// Most forms that one word is widened by.
const MAX_EXPANSIONS: usize = 48;

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vocabulary")
            .field("patterns", &self.patterns.len())
            .field("groups", &self.groups.len())
            .field("hints", &self.hints.len())
            .field("laws", &self.aliases.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
