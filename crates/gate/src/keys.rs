//! Keys: who may come in.

use std::{collections::BTreeSet, fmt, str::FromStr};

use bylaw_contract::{Clock, KeyId, MicroUsd, Randomness, SourceName, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    budget::Budget,
    principal::Principal,
    secret::{KeyHash, KeySecret},
    store::{KeyStore, KeyStoreError},
};

/// Most characters in the name of a key.
pub const MAX_KEY_NAME_CHARS: usize = 100;

/// Most budgets on one key.
pub const MAX_KEY_BUDGETS: usize = 16;

/// What a key is for. Each role may do what the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Asks, searches, reads; sees its own runs and usage.
    Reader,
    /// Also changes documents.
    Editor,
    /// Also sees everyone's runs, usage and budgets.
    Admin,
}

impl Role {
    /// Every role, the weakest first.
    pub const ALL: [Self; 3] = [Self::Reader, Self::Editor, Self::Admin];

    /// The role as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Editor => "editor",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(InvalidKey::UnknownRole)
    }
}

/// What a key may read. What it may not read does not exist for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadableSources {
    /// Every source, also those to come.
    All,
    /// These sources and no others. An empty set reads nothing.
    Only(BTreeSet<SourceName>),
}

impl ReadableSources {
    /// Whether `source` may be read.
    #[must_use]
    pub fn contains(&self, source: &SourceName) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(source),
        }
    }

    /// The names of the sources, unless it is all of them.
    #[must_use]
    pub const fn only(&self) -> Option<&BTreeSet<SourceName>> {
        match self {
            Self::All => None,
            Self::Only(names) => Some(names),
        }
    }
}

/// A key as it is kept: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id, which may be shown.
    pub id: KeyId,
    /// What people call it.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What it may read.
    pub sources: ReadableSources,
    /// What it may spend, each limit per its period. None: only the service's own budgets hold it.
    pub budgets: Vec<Budget>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl KeyRecord {
    /// Whether the key opens the door at `now`.
    #[must_use]
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// What is asked for when a key is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    /// What people will call it: 1–100 characters, none of them a control character.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What it may read.
    pub sources: ReadableSources,
    /// What it may spend.
    pub budgets: Vec<Budget>,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
}

/// Why a key cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// The name.
    #[error("a key's name has 1 to {MAX_KEY_NAME_CHARS} characters, none of them a control character")]
    Name,
    /// The expiry is in the past.
    #[error("the key would be expired when it is made; give a later time, or none")]
    AlreadyExpired,
    /// Too many budgets.
    #[error("a key has at most {MAX_KEY_BUDGETS} budgets")]
    TooManyBudgets,
    /// A limit below zero.
    #[error("a budget's limit is not negative; zero means that nothing may be spent")]
    NegativeBudget,
    /// No such role.
    #[error("a role is reader, editor or admin")]
    UnknownRole,
}

