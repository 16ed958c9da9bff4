//! `bylaw config`: what is configured, and by whom.

use std::process::ExitCode;

use bylaw_contract::ErrorCode;
use bylaw_service::status_of;

use crate::{
    args::Config,
    config::{DEFAULTS, Layers, VARIABLES},
    failure::exit_code,
    terminal::{self, Format},
};

pub(crate) fn run(arguments: Config, layers: &Layers, format: Format) -> ExitCode {
    match arguments {
        Config::Show => show(layers, format),
        Config::Defaults => terminal::line(DEFAULTS.trim_end()),
        Config::Codes => codes(format),
    }
    ExitCode::SUCCESS
}

fn show(layers: &Layers, format: Format) {
    let origins = layers.origins();
    if format == Format::Json {
        return terminal::json(&origins);
    }
    match &layers.file {
        Some(path) => terminal::line(format!("# file: {}", path.display())),
        None => terminal::line("# file: none (bylaw config defaults > bylaw.toml writes one)"),
    }
    for origin in origins {
        let variable = VARIABLES.iter().find(|variable| variable.key == origin.key);
        let variable = variable.map(|variable| format!(", {}", variable.name)).unwrap_or_default();
        terminal::line(format!("{:<32} = {:<24} # {}{variable}", origin.key, origin.value, origin.from));
    }
}

fn codes(format: Format) {
    let rows = ErrorCode::ALL.iter().map(|code| (code.as_str(), status_of(*code).as_u16(), exit_code(*code)));
    match format {
        Format::Json => {
            let row =
                |(code, status, exit)| serde_json::json!({"code": code, "http_status": status, "exit_code": exit});
            terminal::json(&rows.map(row).collect::<Vec<_>>());
        }
        Format::Text => {
            terminal::line(format!("{:<26} {:>6} {:>6}", "code", "HTTP", "exit"));
            rows.for_each(|(code, status, exit)| terminal::line(format!("{code:<26} {status:>6} {exit:>6}")));
        }
    }
}
