//! One POST to an OpenAI-compatible endpoint.

use std::{convert::Infallible, error::Error, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use reqwest::{
    Body, Client, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER},
};

use crate::{
    attempt::Departure,
    backend::{Broken, Reply},
    chat::ModelError,
    client::http_client,
    endpoint::{Endpoint, shown},
};

/// A client of one endpoint.
pub(crate) struct HttpBackend {
    client: Client,
    url: Url,
    shown_url: String,
    authorization: Option<HeaderValue>,
    api_key: Option<String>,
}

impl HttpBackend {
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, ModelError> {
        let url = endpoint.chat_url()?;
        let client = http_client(&url).map_err(|error| {
            let problem = format!("{}; https needs the CA certificates of the system", cause(&error));
            endpoint.unusable(problem)
        })?;
        Ok(Self {
            client,
            shown_url: shown(url.as_str()),
            url,
            authorization: endpoint.authorization()?,
            api_key: endpoint.api_key.as_deref().map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned),
        })
    }

    pub(crate) fn shown_url(&self) -> &str {
        &self.shown_url
    }

    pub(crate) fn without_key(&self, text: &str) -> String {
        self.api_key.as_ref().map_or_else(|| text.to_owned(), |key| text.replace(key, "***"))
    }

    pub(crate) async fn send(&self, body: Bytes, departure: Departure) -> Result<Reply, ModelError> {
        let length = body.len();
        // The connection asks for the body once it is made and the head is written to its buffer. Nothing else tells so
        // exactly whether anything has left.
        let body = stream::once(async move {
            departure.mark();
            Ok::<_, Infallible>(body)
        });
        let mut request = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            // Without it a streamed body is sent in chunks, which small servers do not read.
            .header(CONTENT_LENGTH, length)
            .body(Body::wrap_stream(body));
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await.map_err(|error| ModelError::Unreachable {
            url: self.shown_url.clone(),
            problem: cause(&error.without_url()),
        })?;
        Ok(Reply {
            status: response.status().as_u16(),
            retry_after: retry_after(response.headers()),
            body: Box::pin(response.bytes_stream().map(|piece| piece.map_err(|_| Broken))),
        })
    }
}

/// The innermost cause: the outer ones only say that a request failed.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// How long the endpoint asks to wait. A date is read beside the endpoint's own, as clocks disagree.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|milliseconds| milliseconds / 1000.0);
    let told = seconds.or_else(|| number(RETRY_AFTER.as_str()));
    if let Some(seconds) = told {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |name: &str| {
        let date = jiff::fmt::rfc2822::parse(headers.get(name)?.to_str().ok()?).ok()?;
        Some(date.timestamp().as_second())
    };
    let seconds = date(RETRY_AFTER.as_str())?.saturating_sub(date(DATE.as_str())?);
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_seconds_or_milliseconds() {
        let check = |name: &'static str, value: &'static str, expected: Option<u64>| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
            assert_eq!(retry_after(&headers), expected.map(Duration::from_millis), "{name}: {value}");
        };
        check("retry-after", "20", Some(20_000));
        check("retry-after", "0.5", Some(500));
        check("retry-after-ms", "250", Some(250));
        check("retry-after", "-1", None);
        check("retry-after", "NaN", None);
        check("retry-after", "1e300", None);
        check("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT", None);
        check("retry-after", "tomorrow", None);
    }

    #[test]
    fn a_date_is_read_beside_the_date_of_the_reply() {
        let check = |date: &'static str, until: &'static str, expected: Option<u64>| {
            let header = |value| HeaderValue::from_static(value);
            let headers = HeaderMap::from_iter([(DATE, header(date)), (RETRY_AFTER, header(until))]);
            assert_eq!(retry_after(&headers), expected.map(Duration::from_secs), "{date} {until}");
        };
        check("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:03 GMT", Some(3));
        check("Wed, 21 Oct 2026 23:59:59 GMT", "Thu, 22 Oct 2026 00:01:00 GMT", Some(61));
        check("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:27:00 GMT", Some(0));
        check("Wed, 21 Oct 2026 07:28:00 GMT", "soon", None);
        check("now", "Wed, 21 Oct 2026 07:28:03 GMT", None);
    }
}
