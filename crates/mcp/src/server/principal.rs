//! Who calls: told from the head of a request, never by a model.

use std::{any::Any, fmt, net::SocketAddr, sync::Arc};

use async_trait::async_trait;

/// Somebody in whose name a call is made.
#[derive(Clone)]
pub struct Principal {
    id: Arc<str>,
    detail: Option<Arc<dyn Any + Send + Sync>>,
}

impl Principal {
    /// By an id that is the same each time they come. It is not a secret.
    #[must_use]
    pub fn new(id: impl AsRef<str>) -> Self {
        Self { id: Arc::from(id.as_ref()), detail: None }
    }

    /// With what the authenticator knows beyond that, for handlers to read back by its type.
    #[must_use]
    pub fn with_detail<T: Send + Sync + 'static>(mut self, detail: T) -> Self {
        self.detail = Some(Arc::new(detail));
        self
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What the authenticator put there, if it is of this type.
    #[must_use]
    pub fn detail<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.detail.as_deref()?.downcast_ref()
    }
}

impl fmt::Debug for Principal {
    /// The id alone: details may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({})", self.id)
    }
}

/// What a request brings to say who sends it.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    /// The token of `authorization: Bearer`.
    pub bearer: Option<&'a str>,
    /// Where the connection comes from, if the listener tells.
    pub peer: Option<SocketAddr>,
}

/// Why nobody is let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedCredentials {
    /// There is no token, or one that is not known (any more). Answered with 401.
    #[error("{0}")]
    Unknown(String),
    /// Who it is could not be looked up. Answered with 503.
    #[error("{0}")]
    Unavailable(String),
}

/// Tells who sends a request over HTTP, before anything of it but its head is read.
#[async_trait]
pub trait Authenticate: Send + Sync {
    /// The principal.
    ///
    /// # Errors
    /// The sentence for the caller: what is wrong, and where to get a key.
    async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Principal, RefusedCredentials>;
}
