//! What one run has been charged so far.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bylaw_contract::{MicroUsd, TokenUsage};
use bylaw_gate::{Closing, ReserveError, RowKind};

/// What one run has been charged, added up while its attempts end.
#[derive(Debug, Default)]
pub(crate) struct Bill(Mutex<Charges>);

/// What stands on a bill.
#[derive(Clone, Debug, Default)]
pub(crate) struct Charges {
    /// What was booked.
    pub(crate) cost: MicroUsd,
    /// What is reserved for attempts that have not ended.
    pub(crate) open: MicroUsd,
    /// Whether some of the cost is a bound.
    pub(crate) estimated: bool,
    /// Attempts that left.
    pub(crate) calls: u32,
    /// Tokens, as reported.
    pub(crate) tokens: TokenUsage,
    /// Whether an attempt was allowed fewer tokens than it asked for.
    pub(crate) lowered: bool,
    /// Why an attempt was not admitted.
    pub(crate) refusal: Option<ReserveError>,
}

impl Bill {
    /// A copy of what stands on it.
    pub(crate) fn charges(&self) -> Charges {
        self.lock().clone()
    }

    pub(crate) fn refuse(&self, why: ReserveError) {
        self.lock().refusal = Some(why);
    }

    pub(crate) fn open(&self, reserved: MicroUsd, lowered: bool) {
        let mut charges = self.lock();
        charges.open = MicroUsd(charges.open.0.saturating_add(reserved.0));
        charges.lowered |= lowered;
    }

    pub(crate) fn close(&self, reserved: MicroUsd, closing: &Closing) {
        let mut charges = self.lock();
        charges.open = MicroUsd(charges.open.0.saturating_sub(reserved.0));
        match closing {
            Closing::Release => {}
            Closing::Settle(charge) => {
                charges.calls = charges.calls.saturating_add(1);
                charges.cost = MicroUsd(charges.cost.0.saturating_add(charge.amount().0));
                match charge.kind() {
                    RowKind::Spent => charges.tokens.add(charge.tokens()),
                    RowKind::Estimated | RowKind::Abandoned | RowKind::Unknown => charges.estimated = true,
                    RowKind::Avoided => {}
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Charges> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
