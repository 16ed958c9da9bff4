//! One call of a model, and everyone who waits for it.

use std::{sync::Arc, time::Duration};

use bylaw_contract::{MicroUsd, RunEvent, RunId};
use bylaw_gate::Spender;
use bylaw_model::Connection;
use tokio::time::Instant;

use crate::{
    ask::{AnswerError, Ask, Inner},
    bill::{Bill, Charges},
    caps::Caps,
    compose::Costs,
    digest::{Digest, Parts},
    flight::{Heard, Pilot, Seat},
    meter::GateMeter,
    notebook::{Notebook, Notes},
    pipeline::{self, Assignment, Reply, ReplyEnd},
    research::Brief,
};

/// Calls of a model that are under way.
pub(crate) type CallFlights = crate::flight::Flights<Digest, Manifest, Arc<Reply>>;

/// What whoever leads a call brings along.
#[derive(Debug)]
pub(crate) struct Manifest {
    /// The run that is charged.
    pub(crate) run_id: RunId,
    pub(crate) bill: Arc<Bill>,
    /// What an agent has done so far.
    pub(crate) notebook: Arc<Notebook>,
}

/// What a model is called for.
pub(crate) enum Errand {
    /// One reply over what was found.
    Reply(Assignment),
    /// Research with tools.
    Research(Box<Brief>),
}

/// What came of waiting for a call.
pub(crate) struct Heeded {
    pub(crate) reply: Arc<Reply>,
    /// What was shown of it.
    pub(crate) shown: String,
    /// What an agent had done by then.
    pub(crate) notes: Notes,
    /// Whether the wall time was up first.
    pub(crate) late: bool,
    /// Whether this request pays.
    leads: bool,
    /// The run that is charged.
    pub(crate) run_id: RunId,
}

/// How long a call that was cut has to settle before its costs are told as a bound.
const LAST_WORDS: Duration = Duration::from_millis(250);

impl Heeded {
    /// What was avoided, and the run that had been paid for: if a remembered call, or somebody else's, was good for a whole
    /// reply.
    fn avoided(&self) -> Option<(MicroUsd, &RunId)> {
        match (&self.reply.end, &self.reply.repeats) {
            (ReplyEnd::Broken(_) | ReplyEnd::Stopped(_) | ReplyEnd::Lost, _) => None,
            (ReplyEnd::Whole { .. }, Some((run_id, cost))) => Some((*cost, run_id)),
            (ReplyEnd::Whole { .. }, None) if self.leads => None,
            (ReplyEnd::Whole { .. }, None) => Some((self.reply.charges.cost, &self.run_id)),
        }
    }

    /// What this request cost.
    pub(crate) fn costs(&self) -> Costs {
        let charges = &self.reply.charges;
        match self.avoided() {
            Some((avoided, _)) => Costs { cached: true, avoided, ..Costs::default() },
            None if self.leads => Costs {
                tokens: charges.tokens,
                cached: false,
                calls: charges.calls,
                cost: charges.cost,
                estimated: charges.estimated,
                avoided: MicroUsd::ZERO,
            },
            None => Costs::default(),
        }
    }

    /// The run and the cost of what may be remembered.
    pub(crate) fn origin(&self) -> (RunId, MicroUsd) {
        match &self.reply.repeats {
            Some((run_id, cost)) => (run_id.clone(), *cost),
            None => (self.run_id.clone(), self.reply.charges.cost),
        }
    }
}

