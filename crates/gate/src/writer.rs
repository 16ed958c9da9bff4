//! The one task that writes to the ledger. Whatever queues up while a commit runs is the next commit.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bylaw_contract::{Clock, MicroUsd, OwnerId, ReservationId};
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, mpsc, oneshot},
    time::{Instant, interval_at, sleep_until},
};

use crate::{
    account::{Shortfall, Verdict},
    books::{Order, Write, Written},
    gate::GateConfig,
    row::Row,
    store::{Lease, LedgerError, LedgerStore},
};

/// Most reservations that are expired at once; the rest follows at the next beat.
const EXPIRED_AT_ONCE: usize = 1_000;

/// A place in the queue. It is given back when the command has been committed.
pub(crate) type Place = OwnedSemaphorePermit;

pub(crate) enum Command {
    Reserve(Box<Asked>),
    /// A settlement or a release. Needs no place: there are at most as many as there are reservations.
    Close(Box<Write>),
    Record(Box<Row>, Place),
    /// Answered when everything that was queued before is committed.
    Flush(oneshot::Sender<()>),
}

pub(crate) struct Asked {
    pub(crate) order: Order,
    pub(crate) reply: oneshot::Sender<Reply>,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) place: Place,
}

pub(crate) enum Reply {
    Granted(Grant),
    Wait(Shortfall),
    Refused(Shortfall),
    Failed(Arc<LedgerError>),
}

/// A reservation on its way to whoever asked. If they have left, it is dropped on the way, and releases itself.
pub(crate) struct Grant {
    pub(crate) reservation: ReservationId,
    pub(crate) amount: MicroUsd,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    clock: Arc<dyn Clock>,
    handed_out: bool,
}

impl Grant {
    pub(crate) const fn hand_out(&mut self) {
        self.handed_out = true;
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        if !self.handed_out {
            let release = Write::Release { reservation: self.reservation.clone(), at: self.clock.now() };
            // Without a writer the lease will run out.
            let _no_writer = self.commands.send(Command::Close(Box::new(release)));
        }
    }
}

pub(crate) struct Writer {
    pub(crate) store: Arc<dyn LedgerStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) owner: OwnerId,
    pub(crate) config: GateConfig,
    /// Told when reservations have been closed: there may be room for those who wait.
    pub(crate) room: Arc<Notify>,
    /// Whether the last commit failed, for whoever would rather not wait.
    pub(crate) failing: Arc<AtomicBool>,
}

/// What a failed commit leaves to be done.
#[derive(Default)]
struct Unwritten {
    closes: Vec<Write>,
    records: Vec<(Row, Place)>,
    flushes: Vec<oneshot::Sender<()>>,
    /// Until when records are gathered, if there are any.
    gathered: Option<Instant>,
    /// Why the last commit failed, and when, until one succeeds.
    failure: Option<(Arc<LedgerError>, Instant)>,
}

impl Unwritten {
    fn is_empty(&self) -> bool {
        self.closes.is_empty() && self.records.is_empty() && self.flushes.is_empty() && self.failure.is_none()
    }

    /// Whether there is something that a failed commit has left.
    fn is_to_be_retried(&self) -> bool {
        !self.is_empty() && self.gathered.is_none()
    }
}

impl Writer {
    pub(crate) async fn run(self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let mut unwritten = Unwritten::default();
        let mut queued = Vec::new();
        // Three beats to a lease: two may fail before anyone takes this process for dead.
        let mut beat = interval_at(Instant::now(), self.config.lease / 3);
        loop {
            tokio::select! {
                biased;
                _ = beat.tick() => self.keep_leases().await,
                count = commands.recv_many(&mut queued, self.config.batch) => {
                    if count == 0 {
                        break;
                    }
                    if !self.gather(&mut queued, &mut unwritten) {
                        self.write(&mut queued, &mut unwritten).await;
                    }
                }
                () = sleep_until(unwritten.gathered.unwrap_or_else(Instant::now)), if unwritten.gathered.is_some() => {
                    self.write(&mut queued, &mut unwritten).await;
                }
                () = tokio::time::sleep(self.config.retry), if unwritten.is_to_be_retried() => {
                    self.write(&mut queued, &mut unwritten).await;
                }
            }
        }
        if !unwritten.is_empty() {
            self.write(&mut queued, &mut unwritten).await;
        }
        if !unwritten.closes.is_empty() {
            tracing::error!(
                count = unwritten.closes.len(),
                "settlements could not be written; their leases will run out"
            );
        }
    }

