//! The gate: everyone reserves here before a call, and settles here after it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bylaw_contract::{Clock, MicroUsd, OwnerId, Randomness, RequestId, ReservationId, RunId, TokenUsage, ask::Mode};
use tokio::{
    sync::{Notify, Semaphore, mpsc, oneshot},
    time::Instant,
};

use crate::{
    account::Shortfall,
    books::Order,
    budget::ServiceBudgets,
    price::{NoPrice, Quote},
    principal::Principal,
    row::{Labels, Row, RowKind},
    store::{LedgerError, LedgerStore},
    ticket::{Inside, Live, Ticket},
    writer::{Asked, Command, Grant, Reply, Writer},
};

/// How the gate goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateConfig {
    /// How long after its last sign of life the reservations of a process are settled by others.
    pub lease: Duration,
    /// How long a call waits for other calls to give back what they have reserved.
    pub wait: Duration,
    /// How often a waiting call looks for what another process has given back.
    pub look: Duration,
    /// After how long a failed commit is tried again.
    pub retry: Duration,
    /// Most commands in one commit. At least one.
    pub batch: usize,
    /// How long rows about avoided costs wait for others, so that a commit is worth its sync. Nobody waits for them.
    pub gather: Duration,
    /// Most reservations and records in the queue; whoever comes later waits to get in. At least one.
    pub queue: usize,
}

impl Default for GateConfig {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(60),
            wait: Duration::from_secs(2),
            look: Duration::from_millis(100),
            retry: Duration::from_millis(200),
            batch: 512,
            gather: Duration::from_millis(50),
            queue: 4_096,
        }
    }
}

/// Who spends, in one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spender {
    /// Who they are.
    pub principal: Principal,
    /// The request's label.
    pub request_id: RequestId,
    /// The run.
    pub run_id: RunId,
    /// How the answer is to be made.
    pub mode: Option<Mode>,
    /// The most that this run may cost, as asked for.
    pub max_cost: Option<MicroUsd>,
}

/// One attempt that is about to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The model.
    pub model: String,
    /// What it is for, in a word.
    pub purpose: String,
    /// What it can cost.
    pub quote: Quote,
}

/// Why a call may not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReserveError {
    /// It does not fit in a budget.
    #[error(transparent)]
    Budget(#[from] Shortfall),
    /// It has no price.
    #[error(transparent)]
    NoPrice(#[from] NoPrice),
    /// The ledger cannot be used, so nothing may be spent.
    #[error("nothing can be spent now")]
    Ledger(#[source] Arc<LedgerError>),
    /// The gate is closing.
    #[error("the service is shutting down")]
    ShuttingDown,
}

/// A row about an avoided cost was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a row about an avoided cost was not taken")]
pub struct NotRecorded;

/// What was left when the gate was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Calls that had not ended in time. Their reservations are durable and are booked as unknown when the lease runs out.
    pub unsettled: usize,
    /// Whether everything that had ended was written.
    pub written: bool,
}

struct Inner {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Randomness>,
    budgets: ServiceBudgets,
    config: GateConfig,
    owner: OwnerId,
    commands: mpsc::UnboundedSender<Command>,
    places: Arc<Semaphore>,
    room: Arc<Notify>,
    live: Arc<Live>,
    /// Whether the last commit failed.
    failing: Arc<AtomicBool>,
    closing: AtomicBool,
}

/// The gate of one process. Clones are the same gate.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("owner", &self.0.owner).field("live", &self.0.live.count()).finish_non_exhaustive()
    }
}

