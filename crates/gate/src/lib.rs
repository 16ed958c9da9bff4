//! Who may ask and what may be spent.
//!
//! ```text
//!   secret ─ keys ─ ring ─ principal ─ listen   who comes in, and what they may do
//!   period ─ budget ─ account              what may be spent: limit × scope × period, decided over all scopes at once
//!   price ─ charge ─ currency              what a call can cost at worst, and what it did cost
//!   row ─ books                            the ledger, and the bookkeeping of one batch
//!   store (ports) ─ memory                 where keys and the ledger are kept
//!   gate ─ ticket ─ writer                    reserve, then settle, for everyone at once: group commit, leases
//!   seal ─ verify                          the chain over the rows
//! ```
//!
//! Money is integer micro-dollars; floating point is denied by the compiler. Before a byte leaves for a provider its worst
//! case is reserved on every account it concerns, in one transaction, durably. Afterwards what it did cost is booked,
//! whether or not anyone is still listening. So `settled + reserved <= limit` holds at every instant, whatever happens at
//! the same time and whatever crashes; what a provider bills beyond a reservation is debt, visible, and blocks.
//!
//! As long as no key is configured, the door is open to this machine only.
//!
//! The crate knows nothing of models, SQL or HTTP, and has no time or chance of its own.

#![deny(clippy::float_arithmetic)]
#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failing test should panic"))]

mod account;
mod books;
mod budget;
mod charge;
mod currency;
mod gate;
mod keys;
mod listen;
mod memory;
mod period;
mod price;
mod principal;
mod ring;
mod row;
mod seal;
mod secret;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod ticket;
mod verify;
mod writer;

pub use account::{Account, Demand, Shortfall, Verdict, decide};
pub use books::{Books, Changes, OpenReservation, Order, Write, Written};
pub use budget::{Budget, BudgetKey, Claim, InvalidBudgetKey, Scope, ServiceBudgets};
pub use charge::{Charge, Closing, Ending, ImpossibleUsage, Listener};
pub use currency::{Currency, InvalidAmount, InvalidCurrency, MAX_AMOUNT, parse_decimal};
pub use gate::{Call, Drained, Gate, GateConfig, NotRecorded, ReserveError, Spender};
pub use keys::{
    AuthenticateError, CreateKeyError, InvalidKey, KeyRecord, MAX_KEY_BUDGETS, MAX_KEY_NAME_CHARS, NewKey,
    ReadableSources, Role, authenticate, authenticate_hash, create_key,
};
pub use listen::{ListenRefused, check_listen_address};
pub use memory::{MemoryKeys, MemoryLedger};
pub use period::{Day, InvalidPeriod, Period, PeriodKey, UnknownZone, Zone};
pub use price::{
    ABSURD_PRICE, InvalidPrice, MIN_ANSWER_TOKENS, ModelPrice, NoPrice, PriceTable, PriceWarning, Prices, Quote,
    REMARKABLE_PRICE, worst_case,
};
pub use principal::{Action, Principal};
pub use ring::KeyRing;
pub use row::{InvalidRow, Labels, Note, Row, RowKind, RowNumber, StoredRow};
pub use seal::{Checkpoint, InvalidSealText, Link, MAX_SEALED_ROWS, Seal, SealingKey, VerifyingKey, seal_some};
pub use secret::{KeyHash, KeySecret};
pub use store::{KeyStore, KeyStoreError, Lease, LedgerError, LedgerStore, RowFilter, UsageLine};
pub use ticket::Ticket;
pub use verify::{Fault, Verification, verify, verify_watched};