    /// Whether what has come can wait for more: records alone, and not too many.
    fn gather(&self, queued: &mut Vec<Command>, unwritten: &mut Unwritten) -> bool {
        let only_records = queued.iter().all(|command| matches!(command, Command::Record(..)));
        if !only_records || unwritten.is_to_be_retried() {
            return false;
        }
        unwritten.records.extend(queued.drain(..).filter_map(|command| match command {
            Command::Record(row, place) => Some((*row, place)),
            Command::Reserve(_) | Command::Close(_) | Command::Flush(_) => None,
        }));
        unwritten.gathered.get_or_insert_with(|| Instant::now() + self.config.gather);
        // A full queue must not wait for itself.
        unwritten.records.len() < self.config.batch.min(self.config.queue)
    }

    fn lease(&self) -> Lease {
        Lease { owner: self.owner.clone(), until: self.clock.now().plus(self.config.lease) }
    }

    async fn keep_leases(&self) {
        // First one's own: after a leap of the clock, or a sleep, this process must not expire itself.
        let kept = match self.store.renew(&self.lease()).await {
            Ok(()) => self.store.expire(self.clock.now(), EXPIRED_AT_ONCE).await,
            Err(error) => Err(error),
        };
        match kept {
            Ok(0) => {}
            Ok(count) => tracing::warn!(count, "reservations of a process that is gone were booked as unknown"),
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "leases could not be kept"),
        }
    }

    async fn write(&self, queued: &mut Vec<Command>, unwritten: &mut Unwritten) {
        unwritten.gathered = None;
        let mut asked = Vec::new();
        for command in queued.drain(..) {
            match command {
                Command::Reserve(ask) => asked.push(*ask),
                Command::Close(write) => unwritten.closes.push(*write),
                Command::Record(row, place) => unwritten.records.push((*row, place)),
                Command::Flush(done) => unwritten.flushes.push(done),
            }
        }
        if let Some((error, at)) = &unwritten.failure {
            // Nobody reserves while the ledger fails: their orders might be carried out unseen, and each would have to be
            // taken back. What has ended is tried again, now and then.
            for ask in asked.drain(..) {
                let _left = ask.reply.send(Reply::Failed(Arc::clone(error)));
            }
            if at.elapsed() < self.config.retry {
                return;
            }
        }
        // What gives money back goes first, so that it can be had in the same commit.
        let mut writes = unwritten.closes.clone();
        writes.extend(unwritten.records.iter().map(|(row, _)| Write::Record(row.clone())));
        let before = writes.len();
        writes.extend(asked.iter().map(|ask| Write::Reserve(ask.order.clone())));
        // An empty batch is committed only to learn whether the ledger works again.
        let written = if writes.is_empty() && unwritten.failure.is_none() {
            Ok(Vec::new())
        } else {
            self.store.commit(&self.lease(), writes).await
        };
        match written {
            Ok(written) => {
                unwritten.failure = None;
                self.failing.store(false, Ordering::Relaxed);
                let closed = std::mem::take(&mut unwritten.closes);
                for (write, written) in closed.iter().zip(&written) {
                    if *written == Written::NoSuchReservation {
                        tracing::error!(?write, "a settlement for a reservation that there never was");
                    }
                }
                unwritten.records.clear();
                for (ask, written) in asked.into_iter().zip(written.into_iter().skip(before)) {
                    self.reply(ask, written);
                }
                if !closed.is_empty() {
                    self.room.notify_waiters();
                }
                for done in unwritten.flushes.drain(..) {
                    let _left = done.send(());
                }
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a batch could not be written to the ledger");
                let error = Arc::new(error);
                unwritten.failure = Some((Arc::clone(&error), Instant::now()));
                self.failing.store(true, Ordering::Relaxed);
                for ask in asked {
                    // The commit may have happened all the same. Nobody will use what it reserved.
                    let release = Write::Release { reservation: ask.order.reservation.clone(), at: self.clock.now() };
                    unwritten.closes.push(release);
                    let _left = ask.reply.send(Reply::Failed(Arc::clone(&error)));
                }
            }
        }
    }

    fn reply(&self, ask: Asked, written: Written) {
        let Asked { order, reply, commands, place: _given_back } = ask;
        let answer = match written {
            Written::Verdict(Verdict::Granted(amount)) => Reply::Granted(Grant {
                reservation: order.reservation,
                amount,
                commands,
                clock: Arc::clone(&self.clock),
                handed_out: false,
            }),
            Written::Verdict(Verdict::Wait(shortfall)) => Reply::Wait(shortfall),
            Written::Verdict(Verdict::Refused(shortfall)) => Reply::Refused(shortfall),
            Written::Row(_) | Written::Nothing | Written::NoSuchReservation => {
                let what = format!("the reservation {} was not answered with a verdict", order.reservation);
                Reply::Failed(Arc::new(LedgerError::Corrupt { what }))
            }
        };
        // A caller who has left drops the answer, and with it the grant, which releases itself.
        let _left = reply.send(answer);
    }
}