impl Gate {
    /// Opens the gate and starts its writer, which ends when the last clone and the last ticket are gone. What a process
    /// before this one has left open is expired when its lease has run out.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn open(
        store: Arc<dyn LedgerStore>,
        budgets: ServiceBudgets,
        config: GateConfig,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Randomness>,
    ) -> Self {
        let config = GateConfig {
            batch: config.batch.max(1),
            queue: config.queue.clamp(1, Semaphore::MAX_PERMITS),
            // A lease is renewed every third of it, which must be some time.
            lease: config.lease.max(Duration::from_millis(3)),
            ..config
        };
        // Without a bound here: reservations and records are bounded by `places`, and settlements by reservations.
        let (commands, received) = mpsc::unbounded_channel();
        let owner = OwnerId::mint(&*random);
        let room = Arc::new(Notify::new());
        let failing = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            store,
            clock: Arc::clone(&clock),
            owner: owner.clone(),
            config,
            room: Arc::clone(&room),
            failing: Arc::clone(&failing),
        };
        tokio::spawn(writer.run(received));
        Self(Arc::new(Inner {
            clock,
            random,
            budgets,
            config,
            owner,
            commands,
            places: Arc::new(Semaphore::new(config.queue)),
            room,
            live: Arc::default(),
            failing,
            closing: AtomicBool::new(false),
        }))
    }

    /// Reserves the worst case of a call on every account it concerns. The reservation is durable when this returns. A
    /// caller who drops the future leaves nothing reserved.
    ///
    /// # Errors
    /// If it does not fit, also after waiting for what others have reserved; if the ledger cannot be used; if the gate is
    /// closing.
    pub async fn reserve(&self, spender: &Spender, call: &Call) -> Result<Ticket, ReserveError> {
        let deadline = Instant::now() + self.0.config.wait;
        let inside = self.0.live.enter();
        loop {
            // Listens before it asks, so that what is given back in between is not missed.
            let room = self.0.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            let shortfall = match self.ask(spender, call).await? {
                Reply::Granted(grant) => return self.ticket(grant, call, inside),
                Reply::Refused(shortfall) => return Err(shortfall.into()),
                Reply::Failed(error) => return Err(ReserveError::Ledger(error)),
                Reply::Wait(shortfall) => shortfall,
            };
            let now = Instant::now();
            if now >= deadline {
                return Err(shortfall.into());
            }
            tokio::select! {
                () = room => {}
                () = tokio::time::sleep_until(deadline.min(now + self.0.config.look)) => {}
            }
        }
    }

    async fn ask(&self, spender: &Spender, call: &Call) -> Result<Reply, ReserveError> {
        let inner = &*self.0;
        let places = Arc::clone(&inner.places);
        let place = places.acquire_owned().await.map_err(|_closed| ReserveError::ShuttingDown)?;
        if inner.closing.load(Ordering::SeqCst) {
            return Err(ReserveError::ShuttingDown);
        }
        // The periods are those of this moment, also when the call has waited across midnight.
        let at = inner.clock.now();
        let order = Order {
            reservation: ReservationId::mint(&*inner.random),
            owner: inner.owner.clone(),
            labels: Labels {
                request_id: spender.request_id.clone(),
                run_id: Some(spender.run_id.clone()),
                key: spender.principal.key_id().cloned(),
                model: call.model.clone(),
                mode: spender.mode,
                purpose: call.purpose.clone(),
            },
            claims: inner.budgets.claims(&spender.principal, &spender.run_id, spender.max_cost, at),
            demand: call.quote.demand(),
            at,
            day: inner.budgets.zone.day(at),
        };
        let (reply, answer) = oneshot::channel();
        let asked = Asked { order, reply, commands: inner.commands.clone(), place };
        inner.commands.send(Command::Reserve(Box::new(asked))).map_err(|_no_writer| ReserveError::ShuttingDown)?;
        answer.await.map_err(|_no_writer| ReserveError::ShuttingDown)
    }

    fn ticket(&self, grant: Grant, call: &Call, inside: Inside) -> Result<Ticket, ReserveError> {
        // A grant is never below the least that was declared acceptable, so there is something to lower to.
        let quote = call.quote.lower_max_tokens(grant.amount).ok_or(NoPrice::Overflow)?;
        Ok(Ticket::new(grant, quote, inside, Arc::clone(&self.0.clock)))
    }

    /// Books that a cache has saved `saved`; `repeats` is the run whose result was given again. Written with the next
    /// batch; waits only while the queue is full. While the ledger fails nothing is booked: what a cache has saved is worth
    /// no waiting.
    ///
    /// # Errors
    /// If the gate is closing, or the row was not taken.
    pub async fn avoided(&self, labels: Labels, saved: MicroUsd, repeats: Option<RunId>) -> Result<(), NotRecorded> {
        let inner = &*self.0;
        if inner.failing.load(Ordering::Relaxed) {
            return Err(NotRecorded);
        }
        let places = Arc::clone(&inner.places);
        let place = match places.try_acquire_owned() {
            Ok(place) => place,
            Err(_full) => {
                let places = Arc::clone(&inner.places);
                let place = tokio::time::timeout(inner.config.wait, places.acquire_owned()).await;
                place.map_err(|_too_long| NotRecorded)?.map_err(|_closed| NotRecorded)?
            }
        };
        let at = inner.clock.now();
        let row = Row {
            kind: RowKind::Avoided,
            at,
            day: inner.budgets.zone.day(at),
            labels,
            reservation: None,
            reserved: MicroUsd::ZERO,
            covered: MicroUsd::ZERO,
            amount: saved.max(MicroUsd::ZERO),
            tokens: TokenUsage::default(),
            budgets: Vec::new(),
            corrects: None,
            repeats,
            note: None,
        };
        inner.commands.send(Command::Record(Box::new(row), place)).map_err(|_no_writer| NotRecorded)
    }

    /// Whether the ledger could not be written when it was last tried. Nothing is spent then.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.0.failing.load(Ordering::Relaxed)
    }

    /// Waits until everything that was settled or recorded before is durable. Whether it is.
    pub async fn flush(&self) -> bool {
        let (done, answer) = oneshot::channel();
        self.0.commands.send(Command::Flush(done)).is_ok() && answer.await.is_ok()
    }

    /// Closes the gate: nothing new is reserved, calls under way may end within `patience`, and what has ended is written.
    /// Takes at most twice `patience`.
    pub async fn drain(&self, patience: Duration) -> Drained {
        self.0.closing.store(true, Ordering::SeqCst);
        let _too_late = tokio::time::timeout(patience, self.0.live.none()).await;
        let unsettled = self.0.live.count();
        // Twice: an answer that its caller was no longer there for is taken back only after it was written.
        let flushed = async { self.flush().await && self.flush().await };
        let written = tokio::time::timeout(patience, flushed).await.unwrap_or(false);
        if unsettled > 0 || !written {
            tracing::warn!(unsettled, written, "the gate was closed before everything had ended");
        }
        Drained { unsettled, written }
    }

    /// Calls of this process that hold a reservation or ask for one.
    #[must_use]
    pub fn live(&self) -> usize {
        self.0.live.count()
    }

    /// Who holds the reservations of this process.
    #[must_use]
    pub fn owner(&self) -> &OwnerId {
        &self.0.owner
    }

    /// The budgets that this gate keeps.
    #[must_use]
    pub fn budgets(&self) -> &ServiceBudgets {
        &self.0.budgets
    }
}
