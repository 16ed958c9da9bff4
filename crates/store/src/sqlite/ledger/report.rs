//! Rows, and what they add up to.

use bylaw_contract::{MicroUsd, TokenUsage};
use bylaw_gate::{RowFilter, RowNumber, StoredRow, UsageLine};
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection, sqlite::SqliteRow};

use super::values::{row_number, stored_row};
use crate::sqlite::{
    columns::{Failure, from_integer, from_optional_word, from_text, from_word},
    damage::corrupt,
};

/// Rows after `after`, in their order.
pub(super) async fn rows(
    connection: &mut SqliteConnection,
    filter: &RowFilter,
    after: RowNumber,
    limit: i64,
) -> Result<Vec<StoredRow>, Failure> {
    let mut query = QueryBuilder::new("SELECT number, text FROM ledger WHERE number > ");
    query.push_bind(row_number(after));
    // Pages of a list go on where the last one ended, so that all of them together read the ledger once. An index over days
    // would be read from its begin for every page; the plus sign keeps SQLite from taking one.
    push(&mut query, filter, "+day");
    query.push(" ORDER BY number LIMIT ").push_bind(limit);
    query.build().fetch_all(connection).await?.iter().map(stored_row).collect()
}

/// What the rows add up to, by day, key, model, mode and kind; corrected rows do not count.
pub(super) async fn usage(connection: &mut SqliteConnection, filter: &RowFilter) -> Result<Vec<UsageLine>, Failure> {
    let mut query = QueryBuilder::new("SELECT day, api_key, model, mode, kind, count(*) AS rows");
    for (column, high, low) in SUMS {
        // Sums of halves cannot overflow, and those of whole numbers can.
        query.push(format_args!(", sum({column} >> 32) AS {high}, sum({column} & 4294967295) AS {low}"));
    }
    query.push(" FROM ledger WHERE NOT EXISTS (SELECT 1 FROM ledger AS later WHERE later.corrects = ledger.number)");
    push(&mut query, filter, "day");
    query.push(" GROUP BY day, api_key, model, mode, kind ORDER BY day, api_key, model, mode, kind");
    let lines = query.build().fetch_all(connection).await?;
    lines.iter().map(usage_line).map(|line| line.map_err(|error| corrupt("a sum of rows", &error))).collect()
}

const AMOUNT: usize = 0;
const OVERRUN: usize = 1;
/// Columns that are added up, and what the halves of their sums are called.
const SUMS: [(&str, &str, &str); 7] = [
    ("amount", "amount_high", "amount_low"),
    ("overrun", "overrun_high", "overrun_low"),
    ("input_tokens", "input_high", "input_low"),
    ("cached_input_tokens", "cached_high", "cached_low"),
    ("output_tokens", "output_high", "output_low"),
    ("reasoning_tokens", "reasoning_high", "reasoning_low"),
    ("embedding_tokens", "embedding_high", "embedding_low"),
];

/// Restricts a query to what `filter` accepts.
fn push(query: &mut QueryBuilder<Sqlite>, filter: &RowFilter, day: &str) {
    let RowFilter { request_id, run_id, key, from, to } = filter;
    if let Some(request) = request_id {
        // Hits are not in the index.
        query.push(" AND number IN (SELECT number FROM ledger WHERE kind <> 'avoided' AND request = ");
        query.push_bind(request.to_string());
        query.push(" UNION ALL SELECT number FROM ledger WHERE kind = 'avoided' AND request = ");
        query.push_bind(request.to_string());
        query.push(")");
    }
    if let Some(run) = run_id {
        query.push(" AND run = ").push_bind(run.to_string());
    }
    if let Some(key) = key {
        query.push(" AND api_key = ").push_bind(key.to_string());
    }
    if let Some(from) = from {
        query.push(format_args!(" AND {day} >= ")).push_bind(from.to_string());
    }
    if let Some(to) = to {
        query.push(format_args!(" AND {day} <= ")).push_bind(to.to_string());
    }
}

fn usage_line(row: &SqliteRow) -> Result<UsageLine, Failure> {
    let sum = |(_, high, low): (_, &str, &str)| {
        let (high, low): (i64, i64) = (row.try_get(high)?, row.try_get(low)?);
        Ok::<_, sqlx::Error>((i128::from(high) << 32) + i128::from(low))
    };
    let money = |sum: i128| MicroUsd(i64::try_from(sum.max(i64::MIN.into())).unwrap_or(i64::MAX));
    let tokens = |column: usize| Ok::<_, sqlx::Error>(u64::try_from(sum(SUMS[column])?.max(0)).unwrap_or(u64::MAX));
    Ok(UsageLine {
        day: from_text(row, "day")?,
        key: row.try_get::<Option<&str>, _>("api_key")?.map(|_| from_text(row, "api_key")).transpose()?,
        model: row.try_get("model")?,
        mode: from_optional_word(row, "mode")?,
        kind: from_word(row, "kind")?,
        rows: from_integer(row, "rows")?,
        amount: money(sum(SUMS[AMOUNT])?),
        overrun: money(sum(SUMS[OVERRUN])?),
        tokens: TokenUsage {
            input_tokens: tokens(2)?,
            cached_input_tokens: tokens(3)?,
            output_tokens: tokens(4)?,
            reasoning_tokens: tokens(5)?,
            embedding_tokens: tokens(6)?,
        },
    })
}
