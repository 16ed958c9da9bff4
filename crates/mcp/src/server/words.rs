//! Sentences in the languages that a server speaks.

use bylaw_contract::Language;

/// The same words in English and, where there are any, in Chinese.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    english: String,
    chinese: Option<String>,
}

impl Words {
    /// In both languages.
    #[must_use]
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self { english: english.into(), chinese: Some(chinese.into()) }
    }

    /// Those for a reader of this language.
    #[must_use]
    pub fn in_language(&self, language: Language) -> &str {
        match &self.chinese {
            Some(chinese) if language.is_chinese() => chinese,
            Some(_) | None => &self.english,
        }
    }
}

/// Something that is made of words, once for each language.
pub(super) struct InEach<T> {
    english: T,
    chinese: T,
}

impl<T> InEach<T> {
    pub(super) fn new(make: impl Fn(Language) -> T) -> Self {
        Self { english: make(Language::English), chinese: make(Language::TraditionalChinese) }
    }

    pub(super) fn of(&self, language: Language) -> &T {
        if language.is_chinese() { &self.chinese } else { &self.english }
    }
}

impl From<&str> for Words {
    /// Whatever the language, these.
    fn from(words: &str) -> Self {
        Self { english: words.to_owned(), chinese: None }
    }
}

impl From<String> for Words {
    fn from(words: String) -> Self {
        Self { english: words, chinese: None }
    }
}
