//! The right to make one call.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bylaw_contract::{Clock, MicroUsd, ReservationId};
use tokio::sync::{Notify, mpsc};

use crate::{
    books::Write,
    charge::{Closing, Ending, Listener},
    price::Quote,
    writer::{Command, Grant},
};

/// How many calls are between asking for a reservation and closing it.
#[derive(Debug, Default)]
pub(crate) struct Live {
    count: AtomicUsize,
    ended: Notify,
}

impl Live {
    pub(crate) fn enter(self: &Arc<Self>) -> Inside {
        self.count.fetch_add(1, Ordering::SeqCst);
        Inside(Arc::clone(self))
    }

    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Waits until there are none.
    pub(crate) async fn none(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// Counts as one call while it exists.
#[derive(Debug)]
pub(crate) struct Inside(Arc<Live>);

impl Drop for Inside {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.ended.notify_waiters();
        }
    }
}

/// A durable reservation, and with it the right to make one call. It is closed exactly once: by [`Ticket::settle`], or
/// when it is dropped, and then counts as sent with nothing received. Neither waits, and both are written whether or not
/// anyone is still there.
pub struct Ticket {
    reservation: ReservationId,
    granted: MicroUsd,
    quote: Quote,
    commands: mpsc::UnboundedSender<Command>,
    clock: Arc<dyn Clock>,
    closed: bool,
    // Dropped after the ticket has been closed: whoever waits for the last call finds its settlement in the queue.
    _inside: Inside,
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("reservation", &self.reservation)
            .field("granted", &self.granted)
            .field("quote", &self.quote)
            .finish_non_exhaustive()
    }
}

impl Ticket {
    pub(crate) fn new(mut grant: Grant, quote: Quote, inside: Inside, clock: Arc<dyn Clock>) -> Self {
        grant.hand_out();
        Self {
            reservation: grant.reservation.clone(),
            granted: grant.amount,
            quote,
            commands: grant.commands.clone(),
            clock,
            closed: false,
            _inside: inside,
        }
    }

    /// The reservation.
    #[must_use]
    pub const fn reservation(&self) -> &ReservationId {
        &self.reservation
    }

    /// How much is reserved.
    #[must_use]
    pub const fn granted(&self) -> MicroUsd {
        self.granted
    }

    /// The call as it may be made: its `max_tokens` may have been lowered.
    #[must_use]
    pub const fn quote(&self) -> &Quote {
        &self.quote
    }

    /// Books how the call ended. What is booked is returned at once and written with the next batch.
    pub fn settle(mut self, ending: Ending) -> Closing {
        self.close(ending)
    }

    fn close(&mut self, ending: Ending) -> Closing {
        self.closed = true;
        let closing = self.quote.close(self.granted, ending);
        let (reservation, at) = (self.reservation.clone(), self.clock.now());
        let write = match closing {
            Closing::Settle(charge) => Write::Settle { reservation, charge, at },
            Closing::Release => Write::Release { reservation, at },
        };
        if self.commands.send(Command::Close(Box::new(write))).is_err() {
            tracing::error!(reservation = %self.reservation, "no writer is left; the lease of the reservation will run out");
        }
        closing
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.closed {
            self.close(Ending::Received { text_bytes: 0, listener: Listener::Gone });
        }
    }
}
