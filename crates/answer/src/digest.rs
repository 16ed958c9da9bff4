//! Exact keys: a hash over every part that a result depends on.

use sha2::{Digest as _, Sha256};

/// The key of something that is remembered. Two different lists of parts have different keys.
pub(crate) type Digest = [u8; 32];

/// Collects parts into a key.
pub(crate) struct Parts(Sha256);

impl Parts {
    /// No parts yet. `kind` keeps the keys of different things apart.
    pub(crate) fn new(kind: &str) -> Self {
        Self(Sha256::new()).text(kind)
    }

    /// Adds a text. Its length goes first, so that parts cannot be cut differently.
    pub(crate) fn text(self, part: &str) -> Self {
        self.number(part.len() as u64).bytes(part.as_bytes())
    }

    /// Adds a number.
    pub(crate) fn number(self, part: u64) -> Self {
        self.bytes(&part.to_le_bytes())
    }

    /// Adds another key.
    pub(crate) fn digest(self, part: &Digest) -> Self {
        self.bytes(part)
    }

    /// Adds something that may be absent.
    pub(crate) fn maybe<T>(self, part: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match part {
            None => self.number(0),
            Some(part) => add(self.number(1), part),
        }
    }

    fn bytes(mut self, part: &[u8]) -> Self {
        self.0.update(part);
        self
    }

    pub(crate) fn finish(self) -> Digest {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cut_differently_are_different_parts() {
        let key = |parts: &[&str]| parts.iter().fold(Parts::new("test"), |all, part| all.text(part)).finish();
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab"]), key(&["ab", ""]));
        assert_ne!(Parts::new("a").text("x").finish(), Parts::new("b").text("x").finish());
        let maybe = |part: Option<u64>| Parts::new("test").maybe(part, Parts::number).finish();
        assert_ne!(maybe(None), maybe(Some(0)));
    }
}
