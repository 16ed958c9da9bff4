//! How large a database may grow.

use bylaw_library::StoreError;
use sqlx::AssertSqlSafe;

use super::{SqliteStore, failed};

impl SqliteStore {
    /// Lets the database grow to this many pages of 4 KiB, or to its present size if that is more, for as long as this
    /// store is open. At the limit writing fails as it does on a full disk, and reading goes on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn limit_pages(&self, pages: u32) -> Result<(), StoreError> {
        // A pragma takes no parameters. Zero would only ask for the limit.
        let pragma = format!("PRAGMA max_page_count = {}", pages.max(1));
        sqlx::query(AssertSqlSafe(pragma))
            .fetch_one(&self.writer)
            .await
            .map(drop)
            .map_err(|error| failed("limiting the size of the database", error))
    }
}
