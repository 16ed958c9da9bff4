//! Who stands behind a request, and in which era of the protocol.

use bylaw_contract::Language;
use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

use super::Principal;

/// Which of the protocol's two ways a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: a handshake, sessions, and questions in the middle of a call.
    Older,
    /// From 2026-07-28: each request stands alone, and a call that needs an answer is made again with it.
    Newer,
}

/// What a client says of itself. Nothing is proved by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientIdentity {
    /// The program's name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    /// In whose name.
    pub principal: Principal,
    /// Through which program, if it says.
    pub client: Option<ClientIdentity>,
    /// In which era.
    pub era: Era,
    /// The language of words for them: theirs where the request says it, else the server's.
    pub language: Language,
}

impl Caller {
    pub(super) fn of(context: &RequestContext<RoleServer>, principal: Principal, language: Language) -> Self {
        let newer = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let client = context.client_info().map(|info| ClientIdentity { name: info.name, version: info.version });
        Self { principal, client, era: if newer { Era::Newer } else { Era::Older }, language }
    }
}
