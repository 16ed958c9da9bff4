//! Where clients keep their configuration, on each platform.

use std::path::PathBuf;

use bylaw_contract::ErrorCode;

use crate::{args::McpClientName, failure::Failure};

/// A file, and what its client has to be told afterwards.
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) afterwards: &'static str,
}

pub(super) fn of(client: McpClientName) -> Result<Place, Failure> {
    let home = etcetera::home_dir().map_err(|error| {
        Failure::new(ErrorCode::InvalidConfiguration, format!("there is no home folder: {error}"))
            .hint("put it in by hand: bylaw mcp install … --print shows what")
    })?;
    let applications = || {
        if cfg!(target_os = "macos") {
            home.join("Library").join("Application Support")
        } else if cfg!(windows) {
            std::env::var_os("APPDATA").map_or_else(|| home.join("AppData").join("Roaming"), PathBuf::from)
        } else {
            home.join(".config")
        }
    };
    let (file, afterwards) = match client {
        McpClientName::ClaudeDesktop => (
            applications().join("Claude").join("claude_desktop_config.json"),
            "Quit Claude Desktop and start it again; the tools are then in its list of connectors.",
        ),
        McpClientName::Cursor => {
            (home.join(".cursor").join("mcp.json"), "Cursor asks whether to enable the server: Settings, MCP.")
        }
        McpClientName::VsCode => (
            applications().join("Code").join("User").join("mcp.json"),
            "In Visual Studio Code, run \"MCP: List Servers\" and start it; its tools are there in agent mode.",
        ),
        McpClientName::Codex => (home.join(".codex").join("config.toml"), "Start codex again; /mcp lists the server."),
    };
    Ok(Place { file, afterwards })
}
