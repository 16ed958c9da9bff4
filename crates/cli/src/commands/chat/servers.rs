//! The servers that `--mcp` names.

use bylaw_agent::{AgentFile, ServerFile};
use bylaw_contract::ErrorCode;

use crate::failure::Failure;

/// Adds a server to an agent: a URL, or a command with its arguments as a shell would read them.
pub(super) fn add(file: &mut AgentFile, written: &str) -> Result<(), Failure> {
    let (name, server) = read(written)?;
    let name = (1..)
        .map(|n| if n == 1 { name.clone() } else { format!("{name}-{n}") })
        .find(|name| !file.servers.contains_key(name));
    file.servers.insert(name.unwrap_or_default(), server);
    Ok(())
}

fn read(written: &str) -> Result<(String, ServerFile), Failure> {
    let invalid = |problem: &str| {
        Failure::new(ErrorCode::InvalidRequest, format!("--mcp {written:?}: {problem}"))
            .hint("give a URL such as http://127.0.0.1:8031/mcp, or a command such as \"npx some-server --flag\"")
    };
    let written = written.trim();
    if written.starts_with("http://") || written.starts_with("https://") {
        let url = reqwest::Url::parse(written).map_err(|error| invalid(&error.to_string()))?;
        let host = url.host_str().unwrap_or("server");
        let name = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        return Ok((name, ServerFile { url: Some(written.to_owned()), ..ServerFile::default() }));
    }
    let mut words = shlex::split(written).ok_or_else(|| invalid("a quotation mark is not closed"))?.into_iter();
    let command = words.next().ok_or_else(|| invalid("it is empty"))?;
    let stem = std::path::Path::new(&command).file_stem().and_then(|stem| stem.to_str()).unwrap_or("server");
    Ok((stem.to_owned(), ServerFile { command: Some(command.clone()), args: words.collect(), ..ServerFile::default() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_or_a_command_is_a_server_with_a_name_of_its_own() {
        let mut file = AgentFile::new("");
        for written in ["http://127.0.0.1:8031/mcp", "http://127.0.0.1:8031/other", "/opt/hr-mcp --name 'a b'"] {
            add(&mut file, written).unwrap();
        }
        let names: Vec<&str> = file.servers.keys().map(String::as_str).collect();
        assert_eq!(names, ["127.0.0.1:8031", "127.0.0.1:8031-2", "hr-mcp"]);
        assert_eq!(file.servers["hr-mcp"].args, ["--name", "a b"]);
    }

    #[test]
    fn what_is_neither_is_refused() {
        for (written, problem) in [("", "empty"), ("hr 'x", "not closed"), ("http://", "host")] {
            let failure = add(&mut AgentFile::new(""), written).unwrap_err();
            assert!(failure.message.contains(problem), "{}", failure.message);
        }
    }
}