/// Why making a key failed.
#[derive(Debug, thiserror::Error)]
pub enum CreateKeyError {
    /// What was asked for cannot be.
    #[error(transparent)]
    Invalid(#[from] InvalidKey),
    /// It could not be kept.
    #[error("the key could not be kept")]
    Store(#[from] KeyStoreError),
}

/// Makes a key and keeps it. The secret is returned once and kept nowhere.
///
/// # Errors
/// If what is asked for cannot be, or the store fails.
pub async fn create_key(
    store: &dyn KeyStore,
    new: NewKey,
    clock: &dyn Clock,
    random: &dyn Randomness,
) -> Result<(KeyRecord, KeySecret), CreateKeyError> {
    let now = clock.now();
    if !(1..=MAX_KEY_NAME_CHARS).contains(&new.name.chars().count())
        || new.name.trim().is_empty()
        || new.name.chars().any(char::is_control)
    {
        return Err(InvalidKey::Name.into());
    }
    if new.expires_at.is_some_and(|end| end <= now) {
        return Err(InvalidKey::AlreadyExpired.into());
    }
    if new.budgets.len() > MAX_KEY_BUDGETS {
        return Err(InvalidKey::TooManyBudgets.into());
    }
    if new.budgets.iter().any(|budget| budget.limit < MicroUsd::ZERO) {
        return Err(InvalidKey::NegativeBudget.into());
    }
    let secret = KeySecret::mint(random);
    let record = KeyRecord {
        id: KeyId::mint(random),
        name: new.name,
        role: new.role,
        sources: new.sources,
        budgets: new.budgets,
        created_at: now,
        expires_at: new.expires_at,
        revoked_at: None,
    };
    store.add(&record, &secret.hash()).await?;
    Ok((record, secret))
}

/// Why a caller is not let in.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateError {
    /// No valid key. Unknown, expired and revoked look the same: a stranger with an old secret learns nothing from it.
    #[error("the key is not valid; ask for a new one")]
    InvalidKey,
    /// The keys could not be read.
    #[error("the keys could not be read")]
    Store(#[from] KeyStoreError),
}

/// Says who stands behind a secret at `now`.
///
/// # Errors
/// If no valid key has this secret, or the store fails.
pub async fn authenticate(store: &dyn KeyStore, secret: &str, now: Timestamp) -> Result<Principal, AuthenticateError> {
    let secret = KeySecret::parse(secret).ok_or(AuthenticateError::InvalidKey)?;
    authenticate_hash(store, &secret.hash(), now).await
}

/// Like [`authenticate`], for a stream that asks again in the middle whether its key still holds.
///
/// # Errors
/// If no valid key has this hash, or the store fails.
pub async fn authenticate_hash(
    store: &dyn KeyStore,
    hash: &KeyHash,
    now: Timestamp,
) -> Result<Principal, AuthenticateError> {
    match store.by_hash(hash).await? {
        Some(record) if record.is_valid(now) => Ok(record.into()),
        Some(_) | None => Err(AuthenticateError::InvalidKey),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::MemoryKeys,
        testing::{SeededRandomness, StandingClock},
    };

    fn reader(expires_at: Option<Timestamp>) -> NewKey {
        NewKey {
            name: "reception".to_owned(),
            role: Role::Reader,
            sources: ReadableSources::All,
            budgets: Vec::new(),
            expires_at,
        }
    }

    #[tokio::test]
    async fn a_key_opens_the_door_until_it_expires() {
        let (store, random) = (MemoryKeys::default(), SeededRandomness::new(1));
        let clock = StandingClock::at(Timestamp(1_000));
        let (record, secret) = create_key(&store, reader(Some(Timestamp(5_000))), &clock, &random).await.unwrap();
        let principal = authenticate(&store, secret.reveal(), Timestamp(4_999)).await.unwrap();
        assert_eq!(principal.key_id(), Some(&record.id));
        let refused = authenticate(&store, secret.reveal(), Timestamp(5_000)).await;
        assert!(matches!(refused, Err(AuthenticateError::InvalidKey)));
    }

    #[tokio::test]
    async fn unknown_expired_and_revoked_keys_are_refused_in_the_same_words() {
        let (store, random) = (MemoryKeys::default(), SeededRandomness::new(1));
        let clock = StandingClock::at(Timestamp(1_000));
        let (_, expired) = create_key(&store, reader(Some(Timestamp(2_000))), &clock, &random).await.unwrap();
        let (record, revoked) = create_key(&store, reader(None), &clock, &random).await.unwrap();
        assert!(store.revoke(&record.id, Timestamp(1_500)).await.unwrap());
        let unknown = KeySecret::mint(&SeededRandomness::new(99));
        let mut said = Vec::new();
        for secret in [expired.reveal(), revoked.reveal(), unknown.reveal(), "bylaw_x", ""] {
            said.push(authenticate(&store, secret, Timestamp(3_000)).await.unwrap_err().to_string());
        }
        assert!(said.iter().all(|text| *text == said[0]), "{said:?}");
    }

    #[tokio::test]
    async fn revoking_twice_keeps_the_first_moment() {
        let (store, random) = (MemoryKeys::default(), SeededRandomness::new(1));
        let clock = StandingClock::at(Timestamp(1_000));
        let (record, _) = create_key(&store, reader(None), &clock, &random).await.unwrap();
        assert!(store.revoke(&record.id, Timestamp(1_500)).await.unwrap());
        assert!(!store.revoke(&record.id, Timestamp(1_600)).await.unwrap());
        assert_eq!(store.list().await.unwrap()[0].revoked_at, Some(Timestamp(1_500)));
    }

    #[tokio::test]
    async fn a_key_that_makes_no_sense_is_not_made() {
        let (store, random) = (MemoryKeys::default(), SeededRandomness::new(1));
        let clock = StandingClock::at(Timestamp(1_000));
        let bad = [
            (NewKey { name: String::new(), ..reader(None) }, InvalidKey::Name),
            (NewKey { name: "  ".to_owned(), ..reader(None) }, InvalidKey::Name),
            (NewKey { name: "a\nb".to_owned(), ..reader(None) }, InvalidKey::Name),
            (NewKey { name: "x".repeat(101), ..reader(None) }, InvalidKey::Name),
            (reader(Some(Timestamp(1_000))), InvalidKey::AlreadyExpired),
        ];
        for (new, expected) in bad {
            let refused = create_key(&store, new, &clock, &random).await;
            assert!(matches!(refused, Err(CreateKeyError::Invalid(why)) if why == expected), "{expected:?}");
        }
        assert!(store.list().await.unwrap().is_empty());
    }
}
