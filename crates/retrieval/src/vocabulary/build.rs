//! Files → automaton and tables.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use toml::Spanned;

use super::{Form, FormId, Pattern, UnitKind, Units, Vocabulary, VocabularyError, file::File};
use crate::{
    analysis::{self, Analysis},
    terms,
};

/// Collects files.
#[derive(Default)]
pub(super) struct Builder {
    analysis: Analysis,
    keys: Vec<String>,
    patterns: Vec<Pattern>,
    by_key: HashMap<String, usize>,
    groups: Vec<Vec<FormId>>,
    hints: Vec<Vec<FormId>>,
    forms: Vec<Form>,
    aliases: Vec<(Box<str>, Box<str>)>,
}

impl Builder {
    /// Adds a file to what there is.
    pub(super) fn add(&mut self, file: File) {
        for group in file.group {
            self.group(group.terms.get_ref());
        }
        for hint in file.hint {
            let rules = self.forms_of(hint.rules.get_ref());
            let index = index(self.hints.len());
            self.hints.push(rules);
            for said in hint.said.get_ref() {
                let pattern = self.pattern(said.get_ref(), true);
                self.patterns[pattern].hints.push(index);
            }
        }
        for topic in file.topic {
            for term in topic.terms.get_ref() {
                let pattern = self.pattern(term.get_ref(), true);
                self.patterns[pattern].topic = true;
            }
        }
        for law in file.law {
            let name = analysis::fold(law.name.get_ref()).text.into_boxed_str();
            for alias in law.alias.get_ref() {
                self.aliases.push((analysis::fold(alias.get_ref()).text.into_boxed_str(), name.clone()));
            }
        }
    }

    fn forms_of(&mut self, words: &[Spanned<String>]) -> Vec<FormId> {
        let mut forms = Vec::with_capacity(words.len());
        for word in words {
            let pattern = self.pattern(word.get_ref(), true);
            if let Some(form) = self.patterns[pattern].form.filter(|form| !forms.contains(form)) {
                forms.push(form);
            }
        }
        forms
    }

    /// A group that shares a word with others becomes one with them.
    fn group(&mut self, words: &[Spanned<String>]) {
        let patterns: Vec<usize> = words.iter().map(|word| self.pattern(word.get_ref(), true)).collect();
        let target = patterns.iter().find_map(|&pattern| self.patterns[pattern].group).unwrap_or_else(|| {
            self.groups.push(Vec::new());
            index(self.groups.len() - 1)
        });
        for pattern in patterns {
            match self.patterns[pattern].group {
                Some(group) if group == target => {}
                Some(other) => {
                    let moved = std::mem::take(&mut self.groups[other as usize]);
                    for candidate in &mut self.patterns {
                        if candidate.group == Some(other) {
                            candidate.group = Some(target);
                        }
                    }
                    self.groups[target as usize].extend(moved);
                }
                None => {
                    self.patterns[pattern].group = Some(target);
                    self.groups[target as usize].extend(self.patterns[pattern].form);
                }
            }
        }
    }

    /// The pattern of a word, made if it is new. Words that fold alike share one.
    fn pattern(&mut self, word: &str, with_form: bool) -> usize {
        self.analysis.run(word);
        let key = Units::of(&self.analysis).key;
        let at = match self.by_key.get(&key) {
            Some(&at) => at,
            None => {
                self.by_key.insert(key.clone(), self.patterns.len());
                self.keys.push(key);
                self.patterns.push(Pattern::default());
                self.patterns.len() - 1
            }
        };
        if with_form && self.patterns[at].form.is_none() {
            self.patterns[at].form = Some(index(self.forms.len()));
            self.forms.push(form(&self.analysis));
        }
        at
    }

    /// Adds the list of question words; glossary and topics win where both have a word.
    pub(super) fn question_words(&mut self, list: &str) {
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            for word in line.split_whitespace() {
                let (word, kept) = word.strip_prefix('=').map_or((word, false), |word| (word, true));
                let pattern = self.pattern(word, false);
                let pattern = &mut self.patterns[pattern];
                pattern.question_word = !kept && pattern.form.is_none();
            }
        }
    }

    /// Builds the automaton.
    pub(super) fn finish(mut self) -> Result<Vocabulary, VocabularyError> {
        for at in 0..self.patterns.len() {
            if let (Some(form), Some(group)) = (self.patterns[at].form, self.patterns[at].group) {
                self.forms[form as usize].group = Some(group);
            }
        }
        self.aliases.sort_unstable();
        self.aliases.dedup();
        // Built at every start, so the kind that is built fastest; questions are short, and a DFA would not be noticed.
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .prefilter(false)
            .build(&self.keys)
            .map_err(|error| VocabularyError { name: "glossary".to_owned(), problem: error.to_string() })?;
        Ok(Vocabulary {
            automaton,
            patterns: self.patterns,
            groups: self.groups,
            hints: self.hints,
            forms: self.forms,
            aliases: self.aliases,
        })
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// An analysed word as a form.
fn form(analysis: &Analysis) -> Form {
    let mut folded = String::new();
    for unit in &Units::of(analysis).units {
        let between_words = folded.chars().next_back().is_some_and(|c| !analysis::is_cjk(c));
        if between_words && unit.kind != UnitKind::Character {
            folded.push(' ');
        }
        folded.push_str(analysis.term(&analysis.tokens[unit.token]).trim_start_matches('#'));
    }
    let is_cjk = folded.chars().any(analysis::is_cjk);
    Form { folded: folded.into_boxed_str(), terms: terms::placed(analysis).into(), is_cjk, group: None }
}
