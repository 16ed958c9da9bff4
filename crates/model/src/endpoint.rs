//! Where a model is.

use std::{fmt, time::Duration};

use reqwest::{Url, header::HeaderValue};

use crate::{chat::ModelError, wire};

/// Where a model is, and how long to wait for it.
#[derive(Clone)]
pub struct Endpoint {
    /// Base URL ending before `/chat/completions`: `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// Bearer key, if the endpoint wants one.
    pub api_key: Option<String>,
    /// The model's name there.
    pub model: String,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for the first piece of text; what a server sends to keep the connection open does not count.
    pub first_byte_timeout: Duration,
    /// Longest silence between two pieces of text.
    pub idle_timeout: Duration,
    /// Longest whole call, from the connection to the last byte.
    pub total_timeout: Duration,
}

/// Shows neither the key nor credentials that are part of the URL.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("base_url", &shown(&self.base_url))
            .field("api_key", &self.api_key.as_ref().map(|_| "***"))
            .field("model", &self.model)
            .field("connect_timeout", &self.connect_timeout)
            .field("first_byte_timeout", &self.first_byte_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("total_timeout", &self.total_timeout)
            .finish()
    }
}

impl Endpoint {
    /// The address that is asked. A query of the base URL is kept: some gateways carry their version in it.
    pub(crate) fn chat_url(&self) -> Result<Url, ModelError> {
        let mut url = Url::parse(self.base_url.trim()).map_err(|error| self.unusable(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(self.unusable("the address must begin with http:// or https://".to_owned()));
        }
        url.set_fragment(None);
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(["chat", "completions"]);
        }
        Ok(url)
    }

    /// The header that carries the key. A blank key is none: an unset variable often arrives as an empty string.
    pub(crate) fn authorization(&self) -> Result<Option<HeaderValue>, ModelError> {
        let Some(key) = self.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()) else { return Ok(None) };
        let mut value = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| self.unusable("the API key holds characters that no HTTP header can carry".to_owned()))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    pub(crate) fn unusable(&self, problem: String) -> ModelError {
        ModelError::Unreachable { url: shown(&self.base_url), problem }
    }
}

/// Host and path of an address, without credentials or query. Works on what is no URL, too: it ends in error messages.
pub(crate) fn shown(address: &str) -> String {
    let address = address.trim();
    let end = address.find(['?', '#']).unwrap_or(address.len());
    let address = &address[..end];
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    let hidden = authority.rfind('@').map_or(0, |at| at + 1);
    let separator = if scheme.is_empty() { "" } else { "://" };
    wire::cut(&format!("{scheme}{separator}{}", &rest[hidden..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(base_url: &str, api_key: Option<&str>) -> Endpoint {
        Endpoint {
            base_url: base_url.to_owned(),
            api_key: api_key.map(str::to_owned),
            model: "small".to_owned(),
            connect_timeout: Duration::from_secs(1),
            first_byte_timeout: Duration::from_secs(2),
            idle_timeout: Duration::from_secs(3),
            total_timeout: Duration::from_secs(4),
        }
    }

    #[test]
    fn the_address_is_the_base_and_the_path() {
        let check = |base: &str, expected: Option<&str>| {
            assert_eq!(endpoint(base, None).chat_url().ok().as_ref().map(Url::as_str), expected, "{base}");
        };
        check("http://127.0.0.1:11434/v1", Some("http://127.0.0.1:11434/v1/chat/completions"));
        check(" http://127.0.0.1:11434/v1/ ", Some("http://127.0.0.1:11434/v1/chat/completions"));
        check("https://models.example", Some("https://models.example/chat/completions"));
        check("https://models.example/v1?version=2#x", Some("https://models.example/v1/chat/completions?version=2"));
        check("ftp://models.example", None);
        check("127.0.0.1:11434/v1", None);
        check("http://", None);
        check("", None);
    }

    #[test]
    fn no_secret_is_shown() {
        let check = |base: &str, expected: &str| {
            let shown = format!("{:?}", endpoint(base, Some("sk-secret")));
            assert!(shown.contains(&format!("base_url: {expected:?}")), "{shown}");
            assert!(!shown.contains("secret"), "{shown}");
        };
        check("https://me:secret@models.example/v1", "https://models.example/v1");
        check("https://models.example/v1?key=secret", "https://models.example/v1");
        check("me:secret@models.example", "models.example");
        check("https://models.example/@v1", "https://models.example/@v1");
        let problem = endpoint("me:secret@models.example", None).chat_url().unwrap_err();
        assert!(!format!("{problem:?} {problem}").contains("secret"));
    }

    #[test]
    fn a_key_is_sent_trimmed_or_not_at_all() {
        let check = |key: Option<&str>, expected: Result<Option<&str>, ()>| {
            let got = endpoint("http://127.0.0.1", key).authorization();
            let got = got.map(|value| value.map(|value| value.to_str().unwrap().to_owned())).map_err(|error| {
                assert!(!format!("{error:?} {error}").contains("secret"));
            });
            assert_eq!(got.as_ref().map(Option::as_deref).map_err(|_| ()), expected, "{key:?}");
        };
        check(None, Ok(None));
        check(Some(" \n"), Ok(None));
        check(Some("sk-secret\n"), Ok(Some("Bearer sk-secret")));
        check(Some("sk-\nsecret"), Err(()));
    }
}
