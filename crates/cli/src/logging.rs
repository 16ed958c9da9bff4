//! Log lines go to standard error, for people or for programs.

use std::io::IsTerminal;

use bylaw_contract::ErrorCode;
use tracing_subscriber::EnvFilter;

use crate::{
    config::{LogFormat, Settings},
    failure::Failure,
};

/// What others say only if something is wrong, unless the configuration names them: each connection to a server of tools
/// would be several lines.
const QUIET: &str = "rmcp=warn";

/// Starts logging as configured, or at `level`.
pub(crate) fn start(settings: &Settings, level: Option<&str>) -> Result<(), Failure> {
    let level = level.unwrap_or(&settings.log_level);
    let filter = EnvFilter::try_new(format!("{QUIET},{level}")).map_err(|error| {
        Failure::new(ErrorCode::InvalidConfiguration, format!("log.level: {level:?}: {error}"))
            .hint("use error, warn, info, debug or trace")
    })?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    let started = match settings.log_format {
        LogFormat::Text => builder.compact().try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    // A second start in one process (a test) keeps the first.
    drop(started);
    Ok(())
}
