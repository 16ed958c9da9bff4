//! `bylaw mcp install`: writes the server into the configuration of a client.

mod entry;
mod json;
mod ordered;
mod place;
mod toml;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bylaw_contract::ErrorCode;
use serde_json::json;

use self::{entry::Entry, place::Place};
use crate::{
    args::{McpClientName, McpInstall},
    config::Settings,
    failure::Failure,
    terminal::{self, Format},
};

pub(super) fn run(arguments: &McpInstall, settings: &Settings, format: Format) -> Result<(), Failure> {
    let entry = Entry::of(arguments, settings)?;
    let place = place::of(arguments.client)?;
    if arguments.print {
        // What is printed may be pasted anywhere: the key is not in it.
        let text = written(arguments.client, &place.file, &entry.without_key(), None)?;
        match format {
            Format::Json => terminal::json(&json!({ "file": place.file, "adds": text })),
            Format::Text => {
                terminal::line(format!("in {}:\n", place.file.display()));
                terminal::line(text.trim_end());
                terminal::line(format!("\n{}", place.afterwards));
            }
        }
        return Ok(());
    }
    let before = read(&place.file)?;
    let text = written(arguments.client, &place.file, &entry, before.as_deref())?;
    let is_same = before.as_deref() == Some(text.as_str());
    let kept = if is_same { None } else { replace(&place.file, before.as_deref(), &text)? };
    tell(&place, &entry, kept.as_deref(), is_same, format);
    Ok(())
}

/// The client's configuration with the server in it.
fn written(client: McpClientName, file: &Path, entry: &Entry, before: Option<&str>) -> Result<String, Failure> {
    let before = before.unwrap_or_default();
    let added = match client {
        McpClientName::ClaudeDesktop | McpClientName::Cursor => json::add(before, "mcpServers", entry, false),
        McpClientName::VsCode => json::add(before, "servers", entry, true),
        McpClientName::Codex => toml::add(before, entry),
    };
    added.map_err(|problem| {
        Failure::new(ErrorCode::InvalidConfiguration, format!("{}: {problem}; nothing was changed", file.display()))
            .hint("put it in by hand: bylaw mcp install … --print shows what")
    })
}

fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unusable(file, &error)),
    }
}

/// Writes the file beside its place, keeps what was there, and moves the new one in. Gives where the old one is kept.
fn replace(file: &Path, before: Option<&str>, text: &str) -> Result<Option<PathBuf>, Failure> {
    let failed = |error: io::Error| unusable(file, &error);
    // A link stays a link: what it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let kept = before.map(|before| keep(&target, before)).transpose().map_err(failed)?;
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    new.write_all(text.as_bytes()).map_err(failed)?;
    if let Ok(metadata) = fs::metadata(&target) {
        fs::set_permissions(new.path(), metadata.permissions()).map_err(failed)?;
    }
    new.persist(&target).map_err(|error| failed(error.error))?;
    Ok(kept)
}

/// Keeps a copy under the first name that is free, so that the first copy is never lost.
fn keep(file: &Path, text: &str) -> io::Result<PathBuf> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    for n in 1.. {
        let copy = file.with_file_name(if n == 1 {
            format!("{name}.before-bylaw")
        } else {
            format!("{name}.before-bylaw-{n}")
        });
        match fs::OpenOptions::new().write(true).create_new(true).open(&copy) {
            Ok(mut new) => {
                new.write_all(text.as_bytes())?;
                // It may hold secrets of others, as the file does.
                fs::set_permissions(&copy, fs::metadata(file)?.permissions())?;
                return Ok(copy);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there is no free name for a copy"))
}

fn unusable(file: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::InvalidConfiguration, format!("{}: {error}", file.display()))
        .hint("put it in by hand: bylaw mcp install … --print shows what")
}

fn tell(place: &Place, entry: &Entry, kept: Option<&Path>, is_same: bool, format: Format) {
    if format == Format::Json {
        return terminal::json(&json!({
            "file": place.file, "name": entry.name, "changed": !is_same, "kept": kept, "with_key": entry.key.is_some(),
        }));
    }
    if is_same {
        terminal::line(format!("{} has it already", place.file.display()));
    } else {
        terminal::line(format!("{} is in {}", entry.name, place.file.display()));
    }
    if let Some(kept) = kept {
        terminal::line(format!("what was there is kept in {}", kept.display()));
    }
    if entry.key.is_some() {
        terminal::line("the key of BYLAW_KEY is in that file: whoever can read it can use the key");
    }
    terminal::line(place.afterwards);
}
