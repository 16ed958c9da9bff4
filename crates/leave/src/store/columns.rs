//! Values as columns hold them, and back.

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

/// A value back from its text.
pub(super) fn text<T: std::str::FromStr>(row: &SqliteRow, column: &'static str) -> Result<T, Failure>
where
    T::Err: Into<Failure>,
{
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|error: T::Err| Box::new(Damaged { column, source: error.into() }).into())
}

/// Like [`text`], where the column may be NULL.
pub(super) fn optional_text<T: std::str::FromStr>(row: &SqliteRow, column: &'static str) -> Result<Option<T>, Failure>
where
    T::Err: Into<Failure>,
{
    let text: Option<&str> = row.try_get(column)?;
    let value = text.map(str::parse).transpose();
    value.map_err(|error: T::Err| Box::new(Damaged { column, source: error.into() }).into())
}

/// A closed choice back from its word.
pub(super) fn word<T>(row: &SqliteRow, column: &'static str, named: impl Fn(&str) -> Option<T>) -> Result<T, Failure> {
    let text: &str = row.try_get(column)?;
    named(text).ok_or_else(|| Damaged { column, source: format!("{text:?} is not one of its words").into() }.into())
}

/// A structured value back from JSON.
pub(super) fn json<T: serde::de::DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T, Failure> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|error| Damaged { column, source: error.into() }.into())
}

/// A count back.
pub(super) fn count(row: &SqliteRow, column: &'static str) -> Result<u32, Failure> {
    let number: i64 = row.try_get(column)?;
    u32::try_from(number).map_err(|error| Damaged { column, source: error.into() }.into())
}
