//! What a question says: its content words, and the terms that rank.

use std::ops::Range;

use bylaw_contract::{Language, Span};

use crate::{
    GenerationError, Known, QuestionWord, Visible,
    analysis::{Analysis, Kind},
    highlights::Wanted,
    index::TermPostings,
    terms::{self, KeyMap, TermKey},
    vocabulary::{FormId, Match, UnitKind, Units},
};

/// Characters that say nothing when they stand alone between words (folded).
const FUNCTION_CHARACTERS: &str =
    "有会要在是就也都被把跟和与及或还又再很太先后上下不没做对让给用去来到从为以而之其所请";

/// What a form in another language than the question's counts: 特休 finds 'annual leave' where the rules are in English,
/// and the Chinese rules first where both are.
const OTHER_LANGUAGE: f32 = 0.4;

/// A question in the terms of a generation.
pub(crate) struct Understood<'a> {
    /// Its content words.
    pub(crate) words: Vec<QuestionWord>,
    /// The same words as terms, in the same order.
    pub(crate) groups: Vec<WordTerms>,
    /// Terms that rank.
    pub(crate) terms: Vec<QueryTerm>,
    /// What is highlighted.
    pub(crate) wanted: Wanted<'a>,
}

/// A term of the question that ranks.
pub(crate) struct QueryTerm {
    /// Its information, times how often the question has it, times what its kind counts.
    pub(crate) weight: f32,
    pub(crate) postings: TermPostings,
}

/// A content word as terms.
pub(crate) struct WordTerms {
    /// Its own terms and their information.
    pub(crate) own: Vec<(TermKey, f32)>,
    /// Forms of it that the index has, and their weights.
    pub(crate) forms: Vec<(FormId, f32)>,
}

/// What stands at a unit of the question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Free,
    QuestionWord,
    /// Part of a known word.
    Known,
}

/// Reads an analysed question.
pub(crate) fn understand<'a>(
    visible: &Visible<'a>,
    analysis: &'a Analysis,
    language: Language,
    mentions: &[Span],
) -> Result<Understood<'a>, GenerationError> {
    let vocabulary = visible.vocabulary();
    let units = Units::of(analysis);
    let matches = vocabulary.matches(&units);
    let mut roles = vec![Role::Free; units.units.len()];
    for found in &matches {
        let role = if vocabulary.is_question_word(found) { Role::QuestionWord } else { Role::Known };
        roles[found.units.clone()].fill(role);
    }
    // The number of an article is looked up and is no word.
    for (role, unit) in roles.iter_mut().zip(&units.units) {
        if mentions.iter().any(|mention| mention.contains(analysis.tokens[unit.token].span)) {
            *role = Role::QuestionWord;
        }
    }
    let mut reader = Reader {
        visible,
        analysis,
        units: &units,
        chinese: language.is_chinese(),
        numbers: known_numbers(visible, analysis)?,
        seen: KeyMap::default(),
        understood: Understood { words: Vec::new(), groups: Vec::new(), terms: Vec::new(), wanted: Wanted::default() },
    };
    reader.ranking_terms(&roles)?;
    let mut matches = matches.iter().peekable();
    let mut at = 0;
    while at < roles.len() {
        match roles[at] {
            Role::QuestionWord => at += 1,
            Role::Known => {
                while matches.next_if(|found| found.units.end <= at).is_some() {}
                let Some(found) = matches.next() else { break };
                reader.word(found.units.clone(), Some(found))?;
                at = found.units.end;
            }
            Role::Free => {
                let end = roles[at..].iter().position(|&role| role != Role::Free).map_or(roles.len(), |n| at + n);
                reader.free_run(at..end)?;
                at = end;
            }
        }
    }
    reader.numbers(&roles)?;
    Ok(reader.understood)
}

/// Where numbers of several characters stand that the rules have: 二千四百 is looked for as 2400, not as 二 and 千.
fn known_numbers(visible: &Visible<'_>, analysis: &Analysis) -> Result<Vec<Range<usize>>, GenerationError> {
    let mut numbers = Vec::new();
    for token in analysis.tokens.iter().filter(|token| token.kind == Kind::Number) {
        let text = analysis.term(token);
        let is_long = analysis.folded.text[token.folded.clone()].chars().nth(1).is_some();
        if is_long && visible.has(text, terms::key(text))? {
            numbers.push(token.folded.clone());
        }
    }
    Ok(numbers)
}

struct Reader<'a, 'u> {
    visible: &'u Visible<'a>,
    analysis: &'a Analysis,
    units: &'u Units,
    /// Whether the question is in Chinese.
    chinese: bool,
    /// Numbers that the rules have, as bytes of the folded question.
    numbers: Vec<Range<usize>>,
    /// Words that are there already.
    seen: KeyMap<()>,
    understood: Understood<'a>,
}

