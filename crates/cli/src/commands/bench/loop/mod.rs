//! `bylaw bench loop`: what a run of an agent costs. One run is three questions to a model and two calls of tools.
//!
//! ```text
//!   course     one run, over a connection that is open or over one of its own, and whether it was right
//!   speed      many of them, one after another and side by side
//!   waiting    very many that wait for a slow model
//!   report     numbers beside their targets
//! ```

mod course;
mod report;
mod speed;
mod waiting;

use std::{process::ExitCode, sync::Arc, time::Duration};

use bylaw_contract::ErrorCode;

use self::{
    course::{Books, Courses},
    report::{Report, System},
};
use super::faults::Own;
use crate::{args::BenchLoop, failure::Failure, terminal::Format};

pub(super) async fn run(arguments: &BenchLoop, format: Format) -> Result<ExitCode, Failure> {
    let system = System::at_start();
    let (own, chat, mcp) = match (&arguments.chat, &arguments.mcp) {
        (Some(chat), Some(mcp)) => (None, chat.clone(), mcp.clone()),
        _ => {
            let own = Own::start(Duration::ZERO).await?;
            let urls = (own.base_url(), own.calm_url());
            (Some(own), urls.0, urls.1)
        }
    };
    let courses = Arc::new(Courses::open(&chat, &mcp, Books::in_memory()?).await?);
    if let Some(runs) = arguments.waiting {
        let waited = waiting::run(&courses, runs).await?;
        waited.show(format);
        return Ok(waited.exit_code());
    }
    let mut report = Report::new(system, own.is_some());
    report.shared = Some(speed::shared(&courses, arguments).await?);
    report.fresh = Some(speed::fresh(&courses, arguments).await?);
    if arguments.durable {
        let folder = tempfile::TempDir::new().map_err(|error| Failure::from_error(ErrorCode::StorageFailed, &error))?;
        let books = Books::durable(&folder.path().join("loop.db")).await?;
        let courses = Arc::new(Courses::open(&chat, &mcp, books).await?);
        report.durable = Some(speed::shared(&courses, arguments).await?);
        courses.close().await;
    }
    report.show(format);
    Ok(report.exit_code())
}
