//! Where a server is and how it is spoken to.

use std::{collections::BTreeMap, fmt};

/// One server that offers tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// What people call it; stands in every error and every question of this server.
    pub name: String,
    /// Where it is.
    pub address: McpAddress,
}

/// Where a server is. `Debug` shows neither the bearer token nor values of the environment.
#[derive(Clone, PartialEq, Eq)]
pub enum McpAddress {
    /// An endpoint of Streamable HTTP.
    Http {
        /// `http://` or `https://`.
        url: String,
        /// Token for the `Authorization` header, without the word `Bearer`.
        bearer: Option<String>,
    },
    /// A program that is started as a child and spoken to over its pipes.
    Stdio {
        /// The program, looked up on `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment beside what every program needs (`PATH`, `HOME`, language, folders). Nothing else of this
        /// process's environment, keys for example, is handed on.
        env: BTreeMap<String, String>,
    },
}

impl McpServer {
    /// A server behind a URL, without a key.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self { name: name.into(), address: McpAddress::Http { url: url.into(), bearer: None } }
    }

    /// A server that is started as a child process.
    pub fn stdio<A: Into<String>>(
        name: impl Into<String>,
        command: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self { name: name.into(), address: McpAddress::Stdio { command: command.into(), args, env: BTreeMap::new() } }
    }
}

impl fmt::Debug for McpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { url, bearer } => {
                f.debug_struct("Http").field("url", url).field("bearer", &bearer.as_ref().map(|_| "***")).finish()
            }
            Self::Stdio { command, args, env } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys().collect::<Vec<_>>())
                .finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let http = McpAddress::Http { url: "http://hr/mcp".to_owned(), bearer: Some("s3cret".to_owned()) };
        assert_eq!(format!("{http:?}"), r#"Http { url: "http://hr/mcp", bearer: Some("***") }"#);
        let env = BTreeMap::from([("HR_KEY".to_owned(), "s3cret".to_owned())]);
        let stdio = McpAddress::Stdio { command: "hr".to_owned(), args: vec!["serve".to_owned()], env };
        assert_eq!(format!("{stdio:?}"), r#"Stdio { command: "hr", args: ["serve"], env: ["HR_KEY"] }"#);
    }
}
