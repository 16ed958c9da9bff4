//! Query parameters: typed, and unknown ones refused by name.

use std::convert::Infallible;

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};
use bylaw_contract::{ErrorCode, ids::InvalidId};
use bylaw_retrieval::LEXICAL;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{body::in_words, error::Failure};

/// The query parameters of a request.
#[derive(Debug)]
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: DeserializeOwned + Default, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        if parts.uri.query().is_none_or(str::is_empty) {
            return Ok(Self(T::default()));
        }
        Query::<T>::try_from_uri(&parts.uri).map(|Query(value)| Self(value)).map_err(|rejection| {
            let text = rejection.body_text();
            let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
            Failure::invalid(format!("query parameter {}", in_words(text)))
        })
    }
}

/// Parameters of `/ask` and `/search`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retrieval {
    /// The retriever that is to search.
    retriever: Option<String>,
}

/// Every retriever that can be asked for.
pub(crate) const RETRIEVERS: [&str; 1] = [LEXICAL];

impl Retrieval {
    /// Refuses retrievers that do not exist.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.retriever.as_deref() {
            None => Ok(()),
            Some(name) if RETRIEVERS.contains(&name) => Ok(()),
            Some(name) => {
                let available = RETRIEVERS.join(", ");
                let message = format!("there is no retriever named {name:?}; available: {available}");
                Err(Failure::new(ErrorCode::UnknownRetriever, message))
            }
        }
    }
}

/// An id in a query.
pub(crate) fn id<T>(
    field: &str,
    text: Option<&str>,
    read: impl Fn(String) -> Result<T, InvalidId>,
) -> Result<Option<T>, Failure> {
    text.map(|text| read(text.to_owned()).map_err(|error| Failure::invalid(format!("{field}: {error}")))).transpose()
}

/// The part of a request's path after its first segment, still percent-encoded.
#[derive(Debug)]
pub(crate) struct Tail(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for Tail {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let tail = parts.uri.path().trim_start_matches('/').split_once('/').map_or("", |(_, tail)| tail);
        Ok(Self(tail.to_owned()))
    }
}

impl Tail {
    /// Its first parts, decoded.
    pub(crate) fn parts<const N: usize>(&self) -> Result<[String; N], Failure> {
        let mut parts = self.0.split('/');
        let mut read = [const { String::new() }; N];
        for part in &mut read {
            *part = Self::decode(parts.next().unwrap_or_default())?;
        }
        Ok(read)
    }

    /// Decodes a part of it. Strict: what is not percent-encoded UTF-8 is refused, not passed on.
    pub(crate) fn decode(part: &str) -> Result<String, Failure> {
        let invalid = || {
            Failure::invalid("the address is not percent-encoded UTF-8")
                .with_hint("encode each byte that is not a letter or digit as %XX")
        };
        let mut bytes = Vec::with_capacity(part.len());
        let mut rest = part.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            if first != b'%' {
                bytes.push(first);
                continue;
            }
            let (digits, after) = rest.split_at_checked(2).ok_or_else(invalid)?;
            let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            match (digit(digits[0]), digit(digits[1])) {
                (Some(high), Some(low)) => bytes.push(high * 16 + low),
                _ => return Err(invalid()),
            }
            rest = after;
        }
        String::from_utf8(bytes).map_err(|_| invalid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_decoded_strictly() {
        let rows = [
            ("work_rules.md", Some("work_rules.md")),
            ("a%2Fb.md", Some("a/b.md")),
            ("%E5%81%87.md", Some("假.md")),
            ("a+b", Some("a+b")),
            ("%00", Some("\0")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%+1", None),
            ("%ff", None),
        ];
        for (part, expected) in rows {
            assert_eq!(Tail::decode(part).ok().as_deref(), expected, "{part}");
        }
    }
}
