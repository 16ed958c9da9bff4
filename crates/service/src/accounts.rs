//! Who may come in and what has been spent: what the door needs of the gate.

use std::{fmt, sync::Arc};

use bylaw_gate::{Currency, Gate, KeyRing, KeyStore, LedgerStore};

/// Keys and money, as the door sees them. Over the same stores as the gate that model calls pass.
#[derive(Clone)]
pub struct Accounts {
    /// Says who stands behind a credential.
    pub keys: Arc<KeyRing>,
    /// Where every key is described, for whoever sees all budgets.
    pub key_store: Arc<dyn KeyStore>,
    /// What was spent.
    pub ledger: Arc<dyn LedgerStore>,
    /// The budgets, and what is under way.
    pub gate: Gate,
    /// The currency that amounts are shown in beside dollars.
    pub currency: Currency,
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accounts").field("gate", &self.gate).field("currency", &self.currency).finish_non_exhaustive()
    }
}
