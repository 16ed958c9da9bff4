//! The port to whatever keeps leaves. Each method is one atomic operation, so that a database shared by several processes
//! can implement it.

use async_trait::async_trait;
use bylaw_contract::Timestamp;

use super::{
    book::Book,
    history::HistoryEntry,
    ids::{EmployeeId, LeaveId, LeaveKeyId, OnceKey},
    leave::{Employee, Grant, Leave},
    rules::{Decline, OnceRecord, Shown},
    status::Status,
    time::Day,
};

/// What is kept cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{operation} failed")]
pub struct StoreError {
    /// What was tried.
    pub operation: &'static str,
    /// Why it failed.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// A ticket of a confirmation, used by a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The ticket.
    pub text: String,
    /// After this it need not be remembered: it is refused by its age.
    pub expires: Timestamp,
}

/// One write, with everything that must happen with it or not at all.
#[derive(Clone, Debug)]
pub struct Change {
    /// Who writes.
    pub by: EmployeeId,
    /// The leave as it will be. Version 1 is a new one.
    pub leave: Leave,
    /// The revision of the book that this was decided from. Any other write to that book meanwhile makes it stale.
    pub revision: i64,
    /// What to add to the history.
    pub entry: HistoryEntry,
    /// The confirmation that it rests on.
    pub ticket: Option<Ticket>,
    /// What to reply to the same request again.
    pub once: Option<OnceRecord>,
}

/// What came of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It is on disk.
    Done,
    /// The book has changed since it was read: decide again.
    Stale,
    /// A leave has this id already: mint another.
    IdTaken,
    /// The confirmation was used before.
    TicketUsed,
    /// The same idempotency key came first; this is what is kept under it.
    Before(OnceRecord),
}

/// A key as it is kept: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaveKey {
    /// Its id, which may be shown.
    pub id: LeaveKeyId,
    /// Whom it stands for.
    pub employee: EmployeeId,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// SHA-256 of a key's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretHash(pub [u8; 32]);

/// What narrows a list of leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrow {
    /// Only in this status.
    pub status: Option<Status>,
    /// Only what ends on this day or later.
    pub from: Option<Day>,
    /// Only what begins on this day or earlier.
    pub to: Option<Day>,
}

/// A company as it is put into an empty store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Company {
    /// Who works there; managers before those they manage.
    pub employees: Vec<Employee>,
    /// Overtime on record.
    pub grants: Vec<(EmployeeId, Grant)>,
    /// Their leaves.
    pub leaves: Vec<Leave>,
}

/// Keeps leaves, people, keys, and what was shown, asked and declined.
#[async_trait]
pub trait LeaveStore: Send + Sync {
    /// An employee.
    async fn employee(&self, id: &EmployeeId) -> Result<Option<Employee>, StoreError>;

    /// Every employee, by id.
    async fn employees(&self) -> Result<Vec<Employee>, StoreError>;

    /// Whether anyone's manager this is.
    async fn is_manager(&self, id: &EmployeeId) -> Result<bool, StoreError>;

    /// A leave.
    async fn leave(&self, id: &LeaveId) -> Result<Option<Leave>, StoreError>;

    /// Every leave that `viewer` may see: their own, and those beyond drafts whose owner they manage or whose deputy they
    /// are. By beginning, the latest first.
    async fn visible(&self, viewer: &EmployeeId, narrow: &Narrow) -> Result<Vec<Leave>, StoreError>;

    /// Everything that decisions about one person's leaves rest on; none where there is no such person.
    async fn book(&self, applicant: &EmployeeId) -> Result<Option<Book>, StoreError>;

    /// What was last shown of a leave to a principal.
    async fn shown(&self, to: &EmployeeId, leave: &LeaveId) -> Result<Option<Shown>, StoreError>;

    /// Notes that leaves were shown in these versions. Need not survive a power failure: then they are looked up again.
    async fn note_shown(&self, to: &EmployeeId, leaves: &[(LeaveId, u32)], at: Timestamp) -> Result<(), StoreError>;

    /// What was done under a client's key.
    async fn once(&self, by: &EmployeeId, key: &OnceKey) -> Result<Option<OnceRecord>, StoreError>;

    /// Writes a change and everything with it, or nothing. Records under idempotency keys older than `forget_before` are
    /// forgotten on the way.
    async fn apply(&self, change: &Change, forget_before: Timestamp) -> Result<Applied, StoreError>;

    /// Uses a ticket up, durably; whether it was unused.
    async fn spend(&self, ticket: &Ticket, now: Timestamp) -> Result<bool, StoreError>;

    /// Remembers a person's no and uses up its ticket. Whether the ticket was unused; if not, nothing is written.
    async fn decline(&self, decline: &Decline, ticket: &Ticket, entry: &HistoryEntry) -> Result<bool, StoreError>;

    /// Takes back every no about a leave, at the machine. What was taken back; nothing is written if there was none.
    async fn reopen(&self, leave: &LeaveId, entry: &HistoryEntry) -> Result<Vec<Decline>, StoreError>;

    /// Adds to the history.
    async fn record(&self, entry: &HistoryEntry) -> Result<(), StoreError>;

    /// The history of a leave, the oldest first.
    async fn history(&self, leave: &LeaveId) -> Result<Vec<HistoryEntry>, StoreError>;

    /// Keeps a key.
    async fn add_key(&self, key: &LeaveKey, hash: &SecretHash) -> Result<(), StoreError>;

    /// The key with this hash, revoked or not.
    async fn key(&self, hash: &SecretHash) -> Result<Option<LeaveKey>, StoreError>;

    /// Every key, the oldest first.
    async fn keys(&self) -> Result<Vec<LeaveKey>, StoreError>;

    /// Refuses a key from now on. Whether it was valid until now.
    async fn revoke_key(&self, id: &LeaveKeyId, at: Timestamp) -> Result<bool, StoreError>;

    /// A secret of this file that outlives the process, made by `fresh` if there is none yet: confirmations are sealed
    /// with it.
    async fn seal(&self, fresh: &[u8; 32]) -> Result<[u8; 32], StoreError>;

    /// Puts a company into an empty store. Whether it was empty; if not, nothing is written.
    async fn found(&self, company: &Company, at: Timestamp) -> Result<bool, StoreError>;
}
