//! A reply while it arrives.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::{FutureExt, Stream, StreamExt};
use tokio::{
    task::AbortHandle,
    time::{Instant, Sleep, sleep_until},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::{
    attempt::MeteredAttempt,
    backend::{ByteStream, Timeouts},
    chat::{ChatDelta, ModelError},
};

/// The connection and what is known of the attempt. Dropping it closes the one and settles the other.
struct OpenReply {
    // Fields are dropped in this order: what is booked was not received afterwards.
    body: ByteStream,
    attempt: MeteredAttempt,
    deadline: Pin<Box<Sleep>>,
    waiting: Duration,
    idle: Duration,
    /// When the whole call must be over, and how long it was allowed to take.
    end: Pin<Box<Sleep>>,
    total: Duration,
}

enum Progress {
    More,
    Ended,
}

impl OpenReply {
    fn poll_more(
        &mut self,
        cx: &mut Context<'_>,
        deltas: &mut VecDeque<ChatDelta>,
    ) -> Poll<Result<Progress, ModelError>> {
        let reader = &mut self.attempt.reader;
        // A reply that trickles on for ever never lets the other deadline pass.
        if self.end.as_mut().poll(cx).is_ready() && !reader.has_finish_reason() {
            return Poll::Ready(Err(ModelError::TimedOut { waited: self.total }));
        }
        // The body comes before the deadline: a reader who was slow himself has not waited for the model.
        match self.body.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) => {
                self.waiting = self.idle;
                self.deadline.as_mut().reset(after(Instant::now(), self.idle));
                reader.push(&bytes, deltas)?;
                return Poll::Ready(Ok(if reader.is_whole() { Progress::Ended } else { Progress::More }));
            }
            Poll::Ready(Some(Err(_)) | None) => {}
            Poll::Pending => {
                ready!(self.deadline.as_mut().poll(cx));
                if !reader.has_finish_reason() {
                    return Poll::Ready(Err(ModelError::TimedOut { waited: self.waiting }));
                }
                // All text is here; only an end marker or the usage is missing.
            }
        }
        Poll::Ready(reader.finish(deltas).map(|()| Progress::Ended))
    }
}

/// The stream that callers hold. The open reply is shared with a watcher, so that cancelling closes the connection even
/// while nobody polls.
pub(crate) struct ReplyStream {
    open: Arc<Mutex<Option<OpenReply>>>,
    watcher: AbortHandle,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    deltas: VecDeque<ChatDelta>,
    failure: Option<ModelError>,
    ended: bool,
}

impl ReplyStream {
    /// `departed` is when the request left: the wait for the first byte counts from there. At `end` the call is
    /// cut, `total` after it began.
    pub(crate) fn new(
        body: ByteStream,
        attempt: MeteredAttempt,
        timeouts: Timeouts,
        departed: Instant,
        (end, total): (Instant, Duration),
        cancel: CancellationToken,
    ) -> Self {
        let open = Arc::new(Mutex::new(Some(OpenReply {
            body,
            attempt,
            deadline: Box::pin(sleep_until(after(departed, timeouts.first_byte))),
            waiting: timeouts.first_byte,
            idle: timeouts.idle,
            end: Box::pin(sleep_until(end)),
            total,
        })));
        let watched = Arc::clone(&open);
        let cancelled = Box::pin(cancel.clone().cancelled_owned());
        let watcher = tokio::spawn(async move {
            cancel.cancelled().await;
            close(&watched);
        });
        Self { open, watcher: watcher.abort_handle(), cancelled, deltas: VecDeque::new(), failure: None, ended: false }
    }

    /// Puts a piece back that was taken to look at it.
    pub(crate) fn put_back(&mut self, delta: ChatDelta) {
        self.deltas.push_front(delta);
    }

    fn end(&mut self, failure: Option<ModelError>) {
        if failure.is_none() {
            read_out(&self.open);
        }
        close(&self.open);
        self.watcher.abort();
        self.failure = failure;
        self.ended = true;
    }
}

impl Stream for ReplyStream {
    type Item = Result<ChatDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(delta) = this.deltas.pop_front() {
                return Poll::Ready(Some(Ok(delta)));
            }
            if let Some(failure) = this.failure.take() {
                return Poll::Ready(Some(Err(failure)));
            }
            if this.ended {
                return Poll::Ready(None);
            }
            if this.cancelled.as_mut().poll(cx).is_ready() {
                this.end(Some(ModelError::Cancelled));
                continue;
            }
            // Gone only if the watcher closed it in this very moment.
            let progress = match lock(&this.open).as_mut() {
                Some(open) => ready!(open.poll_more(cx, &mut this.deltas)),
                None => Err(ModelError::Cancelled),
            };
            match progress {
                Ok(Progress::More) => {}
                Ok(Progress::Ended) => this.end(None),
                Err(failure) => this.end(Some(failure)),
            }
        }
    }
}

impl Drop for ReplyStream {
    fn drop(&mut self) {
        self.watcher.abort();
        close(&self.open);
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream").field("ended", &self.ended).finish_non_exhaustive()
    }
}

fn lock(open: &Mutex<Option<OpenReply>>) -> MutexGuard<'_, Option<OpenReply>> {
    // A reply whose reading panicked is only ever dropped.
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the reply out first, so that the meter is not called under the lock.
fn close(open: &Mutex<Option<OpenReply>>) {
    let reply = lock(open).take();
    drop(reply);
}

/// Reads what comes after the end of a good reply, so that its connection can be used again. There is hardly ever more
/// than the end of the body, but often it is not here yet.
fn read_out(open: &Mutex<Option<OpenReply>>) {
    const PATIENCE: Duration = Duration::from_millis(500);
    const PIECES: usize = 16;
    let Some(OpenReply { mut body, attempt, .. }) = lock(open).take() else { return };
    drop(attempt);
    let mut rest = Box::pin(async move {
        for _ in 0..PIECES {
            if !matches!(body.next().await, Some(Ok(_))) {
                break;
            }
        }
    });
    if rest.as_mut().now_or_never().is_none() {
        tokio::spawn(tokio::time::timeout(PATIENCE, rest));
    }
}

/// `wait` after `start`; a wait beyond what a clock can hold is a century.
pub(crate) fn after(start: Instant, wait: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    start.checked_add(wait.min(CENTURY)).unwrap_or(start)
}
