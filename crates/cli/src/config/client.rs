//! `[client]`: what this program says to services.

use std::fmt;

use bylaw_contract::Language;

/// A key for services. Its `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientKey(String);

impl ClientKey {
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_empty() { None } else { Some(Self(text.to_owned())) }
    }

    /// The key in the clear, to be sent.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

/// The language that is written; none if it is left to the locale.
pub(super) fn language(text: &str) -> Result<Option<Language>, String> {
    if text.is_empty() { Ok(None) } else { named("client.language", text).map(Some) }
}

/// A language by its name.
pub(super) fn named(key: &str, text: &str) -> Result<Language, String> {
    match text {
        "zh-Hant" | "zh-TW" | "zh" => Ok(Language::TraditionalChinese),
        "en" => Ok(Language::English),
        other => Err(format!("{key}: {other:?} is not a language of this program; write zh-Hant or en")),
    }
}

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey(***)")
    }
}
