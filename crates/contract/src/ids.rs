//! Every identifier is its own type, minted here and nowhere else.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::Randomness;

/// Why a text is not a valid identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {rule}")]
pub struct InvalidId {
    /// Which identifier was asked for.
    pub kind: &'static str,
    /// What it must look like.
    pub rule: &'static str,
}

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident, $kind:literal, $rule:literal, $valid:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Checks and wraps `text`.
            ///
            /// # Errors
            /// If it breaks the rule in the type's description.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) { Ok(Self(text)) } else { Err(InvalidId { kind: $kind, rule: $rule }) }
            }

            /// The identifier as text.
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

            fn from_str(text: &str) -> Result<Self, Self::Err> {
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
    };
}

text_id!(
    /// The name of a source: a relative path with `/`, as its owner knows it. 1–200 characters, no control characters,
    /// no leading `/`, no `.` or `..` component.
    SourceName, "source name", "1 to 200 characters: a relative path without '..'",
    |text| {
        (1..=200).contains(&text.chars().count())
            && !text.chars().any(char::is_control)
            && text.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
    }
);
text_id!(
    /// A label for one request: 1–64 visible ASCII characters. Never a database key: callers may choose it.
    RequestId, "request id", "1 to 64 visible ASCII characters",
    |text| (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
);
text_id!(
    /// One unit of work, minted by Bylaw.
    RunId, "run id", "run_ and 24 hexadecimal digits",
    |text| is_minted(text, "run_")
);
text_id!(
    /// One ingestion job.
    JobId, "job id", "job_ and 24 hexadecimal digits",
    |text| is_minted(text, "job_")
);
text_id!(
    /// One API key, minted by Bylaw. Not the secret: it may be shown.
    KeyId, "key id", "key_ and 24 hexadecimal digits",
    |text| is_minted(text, "key_")
);
text_id!(
    /// One reservation of money for one attempt.
    ReservationId, "reservation id", "rsv_ and 24 hexadecimal digits",
    |text| is_minted(text, "rsv_")
);
text_id!(
    /// One process that holds reservations under a lease.
    OwnerId, "owner id", "own_ and 24 hexadecimal digits",
    |text| is_minted(text, "own_")
);
text_id!(
    /// One large or binary part of a tool result, kept aside.
    ArtifactId, "artifact id", "art_ and 24 hexadecimal digits",
    |text| is_minted(text, "art_")
);
text_id!(
    /// One conversation: many runs in a row.
    ConversationId, "conversation id", "cnv_ and 24 hexadecimal digits",
    |text| is_minted(text, "cnv_")
);
text_id!(
    /// One version of a source: the hexadecimal SHA-256 of its bytes and its extractor's name.
    VersionId, "version id", "64 hexadecimal digits",
    |text| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
);

fn is_minted(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| rest.len() == 24 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn random_hex<const N: usize>(random: &dyn Randomness) -> String {
    let mut bytes = [0_u8; N];
    random.fill(&mut bytes);
    // Two are minted for each request: formatting each byte would be felt.
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    let mut hex = String::with_capacity(2 * N);
    for byte in bytes {
        hex.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    hex
}

impl RequestId {
    /// A fresh request id of 16 hexadecimal digits.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(random_hex::<8>(random))
    }
}

impl RunId {
    /// A fresh run id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("run_{}", random_hex::<12>(random)))
    }
}

impl JobId {
    /// A fresh job id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("job_{}", random_hex::<12>(random)))
    }
}

impl KeyId {
    /// A fresh key id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("key_{}", random_hex::<12>(random)))
    }
}

impl ReservationId {
    /// A fresh reservation id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("rsv_{}", random_hex::<12>(random)))
    }
}

impl OwnerId {
    /// A fresh owner id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("own_{}", random_hex::<12>(random)))
    }
}

impl ArtifactId {
    /// A fresh artifact id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("art_{}", random_hex::<12>(random)))
    }
}

impl ConversationId {
    /// A fresh conversation id.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("cnv_{}", random_hex::<12>(random)))
    }
}

/// The number of an index generation. Grows by one with every published change; 0 is the empty index.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
pub struct GenerationNumber(pub u64);

impl fmt::Display for GenerationNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_name_is_a_relative_path_that_cannot_climb() {
        for good in ["work_rules.md", "hr/leave policy.md", "員工工作規則.md"] {
            assert!(SourceName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "/etc/passwd", "../x.md", "a/../b", "a//b", "a\u{0}b", &"長".repeat(201)] {
            assert!(SourceName::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_request_id_is_a_short_visible_label() {
        assert!(RequestId::new("abc-123").is_ok());
        for bad in ["", "a b", "請求", &"x".repeat(65)] {
            assert!(RequestId::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn minted_ids_have_the_form_they_promise() {
        struct Zeros;
        impl Randomness for Zeros {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(0);
            }
        }
        assert_eq!(RequestId::mint(&Zeros).as_str(), "0000000000000000");
        assert!(RunId::new(RunId::mint(&Zeros).as_str()).is_ok());
        assert!(JobId::new(JobId::mint(&Zeros).as_str()).is_ok());
        assert!(KeyId::new(KeyId::mint(&Zeros).as_str()).is_ok());
        assert!(ReservationId::new(ReservationId::mint(&Zeros).as_str()).is_ok());
        assert!(OwnerId::new(OwnerId::mint(&Zeros).as_str()).is_ok());
        assert!(ConversationId::new(ConversationId::mint(&Zeros).as_str()).is_ok());
    }
}
