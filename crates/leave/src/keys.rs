//! Keys of the leave system: each stands for one employee. They are its own, and kept as hashes.

use bylaw_contract::{Clock, Randomness};
use sha2::{Digest, Sha256};

use crate::domain::{
    ids::{EmployeeId, LeaveKeyId, random_hex},
    store::{LeaveKey, LeaveStore, SecretHash, StoreError},
};

/// What a caller sends to say who they are. Shown once, kept nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl Secret {
    /// A fresh secret of 192 random bits.
    #[must_use]
    pub fn mint(random: &dyn Randomness) -> Self {
        Self(format!("leave_{}", random_hex::<24>(random)))
    }

    /// The text itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// What is kept of a secret. It has enough random bits that a plain hash tells nothing.
#[must_use]
pub fn hash(secret: &str) -> SecretHash {
    SecretHash(Sha256::digest(secret).into())
}

/// Why a key cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateKeyError {
    /// Nobody has this id.
    #[error("there is no employee {0}")]
    UnknownEmployee(EmployeeId),
    /// It could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes a key for an employee.
///
/// # Errors
/// If there is no such employee, or the store fails.
pub async fn create(
    store: &dyn LeaveStore,
    employee: &EmployeeId,
    clock: &dyn Clock,
    random: &dyn Randomness,
) -> Result<(LeaveKey, Secret), CreateKeyError> {
    if store.employee(employee).await?.is_none() {
        return Err(CreateKeyError::UnknownEmployee(employee.clone()));
    }
    let secret = Secret::mint(random);
    let key = LeaveKey {
        id: LeaveKeyId::mint(random),
        employee: employee.clone(),
        created_at: clock.now(),
        revoked_at: None,
    };
    store.add_key(&key, &hash(secret.reveal())).await?;
    Ok((key, secret))
}

/// The key that a secret opens with, unless it is unknown or revoked.
///
/// # Errors
/// If the store fails.
pub async fn authenticate(store: &dyn LeaveStore, secret: &str) -> Result<Option<LeaveKey>, StoreError> {
    Ok(store.key(&hash(secret)).await?.filter(|key| key.revoked_at.is_none()))
}
