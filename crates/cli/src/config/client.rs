//! `[client]`: what this program says to services.

use std::fmt;

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

impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey(***)")
    }
}
