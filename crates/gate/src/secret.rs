//! The secret of a key: shown once, kept only as a hash.

use std::fmt;

use bylaw_contract::Randomness;
use sha2::{Digest, Sha256};

const PREFIX: &str = "bylaw_";
const RANDOM_BYTES: usize = 32;

/// The secret that a caller presents: `bylaw_` and 256 random bits in hexadecimal.
///
/// It has no `Display` and its `Debug` hides it, so that it cannot end up in a log by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct KeySecret(String);

impl KeySecret {
    /// A fresh secret.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        let mut bytes = [0_u8; RANDOM_BYTES];
        random.fill(&mut bytes);
        Self(format!("{PREFIX}{}", hex(&bytes)))
    }

    /// Reads what a caller presented; `None` if it cannot be a secret of ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let plausible = digits.len() == 2 * RANDOM_BYTES
            && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        plausible.then(|| Self(text.to_owned()))
    }

    /// The secret in the clear, to be shown once to whoever created it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(***)")
    }
}

/// The SHA-256 of a secret: all that is kept at rest.
///
/// A plain hash suffices, and a lookup by it needs no constant-time comparison: the input is 256 random bits, so neither a
/// table of likely secrets nor the timing of an index lookup helps anyone to find one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyHash(pub [u8; 32]);

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    let mut bytes = [0_u8; N];
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SeededRandomness;

    #[test]
    fn a_secret_is_256_random_bits_and_reads_back() {
        let secret = KeySecret::mint(&SeededRandomness::new(1));
        assert_eq!(secret.reveal().len(), PREFIX.len() + 64);
        assert_eq!(KeySecret::parse(secret.reveal()), Some(secret.clone()));
        assert_ne!(secret, KeySecret::mint(&SeededRandomness::new(2)));
    }

    #[test]
    fn what_cannot_be_a_secret_is_not_looked_up() {
        let good = KeySecret::mint(&SeededRandomness::new(1)).reveal().to_owned();
        for bad in ["", "bylaw_", &good[1..], &good[..good.len() - 1], &good.to_uppercase(), &format!("{good}0")] {
            assert_eq!(KeySecret::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_secret_does_not_print_itself() {
        let secret = KeySecret::mint(&SeededRandomness::new(1));
        assert_eq!(format!("{secret:?}"), "KeySecret(***)");
    }

    #[test]
    fn hexadecimal_reads_back() {
        assert_eq!(unhex::<4>(&hex(&[0, 9, 0xab, 0xff])), Some([0, 9, 0xab, 0xff]));
        for bad in ["", "0", "0g", "000", "é"] {
            assert_eq!(unhex::<1>(bad), None, "{bad:?}");
        }
    }
}
