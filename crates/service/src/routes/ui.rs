//! `/ui/`: the page, and how browsers are to treat it.

use std::{fmt::Write, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Redirect, Response},
};
use bylaw_contract::ErrorCode;

use crate::{
    error::Failure,
    front,
    parameters::Tail,
    service::Service,
    settings::ServiceSettings,
    ui_assets::{self, Asset},
};

const UI: &str = "/ui/";
/// The one address that other people's pages may show in a frame.
const EMBED: &str = "embed";

/// A year, which is as good as for ever.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// Kept, and asked about each time.
const ASK_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");

/// Nothing from elsewhere, nothing inline, and nothing that a page of ours does not need.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      object-src 'none'; base-uri 'none'; form-action 'none'";

/// A file of the page.
pub(crate) async fn page(
    State(service): State<Arc<Service>>,
    uri: Uri,
    headers: HeaderMap,
    tail: Tail,
) -> Result<Response, Failure> {
    if uri.path() == UI.trim_end_matches('/') {
        return Ok(Redirect::temporary(UI).into_response());
    }
    let path = Tail::decode(&tail.0)?;
    let asset = ui_assets::at(&path).ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, format!("there is no file at {}", uri.path()))
            .with_hint("GET /ui/ is the page; one that was open during an update has to be loaded again")
    })?;
    let mut reply = file(asset, &headers);
    let policy = policy(&path, &service.settings)?;
    reply.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    // Not `no-referrer`: with it, a browser would say `Origin: null` where the service looks for its own name.
    reply.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    Ok(reply)
}

/// Sends browsers to the page. For programs there is nothing here.
pub(crate) async fn root(request: Request) -> Response {
    let accepted = request.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_browser = request.method().is_safe() && accepted.into_iter().any(|kinds| kinds.contains("text/html"));
    if is_browser { Redirect::temporary(UI).into_response() } else { front::not_found(request).await.into_response() }
}

fn policy(path: &str, settings: &ServiceSettings) -> Result<HeaderValue, Failure> {
    let mut policy = format!("{POLICY}; frame-ancestors");
    let shown_elsewhere = path.split('/').next() == Some(EMBED) && !settings.frame_ancestors.is_empty();
    if shown_elsewhere {
        for origin in &settings.frame_ancestors {
            write!(policy, " {origin}").map_err(Failure::internal)?;
        }
    } else {
        policy.push_str(" 'none'");
    }
    HeaderValue::try_from(policy).map_err(Failure::internal)
}

fn file(asset: &'static Asset, asked: &HeaderMap) -> Response {
    let packed = asset.packed.filter(|_| takes_gzip(asked));
    let tag = if packed.is_some() { format!("\"{}-gzip\"", asset.tag) } else { format!("\"{}\"", asset.tag) };
    let mut reply = if has(asked, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut reply = Response::new(Body::from(packed.unwrap_or(asset.bytes)));
        reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
        if packed.is_some() {
            reply.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        reply
    };
    let headers = reply.headers_mut();
    if asset.packed.is_some() {
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, if asset.is_immutable() { FOR_EVER } else { ASK_EACH_TIME });
    reply
}

/// Whether the caller has this version already.
fn has(asked: &HeaderMap, tag: &str) -> bool {
    values(asked, header::IF_NONE_MATCH).any(|value| value == "*" || value.strip_prefix("W/").unwrap_or(value) == tag)
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    values(asked, header::ACCEPT_ENCODING).any(|value| {
        let (coding, parameters) = value.split_once(';').unwrap_or((value, ""));
        let weight = parameters.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        coding.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// The values of a header that is a list.
fn values(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &header::HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn gzip_is_for_those_who_take_it() {
        let rows: [(&[&str], bool); 9] = [
            (&[], false),
            (&["gzip"], true),
            (&["deflate, GZIP;q=0.5"], true),
            (&["br", "gzip"], true),
            (&["gzip;q=0"], false),
            (&["gzip; q=0.0"], false),
            (&["gzip;q=x"], false),
            (&["identity"], false),
            (&["xgzip"], false),
        ];
        for (values, expected) in rows {
            assert_eq!(takes_gzip(&headers(&header::ACCEPT_ENCODING, values)), expected, "{values:?}");
        }
    }

    #[test]
    fn a_tag_is_found_in_a_list() {
        let rows: [(&[&str], bool); 6] = [
            (&[], false),
            (&["\"a\""], true),
            (&["W/\"a\""], true),
            (&["\"b\", \"a\""], true),
            (&["*"], true),
            (&["\"b\"", "a"], false),
        ];
        for (values, expected) in rows {
            assert_eq!(has(&headers(&header::IF_NONE_MATCH, values), "\"a\""), expected, "{values:?}");
        }
    }
}
