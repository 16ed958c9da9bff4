//! What is counted for whoever watches the service.
//!
//! Everything that is counted while a request is served has its own handle here: counting is one addition, without a
//! look-up. What others count for themselves, and what is true only at a moment, is taken over when somebody looks.

use std::{
    array, fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use axum::http::StatusCode;
use bylaw_agent::RunCounts;
use bylaw_answer::TallySnapshot;
use bylaw_contract::{
    Clock, Outcome,
    ask::{Answer, AnsweredBy, Mode},
};
use prometheus_client::{
    encoding::{EncodeLabelSet, prometheus_text},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];
const MODES: [&str; 4] = ["auto", "extract", "pipeline", "agent"];
const AUTHORS: [&str; 3] = ["extract", "model", "nobody"];
const OUTCOMES: [&str; Outcome::ALL.len()] =
    ["answered", "not_in_rules", "insufficient", "ruled_elsewhere", "not_understood", "stopped", "degraded"];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    mode: &'static str,
    outcome: &'static str,
    answered_by: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CacheLabels {
    cache: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndingLabels {
    ending: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StopLabels {
    stop: &'static str,
}

/// Requests to one route, by the class of their status.
#[derive(Clone, Debug)]
pub(crate) struct Answered([Counter; CLASSES.len()]);

impl Answered {
    pub(crate) fn count(&self, status: StatusCode) {
        let class = usize::from(status.as_u16() / 100).saturating_sub(1);
        self.0[class.min(CLASSES.len() - 1)].inc();
    }
}

/// What is true now and was not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// What is reserved and not settled, over all processes; `None` if the ledger cannot be read.
    pub(crate) reserved_micro_usd: Option<i64>,
    /// Model calls of this process that hold a reservation or ask for one.
    pub(crate) calls_in_flight: i64,
    /// The generation that answers.
    pub(crate) generation: u64,
    /// Runs of agents.
    pub(crate) runs: RunCounts,
    /// Writes about runs that were lost.
    pub(crate) run_writes_lost: u64,
}

/// Handles for everything that is counted.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    answers: [[[Counter; AUTHORS.len()]; OUTCOMES.len()]; MODES.len()],
    answer_hits: Counter,
    shared: Counter,
    repeated: Counter,
    call_hits: Counter,
    spent: Counter,
    estimated: Counter,
    abandoned: Counter,
    unknown: Counter,
    not_sent: Counter,
    refused: Counter,
    upstream_cancelled: Counter,
    answer_misses: Counter,
    unrecorded: Counter,
    reserved: Gauge,
    in_flight: Gauge,
    ledger: Gauge,
    generation: Gauge,
    runs: Family<StopLabels, Counter>,
    runs_active: Gauge,
    runs_waiting: Gauge,
    run_writes_lost: Counter,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Nothing counted yet.
    pub(crate) fn new(clock: &dyn Clock) -> Self {
        let mut all = Registry::default();
        let start = Gauge::<f64, AtomicU64>::default();
        start.set(started_at(clock));
        all.register("process_start_time_seconds", "When this process began, in seconds since 1970", start);
        let registry = all.sub_registry_with_prefix("bylaw");
        let requests = Family::<RequestLabels, Counter>::default();
        registry.register("http_requests", "Requests by route and class of status", requests.clone());
        let answers = Family::<AnswerLabels, Counter>::default();
        registry.register("answers", "Answers by mode, outcome and author", answers.clone());
        let caches = Family::<CacheLabels, Counter>::default();
        registry.register("cache_hits", "Answers and model calls that were not made again", caches.clone());
        let endings = Family::<EndingLabels, Counter>::default();
        registry.register("upstream_calls", "Attempts at model calls by how they ended", endings.clone());
        let upstream_cancelled = Counter::default();
        registry.register(
            "upstream_cancelled",
            "Attempts that were cut because nobody was listening any more",
            upstream_cancelled.clone(),
        );
        let counter = |registry: &mut Registry, name: &str, help: &str| {
            let counter = Counter::<u64>::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let answer_misses = counter(registry, "cache_misses", "Questions that a cache of answers could have held");
        let unrecorded = counter(registry, "unrecorded_hits", "Rows about avoided costs that were not written");
        let gauge = |registry: &mut Registry, name: &str, help: &str| {
            let gauge = Gauge::<i64>::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        let reserved = gauge(registry, "reserved_micro_usd", "Reserved and not settled, in millionths of a US dollar");
        let in_flight = gauge(registry, "calls_in_flight", "Model calls that hold or ask for a reservation");
        let ledger = gauge(registry, "ledger_available", "1 if the ledger can be read, 0 if not");
        let generation = gauge(registry, "generation", "The index generation that answers");
        let runs = Family::<StopLabels, Counter>::default();
        registry.register("runs", "Runs of agents that are over, by why they ended", runs.clone());
        let runs_active = gauge(registry, "runs_active", "Runs of agents that go on");
        let runs_waiting = gauge(registry, "questions_open", "Questions of runs that wait for people");
        let run_writes_lost = counter(registry, "run_writes_lost", "Writes about runs that were lost");
        let answer =
            |mode, outcome, answered_by| answers.get_or_create_owned(&AnswerLabels { mode, outcome, answered_by });
        let cache = |cache| caches.get_or_create_owned(&CacheLabels { cache });
        let ending = |ending| endings.get_or_create_owned(&EndingLabels { ending });
        Self {
            answers: MODES.map(|mode| OUTCOMES.map(|outcome| AUTHORS.map(|author| answer(mode, outcome, author)))),
            answer_hits: cache("answer"),
            shared: cache("shared"),
            repeated: cache("repeated"),
            call_hits: cache("call"),
            spent: ending("spent"),
            estimated: ending("estimated"),
            abandoned: ending("abandoned"),
            unknown: ending("unknown"),
            not_sent: ending("not_sent"),
            refused: ending("refused"),
            registry: all,
            requests,
            upstream_cancelled,
            answer_misses,
            unrecorded,
            reserved,
            in_flight,
            ledger,
            generation,
            runs,
            runs_active,
            runs_waiting,
            run_writes_lost,
        }
    }

    /// The handles for one route. Made once, when the router is.
    pub(crate) fn requests(&self, method: &'static str, route: &'static str) -> Answered {
        Answered(array::from_fn(|class| {
            self.requests.get_or_create_owned(&RequestLabels { method, route, status: CLASSES[class] })
        }))
    }

    /// Counts an answer.
    pub(crate) fn count_answer(&self, answer: &Answer) {
        let mode = match answer.mode {
            Mode::Auto => 0,
            Mode::Extract => 1,
            Mode::Pipeline => 2,
            Mode::Agent => 3,
        };
        let outcome = match answer.outcome {
            Outcome::Answered => 0,
            Outcome::NotInRules => 1,
            Outcome::Insufficient => 2,
            Outcome::RuledElsewhere => 3,
            Outcome::NotUnderstood => 4,
            Outcome::Stopped => 5,
            Outcome::Degraded => 6,
        };
        let author = match answer.answered_by {
            AnsweredBy::Extract => 0,
            AnsweredBy::Model { .. } => 1,
            AnsweredBy::Nobody => 2,
        };
        self.answers[mode][outcome][author].inc();
    }

    /// Everything as Prometheus text, after taking over what others know.
    pub(crate) fn text(&self, tallies: &TallySnapshot, moment: &Moment) -> Result<String, fmt::Error> {
        for (counter, value) in [
            (&self.answer_hits, tallies.answer_hits),
            (&self.shared, tallies.shared),
            (&self.repeated, tallies.repeated),
            (&self.call_hits, tallies.call_hits),
            (&self.spent, tallies.calls_spent),
            (&self.estimated, tallies.calls_estimated),
            (&self.abandoned, tallies.calls_abandoned),
            (&self.unknown, tallies.calls_unknown),
            (&self.not_sent, tallies.calls_not_sent),
            (&self.refused, tallies.calls_refused),
            (&self.upstream_cancelled, tallies.calls_abandoned),
            (&self.answer_misses, tallies.answer_misses),
            (&self.unrecorded, tallies.unrecorded),
            (&self.run_writes_lost, moment.run_writes_lost),
        ] {
            counter.inner().fetch_max(value, Ordering::Relaxed);
        }
        self.ledger.set(i64::from(moment.reserved_micro_usd.is_some()));
        if let Some(reserved) = moment.reserved_micro_usd {
            self.reserved.set(reserved);
        }
        self.in_flight.set(moment.calls_in_flight);
        self.generation.set(i64::try_from(moment.generation).unwrap_or(i64::MAX));
        self.runs_active.set(i64::try_from(moment.runs.active).unwrap_or(i64::MAX));
        self.runs_waiting.set(i64::try_from(moment.runs.waiting).unwrap_or(i64::MAX));
        for (reason, count) in &moment.runs.ended {
            let counter = self.runs.get_or_create_owned(&StopLabels { stop: reason.as_str() });
            counter.inner().fetch_max(*count, Ordering::Relaxed);
        }
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// When the process began, in seconds.
fn started_at(clock: &dyn Clock) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 have 41 bits")]
    let now = clock.now().0 as f64 / 1_000.0;
    now - clock.elapsed().as_secs_f64()
}
