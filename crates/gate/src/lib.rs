//! Who may ask and what may be spent.
//!
//! Today it decides one thing: as long as no key is configured, the door is open to this machine only. A service that
//! anyone on the network could use without saying who they are is refused at start. It knows nothing of models, SQL or
//! HTTP.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a failing test should panic"))]

mod listen;

pub use listen::{ListenRefused, check_listen_address};
