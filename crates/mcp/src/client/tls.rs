//! The HTTP client, with TLS as this program uses it.
//!
//! The same few lines as the model client's: neither crate may know the other, and the provider must be `ring` in
//! both, because a client without one panics when it is built.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Url, redirect::Policy};

pub(super) fn http_client(url: &Url, connect_timeout: Duration) -> Result<Client, reqwest::Error> {
    // A redirect would carry the key to an address that nobody configured. Nagle's algorithm costs 40 ms a call.
    let mut builder = Client::builder()
        .user_agent(concat!("bylaw/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .tcp_nodelay(true)
        .connect_timeout(connect_timeout);
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
    fn a_client_is_built_for_either_scheme_without_a_panic() {
        for url in ["http://127.0.0.1:1/mcp", "http://mcp.example/", "https://127.0.0.1:1/mcp"] {
            // What matters for https is that it does not panic: a machine without CA certificates gets an error.
            let _ = http_client(&url.parse().unwrap(), Duration::from_secs(1));
        }
    }
}
