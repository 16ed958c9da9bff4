//! `bylaw bench upstream`: an OpenAI-compatible chat endpoint that plays a script and keeps its own count.
//!
//! ```text
//!   script   what it does with a request, and the text that it answers
//!   tally    what it has seen, sent and would bill
//!   server   HTTP; starts in this process on a free port
//! ```

mod script;
mod server;
mod tally;

use std::process::ExitCode;

pub(super) use self::{
    script::Script,
    server::Upstream,
    tally::{Counts, End, Seen},
};
use crate::{
    args::BenchUpstream,
    failure::Failure,
    terminal::{self, Format},
};

pub(super) async fn run(arguments: &BenchUpstream, format: Format) -> Result<ExitCode, Failure> {
    let upstream = Upstream::start(arguments.port, Script::of(arguments)).await?;
    match format {
        Format::Json => terminal::json(&serde_json::json!({ "url": upstream.url(), "base_url": upstream.base_url() })),
        Format::Text => terminal::line(format!("model.base_url = \"{}\"", upstream.base_url())),
    }
    // Without a handler for it, the process ends at once all the same.
    let _ = tokio::signal::ctrl_c().await;
    let counts = upstream.stop().await;
    terminal::note(format!(
        "requests {}   completed {}   refused {}   cut {}   client left {}   never answered {}",
        counts.requests, counts.completed, counts.refused, counts.cut, counts.client_left, counts.never_answered
    ));
    Ok(ExitCode::SUCCESS)
}