impl<'a> Reader<'a, '_> {
    /// Every term that touches no question word; every term at all if that leaves none.
    fn ranking_terms(&mut self, roles: &[Role]) -> Result<(), GenerationError> {
        let everything = roles.iter().all(|&role| role == Role::QuestionWord);
        let mut places: KeyMap<usize> = KeyMap::default();
        let mut measured = 0;
        let mut unit = 0;
        for token in &self.analysis.tokens {
            while self.units.units.get(unit + 1).is_some_and(|next| next.position <= token.position) {
                unit += 1;
            }
            let width = if token.kind == Kind::Bigram { 2 } else { 1 };
            let covered = &roles[unit..(unit + width).min(roles.len())];
            if !everything && covered.contains(&Role::QuestionWord) {
                continue;
            }
            let is_part = matches!(token.kind, Kind::Character | Kind::Bigram);
            if is_part
                && self
                    .numbers
                    .iter()
                    .any(|number| number.start <= token.folded.start && token.folded.end <= number.end)
            {
                continue;
            }
            let text = self.analysis.term(token);
            let key = terms::key(text);
            match token.kind {
                Kind::Bigram | Kind::Word | Kind::Whole => self.understood.wanted.terms.push(key),
                Kind::Number => {
                    measured = self.understood.wanted.terms.len();
                    self.understood.wanted.terms.push(key);
                }
                // A number with its unit is looked for as such, not wherever the number stands.
                Kind::Measure => {
                    self.understood.wanted.terms.truncate(measured);
                    self.understood.wanted.terms.push(key);
                }
                Kind::Character => {}
            }
            let Some(postings) = self.visible.term(text, key)? else { continue };
            let weight = self.visible.idf_of(postings.articles);
            match places.get(&key) {
                Some(&place) => self.understood.terms[place].weight += weight,
                None => {
                    places.insert(key, self.understood.terms.len());
                    self.understood.terms.push(QueryTerm { weight, postings });
                }
            }
        }
        self.understood.wanted.terms.sort_unstable();
        self.understood.wanted.terms.dedup();
        Ok(())
    }

    /// Units that no list knows: words by themselves, and runs of characters that are cut where the rules do not know
    /// two neighbours.
    fn free_run(&mut self, run: Range<usize>) -> Result<(), GenerationError> {
        let mut at = run.start;
        while at < run.end {
            let unit = self.units.units[at];
            match unit.kind {
                UnitKind::Word => {
                    self.word(at..at + 1, None)?;
                    at += 1;
                }
                UnitKind::Number => at += 1,
                UnitKind::Character => {
                    let beside = |&index: &usize| {
                        let (one, next) = (self.units.units[index], self.units.units.get(index + 1));
                        next.is_some_and(|next| next.kind == UnitKind::Character && next.position == one.position + 1)
                    };
                    let mut end = at + 1;
                    while end < run.end && beside(&(end - 1)) {
                        end += 1;
                    }
                    self.characters(at..end)?;
                    at = end;
                }
            }
        }
        Ok(())
    }

    fn characters(&mut self, run: Range<usize>) -> Result<(), GenerationError> {
        if run.len() == 1 {
            return self.unknown(run);
        }
        // For each neighbouring pair, whether the rules have it.
        let mut known = Vec::with_capacity(run.len() - 1);
        for index in run.start..run.end - 1 {
            known.push(match self.bigram(index) {
                Some(text) => self.visible.has(text, terms::key(text))?,
                None => false,
            });
        }
        let pair_known = |index: usize| index >= run.start && known.get(index - run.start).is_some_and(|&known| known);
        let mut at = run.start;
        while at < run.end {
            let mut end = at + 1;
            if pair_known(at) {
                while pair_known(end - 1) {
                    end += 1;
                }
                self.word(at..end, None)?;
            } else {
                while end < run.end && !pair_known(end) {
                    end += 1;
                }
                self.unknown(at..end)?;
            }
            at = end;
        }
        Ok(())
    }

    /// One character, or characters that the rules never have side by side: a word, without what says nothing at its
    /// ends.
    fn unknown(&mut self, run: Range<usize>) -> Result<(), GenerationError> {
        let says_nothing = |index: &usize| FUNCTION_CHARACTERS.contains(self.unit_term(*index));
        let start = run.clone().find(|index| !says_nothing(index));
        let end = run.clone().rev().find(|index| !says_nothing(index));
        match (start, end) {
            (Some(start), Some(end)) => self.word(start..end + 1, None),
            _ => Ok(()),
        }
    }

    fn unit_term(&self, index: usize) -> &'a str {
        self.analysis.term(&self.analysis.tokens[self.units.units[index].token])
    }

    /// The bigram that begins with a character.
    fn bigram(&self, index: usize) -> Option<&'a str> {
        let next = self.analysis.tokens.get(self.units.units[index].token + 1)?;
        (next.kind == Kind::Bigram).then(|| self.analysis.term(next))
    }

    fn word(&mut self, units: Range<usize>, found: Option<&Match>) -> Result<(), GenerationError> {
        let (first, last) = (self.units.units[units.start], self.units.units[units.end - 1]);
        let tokens = &self.analysis.tokens;
        let (first_token, last_token) = (&tokens[first.token], &tokens[last.token]);
        let folded = match found.and_then(|found| self.visible.vocabulary().form_of(found)) {
            Some(form) => self.visible.vocabulary().form(form).folded.to_string(),
            None if units.len() == 1 => self.analysis.term(first_token).trim_start_matches('#').to_owned(),
            None => self.analysis.folded.text[first_token.folded.start..last_token.folded.end].to_owned(),
        };
        if self.seen.insert(terms::key(&folded), ()).is_some() {
            return Ok(());
        }
        let inside = |token: &&crate::analysis::RawToken| match token.kind {
            Kind::Word => true,
            Kind::Bigram => token.position < last.position,
            Kind::Number | Kind::Whole | Kind::Measure => false,
            Kind::Character => first.position == last.position,
        };
        let mut own = Vec::new();
        let mut all_known = true;
        for token in tokens[first.token..].iter().take_while(|token| token.position <= last.position).filter(inside) {
            let text = self.analysis.term(token);
            let key = terms::key(text);
            let postings = self.visible.term(text, key)?;
            all_known &= postings.is_some();
            own.push((key, self.visible.idf_of(postings.map_or(0, |postings| postings.articles))));
        }
        let vocabulary = self.visible.vocabulary();
        let mut forms = Vec::new();
        if let Some(found) = found {
            vocabulary.expansions(found, |form, weight| {
                if self.visible.has_form(form) {
                    let same_language = vocabulary.form(form).is_cjk == self.chinese;
                    forms.push((form, if same_language { weight } else { weight * OTHER_LANGUAGE }));
                }
            });
        }
        let holds_number =
            |number: &Range<usize>| first_token.folded.start <= number.start && number.end <= last_token.folded.end;
        let in_corpus = (all_known && !own.is_empty()) || !forms.is_empty() || self.numbers.iter().any(holds_number);
        let known = match found {
            _ if in_corpus => Known::Corpus,
            Some(found) if vocabulary.is_glossary(found) => Known::Glossary,
            Some(found) if vocabulary.is_topic(found) => Known::Topic,
            Some(_) | None => Known::Nobody,
        };
        // A character is looked for alone only if it was asked for alone.
        if units.len() == 1 && first.kind == UnitKind::Character && self.stands_alone(units.start) {
            self.understood.wanted.terms.extend(own.iter().map(|&(key, _)| key));
        }
        self.understood.wanted.forms.extend(forms.iter().map(|&(form, _)| vocabulary.form(form)));
        self.understood.words.push(QuestionWord {
            span: Span::new(first_token.span.start, last_token.span.end),
            folded,
            known,
            expansions: forms.iter().map(|&(form, _)| vocabulary.form(form).folded.to_string()).collect(),
            idf: own.iter().map(|&(_, idf)| idf).fold(0.0, f32::max),
        });
        self.understood.groups.push(WordTerms { own, forms });
        Ok(())
    }

    fn stands_alone(&self, index: usize) -> bool {
        let units = &self.units.units;
        let position = units[index].position;
        let near = |other: Option<&crate::vocabulary::Unit>| {
            other.is_some_and(|other| other.kind == UnitKind::Character && other.position.abs_diff(position) == 1)
        };
        !near(index.checked_sub(1).and_then(|before| units.get(before))) && !near(units.get(index + 1))
    }

    /// A number is a content word where the rules have it, or where the question is nothing else. It is never a word
    /// that nobody knows.
    fn numbers(&mut self, roles: &[Role]) -> Result<(), GenerationError> {
        let only = self.understood.words.is_empty();
        for token in self.analysis.tokens.iter().filter(|token| token.kind == Kind::Number) {
            let unit = self.units.units.partition_point(|unit| unit.position < token.position);
            // Chinese numerals are characters of their words already.
            let in_digits = self.units.units.get(unit).is_some_and(|unit| unit.kind == UnitKind::Number);
            if !only && (!in_digits || roles.get(unit) == Some(&Role::QuestionWord)) {
                continue;
            }
            let text = self.analysis.term(token);
            let key = terms::key(text);
            let postings = self.visible.term(text, key)?;
            let folded = text.trim_start_matches('#').to_owned();
            if (postings.is_none() && !only) || self.seen.insert(key, ()).is_some() {
                continue;
            }
            let idf = self.visible.idf_of(postings.as_ref().map_or(0, |postings| postings.articles));
            let known = if postings.is_some() { Known::Corpus } else { Known::Nobody };
            self.understood.words.push(QuestionWord { span: token.span, folded, known, expansions: Vec::new(), idf });
            self.understood.groups.push(WordTerms { own: vec![(key, idf)], forms: Vec::new() });
        }
        let mut both: Vec<_> = self.understood.words.drain(..).zip(self.understood.groups.drain(..)).collect();
        both.sort_by_key(|(word, _)| word.span);
        (self.understood.words, self.understood.groups) = both.into_iter().unzip();
        Ok(())
    }
}
