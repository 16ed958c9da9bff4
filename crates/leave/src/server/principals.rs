//! Who calls: an employee, by a key of the leave system or by whoever started the program.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bylaw_contract::Clock;
use bylaw_mcp::{Authenticate, Caller, Credentials, Era, RefusedCredentials};

use crate::{
    desk,
    domain::{
        ids::{EmployeeId, LeaveKeyId},
        store::{LeaveStore, SecretHash},
    },
    keys,
};

/// How long a key that was found is taken without looking again: as long as a revoked one may still open.
const FRESH: Duration = Duration::from_millis(100);
/// Most keys that are remembered.
const MOST_FRESH: usize = 1_000;

/// Most characters of a client's own name that are put on the record.
const MOST_CLIENT: usize = 60;

/// How somebody came in.
#[derive(Clone, Debug)]
pub(super) struct Entrance {
    pub(super) employee: EmployeeId,
    pub(super) by: String,
}

/// Lets in whoever has a key of the leave system. Without one nobody comes in.
pub struct LeaveKeys {
    store: Arc<dyn LeaveStore>,
    clock: Arc<dyn Clock>,
    /// Who was let in just now, and when.
    fresh: Mutex<HashMap<SecretHash, (Duration, bylaw_mcp::Principal)>>,
}

impl std::fmt::Debug for LeaveKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeaveKeys").finish_non_exhaustive()
    }
}

impl LeaveKeys {
    /// The keys of this store. A key that is revoked is refused within a tenth of a second.
    #[must_use]
    pub fn new(store: Arc<dyn LeaveStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, fresh: Mutex::default() }
    }

    fn remembered(&self, hash: &SecretHash) -> Option<bylaw_mcp::Principal> {
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        let (found_at, principal) = fresh.get(hash)?;
        (self.clock.elapsed().saturating_sub(*found_at) < FRESH).then(|| principal.clone())
    }

    /// `since` is when the looking began: what was revoked after that is not remembered for longer.
    fn remember(&self, hash: SecretHash, since: Duration, principal: &bylaw_mcp::Principal) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh.len() >= MOST_FRESH {
            fresh.clear();
        }
        fresh.insert(hash, (since, principal.clone()));
    }
}

#[async_trait]
impl Authenticate for LeaveKeys {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<bylaw_mcp::Principal, RefusedCredentials> {
        const NEEDED: &str = "a key of the leave system is needed: send authorization: Bearer leave_…; whoever runs the \
                              server makes one with bylaw leave key create --employee ID";
        let Some(secret) = credentials.bearer else { return Err(RefusedCredentials::Unknown(NEEDED.into())) };
        let (hash, since) = (keys::hash(secret), self.clock.elapsed());
        if let Some(principal) = self.remembered(&hash) {
            return Ok(principal);
        }
        match keys::authenticate(&*self.store, secret).await {
            Ok(Some(key)) => {
                let principal = by_key(&key.employee, &key.id);
                self.remember(hash, since, &principal);
                Ok(principal)
            }
            Ok(None) => Err(RefusedCredentials::Unknown(NEEDED.into())),
            Err(error) => {
                tracing::error!(cause = %error.source, "{error}");
                Err(RefusedCredentials::Unavailable("keys cannot be looked up now; come back later".into()))
            }
        }
    }
}

fn by_key(employee: &EmployeeId, key: &LeaveKeyId) -> bylaw_mcp::Principal {
    let entrance = Entrance { employee: employee.clone(), by: format!("HTTP, {key}") };
    bylaw_mcp::Principal::new(employee.as_str()).with_detail(entrance)
}

/// An employee that whoever started the program speaks for.
pub(super) fn started(employee: &EmployeeId) -> bylaw_mcp::Principal {
    let entrance = Entrance { employee: employee.clone(), by: "pipes".to_owned() };
    bylaw_mcp::Principal::new(employee.as_str()).with_detail(entrance)
}

/// The desk's principal for a caller; none if the caller came in by another door.
pub(super) fn of(caller: &Caller) -> Option<desk::Principal> {
    let entrance = caller.principal.detail::<Entrance>()?;
    let era = match caller.era {
        Era::Older => "2025",
        Era::Newer => "2026",
    };
    let program = caller.client.as_ref().map_or_else(
        || "?".to_owned(),
        |client| {
            let name = format!("{} {}", client.name, client.version);
            name.chars().filter(|c| !c.is_control()).take(MOST_CLIENT).collect()
        },
    );
    Some(desk::Principal {
        employee: entrance.employee.clone(),
        client: format!("{program} ({}, MCP {era})", entrance.by),
        language: caller.language,
    })
}
