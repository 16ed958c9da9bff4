//! Values as columns hold them, and back.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sqlx::{Row, sqlite::SqliteRow};

/// Why a row cannot be turned into a value, or a value into a row.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A column that cannot be what the program wrote there.
#[derive(Debug, thiserror::Error)]
#[error("column {column} holds something else than it should")]
struct Damaged {
    column: &'static str,
    #[source]
    source: Failure,
}

fn damaged(column: &'static str, source: impl Into<Failure>) -> Failure {
    Box::new(Damaged { column, source: source.into() })
}

/// A closed choice by its own name: `queued`, `articles`.
pub(super) fn word<T: Serialize>(value: &T) -> Result<String, Failure> {
    match serde_json::to_value(value)? {
        Value::String(word) => Ok(word),
        other => Err(format!("{other} is not a word").into()),
    }
}

/// A closed choice back from its name.
pub(super) fn from_word<T: DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T, Failure> {
    let word: String = row.try_get(column)?;
    serde_json::from_value(Value::String(word)).map_err(|error| damaged(column, error))
}

/// Like [`from_word`], where the column may be NULL.
pub(super) fn from_optional_word<T: DeserializeOwned>(
    row: &SqliteRow,
    column: &'static str,
) -> Result<Option<T>, Failure> {
    let word: Option<String> = row.try_get(column)?;
    word.map(|word| serde_json::from_value(Value::String(word)).map_err(|error| damaged(column, error))).transpose()
}

/// A structured value back from JSON.
pub(super) fn from_json<T: DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T, Failure> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| damaged(column, error))
}

/// An identifier back from its text.
pub(super) fn from_text<T: std::str::FromStr>(row: &SqliteRow, column: &'static str) -> Result<T, Failure>
where
    T::Err: Into<Failure>,
{
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|error: T::Err| damaged(column, error))
}

/// A count as SQLite keeps it.
pub(super) fn integer<T: TryInto<i64>>(count: T) -> Result<i64, Failure> {
    count.try_into().map_err(|_| Failure::from("a number is too large to be stored"))
}

/// A count back.
pub(super) fn from_integer<T: TryFrom<i64>>(row: &SqliteRow, column: &'static str) -> Result<T, Failure> {
    let number: i64 = row.try_get(column)?;
    T::try_from(number).map_err(|_| damaged(column, format!("{number} is out of range")))
}

/// A limit as SQLite takes it.
pub(super) fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Like [`from_text`], where the column may be NULL.
pub(super) fn from_optional_text<T: std::str::FromStr>(
    row: &SqliteRow,
    column: &'static str,
) -> Result<Option<T>, Failure>
where
    T::Err: Into<Failure>,
{
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| text.parse().map_err(|error: T::Err| damaged(column, error))).transpose()
}

/// Like [`from_json`], where the column may be NULL.
pub(super) fn from_optional_json<T: DeserializeOwned>(
    row: &SqliteRow,
    column: &'static str,
) -> Result<Option<T>, Failure> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| serde_json::from_str(text).map_err(|error| damaged(column, error))).transpose()
}
