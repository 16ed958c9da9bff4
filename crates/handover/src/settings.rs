//! What the operator decides, and no caller.

use std::time::Duration;

use bylaw_contract::{Language, SourceName};

/// The most steps that an operator can allow: the front door's own limit.
pub const MOST_STEPS: u32 = 12;

/// The longest wall time that an operator can allow: the front door's own limit.
pub const MOST_WALL: Duration = Duration::from_secs(600);

/// What the operator decides. A caller may ask for fewer steps; of the rest it can change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoverSettings {
    /// The only source that can be searched and read; every one that the key may read unless given.
    pub source: Option<SourceName>,
    /// Most steps of an agent, 1 to [`MOST_STEPS`].
    pub max_steps: u32,
    /// Longest wall time of a question, at most [`MOST_WALL`]. Common clients give up after 60 seconds, and a client that
    /// has given up has paid for nothing: so it is shorter than that unless said otherwise.
    pub max_wall: Duration,
    /// The language of descriptions, and of replies to what is written in neither.
    pub language: Language,
    /// Whether `search` and `fetch` are offered too, for clients that know no other names.
    pub aliases: bool,
}

impl Default for HandoverSettings {
    fn default() -> Self {
        Self {
            source: None,
            max_steps: 4,
            max_wall: Duration::from_secs(45),
            language: Language::TraditionalChinese,
            aliases: false,
        }
    }
}

impl HandoverSettings {
    /// Whether this source exists for callers.
    pub(crate) fn shows(&self, source: &SourceName) -> bool {
        self.source.as_ref().is_none_or(|only| only == source)
    }
}
