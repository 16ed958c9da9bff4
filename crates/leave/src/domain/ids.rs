//! Ids of the leave system. They are its own: no other part of Bylaw mints or reads them.

use std::{fmt, str::FromStr};

use bylaw_contract::Randomness;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why a text is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}")]
pub struct InvalidId {
    /// What it must look like.
    pub rule: &'static str,
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident, $rule:literal, $valid:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Checks and wraps `text`.
            ///
            /// # Errors
            /// If it is not of the form in the type's description.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) { Ok(Self(text)) } else { Err(InvalidId { rule: $rule }) }
            }

            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    )+};
}

ids! {
    /// One leave: `LV-` and six hexadecimal digits, such as `LV-7f3a91`. Chosen at random, so that nobody guesses one.
    LeaveId, "a leave's id is LV- and six hexadecimal digits",
    |text| text.strip_prefix("LV-").is_some_and(|rest| rest.len() == 6 && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    /// One employee: 1–32 of letters, digits, `-` and `_`, such as `E001`.
    EmployeeId, "an employee's id is 1 to 32 letters, digits, - or _",
    |text| (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    /// A leave type of the catalogue: 1–32 lower case letters and `_`, such as `annual`.
    TypeId, "a leave type's id is 1 to 32 lower case letters or _",
    |text| (1..=32).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    /// The client's own name for one write, which makes it safe to send again: 1–128 visible ASCII characters.
    OnceKey, "an idempotency key is 1 to 128 visible ASCII characters",
    |text| (1..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic());
    /// One key of the leave system; may be shown. `lk_` and twelve hexadecimal digits.
    LeaveKeyId, "a key's id is lk_ and twelve hexadecimal digits",
    |text| text.strip_prefix("lk_").is_some_and(|rest| rest.len() == 12 && rest.bytes().all(|b| b.is_ascii_hexdigit()));
}

/// `N` random bytes as hexadecimal digits.
pub(crate) fn random_hex<const N: usize>(random: &dyn Randomness) -> String {
    use fmt::Write as _;
    let mut bytes = [0_u8; N];
    random.fill(&mut bytes);
    bytes.iter().fold(String::with_capacity(2 * N), |mut text, byte| {
        let _never_fails = write!(text, "{byte:02x}");
        text
    })
}

impl LeaveId {
    /// A fresh id. There are only 16 million: the store refuses one that is taken, and the caller mints again.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("LV-{}", random_hex::<3>(random)))
    }
}

impl LeaveKeyId {
    /// A fresh key id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("lk_{}", random_hex::<6>(random)))
    }
}