impl Inner {
    /// Has the model asked, or listens to whoever of the same key asks it the same at this moment.
    pub(crate) async fn heed(
        self: &Arc<Self>,
        ask: &Ask<'_>,
        caps: &Caps,
        model: &Connection,
        key: Digest,
        errand: Errand,
    ) -> Result<Heeded, AnswerError> {
        let deadline = Instant::now() + caps.time_left(self.clock.elapsed().saturating_sub(ask.started));
        let flight = ask.request.use_cache.then(|| flight_key(ask, caps, key));
        let mut seat = self.calls.board(flight, || Manifest {
            run_id: ask.run_id.clone(),
            bill: Arc::default(),
            notebook: Arc::default(),
        });
        let pilot = seat.pilot(Arc::new(Reply::lost()));
        let leads = pilot.is_some();
        if let Some(pilot) = pilot {
            let spender = Spender {
                principal: ask.principal.clone(),
                request_id: ask.request_id.clone(),
                run_id: ask.run_id.clone(),
                mode: Some(ask.request.mode),
                max_cost: caps.max_cost,
            };
            let caching = ask.request.use_cache;
            tokio::spawn(Arc::clone(self).fly(pilot, model.clone(), spender, errand, caching));
        }
        let run_id = seat.flight.manifest.run_id.clone();
        let mut shown = String::new();
        loop {
            let heard = tokio::select! {
                biased;
                () = ask.cancel.cancelled() => return Err(AnswerError::Cancelled),
                heard = seat.next() => Some(heard),
                () = tokio::time::sleep_until(deadline) => None,
            };
            match heard {
                Some(Heard::End(reply)) => {
                    let notes = seat.flight.manifest.notebook.notes();
                    return Ok(Heeded { reply, shown, notes, late: false, leads, run_id });
                }
                Some(Heard::Event(event)) => {
                    if let RunEvent::Token { text } = &event {
                        shown.push_str(text);
                    }
                    // What belongs into the log of a run belongs into the log of the one run that there is.
                    if leads || !matches!(event, RunEvent::Loop(_)) {
                        ask.events.report(event);
                    }
                    if Instant::now() < deadline {
                        continue;
                    }
                }
                None => {}
            }
            let notes = seat.flight.manifest.notebook.notes();
            let rest = |event| {
                if leads && matches!(event, RunEvent::Loop(_)) {
                    ask.events.report(event);
                }
            };
            let reply = Arc::new(Reply { charges: leave(&mut seat, rest).await, ..Reply::lost() });
            return Ok(Heeded { reply, shown, notes, late: true, leads, run_id });
        }
    }

    /// Asks the model for everyone who listens. Goes on when the leader has left, and settles in any case.
    async fn fly(
        self: Arc<Self>,
        pilot: Pilot<Digest, Manifest, Arc<Reply>>,
        model: Connection,
        spender: Spender,
        errand: Errand,
        caching: bool,
    ) {
        let flight = Arc::clone(&pilot.flight);
        let Manifest { run_id, bill, .. } = &flight.manifest;
        let meter = GateMeter {
            purse: self.purse.clone(),
            spender,
            bill: Arc::clone(bill),
            abandoned: Arc::clone(&flight.abandoned),
            tallies: Arc::clone(&self.tallies),
        };
        let model = model.metered(Arc::new(meter));
        let reply = match errand {
            Errand::Reply(assignment) => {
                let caches = caching.then_some(&self.caches);
                let mut show = |text| pilot.tell(RunEvent::Token { text });
                pipeline::ask(&model, &assignment, caches, (run_id, bill), &flight.cancel, &mut show).await
            }
            Errand::Research(brief) => brief.conduct(model, &flight).await,
        };
        pilot.land(Arc::new(reply));
    }

    /// Books what was avoided: by a remembered call, or by listening to somebody else's.
    pub(crate) async fn book_avoided(&self, ask: &Ask<'_>, model: &Connection, heeded: &Heeded) {
        let Some((saved, run_id)) = heeded.avoided() else { return };
        let purpose = if heeded.leads {
            self.tallies.call_hits.add();
            "call_cache"
        } else {
            self.tallies.shared.add();
            "shared"
        };
        self.record(ask, model.name(), purpose, saved, Some(run_id)).await;
    }
}

/// Who may share a call: whoever pays from the same budgets, within equal caps, since whoever may spend less could get
/// less. And whether another key asks the same at this moment is nobody's business.
fn flight_key(ask: &Ask<'_>, caps: &Caps, answer: Digest) -> Digest {
    Parts::new("flight")
        .digest(&answer)
        .maybe(ask.principal.key_id(), |parts, key| parts.text(key.as_str()))
        .maybe(caps.max_cost, |parts, cost| parts.number(cost.0.unsigned_abs()))
        .finish()
}

/// Leaves a call because time is up, and says what it has cost by then. What is still open may yet be charged, also where
/// the call goes on for others. `rest` is given what happens until the call has ended.
async fn leave(seat: &mut Seat<Digest, Manifest, Arc<Reply>>, rest: impl Fn(RunEvent)) -> Charges {
    let goes_on = seat.leave();
    if !goes_on {
        let landed = async {
            while let Heard::Event(event) = seat.next().await {
                rest(event);
            }
        };
        let _settled = tokio::time::timeout(LAST_WORDS, landed).await;
    }
    let charges = seat.flight.manifest.bill.charges();
    let cost = MicroUsd(charges.cost.0.saturating_add(charges.open.0));
    Charges { cost, estimated: charges.estimated || goes_on || charges.open > MicroUsd::ZERO, ..charges }
}
