//! Opening the file: connections, migrations, and what to say about files that are something else.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    Connection, Row, SqliteConnection, SqlitePool,
    migrate::{MigrateError, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// How long a write waits for another process that is writing; a busy disk can take seconds for one commit.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a file is tried that another process is just creating.
const ATTEMPTS: u32 = 100;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);
/// Reads are short and mostly served from the index; each connection costs a thread and its page cache.
const READERS: u32 = 2;
/// Unused reading connections are closed after this, which gives their memory back.
const READER_IDLE: Duration = Duration::from_secs(60);

/// Why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("{file} is not a leave database; move it away or choose another file")]
    Foreign { file: PathBuf },
    #[error("{file} was written by a newer version of the program; update this one")]
    Newer { file: PathBuf },
    #[error("{file} was written by a version of the program whose tables differ; use that version")]
    Different { file: PathBuf },
    #[error("{file}")]
    Database {
        file: PathBuf,
        #[source]
        source: sqlx::Error,
    },
    #[error("{file}: its tables cannot be brought up to date")]
    Migration {
        file: PathBuf,
        #[source]
        source: MigrateError,
    },
}

/// The connections to one database.
pub(super) struct Pools {
    pub(super) writer: SqlitePool,
    pub(super) quiet: SqlitePool,
    pub(super) readers: SqlitePool,
}

/// Opens a file: the connection that writes durably, the one that notes, and those that read.
pub(super) async fn file(file: &Path) -> Result<Pools, OpenError> {
    let options = options().filename(file);
    let writing = options.clone().journal_mode(SqliteJournalMode::Wal).pragma("journal_size_limit", "16777216");
    let writer = single(writing.clone().create_if_missing(true).synchronous(SqliteSynchronous::Full));
    if let Err(problem) = ready(&writer).await {
        writer.close().await;
        return Err(problem.about(file));
    }
    // In a write-ahead log this commits without a sync, and cannot damage the file.
    let quiet = single(writing.synchronous(SqliteSynchronous::Normal));
    let readers = reading(READERS).connect_lazy_with(options.pragma("query_only", "ON"));
    Ok(Pools { writer, quiet, readers })
}

/// A database in memory: it is one connection, and gone with it.
pub(super) async fn memory() -> Result<Pools, OpenError> {
    let pool = single(options().in_memory(true));
    ready(&pool).await.map_err(|problem| problem.about(Path::new(":memory:")))?;
    Ok(Pools { writer: pool.clone(), quiet: pool.clone(), readers: pool })
}

fn options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(32)
        // In KiB.
        .pragma("cache_size", "-1024")
}

fn reading(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .idle_timeout(READER_IDLE)
        .max_lifetime(None)
        .test_before_acquire(false)
}

fn single(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

/// Connects and prepares. Switching a new file to a write-ahead log does not wait for another process that does the same,
/// so it is tried again.
async fn ready(pool: &SqlitePool) -> Result<(), Problem> {
    let mut attempt = 1;
    loop {
        let prepared = match pool.acquire().await {
            Ok(mut connection) => prepare(&mut connection).await,
            Err(error) => Err(error.into()),
        };
        match prepared {
            Err(Problem::Database(error)) if has_code(&error, "5") && attempt < ATTEMPTS => {
                attempt += 1;
                tokio::time::sleep(BETWEEN_ATTEMPTS).await;
            }
            done => return done,
        }
    }
}

enum Problem {
    Foreign,
    Database(sqlx::Error),
    Migration(MigrateError),
}

impl From<sqlx::Error> for Problem {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl Problem {
    fn about(self, file: &Path) -> OpenError {
        let file = file.to_owned();
        match self {
            Self::Foreign => OpenError::Foreign { file },
            Self::Database(source) if has_code(&source, "26") => OpenError::Foreign { file },
            Self::Database(source) => OpenError::Database { file, source },
            Self::Migration(MigrateError::VersionMissing(_)) => OpenError::Newer { file },
            Self::Migration(MigrateError::VersionMismatch(_)) => OpenError::Different { file },
            Self::Migration(source) => OpenError::Migration { file, source },
        }
    }
}

/// Whether SQLite failed with this result code: 5 where the file is busy, 26 where it is not a database.
fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().is_some_and(|error| error.code().is_some_and(|found| found == code))
}

/// Brings the tables up to date. Where they are, this only reads.
async fn prepare(connection: &mut SqliteConnection) -> Result<(), Problem> {
    if newest_migration(connection).await? == MIGRATIONS.iter().map(|migration| migration.version).max() {
        return Ok(());
    }
    // Two processes that find a new file at once: the second one waits here, and then finds nothing to do.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    MIGRATIONS.run(&mut *transaction).await.map_err(Problem::Migration)?;
    transaction.commit().await?;
    Ok(())
}

/// The newest migration that was applied; `None` for a new file.
async fn newest_migration(connection: &mut SqliteConnection) -> Result<Option<i64>, Problem> {
    let tables = sqlx::query("SELECT count(*), coalesce(sum(name = '_sqlx_migrations'), 0) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await?;
    let (any, ours): (i64, i64) = (tables.try_get(0)?, tables.try_get(1)?);
    match (any, ours) {
        (0, _) => Ok(None),
        (_, 0) => Err(Problem::Foreign),
        (_, _) => Ok(sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(connection).await?),
    }
}
