//! An agent as a file: `agents/NAME.toml`.

use std::{collections::BTreeMap, time::Duration};

use bylaw_mcp::{McpAddress, McpServer};
use serde::Deserialize;

use crate::{
    agent::Agent,
    approvals::Approvals,
    arguments::Validation,
    limits::Limits,
    schemas::SchemaDialect,
    toolbox::{ServerTools, Toolbox},
};

/// Most servers of an agent: all are connected at once.
const MAX_SERVERS: usize = 32;

/// What a file says of an agent. Unknown keys are refused by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentFile {
    /// What it is told before every conversation.
    pub prompt: String,
    /// Most tokens of one reply.
    pub max_output_tokens: Option<u32>,
    /// Whether calls that only read are made at the same time.
    #[serde(default = "yes")]
    pub in_parallel: bool,
    /// How strict arguments are taken.
    #[serde(default)]
    pub validation: Validation,
    /// How much of JSON Schema the model's provider takes.
    #[serde(default)]
    pub schemas: SchemaDialect,
    /// The servers whose tools it has, by name.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerFile>,
    /// What a person has to allow.
    #[serde(default)]
    pub approvals: Approvals,
    #[serde(default)]
    limits: LimitsFile,
}

/// A server of an agent: either `url` or `command`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerFile {
    /// An endpoint of Streamable HTTP.
    pub url: Option<String>,
    /// The name of a secret that holds the bearer token; the secret itself has no place in the file.
    pub bearer: Option<String>,
    /// A program that is started as a child.
    pub command: Option<String>,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Only these tools; all if none are named.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Those that are called again and again with the same arguments.
    #[serde(default)]
    pub polls: Vec<String>,
    /// The longest that a call may be silent.
    pub timeout_seconds: Option<u64>,
    /// The same for single tools.
    #[serde(default)]
    pub tool_timeout_seconds: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFile {
    steps: Option<u32>,
    tool_calls: Option<u32>,
    repeated_call_cached: Option<u32>,
    repeated_call_ends: Option<u32>,
    wall_time_seconds: Option<u64>,
    context_tokens: Option<u64>,
    total_tokens: Option<u64>,
    result_bytes: Option<usize>,
    cut_replies: Option<u32>,
    approval_wait_seconds: Option<u64>,
}

/// What is wrong with an agent's file, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentFileError(pub String);

impl AgentFile {
    /// A file that says nothing but this prompt.
    #[must_use]
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            max_output_tokens: None,
            in_parallel: true,
            validation: Validation::default(),
            schemas: SchemaDialect::default(),
            servers: BTreeMap::new(),
            approvals: Approvals::default(),
            limits: LimitsFile::default(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is no TOML, has a key that nobody knows, or lacks what it needs.
    pub fn parse(text: &str) -> Result<Self, AgentFileError> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            AgentFileError(format!("{line}{}", error.message().replace('\n', " ")))
        })?;
        if file.servers.len() > MAX_SERVERS {
            return Err(AgentFileError(format!(
                "there are {} servers; {MAX_SERVERS} are the most",
                file.servers.len()
            )));
        }
        for (name, server) in &file.servers {
            let problem = match (&server.url, &server.command) {
                (None, None) => "needs a url or a command",
                (Some(_), Some(_)) => "has both a url and a command",
                (None, Some(_)) if server.bearer.is_some() => "has a bearer, which only a url can use",
                (Some(_), None) if !server.args.is_empty() || !server.env.is_empty() => {
                    "has args or env, which only a command can use"
                }
                (Some(_), None) | (None, Some(_)) => continue,
            };
            return Err(AgentFileError(format!("the server `{name}` {problem}")));
        }
        Ok(file)
    }

    /// Its servers, and how their tools are used. `secret` looks a secret up by its name.
    ///
    /// # Errors
    /// If there is no such secret.
    pub fn servers(
        &self,
        secret: impl Fn(&str) -> Option<String>,
    ) -> Result<Vec<(McpServer, ServerTools)>, AgentFileError> {
        self.servers.iter().map(|(name, server)| server.read(name, &secret)).collect()
    }

    /// Its limits: the default ones where it names none.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let (file, default) = (&self.limits, Limits::default());
        let seconds = |given: Option<u64>, default| given.map_or(default, Duration::from_secs);
        Limits {
            steps: file.steps.unwrap_or(default.steps),
            tool_calls: file.tool_calls.unwrap_or(default.tool_calls),
            repeated_call_cached: file.repeated_call_cached.unwrap_or(default.repeated_call_cached),
            repeated_call_ends: file.repeated_call_ends.unwrap_or(default.repeated_call_ends),
            wall_time: seconds(file.wall_time_seconds, default.wall_time),
            context_tokens: file.context_tokens.or(default.context_tokens),
            total_tokens: file.total_tokens.or(default.total_tokens),
            result_bytes: file.result_bytes.unwrap_or(default.result_bytes),
            cut_replies: file.cut_replies.unwrap_or(default.cut_replies),
            approval_wait: seconds(file.approval_wait_seconds, default.approval_wait),
        }
    }

    /// The agent, once its toolbox was built (with [`AgentFile::validation`] and [`AgentFile::schemas`]).
    #[must_use]
    pub fn agent(&self, name: &str, toolbox: Toolbox) -> Agent {
        let agent = Agent::new(self.prompt.clone(), toolbox);
        Agent {
            name: name.to_owned(),
            limits: self.limits(),
            approvals: self.approvals.clone(),
            max_output_tokens: self.max_output_tokens.unwrap_or(agent.max_output_tokens),
            in_parallel: self.in_parallel,
            ..agent
        }
    }
}

impl ServerFile {
    /// The server, and how its tools are used.
    pub(crate) fn read(
        &self,
        name: &str,
        secret: impl Fn(&str) -> Option<String>,
    ) -> Result<(McpServer, ServerTools), AgentFileError> {
        let address = match (&self.url, &self.command) {
            (Some(url), _) => {
                let missing = |bearer: &str| AgentFileError(format!("the server `{name}` needs the secret `{bearer}`"));
                let token = |bearer: &String| secret(bearer).ok_or_else(|| missing(bearer));
                McpAddress::Http { url: url.clone(), bearer: self.bearer.as_ref().map(token).transpose()? }
            }
            (None, command) => McpAddress::Stdio {
                command: command.clone().unwrap_or_default(),
                args: self.args.clone(),
                env: self.env.clone(),
            },
        };
        let how = ServerTools {
            only: self.tools.clone(),
            polls: self.polls.clone(),
            timeout: self.timeout_seconds.map(Duration::from_secs),
            timeouts: self
                .tool_timeout_seconds
                .iter()
                .map(|(tool, seconds)| (tool.clone(), Duration::from_secs(*seconds)))
                .collect(),
        };
        Ok((McpServer { name: name.to_owned(), address }, how))
    }
}

fn yes() -> bool {
    true
}
