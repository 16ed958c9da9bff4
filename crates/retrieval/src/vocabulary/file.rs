//! The TOML of glossary and topics.

use serde::Deserialize;
use toml::Spanned;

use super::VocabularyError;

/// A glossary or topic file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Start from nothing instead of from what ships.
    #[serde(default)]
    pub(super) replace: bool,
    #[serde(default)]
    pub(super) group: Vec<Group>,
    #[serde(default)]
    pub(super) hint: Vec<Hint>,
    #[serde(default)]
    pub(super) law: Vec<Law>,
    #[serde(default)]
    pub(super) topic: Vec<Topic>,
}

/// Interchangeable words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) terms: Spanned<Vec<Spanned<String>>>,
}

/// What people say, and the rules' words for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hint {
    pub(super) said: Spanned<Vec<Spanned<String>>>,
    pub(super) rules: Spanned<Vec<Spanned<String>>>,
}

/// Short names of a law.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Law {
    pub(super) name: Spanned<String>,
    pub(super) alias: Spanned<Vec<Spanned<String>>>,
}

/// An area that rules may be silent about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Topic {
    pub(super) name: Spanned<String>,
    pub(super) terms: Spanned<Vec<Spanned<String>>>,
}

/// Reads a file and checks that no entry is empty.
pub(super) fn read(name: &str, text: &str) -> Result<File, VocabularyError> {
    let error = |problem: String| VocabularyError { name: name.to_owned(), problem };
    let file: File = toml::from_str(text).map_err(|toml| {
        let line = toml.span().map(|span| line_of(text, span.start));
        error(match line {
            Some(line) => format!("line {line}: {}", toml.message()),
            None => toml.message().to_owned(),
        })
    })?;
    let lists = (file.group.iter().map(|group| ("terms", &group.terms)))
        .chain(file.hint.iter().flat_map(|hint| [("said", &hint.said), ("rules", &hint.rules)]))
        .chain(file.law.iter().map(|law| ("alias", &law.alias)))
        .chain(file.topic.iter().map(|topic| ("terms", &topic.terms)));
    for (key, list) in lists {
        if list.get_ref().is_empty() {
            let line = line_of(text, list.span().start);
            return Err(error(format!("line {line}: `{key}` is empty; write at least one word or remove the entry")));
        }
    }
    let words = (file.group.iter().flat_map(|group| group.terms.get_ref()))
        .chain(file.hint.iter().flat_map(|hint| hint.said.get_ref().iter().chain(hint.rules.get_ref())))
        .chain(file.law.iter().flat_map(|law| std::iter::once(&law.name).chain(law.alias.get_ref())))
        .chain(file.topic.iter().flat_map(|topic| std::iter::once(&topic.name).chain(topic.terms.get_ref())));
    for word in words {
        if !word.get_ref().chars().any(char::is_alphanumeric) {
            let line = line_of(text, word.span().start);
            return Err(error(format!("line {line}: {:?} has no letter or digit in it", word.get_ref())));
        }
    }
    Ok(file)
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|&&b| b == b'\n').count() + 1
}
