//! How long a call may go on.

use std::time::Duration;

use tokio::time::Instant;

/// Two clocks of one call, of silence and of the whole, both stopped while a human is asked.
#[derive(Debug)]
pub(super) struct CallTimer {
    silence: Duration,
    limit: Duration,
    silent_at: Instant,
    over_at: Instant,
    asking_since: Option<Instant>,
}

impl CallTimer {
    pub(super) fn start(silence: Duration, limit: Duration) -> Self {
        let now = Instant::now();
        Self { silence, limit, silent_at: now + silence, over_at: now + limit, asking_since: None }
    }

    /// Something was heard.
    pub(super) fn heard(&mut self) {
        self.silent_at = Instant::now() + self.silence;
    }

    /// A human is being asked, or no longer.
    pub(super) fn asking(&mut self, asking: bool) {
        match (asking, self.asking_since) {
            (true, None) => self.asking_since = Some(Instant::now()),
            (false, Some(since)) => {
                self.over_at += since.elapsed();
                self.asking_since = None;
                self.heard();
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    /// Ends when the call has been silent, or going on, for too long: with that time.
    pub(super) async fn expired(&self) -> Duration {
        if self.asking_since.is_some() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep_until(self.silent_at.min(self.over_at)).await;
        if self.over_at < self.silent_at { self.limit } else { self.silence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn progress_extends_a_call_up_to_its_limit() {
        let start = Instant::now();
        let mut timer = CallTimer::start(10 * SECOND, 25 * SECOND);
        tokio::time::advance(9 * SECOND).await;
        timer.heard();
        tokio::time::advance(9 * SECOND).await;
        timer.heard();
        assert_eq!(timer.expired().await, 25 * SECOND);
        assert_eq!(start.elapsed(), 25 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_a_human_takes_is_not_counted() {
        let start = Instant::now();
        let mut timer = CallTimer::start(10 * SECOND, 25 * SECOND);
        timer.asking(true);
        tokio::time::advance(300 * SECOND).await;
        assert!(tokio::time::timeout(SECOND, timer.expired()).await.is_err());
        timer.asking(false);
        assert_eq!(timer.expired().await, 10 * SECOND);
        assert_eq!(start.elapsed(), 311 * SECOND);
    }
}
