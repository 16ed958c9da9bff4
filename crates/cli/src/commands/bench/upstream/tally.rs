//! What the scripted endpoint has seen, sent and would bill.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use serde::Serialize;

use super::script::Plan;
use crate::args::UpstreamBehaviour as Behaviour;

/// Most requests that are listed one by one; older ones are only counted.
const MAX_LISTED: usize = 10_000;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in super::super) enum End {
    /// With everything that belongs to it.
    Completed,
    /// With an error, before anything was done.
    Refused,
    /// The endpoint broke off.
    Cut,
    /// The client left before it was complete.
    ClientLeft,
    /// The endpoint said nothing until the client left.
    NeverAnswered,
}

/// One request. Times are microseconds since the count began.
#[derive(Clone, Debug, Serialize)]
pub(in super::super) struct Seen {
    pub(in super::super) ordinal: u64,
    pub(in super::super) behaviour: Behaviour,
    /// What the question calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) call: Option<String>,
    pub(in super::super) body_bytes: u64,
    pub(in super::super) prompt_bytes: u64,
    /// Of text, handed to the connection.
    pub(in super::super) text_bytes: u64,
    pub(in super::super) prompt_tokens: u64,
    /// One for each piece; for a whole text what its usage says, whether or not that was sent.
    pub(in super::super) completion_tokens: u64,
    pub(in super::super) usage_sent: bool,
    pub(in super::super) begun_us: u64,
    pub(in super::super) ended_us: Option<u64>,
    /// `None`: it is open.
    pub(in super::super) end: Option<End>,
}

/// Everything since the start, or since the last reset.
#[derive(Clone, Debug, Default, Serialize)]
pub(in super::super) struct Counts {
    pub(in super::super) requests: u64,
    /// Now.
    pub(in super::super) open: u64,
    /// At once.
    pub(in super::super) most_open: u64,
    pub(in super::super) completed: u64,
    pub(in super::super) refused: u64,
    pub(in super::super) cut: u64,
    pub(in super::super) client_left: u64,
    pub(in super::super) never_answered: u64,
    pub(in super::super) usage_sent: u64,
    pub(in super::super) prompt_bytes: u64,
    pub(in super::super) text_bytes: u64,
    /// To be billed.
    pub(in super::super) prompt_tokens: u64,
    /// To be billed.
    pub(in super::super) completion_tokens: u64,
    /// Requests that are not listed.
    pub(in super::super) left_out: u64,
    pub(in super::super) list: VecDeque<Seen>,
}

struct State {
    counts: Counts,
    begin: Instant,
    /// Requests of before a reset no longer count.
    age: u64,
}

/// Clones count together.
#[derive(Clone)]
pub(super) struct Tally(Arc<Mutex<State>>);

impl Tally {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State { counts: Counts::default(), begin: Instant::now(), age: 0 })))
    }

    pub(super) fn counts(&self) -> Counts {
        self.state().counts.clone()
    }

    pub(super) fn requests_and_open(&self) -> (u64, u64) {
        let state = self.state();
        (state.counts.requests, state.counts.open)
    }

    pub(super) fn seen(&self, call: &str) -> Option<Seen> {
        self.state().counts.list.iter().rev().find(|seen| seen.call.as_deref() == Some(call)).cloned()
    }

    pub(super) fn now_us(&self) -> u64 {
        self.state().now_us()
    }

    /// Begins anew; forgets also what is open.
    pub(super) fn reset(&self) {
        let mut state = self.state();
        *state = State { counts: Counts::default(), begin: Instant::now(), age: state.age + 1 };
    }

    /// Counts a request in; `plan` learns its ordinal. The first is 1.
    pub(super) fn begin(&self, body_bytes: u64, plan: impl FnOnce(u64) -> Plan) -> (Open, Plan) {
        let mut state = self.state();
        let ordinal = state.counts.requests + 1;
        let plan = plan(ordinal);
        let begun_us = state.now_us();
        let age = state.age;
        let counts = &mut state.counts;
        counts.requests = ordinal;
        counts.open += 1;
        counts.most_open = counts.most_open.max(counts.open);
        counts.prompt_bytes += plan.prompt_bytes;
        counts.prompt_tokens += plan.prompt_tokens;
        counts.list.push_back(Seen {
            ordinal,
            behaviour: plan.behaviour,
            call: plan.call.clone(),
            body_bytes,
            prompt_bytes: plan.prompt_bytes,
            text_bytes: 0,
            prompt_tokens: plan.prompt_tokens,
            completion_tokens: 0,
            usage_sent: false,
            begun_us,
            ended_us: None,
            end: None,
        });
        if counts.list.len() > MAX_LISTED {
            counts.list.pop_front();
            counts.left_out += 1;
        }
        let if_dropped = if plan.behaviour == Behaviour::Silent { End::NeverAnswered } else { End::ClientLeft };
        let tally = self.clone();
        (Open { tally, age, ordinal, completion_tokens: 0, if_dropped, ended: false }, plan)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn now_us(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// A request that has not ended. Dropped: the client has left.
pub(super) struct Open {
    tally: Tally,
    age: u64,
    ordinal: u64,
    completion_tokens: u64,
    if_dropped: End,
    ended: bool,
}

impl Open {
    /// A piece of text goes out.
    pub(super) fn piece(&mut self, bytes: u64) {
        self.change(|counts, seen| {
            counts.text_bytes += bytes;
            counts.completion_tokens += 1;
            if let Some(seen) = seen {
                seen.text_bytes += bytes;
                seen.completion_tokens += 1;
            }
        });
        self.completion_tokens += 1;
    }

    /// The text is whole, and this is what it costs.
    pub(super) fn bill(&mut self, completion_tokens: u64) {
        let before = std::mem::replace(&mut self.completion_tokens, completion_tokens);
        self.change(|counts, seen| {
            counts.completion_tokens = counts.completion_tokens + completion_tokens - before;
            if let Some(seen) = seen {
                seen.completion_tokens = completion_tokens;
            }
        });
    }

    /// The usage goes out.
    pub(super) fn usage(&mut self) {
        self.change(|counts, seen| {
            counts.usage_sent += 1;
            if let Some(seen) = seen {
                seen.usage_sent = true;
            }
        });
    }

    pub(super) fn end(mut self, end: End) {
        self.close(end);
    }

    fn close(&mut self, end: End) {
        self.ended = true;
        let now = self.tally.state().now_us();
        self.change(|counts, seen| {
            counts.open -= 1;
            *match end {
                End::Completed => &mut counts.completed,
                End::Refused => &mut counts.refused,
                End::Cut => &mut counts.cut,
                End::ClientLeft => &mut counts.client_left,
                End::NeverAnswered => &mut counts.never_answered,
            } += 1;
            if let Some(seen) = seen {
                seen.ended_us = Some(now);
                seen.end = Some(end);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Counts, Option<&mut Seen>)) {
        let mut state = self.tally.state();
        if state.age != self.age {
            return;
        }
        let mut list = std::mem::take(&mut state.counts.list);
        let place = self.ordinal.checked_sub(state.counts.left_out + 1).and_then(|place| usize::try_from(place).ok());
        change(&mut state.counts, place.and_then(|place| list.get_mut(place)));
        state.counts.list = list;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.ended {
            self.close(self.if_dropped);
        }
    }
}
