//! `bylaw bench faults`: an agent against a model and a server of tools that do everything wrong. Each case is one run,
//! judged by what the servers have seen of it, and not by what it says of itself alone.
//!
//! ```text
//!   case     the 24 cases
//!   ended    one run: how it ended, and what was seen
//!   claims   what is right for each case
//!   own      servers of this program's own that play the cases, as a stream of deltas
//! ```

mod case;
mod claims;
mod ended;
mod own;

use std::{process::ExitCode, time::Duration};

use serde::Serialize;

pub(super) use self::own::Own;
use self::{case::Case, ended::Ended};
use crate::{
    args::BenchFaults,
    failure::Failure,
    terminal::{self, Format},
};

pub(super) async fn run(arguments: &BenchFaults, format: Format) -> Result<ExitCode, Failure> {
    let hang = Duration::from_millis(arguments.patience_ms);
    let (own, url, wait) = match &arguments.url {
        // What the fault server asks for.
        Some(url) => (None, url.trim_end_matches('/').to_owned(), Duration::from_secs(3)),
        None => {
            let wait = Duration::from_millis(arguments.retry_after_ms);
            let own = Own::start(wait).await?;
            let url = own.url();
            (Some(own), url, wait)
        }
    };
    let mut report = Report { server: if own.is_some() { "own" } else { "given" }, right: 0, cases: Vec::new() };
    for case in Case::ALL {
        let ended = Ended::run(case, &url, hang).await?;
        let judged = Judged::of(case, &ended, wait);
        if format == Format::Text {
            judged.show();
        }
        report.right += usize::from(judged.right);
        report.cases.push(judged);
    }
    if let Some(own) = own {
        own.stop().await;
    }
    match format {
        Format::Json => terminal::json(&report),
        Format::Text => terminal::line(format!("{}/{}", report.right, Case::ALL.len())),
    }
    Ok(if report.right == Case::ALL.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[derive(Debug, Serialize)]
struct Report {
    server: &'static str,
    right: usize,
    cases: Vec<Judged>,
}

/// A case that was judged.
#[derive(Debug, Serialize)]
struct Judged {
    case: &'static str,
    right: bool,
    expected: Vec<&'static str>,
    /// Of what was expected, what is not so.
    missed: Vec<&'static str>,
    seen: String,
}

impl Judged {
    fn of(case: Case, ended: &Ended, wait: Duration) -> Self {
        let claims = claims::of(case, ended, wait);
        let missed: Vec<_> = claims.iter().filter(|(_, holds)| !holds).map(|(claim, _)| *claim).collect();
        Self {
            case: case.name(),
            right: missed.is_empty(),
            expected: claims.iter().map(|(claim, _)| *claim).collect(),
            missed,
            seen: ended.to_string(),
        }
    }

    fn show(&self) {
        let mark = if self.right { "right" } else { "WRONG" };
        terminal::line(format!("{mark}  {:<24} {}; seen: {}", self.case, self.expected.join(", "), self.seen));
        for missed in &self.missed {
            terminal::line(format!("       not so: {missed}"));
        }
    }
}
