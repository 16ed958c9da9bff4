//! The one meter: every attempt of every model call reserves at the gate and settles there.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use bylaw_contract::MicroUsd;
use bylaw_gate::{
    Call, Currency, Ending, Gate, Listener, MIN_ANSWER_TOKENS, PriceTable, Quote, ReserveError, Spender, Ticket,
};
use bylaw_model::{Attempt, Meter, Permit, Refused, Settlement};

use crate::{bill::Bill, tallies::Tallies};

/// What paying takes: the gate, what models cost, and the currency that amounts are shown in. Clones are the same.
#[derive(Clone, Debug)]
pub struct Purse {
    /// Where everyone reserves.
    pub gate: Gate,
    /// What each model costs.
    pub prices: Arc<PriceTable>,
    /// What amounts are shown in.
    pub currency: Currency,
    /// Whether `max_tokens` may be lowered to what can be paid, down to [`MIN_ANSWER_TOKENS`].
    pub lowering: bool,
}

impl Purse {
    /// A meter for one spender, for calls that belong to no answer.
    #[must_use]
    pub fn meter(&self, spender: Spender) -> Arc<dyn Meter> {
        self.tab(spender).0
    }

    /// The same, and what its calls cost.
    #[must_use]
    pub fn tab(&self, spender: Spender) -> (Arc<dyn Meter>, Tab) {
        let bill = Arc::new(Bill::default());
        let tab = Tab(Arc::clone(&bill));
        let (abandoned, tallies) = (Arc::default(), Arc::default());
        (Arc::new(GateMeter { purse: self.clone(), spender, bill, abandoned, tallies }), tab)
    }
}

/// What the calls of one meter have cost so far.
#[derive(Clone, Debug)]
pub struct Tab(Arc<Bill>);

impl Tab {
    /// What was booked.
    #[must_use]
    pub fn cost(&self) -> MicroUsd {
        self.0.charges().cost
    }

    /// Whether some of it is a bound, because the provider did not say.
    #[must_use]
    pub fn is_estimated(&self) -> bool {
        self.0.charges().estimated
    }
}

/// The meter of one run.
pub(crate) struct GateMeter {
    pub(crate) purse: Purse,
    pub(crate) spender: Spender,
    pub(crate) bill: Arc<Bill>,
    /// Whether everyone who listened has left.
    pub(crate) abandoned: Arc<AtomicBool>,
    pub(crate) tallies: Arc<Tallies>,
}

impl fmt::Debug for GateMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateMeter").field("spender", &self.spender).finish_non_exhaustive()
    }
}

impl GateMeter {
    async fn reserve(&self, attempt: &Attempt) -> Result<Ticket, ReserveError> {
        let price = self.purse.prices.price(&attempt.model)?;
        let most = attempt.max_output_tokens;
        let least = if self.purse.lowering { MIN_ANSWER_TOKENS } else { most };
        let quote = Quote::new(price, attempt.prompt_token_bound, most, least)?;
        let purpose = attempt.purpose.as_str().to_owned();
        self.purse.gate.reserve(&self.spender, &Call { model: attempt.model.clone(), purpose, quote }).await
    }
}

#[async_trait]
impl Meter for GateMeter {
    async fn admit(&self, attempt: &Attempt) -> Result<Box<dyn Permit>, Refused> {
        match self.reserve(attempt).await {
            Ok(ticket) => {
                let lowered = ticket.quote().max_tokens() < attempt.max_output_tokens;
                self.bill.open(ticket.granted(), lowered);
                Ok(Box::new(GatePermit {
                    ticket: Some(ticket),
                    bill: Arc::clone(&self.bill),
                    abandoned: Arc::clone(&self.abandoned),
                    tallies: Arc::clone(&self.tallies),
                }))
            }
            Err(error) => {
                let reason = error.to_string();
                self.tallies.calls_refused.add();
                self.bill.refuse(error);
                Err(Refused { reason })
            }
        }
    }
}

struct GatePermit {
    ticket: Option<Ticket>,
    bill: Arc<Bill>,
    abandoned: Arc<AtomicBool>,
    tallies: Arc<Tallies>,
}

impl GatePermit {
    fn close(&mut self, settlement: Settlement) {
        let Some(ticket) = self.ticket.take() else { return };
        let abandoned = self.abandoned.load(Ordering::SeqCst);
        let listener = if abandoned { Listener::Gone } else { Listener::Waiting };
        let ending = match settlement {
            Settlement::Reported(usage) => Ending::Reported(usage),
            Settlement::Received { text_bytes } => Ending::Received { text_bytes, listener },
            Settlement::NotSent => Ending::NotSent,
        };
        let reserved = ticket.granted();
        let closing = ticket.settle(ending);
        self.bill.close(reserved, &closing);
        self.tallies.call_closed(&closing);
    }
}

impl Permit for GatePermit {
    fn max_output_tokens(&self) -> u32 {
        self.ticket.as_ref().map_or(0, |ticket| ticket.quote().max_tokens())
    }

    fn settle(mut self: Box<Self>, settlement: Settlement) {
        self.close(settlement);
    }
}

impl Drop for GatePermit {
    fn drop(&mut self) {
        self.close(Settlement::Received { text_bytes: 0 });
    }
}
