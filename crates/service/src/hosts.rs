//! Who may call an open service from a browser.
//!
//! A service without keys listens on this machine only, but a web page that a person visits can call it too: by pointing
//! its own host name at 127.0.0.1 (DNS rebinding), or by posting a form across origins. Both show in headers that a page
//! cannot forge. Programs that are not browsers send neither a foreign `Host` nor an `Origin`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};

use crate::error::Failure;

/// Checks `Host`, and for requests that change something `Origin`.
pub(crate) fn check(method: &Method, uri: &Uri, headers: &HeaderMap, allowed: &[String]) -> Result<(), Failure> {
    let host = called_host(uri, headers)?;
    if let Some(host) = host
        && !is_allowed(host, allowed)
    {
        return Err(Failure::invalid("this service is not served under the host name of the request")
            .with_status(StatusCode::MISDIRECTED_REQUEST)
            .with_hint("call it as 127.0.0.1 or localhost, or add the name to the allowed hosts"));
    }
    if method.is_safe() {
        return Ok(());
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(origin) if origin.to_str().is_ok_and(|origin| is_own_origin(origin, host, allowed)) => Ok(()),
        Some(_) => Err(Failure::invalid("web pages of another origin may not change anything here")
            .with_status(StatusCode::FORBIDDEN)
            .with_hint("call from the service's own page, or add the page's host to the allowed hosts")),
    }
}

/// Checks `Host` and, whatever the method, `Origin`, for `/mcp`: the sentence for whoever is refused. Where keys are needed
/// an address in numbers will do as well, which no name server can turn to this machine.
pub(crate) fn check_agent(
    uri: &Uri,
    headers: &HeaderMap,
    allowed: &[String],
    has_keys: bool,
) -> Result<(), &'static str> {
    let host = called_host(uri, headers).map_err(|_| "the Host header is not one host name")?;
    if let Some(host) = host
        && !is_allowed(host, allowed)
        && !(has_keys && without_port(host).parse::<IpAddr>().is_ok())
    {
        return Err(
            "this service is not served under the host name of the request: call it by an address in numbers, or \
                    add the name to server.allowed_hosts",
        );
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(origin) if origin.to_str().is_ok_and(|origin| is_own_origin(origin, host, allowed)) => Ok(()),
        Some(_) => Err("web pages of another origin may not call this: add the page's host to server.allowed_hosts"),
    }
}

/// The host with its port. Without one the caller is not a browser, and HTTP/1.0 allows it.
fn called_host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Result<Option<&'a str>, Failure> {
    if let Some(authority) = uri.authority() {
        return Ok(Some(authority.as_str()));
    }
    let mut values = headers.get_all(header::HOST).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(host)), None) => Ok(Some(host)),
        _ => Err(Failure::invalid("the Host header is not one host name").with_status(StatusCode::BAD_REQUEST)),
    }
}

fn is_allowed(host: &str, allowed: &[String]) -> bool {
    let name = without_port(host);
    is_loopback(name) || allowed.iter().any(|entry| entry == "*" || entry.eq_ignore_ascii_case(name))
}

fn is_own_origin(origin: &str, host: Option<&str>, allowed: &[String]) -> bool {
    let Some((_, authority)) = origin.split_once("://") else { return false };
    let named = |entry: &String| entry == "*" || entry.eq_ignore_ascii_case(without_port(authority));
    host.is_some_and(|host| host.eq_ignore_ascii_case(authority)) || allowed.iter().any(named)
}

fn without_port(host: &str) -> &str {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    name.strip_suffix('.').unwrap_or(name)
}

fn is_loopback(name: &str) -> bool {
    const LOCALHOST: &str = "localhost";
    name.eq_ignore_ascii_case(LOCALHOST)
        || name.rsplit_once('.').is_some_and(|(_, last)| last.eq_ignore_ascii_case(LOCALHOST))
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || name.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &Method, host: &str, origin: Option<&str>, allowed: &[&str]) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let allowed: Vec<String> = allowed.iter().map(|&name| name.to_owned()).collect();
        let mut reply = match check(method, &Uri::from_static("/ask"), &headers, &allowed) {
            Ok(()) => return 200,
            Err(failure) => axum::response::IntoResponse::into_response(failure),
        };
        let _ = Failure::of(&mut reply);
        reply.status().as_u16()
    }

    #[test]
    fn only_loopback_names_and_configured_ones_are_served() {
        for host in
            ["localhost:8024", "LOCALHOST", "127.0.0.1", "127.9.9.9:1", "[::1]:8024", "a.localhost", "localhost."]
        {
            assert_eq!(status(&Method::GET, host, None, &[]), 200, "{host}");
        }
        for host in
            ["evil.test:8024", "127.0.0.1.evil.test", "localhost.evil.test", "10.0.0.1", "[::2]", "notlocalhost", ""]
        {
            assert_eq!(status(&Method::GET, host, None, &[]), 421, "{host}");
        }
        assert_eq!(status(&Method::GET, "Rules.example:80", None, &["rules.example"]), 200);
        assert_eq!(status(&Method::GET, "rules.example", None, &["*"]), 200);
    }

    #[test]
    fn pages_of_another_origin_change_nothing() {
        let host = "localhost:8024";
        let rows = [
            (Method::POST, Some("http://localhost:8024"), 200),
            (Method::POST, None, 200),
            (Method::GET, Some("http://evil.test"), 200),
            (Method::POST, Some("http://evil.test"), 403),
            (Method::POST, Some("http://localhost:3000"), 403),
            (Method::DELETE, Some("null"), 403),
        ];
        for (method, origin, expected) in rows {
            assert_eq!(status(&method, host, origin, &[]), expected, "{method} {origin:?}");
        }
        assert_eq!(status(&Method::POST, host, Some("https://portal.example:444"), &["portal.example"]), 200);
    }

    #[test]
    fn agents_call_by_a_known_name_and_pages_of_others_never() {
        let check = |host: &str, origin: Option<&str>, has_keys| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            check_agent(&Uri::from_static("/mcp"), &headers, &["rules.example".to_owned()], has_keys).is_ok()
        };
        for has_keys in [false, true] {
            for host in ["localhost:8024", "127.0.0.1:8024", "[::1]", "rules.example"] {
                assert!(check(host, None, has_keys), "{host}");
                assert!(check(host, Some(&format!("http://{host}")), has_keys), "{host}");
            }
            for origin in ["http://evil.test", "http://localhost:3000", "null", ""] {
                assert!(!check("localhost:8024", Some(origin), has_keys), "{origin}");
            }
            assert!(check("localhost:8024", Some("https://rules.example"), has_keys));
            assert!(!check("evil.test", None, has_keys));
            assert_eq!(check("10.0.0.1:8024", None, has_keys), has_keys);
        }
    }

    #[test]
    fn two_host_headers_are_refused() {
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, "localhost".parse().unwrap());
        headers.append(header::HOST, "evil.test".parse().unwrap());
        assert!(check(&Method::GET, &Uri::from_static("/"), &headers, &[]).is_err());
    }
}
