//! The chain over the rows, and its signed checkpoints.
//!
//! ```text
//!   link 0 = 32 zero bytes        link n = SHA-256(link n-1 ‖ text of row n)
//!   seal   = rows first..=last, their links, and a signature over where they begin and end
//! ```
//!
//! Rows are chained after they are committed, by a sealer that nobody waits for. Whoever can write to the store can write a
//! chain as well; what they cannot write is the signature. It is Ed25519 and not a keyed hash, so that an auditor verifies
//! with a public key and gains nothing to forge with. `ring` has it and is in every build already, under TLS.

use std::fmt;

use bylaw_contract::{Clock, Randomness, Timestamp};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};

use crate::{
    row::{RowNumber, StoredRow},
    secret::{hex, unhex},
    store::{LedgerError, LedgerStore, RowFilter},
};

/// Most rows under one seal.
pub const MAX_SEALED_ROWS: usize = 1_000;

/// One link of the chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Link(pub [u8; 32]);

impl Link {
    /// The link of the row that comes after this one.
    #[must_use]
    pub fn then(self, row: &StoredRow) -> Self {
        Self(Sha256::new().chain_update(self.0).chain_update(row.text()).finalize().into())
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Some rows in a row, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The first row.
    pub first: RowNumber,
    /// The link before it.
    pub before: Link,
    /// The links of the rows, one each.
    pub links: Vec<Link>,
    /// When they were sealed.
    pub sealed_at: Timestamp,
    /// The Ed25519 signature over [`Seal::statement`].
    pub signature: [u8; 64],
}

impl Seal {
    /// The last row.
    #[must_use]
    pub fn last(&self) -> RowNumber {
        RowNumber(self.first.0.saturating_add(u64::try_from(self.links.len()).unwrap_or(u64::MAX)).saturating_sub(1))
    }

    /// The link of the last row.
    #[must_use]
    pub fn end(&self) -> Link {
        self.links.last().copied().unwrap_or(self.before)
    }

    /// What is signed.
    #[must_use]
    pub fn statement(&self) -> Vec<u8> {
        let Self { first, before, sealed_at, .. } = self;
        format!("bylaw ledger seal 1\n{first} {before}\n{} {}\n{sealed_at}\n", self.last(), self.end()).into_bytes()
    }

    /// The seal in short, to be kept where the ledger is not.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { row: self.last(), link: self.end() }
    }
}

/// How far the chain had come, and with which link: whoever keeps one elsewhere notices when the end of the ledger is cut
/// off, seals and all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The last row.
    pub row: RowNumber,
    /// Its link.
    pub link: Link,
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.row, self.link)
    }
}

/// A text that is no checkpoint or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not {expected}")]
pub struct InvalidSealText {
    expected: &'static str,
}

impl std::str::FromStr for Checkpoint {
    type Err = InvalidSealText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (row, link) = text.trim().split_once(':')?;
            Some(Self { row: RowNumber(row.parse().ok()?), link: Link(unhex(link)?) })
        };
        parse().ok_or(InvalidSealText { expected: "a checkpoint: a row number, a colon and 64 hexadecimal digits" })
    }
}

/// The key that seals are verified with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey([u8; 32]);

impl VerifyingKey {
    /// Whether the signature of `seal` is right.
    #[must_use]
    pub fn verifies(&self, seal: &Seal) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(&seal.statement(), &seal.signature).is_ok()
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({self})")
    }
}

impl std::str::FromStr for VerifyingKey {
    type Err = InvalidSealText;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        unhex(text.trim()).map(Self).ok_or(InvalidSealText { expected: "a verifying key: 64 hexadecimal digits" })
    }
}

/// The key that seals are made with. It belongs in a file of its own that only the service reads.
pub struct SealingKey {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl SealingKey {
    /// A fresh key.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        let mut seed = [0; 32];
        random.fill(&mut seed);
        Self::from_seed(seed)
    }

    fn from_seed(seed: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("any 32 bytes are a seed");
        Self { seed, pair }
    }

    /// Reads a key from the text of its file.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(text: &str) -> Result<Self, InvalidSealText> {
        unhex(text.trim())
            .map(Self::from_seed)
            .ok_or(InvalidSealText { expected: "a sealing key: 64 hexadecimal digits" })
    }

    /// The text of the key's file. A secret.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex(&self.seed)
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        VerifyingKey(bytes)
    }

    fn sign(&self, statement: &[u8]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.pair.sign(statement).as_ref());
        bytes
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey(***, {})", self.verifying_key())
    }
}

/// Seals what is committed and not yet sealed, up to [`MAX_SEALED_ROWS`]. How many rows: zero when there is nothing left
/// to do, or another process was faster.
///
/// # Errors
/// If the ledger cannot be used, or has a gap where the chain would go on.
pub async fn seal_some(store: &dyn LedgerStore, key: &SealingKey, clock: &dyn Clock) -> Result<usize, LedgerError> {
    let newest = store.last_seal().await?;
    let (last, before) = newest.map_or_else(Default::default, |seal| (seal.last(), seal.end()));
    let rows = store.rows(&RowFilter::default(), last, MAX_SEALED_ROWS).await?;
    let mut links = Vec::with_capacity(rows.len());
    let (mut number, mut link) = (last, before);
    for row in &rows {
        number = number.next();
        if row.number != number {
            // Never seal over a gap: the seal would make it look intended.
            return Err(LedgerError::Corrupt { what: format!("row {number} is missing, row {} follows", row.number) });
        }
        link = link.then(row);
        links.push(link);
    }
    if links.is_empty() {
        return Ok(0);
    }
    let sealed = links.len();
    let mut seal = Seal { first: last.next(), before, links, sealed_at: clock.now(), signature: [0; 64] };
    seal.signature = key.sign(&seal.statement());
    Ok(if store.append_seal(&seal).await? { sealed } else { 0 })
}
