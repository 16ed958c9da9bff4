//! Who calls: an employee, by a key of the leave system or by whoever started the program.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_mcp::{Authenticate, Caller, Credentials, Era, RefusedCredentials};

use crate::{
    desk,
    domain::{
        ids::{EmployeeId, LeaveKeyId},
        store::LeaveStore,
    },
    keys,
};

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
}

impl std::fmt::Debug for LeaveKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeaveKeys").finish_non_exhaustive()
    }
}

impl LeaveKeys {
    /// The keys of this store. Each request is looked up, so that a revoked key is refused from the next one on.
    #[must_use]
    pub fn new(store: Arc<dyn LeaveStore>) -> Self {
        Self { store }
    }
}

#[async_trait]
impl Authenticate for LeaveKeys {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<bylaw_mcp::Principal, RefusedCredentials> {
        const NEEDED: &str = "a key of the leave system is needed: send authorization: Bearer leave_…; whoever runs the \
                              server makes one with bylaw leave key create --employee ID";
        let Some(secret) = credentials.bearer else { return Err(RefusedCredentials::Unknown(NEEDED.into())) };
        match keys::authenticate(&*self.store, secret).await {
            Ok(Some(key)) => Ok(by_key(&key.employee, &key.id)),
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
