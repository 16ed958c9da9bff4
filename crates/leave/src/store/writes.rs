//! Changing leaves: each change in one transaction, with everything that must happen with it.

use bylaw_contract::Timestamp;
use sqlx::{Sqlite, Transaction, sqlite::SqliteRow};

use super::{
    SqliteLeaves,
    books::a_decline,
    columns::Failure,
    records::{a_record, add_entry},
};
use crate::domain::{
    history::{Happening, HistoryEntry},
    ids::{EmployeeId, LeaveId},
    leave::Leave,
    rules::Decline,
    store::{Applied, Change, Company, Ticket},
};

impl SqliteLeaves {
    pub(super) async fn put(&self, change: &Change, forget_before: Timestamp) -> Result<Applied, Failure> {
        let mut writing = self.write().await?;
        let applied = put_in(&mut writing.transaction, change, forget_before).await?;
        match applied {
            Applied::Done => writing.transaction.commit().await?,
            Applied::Stale | Applied::IdTaken | Applied::TicketUsed | Applied::Before(_) => {
                writing.transaction.rollback().await?;
            }
        }
        Ok(applied)
    }

    pub(super) async fn put_ticket(&self, ticket: &Ticket, now: Timestamp) -> Result<bool, Failure> {
        let mut writing = self.write().await?;
        let is_fresh = use_ticket(&mut writing.transaction, ticket, now).await?;
        writing.transaction.commit().await?;
        Ok(is_fresh)
    }

    pub(super) async fn put_decline(
        &self,
        decline: &Decline,
        ticket: &Ticket,
        entry: &HistoryEntry,
    ) -> Result<bool, Failure> {
        let mut writing = self.write().await?;
        let transaction = &mut writing.transaction;
        if !use_ticket(transaction, ticket, decline.at).await? {
            writing.transaction.rollback().await?;
            return Ok(false);
        }
        // Who declines twice, by two clients at once, has still declined.
        sqlx::query("INSERT OR IGNORE INTO declines (leave, effect, by, at, tool) VALUES (?, ?, ?, ?, ?)")
            .bind(decline.leave.as_str())
            .bind(decline.effect.as_str())
            .bind(decline.by.as_str())
            .bind(decline.at.0)
            .bind(decline.tool.as_str())
            .execute(&mut **transaction)
            .await?;
        // A write that was decided before this no must not come after it.
        touch(transaction, &decline.leave).await?;
        add_entry(transaction, entry).await?;
        writing.transaction.commit().await?;
        Ok(true)
    }

    pub(super) async fn take_declines(&self, leave: &LeaveId, entry: &HistoryEntry) -> Result<Vec<Decline>, Failure> {
        let mut writing = self.write().await?;
        let transaction = &mut writing.transaction;
        let rows = sqlx::query("DELETE FROM declines WHERE leave = ? RETURNING *").bind(leave.as_str());
        let rows = rows.fetch_all(&mut **transaction).await?;
        let taken = rows.iter().map(a_decline).collect::<Result<Vec<_>, _>>()?;
        if taken.is_empty() {
            writing.transaction.rollback().await?;
            return Ok(taken);
        }
        touch(transaction, leave).await?;
        for decline in &taken {
            let entry = HistoryEntry { detail: decline.effect.as_str().to_owned(), ..entry.clone() };
            add_entry(transaction, &entry).await?;
        }
        writing.transaction.commit().await?;
        Ok(taken)
    }

    pub(super) async fn put_company(&self, company: &Company, at: Timestamp) -> Result<bool, Failure> {
        let mut writing = self.write().await?;
        let transaction = &mut writing.transaction;
        let any: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM employees)").fetch_one(&mut **transaction).await?;
        if any {
            writing.transaction.rollback().await?;
            return Ok(false);
        }
        for person in &company.employees {
            sqlx::query(
                "INSERT INTO employees (id, name, department, hired, manager, deputy) VALUES (?, ?, ?, ?, ?, ?)",
            )
            .bind(person.id.as_str())
            .bind(&person.name)
            .bind(&person.department)
            .bind(person.hired.to_string())
            .bind(person.manager.as_ref().map(EmployeeId::as_str))
            .bind(person.deputy.as_ref().map(EmployeeId::as_str))
            .execute(&mut **transaction)
            .await?;
        }
        for (employee, grant) in &company.grants {
            sqlx::query("INSERT INTO grants (employee, minutes, earned, expires) VALUES (?, ?, ?, ?)")
                .bind(employee.as_str())
                .bind(grant.minutes)
                .bind(grant.earned.to_string())
                .bind(grant.expires.to_string())
                .execute(&mut **transaction)
                .await?;
        }
        for leave in &company.leaves {
            insert(transaction, leave).await?;
            let entry = HistoryEntry {
                leave: Some(leave.id.clone()),
                at,
                actor: None,
                client: "bylaw leave".to_owned(),
                tool: "seed".to_owned(),
                what: Happening::Created,
                version: leave.version,
                detail: leave.status.as_str().to_owned(),
                reason: String::new(),
            };
            add_entry(transaction, &entry).await?;
        }
        writing.transaction.commit().await?;
        Ok(true)
    }

    pub(super) async fn get_seal(&self, fresh: &[u8; 32]) -> Result<[u8; 32], Failure> {
        let mut writing = self.write().await?;
        sqlx::query("INSERT OR IGNORE INTO seal (only_row, value) VALUES (1, ?)")
            .bind(fresh.as_slice())
            .execute(&mut *writing.transaction)
            .await?;
        let value: Vec<u8> = sqlx::query_scalar("SELECT value FROM seal").fetch_one(&mut *writing.transaction).await?;
        writing.transaction.commit().await?;
        Ok(<[u8; 32]>::try_from(value.as_slice())?)
    }
}

