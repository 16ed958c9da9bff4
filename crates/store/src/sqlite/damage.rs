//! What to say when the database holds what it cannot hold.

use bylaw_contract::chain;

use super::columns::Failure;

/// What the database holds cannot be right; says what and where.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
struct Corrupt {
    what: String,
}

/// Says of a value that cannot be read which one it is.
pub(super) fn corrupt(which: &str, error: &Failure) -> Failure {
    Box::new(Corrupt { what: format!("{which}: {}", chain(&**error)) })
}

/// What is damaged, if that is why something failed; else the failure itself.
pub(super) fn damage(error: Failure) -> Result<String, Failure> {
    match error.downcast::<Corrupt>() {
        Ok(corrupt) => Ok(corrupt.what),
        Err(error) if is_damaged(&error) => Ok(error.to_string()),
        Err(error) => Err(error),
    }
}

/// Whether SQLite itself says that the file is damaged.
fn is_damaged(error: &Failure) -> bool {
    const CORRUPT: i32 = 11;
    const NOT_A_DATABASE: i32 = 26;
    let database = error.downcast_ref::<sqlx::Error>().and_then(sqlx::Error::as_database_error);
    let code = database.and_then(|error| error.code()?.parse::<i32>().ok());
    // The low byte is the kind; the rest says more about it.
    code.is_some_and(|code| matches!(code & 0xff, CORRUPT | NOT_A_DATABASE))
}
