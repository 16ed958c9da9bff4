//! Who is calling: what the front layer found out, for handlers.

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use bylaw_contract::{ErrorCode, SourceName};
use bylaw_gate::{Action, AuthenticateError, KeyRing, Principal};

use crate::error::Failure;

/// What a route asks of its callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Open,
    /// To be somebody who may do this.
    Needs(Action),
}

/// Who was let in. In the extensions of every request; `None` for a stranger at an open route.
#[derive(Clone, Debug)]
pub(crate) struct Visitor(pub(crate) Option<Principal>);

/// Who is calling, at a route that needs somebody.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Principal);

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| Failure::internal(NobodyAsked))
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        let visitor = parts.extensions.get::<Visitor>().and_then(|visitor| visitor.0.clone());
        // A route that is open has no caller to speak of: its handler must not ask for one.
        visitor.map(Self).ok_or_else(|| Failure::internal(NobodyAsked))
    }
}

impl Caller {
    /// Refuses to change a source that the caller may not read, whether or not there is one.
    pub(crate) fn check_may_write(&self, source: &SourceName) -> Result<(), Failure> {
        if self.0.may_read(source) {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::Forbidden, format!("this key may not change {source}"))
            .with_hint("ask for a key that may read this source"))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("nobody was asked for a key before this handler")]
struct NobodyAsked;

/// Whether somebody was let in without a key, or with one.
pub(crate) enum Door {
    /// There are no keys: whoever reaches this machine's own address comes in.
    Local,
    /// There are keys.
    Keyed,
}

/// Lets a request in, or says why not.
pub(crate) async fn admit(ring: &KeyRing, headers: &HeaderMap, access: Access) -> Result<(Visitor, Door), Failure> {
    let credential = credential(headers);
    let principal = match credential {
        Credential::None => ring.principal(None).await,
        Credential::Secret(secret) => ring.principal(Some(secret)).await,
        Credential::Other => Err(AuthenticateError::InvalidKey),
    };
    let door = |principal: &Principal| match principal {
        Principal::LocalDoor => Door::Local,
        Principal::Key(_) => Door::Keyed,
    };
    match (access, principal) {
        (Access::Open, Ok(principal)) => Ok((Visitor(Some(principal.clone())), door(&principal))),
        // Probes go on with an old key, and while keys cannot be read.
        (Access::Open, Err(_)) => {
            // Where that is unknown, a probe must not be turned away for the name that it calls.
            let keyed = ring.required().await.unwrap_or(true);
            Ok((Visitor(None), if keyed { Door::Keyed } else { Door::Local }))
        }
        (Access::Needs(action), Ok(principal)) if principal.may(action) => {
            let door = door(&principal);
            Ok((Visitor(Some(principal)), door))
        }
        (Access::Needs(action), Ok(_)) => {
            let role = action.least_role();
            Err(Failure::new(ErrorCode::Forbidden, format!("this key may not do that; it needs the role {role}"))
                .with_hint(format!("ask for a key of the role {role}")))
        }
        (Access::Needs(_), Err(AuthenticateError::InvalidKey)) => Err(invalid_key(&credential)),
        (Access::Needs(_), Err(error @ AuthenticateError::Store(_))) => Err(Failure::storage(error)),
    }
}

fn invalid_key(credential: &Credential<'_>) -> Failure {
    const HOW: &str = "send `authorization: Bearer` and the key's secret; `bylaw key create` makes a key";
    let message = match credential {
        Credential::None => "a key is needed",
        Credential::Secret(_) => "the key is not valid",
        Credential::Other => "the authorization header is not one Bearer key",
    };
    Failure::new(ErrorCode::InvalidKey, message).with_hint(HOW)
}

/// What a request presents.
#[derive(Debug, PartialEq, Eq)]
enum Credential<'a> {
    None,
    Secret(&'a str),
    /// Another scheme, or several headers.
    Other,
}

fn credential(headers: &HeaderMap) -> Credential<'_> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Credential::None,
        (Some(value), None) => value.to_str().ok(),
        (Some(_), Some(_)) => None,
    };
    match value.and_then(|text| text.split_once(' ')) {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Credential::Secret(secret.trim()),
        Some(_) | None => Credential::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_one_bearer_secret() {
        let rows = [
            (vec![], Credential::None),
            (vec!["Bearer bylaw_1"], Credential::Secret("bylaw_1")),
            (vec!["bearer   bylaw_1 "], Credential::Secret("bylaw_1")),
            (vec!["Bearer "], Credential::Secret("")),
            (vec!["Bearer"], Credential::Other),
            (vec!["Basic YTpi"], Credential::Other),
            (vec!["bylaw_1"], Credential::Other),
            (vec![""], Credential::Other),
            (vec!["Bearer bylaw_1", "Bearer bylaw_2"], Credential::Other),
        ];
        for (values, expected) in rows {
            let mut headers = HeaderMap::new();
            for value in &values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            assert_eq!(credential(&headers), expected, "{values:?}");
        }
    }
}
