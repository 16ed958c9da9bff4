//! How patient a client is, how much it takes, and what it is given from outside.

use std::{fmt, sync::Arc, time::Duration};

use bylaw_contract::{Clock, Randomness};

use super::Elicit;

/// Limits of one client. Every wait and every size has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// Longest wait until a server has introduced itself. A server that does not answer the newer greeting at all is
    /// greeted in the older way after ten seconds, so less than that shuts some old servers out.
    pub connect_timeout: Duration,
    /// Longest silence of a call: its result, or news of its progress, must come within. A question to a human stops
    /// this clock.
    pub call_timeout: Duration,
    /// Longest time of a call in all, however much progress it reports; waiting for a human is not counted.
    pub call_limit: Duration,
    /// Longest wait for a human's answer; after it the server is told `cancel`.
    pub elicit_timeout: Duration,
    /// Longest wait for a goodbye; a child process is killed after it.
    pub close_timeout: Duration,
    /// How often one call may come back for more input.
    pub max_rounds: usize,
    /// How many tools a server may list.
    pub max_tools: usize,
    /// Bytes of all tool descriptions and schemas of a server together.
    pub max_list_bytes: usize,
    /// Bytes of one message from a server. What is longer is thrown away as it arrives and never held.
    pub max_message_bytes: usize,
    /// Wait after the first failed attempt to connect, the first break of a stream, or the first time a call is put off;
    /// doubles from time to time.
    pub first_backoff: Duration,
    /// The longest such wait.
    pub max_backoff: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(20),
            call_timeout: Duration::from_secs(60),
            call_limit: Duration::from_secs(600),
            elicit_timeout: Duration::from_secs(600),
            close_timeout: Duration::from_secs(2),
            max_rounds: 10,
            max_tools: 1_000,
            max_list_bytes: 4 << 20,
            max_message_bytes: 16 << 20,
            first_backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(60),
        }
    }
}

/// What a client is given from outside.
#[derive(Clone)]
pub struct Host {
    /// Who answers the questions of servers. Without one, servers are told that nobody can be asked.
    pub elicit: Option<Arc<dyn Elicit>>,
    /// For the waits between attempts to connect.
    pub clock: Arc<dyn Clock>,
    /// Spreads these waits.
    pub randomness: Arc<dyn Randomness>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("asks", &self.elicit.is_some()).finish_non_exhaustive()
    }
}
