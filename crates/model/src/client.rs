//! The HTTP client, with TLS as this program uses it.

use std::sync::Arc;

use reqwest::{Client, Url, redirect::Policy};

/// An HTTP client for the endpoint at `url`: rustls, no redirects, no proxy on loopback. `http://` needs no CA
/// certificates on the machine.
///
/// # Errors
/// For `https://`, if the machine has no CA certificates.
pub fn http_client(url: &Url) -> Result<Client, reqwest::Error> {
    // A redirect would carry the question and the key to an address that nobody configured.
    let mut builder =
        Client::builder().user_agent(concat!("bylaw/", env!("CARGO_PKG_VERSION"))).redirect(Policy::none());
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    let provider = rustls::crypto::ring::default_provider();
    if url.scheme() == "https" {
        // Fails if one is installed already, which serves as well.
        let _ = provider.install_default();
    } else if let Ok(config) =
        rustls::ClientConfig::builder_with_provider(Arc::new(provider)).with_safe_default_protocol_versions()
    {
        // Plain HTTP needs no CA certificates, but without this the client looks for them and fails if there are none.
        let config = config.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth();
        builder = builder.tls_backend_preconfigured(config);
    }
    builder.build()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known() {
        let check = |url: &str, expected: bool| assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        check("http://127.0.0.1:80/v1", true);
        check("http://[::1]:80/v1", true);
        check("http://localhost/v1", true);
        check("http://localhost.example/v1", false);
        check("http://10.0.0.1/v1", false);
    }
}
