//! From a file to an agent whose servers are connected.

use std::{fmt, sync::Arc, time::Duration};

use bylaw_contract::{Clock, Randomness};
use bylaw_mcp::{ClientOptions, Host, McpClient};
use futures_util::future::join_all;

use crate::{
    agent::Agent,
    agent_file::AgentFile,
    elicitations::Elicitations,
    tool::Tool,
    toolbox::{Toolbox, ToolboxBuilder},
};

/// Looks a secret up by the name that a file gives it.
pub type Secrets = dyn Fn(&str) -> Option<String> + Send + Sync;

/// What connecting an agent takes.
#[derive(Clone)]
pub struct ConnectWith {
    /// Limits of each client.
    pub options: ClientOptions,
    /// How long each server may take until its tools are listed; all are asked at once. Not less than
    /// [`ClientOptions::connect_timeout`], or old servers never come.
    pub patience: Duration,
    /// For the waits between attempts to connect.
    pub clock: Arc<dyn Clock>,
    /// Spreads these waits.
    pub randomness: Arc<dyn Randomness>,
    /// Looks a secret up by the name that a file gives it.
    pub secret: Arc<Secrets>,
}

impl ConnectWith {
    /// With the usual limits, and without secrets.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, randomness: Arc<dyn Randomness>) -> Self {
        Self {
            options: ClientOptions::default(),
            patience: Duration::from_secs(30),
            clock,
            randomness,
            secret: Arc::new(|_| None),
        }
    }
}

impl fmt::Debug for ConnectWith {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectWith")
            .field("options", &self.options)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}

/// An agent and its connections. They are of one person: [`Elicitations`] says why. Call
/// [`close`](ConnectedAgent::close) in the end.
#[derive(Debug)]
pub struct ConnectedAgent {
    /// The agent, ready to run.
    pub agent: Agent,
    /// For [`RunWith::elicitations`](crate::RunWith::elicitations) of its runs.
    pub elicitations: Elicitations,
    /// What is not as it should be, one line each: a server that is not there, with what to do about it. Its tools are
    /// absent, the others are not concerned.
    pub warnings: Vec<String>,
    clients: Vec<McpClient>,
}

impl AgentFile {
    /// Connects to all servers of the file at once and puts the toolbox together. A server that fails, or whose secret is
    /// missing, is a warning and stops no other. Takes no longer than the patience of `with`.
    pub async fn connect(&self, name: &str, with: &ConnectWith) -> ConnectedAgent {
        let mut connected = self.connect_later(name, with, &[]);
        connected.agent.toolbox.list().await;
        connected.warnings.extend(connected.agent.toolbox.problems());
        connected
    }

    /// The same, but servers are connected in the first step of the first run, which can be cancelled meanwhile. `tools`
    /// of this process are there beside those of servers.
    #[must_use]
    pub fn connect_later(&self, name: &str, with: &ConnectWith, tools: &[Arc<dyn Tool>]) -> ConnectedAgent {
        let elicitations = Elicitations::default();
        let host = Host {
            elicit: Some(Arc::new(elicitations.clone())),
            clock: Arc::clone(&with.clock),
            randomness: Arc::clone(&with.randomness),
        };
        let toolbox = Toolbox::builder().schemas(self.schemas).validation(self.validation).patience(with.patience);
        let mut toolbox = tools.iter().cloned().fold(toolbox, ToolboxBuilder::shared_tool);
        let (mut warnings, mut clients) = (Vec::new(), Vec::new());
        for (name, server) in &self.servers {
            match server.read(name, &*with.secret) {
                Ok((server, how)) => {
                    let client = McpClient::new(server, with.options.clone(), host.clone());
                    clients.push(client.clone());
                    toolbox = toolbox.server(client, how);
                }
                Err(error) => warnings.push(error.to_string()),
            }
        }
        let agent = self.agent(name, toolbox.build_later());
        ConnectedAgent { agent, elicitations, warnings, clients }
    }
}

impl ConnectedAgent {
    /// Its connections, in the order of the file.
    #[must_use]
    pub fn clients(&self) -> &[McpClient] {
        &self.clients
    }

    /// Ends all sessions and child processes at once.
    pub async fn close(&self) {
        join_all(self.clients.iter().map(McpClient::close)).await;
    }
}
