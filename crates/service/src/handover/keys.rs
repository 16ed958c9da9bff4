//! Who an agent comes in as: whoever its key stands for, as at every other route.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_gate::{AuthenticateError, KeyRing, KeySecret, Principal};
use bylaw_mcp::{Authenticate, Credentials, RefusedCredentials};

/// The keys of the service. Each request is looked up, so that a revoked key is refused from then on.
pub(super) struct ServiceKeys(pub(super) Arc<KeyRing>);

/// What a caller brought, to be shown again at the front door.
#[derive(Clone)]
pub(super) struct Brought(pub(super) Option<KeySecret>);

#[async_trait]
impl Authenticate for ServiceKeys {
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<bylaw_mcp::Principal, RefusedCredentials> {
        match self.0.principal(credentials.bearer).await {
            Ok(principal) => {
                let brought = Brought(credentials.bearer.and_then(KeySecret::parse));
                Ok(bylaw_mcp::Principal::new(name(&principal)).with_detail(brought))
            }
            Err(AuthenticateError::InvalidKey) => Err(RefusedCredentials::Unknown(sentence(credentials.bearer))),
            Err(AuthenticateError::Store(error)) => {
                tracing::error!(error = bylaw_contract::chain(&error), "keys cannot be looked up");
                Err(RefusedCredentials::Unavailable("keys cannot be looked up now: come back later".to_owned()))
            }
        }
    }
}

fn name(principal: &Principal) -> String {
    principal.key_id().map_or_else(|| "local".to_owned(), ToString::to_string)
}

fn sentence(bearer: Option<&str>) -> String {
    const HOW: &str = "send `authorization: Bearer` and the secret of a key; `bylaw key create` makes one. There is no \
                       sign-in by OAuth here: a client that cannot send a key is started with `bylaw mcp` instead";
    let what = if bearer.is_some() { "the key is not valid" } else { "a key is needed" };
    format!("{what}: {HOW}")
}
