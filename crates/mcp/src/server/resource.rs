//! Resources: what can be read by address.

use async_trait::async_trait;

use super::{Caller, Words};
use crate::client::ResourceBody;

/// A resource in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSpec {
    /// Its address.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: Option<Words>,
    /// What it is.
    pub description: Option<Words>,
    /// Its media type.
    pub mime: Option<String>,
}

impl ResourceSpec {
    /// With nothing said beyond address and name.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), title: None, description: None, mime: None }
    }
}

/// A whole kind of resources, by the form of their addresses (RFC 6570).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceTemplate {
    /// The form, such as `rules://{source}/{article}`.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// What they are.
    pub description: Option<Words>,
    /// Their media type, if they have one in common.
    pub mime: Option<String>,
}

/// Offers resources.
#[async_trait]
pub trait ServerResources: Send + Sync {
    /// All that this caller may read, in an order that stays.
    ///
    /// # Errors
    /// A sentence for the caller if they cannot be listed now.
    async fn list(&self, caller: &Caller) -> Result<Vec<ResourceSpec>, String>;

    /// The kinds. None unless said otherwise.
    fn templates(&self) -> Vec<ResourceTemplate> {
        Vec::new()
    }

    /// One of them with its media type; nothing if there is none that this caller may read.
    ///
    /// # Errors
    /// A sentence for the caller if it cannot be read now.
    async fn read(&self, caller: &Caller, uri: &str) -> Result<Option<(Option<String>, ResourceBody)>, String>;
}