async fn put_in(
    transaction: &mut Transaction<'_, Sqlite>,
    change: &Change,
    forget_before: Timestamp,
) -> Result<Applied, Failure> {
    let leave = &change.leave;
    if let Some(record) = &change.once {
        sqlx::query("DELETE FROM once WHERE at < ?").bind(forget_before.0).execute(&mut **transaction).await?;
        let before = sqlx::query("SELECT * FROM once WHERE employee = ? AND key = ?");
        let before = before.bind(change.by.as_str()).bind(record.key.as_str());
        let before: Option<SqliteRow> = before.fetch_optional(&mut **transaction).await?;
        if let Some(before) = before {
            return Ok(Applied::Before(a_record(&before)?));
        }
        sqlx::query("INSERT INTO once (employee, key, fingerprint, reply, at) VALUES (?, ?, ?, ?, ?)")
            .bind(change.by.as_str())
            .bind(record.key.as_str())
            .bind(&record.fingerprint)
            .bind(&record.reply)
            .bind(record.at.0)
            .execute(&mut **transaction)
            .await?;
    }
    if let Some(ticket) = &change.ticket
        && !use_ticket(transaction, ticket, change.entry.at).await?
    {
        return Ok(Applied::TicketUsed);
    }
    let touched = sqlx::query("UPDATE employees SET revision = revision + 1 WHERE id = ? AND revision = ?")
        .bind(leave.applicant.as_str())
        .bind(change.revision)
        .execute(&mut **transaction)
        .await?;
    if touched.rows_affected() == 0 {
        return Ok(Applied::Stale);
    }
    if leave.version == 1 {
        if !insert(transaction, leave).await? {
            return Ok(Applied::IdTaken);
        }
    } else if !replace(transaction, leave).await? {
        return Ok(Applied::Stale);
    }
    add_entry(transaction, &change.entry).await?;
    Ok(Applied::Done)
}

/// Uses a ticket up; whether it was unused. Those that are refused by their age are forgotten.
async fn use_ticket(
    transaction: &mut Transaction<'_, Sqlite>,
    ticket: &Ticket,
    now: Timestamp,
) -> Result<bool, Failure> {
    sqlx::query("DELETE FROM tickets WHERE expires < ?").bind(now.0).execute(&mut **transaction).await?;
    let used = sqlx::query("INSERT OR IGNORE INTO tickets (ticket, expires) VALUES (?, ?)")
        .bind(&ticket.text)
        .bind(ticket.expires.0)
        .execute(&mut **transaction)
        .await?;
    Ok(used.rows_affected() == 1)
}

async fn touch(transaction: &mut Transaction<'_, Sqlite>, leave: &LeaveId) -> Result<(), Failure> {
    let sql = "UPDATE employees SET revision = revision + 1 WHERE id = (SELECT applicant FROM leaves WHERE id = ?)";
    sqlx::query(sql).bind(leave.as_str()).execute(&mut **transaction).await?;
    Ok(())
}

async fn insert(transaction: &mut Transaction<'_, Sqlite>, leave: &Leave) -> Result<bool, Failure> {
    let done = sqlx::query(
        "INSERT OR IGNORE INTO leaves
             (id, applicant, version, kind, title, reason, starts, ends, status, deputy, has_consent, event_on, event_case,
              days)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(leave.id.as_str())
    .bind(leave.applicant.as_str())
    .bind(leave.version)
    .bind(leave.kind.as_str())
    .bind(&leave.title)
    .bind(&leave.reason)
    .bind(leave.span.start().to_string())
    .bind(leave.span.end().to_string())
    .bind(leave.status.as_str())
    .bind(leave.deputy.as_ref().map(EmployeeId::as_str))
    .bind(leave.has_consent)
    .bind(leave.event.as_ref().map(|event| event.on.to_string()))
    .bind(leave.event.as_ref().map(|event| event.case.as_str()))
    .bind(serde_json::to_string(&leave.days)?)
    .execute(&mut **transaction)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Replaces the version before this one; whether that was the present one.
async fn replace(transaction: &mut Transaction<'_, Sqlite>, leave: &Leave) -> Result<bool, Failure> {
    let done = sqlx::query(
        "UPDATE leaves SET version = ?, kind = ?, title = ?, reason = ?, starts = ?, ends = ?, status = ?, deputy = ?,
             has_consent = ?, event_on = ?, event_case = ?, days = ?
         WHERE id = ? AND version = ?",
    )
    .bind(leave.version)
    .bind(leave.kind.as_str())
    .bind(&leave.title)
    .bind(&leave.reason)
    .bind(leave.span.start().to_string())
    .bind(leave.span.end().to_string())
    .bind(leave.status.as_str())
    .bind(leave.deputy.as_ref().map(EmployeeId::as_str))
    .bind(leave.has_consent)
    .bind(leave.event.as_ref().map(|event| event.on.to_string()))
    .bind(leave.event.as_ref().map(|event| event.case.as_str()))
    .bind(serde_json::to_string(&leave.days)?)
    .bind(leave.id.as_str())
    .bind(leave.version - 1)
    .execute(&mut **transaction)
    .await?;
    Ok(done.rows_affected() == 1)
}
