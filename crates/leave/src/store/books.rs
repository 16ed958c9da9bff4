//! Reading people and their leaves.

use bylaw_contract::Timestamp;
use sqlx::{Row, Sqlite, SqliteExecutor, SqlitePool, Transaction, sqlite::SqliteRow};

use super::columns::{Failure, count, json, optional_text, text, word};
use crate::domain::{
    book::Book,
    effect::{Effect, Tool},
    ids::{EmployeeId, LeaveId},
    leave::{Employee, Event, Grant, Leave},
    rules::Decline,
    status::Status,
    store::Narrow,
    time::{Edge, Moment, Span},
};

pub(super) async fn employee(pool: &SqlitePool, id: &EmployeeId) -> Result<Option<Employee>, Failure> {
    let row = sqlx::query("SELECT * FROM employees WHERE id = ?").bind(id.as_str()).fetch_optional(pool).await?;
    row.as_ref().map(an_employee).transpose()
}

pub(super) async fn employees(pool: &SqlitePool) -> Result<Vec<Employee>, Failure> {
    let rows = sqlx::query("SELECT * FROM employees ORDER BY id").fetch_all(pool).await?;
    rows.iter().map(an_employee).collect()
}

pub(super) async fn is_manager(pool: &SqlitePool, id: &EmployeeId) -> Result<bool, Failure> {
    let found = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM employees WHERE manager = ?)");
    Ok(found.bind(id.as_str()).fetch_one(pool).await?)
}

pub(super) async fn leave(pool: &SqlitePool, id: &LeaveId) -> Result<Option<Leave>, Failure> {
    let row = sqlx::query("SELECT * FROM leaves WHERE id = ?").bind(id.as_str()).fetch_optional(pool).await?;
    row.as_ref().map(a_leave).transpose()
}

pub(super) async fn visible(pool: &SqlitePool, viewer: &EmployeeId, narrow: &Narrow) -> Result<Vec<Leave>, Failure> {
    let rows = sqlx::query(
        "SELECT leaves.* FROM leaves JOIN employees ON employees.id = leaves.applicant
         WHERE (leaves.applicant = ?1 OR (status <> 'draft' AND (employees.manager = ?1 OR leaves.deputy = ?1)))
           AND (?2 IS NULL OR status = ?2)
           AND (?3 IS NULL OR substr(ends, 1, 10) >= ?3)
           AND (?4 IS NULL OR substr(starts, 1, 10) <= ?4)
         ORDER BY starts DESC, leaves.id",
    )
    .bind(viewer.as_str())
    .bind(narrow.status.map(Status::as_str))
    .bind(narrow.from.map(|day| day.to_string()))
    .bind(narrow.to.map(|day| day.to_string()))
    .fetch_all(pool)
    .await?;
    rows.iter().map(a_leave).collect()
}

/// A book in one transaction, so that it is of one moment.
pub(super) async fn book(pool: &SqlitePool, applicant: &EmployeeId) -> Result<Option<Book>, Failure> {
    let mut reading = pool.begin().await?;
    let book = in_transaction(&mut reading, applicant).await?;
    reading.commit().await?;
    Ok(book)
}

async fn in_transaction(
    reading: &mut Transaction<'_, Sqlite>,
    applicant: &EmployeeId,
) -> Result<Option<Book>, Failure> {
    let id = applicant.as_str();
    let Some(row) = sqlx::query("SELECT * FROM employees WHERE id = ?").bind(id).fetch_optional(&mut **reading).await?
    else {
        return Ok(None);
    };
    let people = sqlx::query(
        "SELECT * FROM employees WHERE id IN (SELECT manager FROM employees WHERE id = ?1)
            OR id IN (SELECT deputy FROM employees WHERE id = ?1)
            OR id IN (SELECT deputy FROM leaves WHERE applicant = ?1)",
    );
    let people = people.bind(id).fetch_all(&mut **reading).await?;
    let leaves = sqlx::query("SELECT * FROM leaves WHERE applicant = ? ORDER BY starts, id");
    let leaves = leaves.bind(id).fetch_all(&mut **reading).await?;
    let grants = sqlx::query("SELECT * FROM grants WHERE employee = ? ORDER BY expires, earned");
    let grants = grants.bind(id).fetch_all(&mut **reading).await?;
    let declines = declines_of(&mut **reading, id).await?;
    Ok(Some(Book {
        applicant: an_employee(&row)?,
        people: people.iter().map(an_employee).collect::<Result<_, _>>()?,
        leaves: leaves.iter().map(a_leave).collect::<Result<_, _>>()?,
        grants: grants.iter().map(a_grant).collect::<Result<_, _>>()?,
        declines,
        revision: row.try_get("revision")?,
    }))
}

async fn declines_of(executor: impl SqliteExecutor<'_>, applicant: &str) -> Result<Vec<Decline>, Failure> {
    let rows = sqlx::query("SELECT * FROM declines WHERE leave IN (SELECT id FROM leaves WHERE applicant = ?)");
    rows.bind(applicant).fetch_all(executor).await?.iter().map(a_decline).collect()
}

fn an_employee(row: &SqliteRow) -> Result<Employee, Failure> {
    Ok(Employee {
        id: text(row, "id")?,
        name: row.try_get("name")?,
        department: row.try_get("department")?,
        hired: text(row, "hired")?,
        manager: optional_text(row, "manager")?,
        deputy: optional_text(row, "deputy")?,
    })
}

fn a_grant(row: &SqliteRow) -> Result<Grant, Failure> {
    Ok(Grant { minutes: count(row, "minutes")?, earned: text(row, "earned")?, expires: text(row, "expires")? })
}

pub(super) fn a_decline(row: &SqliteRow) -> Result<Decline, Failure> {
    Ok(Decline {
        leave: text(row, "leave")?,
        effect: word(row, "effect", Effect::named)?,
        by: text(row, "by")?,
        at: Timestamp(row.try_get("at")?),
        tool: word(row, "tool", Tool::named)?,
    })
}

fn a_leave(row: &SqliteRow) -> Result<Leave, Failure> {
    let (start, end): (Moment, Moment) = (text(row, "starts")?, text(row, "ends")?);
    let span = Span::new(Edge::At(start), Edge::At(end)).map_err(|why| format!("{start} to {end}: {why:?}"))?;
    let event = match (optional_text(row, "event_on")?, row.try_get::<Option<String>, _>("event_case")?) {
        (Some(on), Some(case)) => Some(Event { on, case }),
        (None | Some(_), _) => None,
    };
    Ok(Leave {
        id: text(row, "id")?,
        version: count(row, "version")?,
        applicant: text(row, "applicant")?,
        kind: text(row, "kind")?,
        title: row.try_get("title")?,
        reason: row.try_get("reason")?,
        span,
        days: json(row, "days")?,
        status: word(row, "status", Status::named)?,
        deputy: optional_text(row, "deputy")?,
        has_consent: row.try_get("has_consent")?,
        event,
    })
}
