//! The words that are known beside those of the rules: glossary, topics, short names of laws.

/// Glossary and topics, ready for matching. Immutable; an operator's edit makes a new one.
#[derive(Debug)]
pub struct Vocabulary {}

/// Why a glossary or topic file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct VocabularyError {
    /// The file's name.
    pub name: String,
    /// What is wrong and where (line and column where known).
    pub problem: String,
}

impl Vocabulary {
    /// The glossary and topics that ship with the program.
    #[must_use]
    pub fn builtin() -> Self {
        todo!("written by the retrieval part")
    }

    /// What ships, extended by an operator's glossary (`name` and TOML text, same format). A `[[group]]` that shares a
    /// term with a shipped group extends it; `[[law]]` entries add short names; `replace = true` at the top starts from
    /// nothing instead.
    ///
    /// # Errors
    /// If the text is not valid TOML, has unknown keys, or an entry is empty.
    pub fn with_operator_file(name: &str, text: &str) -> Result<Self, VocabularyError> {
        let _ = (name, text);
        todo!("written by the retrieval part")
    }
}
