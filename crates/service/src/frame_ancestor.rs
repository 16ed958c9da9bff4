//! Whose pages may show ours in a frame.

use std::{fmt, net::Ipv6Addr, str::FromStr};

/// An origin: scheme, host and, where it is not the usual one, port. Nothing else can be written into a header with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameAncestor(String);

/// Why something is not an origin.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not an origin such as https://portal.example or http://localhost:3000")]
pub struct InvalidOrigin(String);

impl fmt::Display for FrameAncestor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for FrameAncestor {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let authority = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        match authority {
            Some(authority) if is_authority(authority) => Ok(Self(text.to_owned())),
            _ => Err(InvalidOrigin(text.to_owned())),
        }
    }
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        // The colons of an address in brackets are its own.
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    port.is_none_or(is_port) && is_host(host)
}

fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok();
    }
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    host.len() <= 253 && host.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_and_nothing_that_a_header_would_read_otherwise() {
        for origin in [
            "https://portal.example",
            "http://localhost:3000",
            "http://127.0.0.1:8024",
            "http://[::1]:3000",
            "https://xn--fiq228c.example",
        ] {
            assert_eq!(origin.parse::<FrameAncestor>().map(|origin| origin.to_string()).as_deref(), Ok(origin));
        }
        for text in [
            "",
            "*",
            "'self'",
            "portal.example",
            "ftp://portal.example",
            "https://",
            "https://*.example",
            "https://portal.example/",
            "https://portal.example/path",
            "https://user@portal.example",
            "https://portal.example:",
            "https://portal.example:0",
            "https://portal.example:65536",
            "https://portal.example:+1",
            "https://portal..example",
            "https://Portal.example",
            "https://入口.example",
            "https://[::1",
            "https://[portal]",
            "https://a b",
            "https://a;script-src *",
            "https://a, https://b",
            "https://a\r\nset-cookie: b",
        ] {
            assert_eq!(text.parse::<FrameAncestor>(), Err(InvalidOrigin(text.to_owned())), "{text:?}");
        }
    }
}
