//! `[model]`: where the model is, and how it is spoken to.

use std::time::Duration;

use bylaw_model::{ActionMode, Endpoint};

use super::raw;

/// A model that is configured.
#[derive(Clone, Debug)]
pub(crate) struct ModelSettings {
    pub(crate) endpoint: Endpoint,
    /// How often a call that failed for the moment is tried again.
    pub(crate) retries: u32,
    /// How it is given tools.
    pub(crate) actions: ActionMode,
}

impl ModelSettings {
    pub(super) fn resolve(model: &raw::Model) -> Result<Option<Self>, String> {
        if model.retries > 10 {
            return Err(format!("model.retries: {} is outside 0 to 10", model.retries));
        }
        if model.base_url.is_empty() {
            return if model.name.is_empty() {
                Ok(None)
            } else {
                Err("model.base_url: missing, while model.name is set; name the endpoint or remove the name".to_owned())
            };
        }
        if model.name.is_empty() {
            return Err("model.name: missing, while model.base_url is set; name the model to ask for".to_owned());
        }
        let seconds = |count: u32| Duration::from_secs(u64::from(count));
        let endpoint = Endpoint {
            base_url: model.base_url.trim_end_matches('/').to_owned(),
            api_key: if model.api_key.is_empty() { None } else { Some(model.api_key.clone()) },
            model: model.name.clone(),
            connect_timeout: seconds(model.connect_timeout_seconds),
            first_byte_timeout: seconds(model.first_byte_timeout_seconds),
            idle_timeout: seconds(model.idle_timeout_seconds),
            total_timeout: seconds(model.total_timeout_seconds),
        };
        Ok(Some(Self { endpoint, retries: model.retries, actions: model.actions }))
    }
}
