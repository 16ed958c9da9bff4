//! Every tool that a model may call, wherever it lives.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use bylaw_mcp::{McpClient, McpClients};
use bylaw_model::ToolDefinition;
use futures_util::future::join_all;
use jsonschema::Validator;
use serde_json::{Map, Value};
use tokio::sync::watch;

use crate::{
    arguments::{self, Validation},
    artifacts::{READER, reader_info},
    names::shown_names,
    schemas::{SchemaDialect, for_provider},
    tool::{Tool, ToolInfo},
};

/// Most tools that providers take in one request, one of which reads artifacts.
const MAX_TOOLS: usize = 127;

/// The longest description that is sent, in characters.
const MAX_DESCRIPTION_CHARS: usize = 4_000;

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(120);

/// How the tools of a server are used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerTools {
    /// Only these, by the server's names; all if none are named.
    pub only: Vec<String>,
    /// Those that are called again and again with the same arguments, as it should be.
    pub polls: Vec<String>,
    /// The longest that a call may be silent, in place of the client's own limit.
    pub timeout: Option<Duration>,
    /// The same for single tools.
    pub timeouts: BTreeMap<String, Duration>,
}

/// The tools of this process and of any number of servers. Made once and shared by all runs; looks again when a server
/// says that its list has changed.
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    servers: Vec<(McpClient, ServerTools)>,
    dialect: SchemaDialect,
    validation: Validation,
    patience: Duration,
    shelf: RwLock<Arc<Shelf>>,
    filling: tokio::sync::Mutex<()>,
}

/// A toolbox while it is put together.
#[derive(Default)]
pub struct ToolboxBuilder {
    tools: Vec<Arc<dyn Tool>>,
    servers: Vec<(McpClient, ServerTools)>,
    dialect: SchemaDialect,
    validation: Validation,
    patience: Option<Duration>,
}

impl ToolboxBuilder {
    /// Puts a tool of this process in.
    #[must_use]
    pub fn tool(self, tool: impl Tool + 'static) -> Self {
        self.shared_tool(Arc::new(tool))
    }

    /// Puts a tool of this process in that other toolboxes have, too.
    #[must_use]
    pub fn shared_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Puts the tools of a server in. If it cannot be asked now, the others are there all the same.
    #[must_use]
    pub fn server(mut self, client: McpClient, how: ServerTools) -> Self {
        self.servers.push((client, how));
        self
    }

    /// Puts all tools of these servers in.
    #[must_use]
    pub fn servers(mut self, clients: &McpClients) -> Self {
        self.servers.extend(clients.all().iter().map(|client| (client.clone(), ServerTools::default())));
        self
    }

    /// How much of JSON Schema the model's provider takes.
    #[must_use]
    pub fn schemas(mut self, dialect: SchemaDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How strict arguments are taken.
    #[must_use]
    pub fn validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// How long a server may take to say what it has, connecting included; two minutes unless given.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Asks all servers at once for what they have.
    pub async fn build(self) -> Toolbox {
        let toolbox = self.build_later();
        toolbox.list().await;
        toolbox
    }

    /// Asks nobody yet: the first step of the first run does, within its time, and can be cancelled while it waits.
    #[must_use]
    pub fn build_later(self) -> Toolbox {
        let Self { tools, servers, dialect, validation, patience } = self;
        let patience = patience.unwrap_or(PATIENCE);
        let shelf = RwLock::new(Arc::new(Shelf::unfilled(dialect)));
        Toolbox { tools, servers, dialect, validation, patience, shelf, filling: tokio::sync::Mutex::default() }
    }
}

impl Toolbox {
    /// An empty one, to be filled.
    #[must_use]
    pub fn builder() -> ToolboxBuilder {
        ToolboxBuilder::default()
    }

    /// What is in it now, by the names that models see.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.shelf().entries.iter().map(|entry| entry.shown.clone()).collect()
    }

    /// What is not as it should be, one line each: a server that cannot be asked, tools that were left out.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.shelf().problems.clone()
    }

    pub(crate) fn validation(&self) -> Validation {
        self.validation
    }

    /// The tools as they are now. Servers are only asked if one of them said that its list has changed.
    pub(crate) async fn list(&self) -> Arc<Shelf> {
        let shelf = self.shelf();
        if !shelf.is_stale() {
            return shelf;
        }
        let _filling = self.filling.lock().await;
        if self.shelf().is_stale() {
            let filled = Arc::new(Shelf::fill(&self.tools, &self.servers, self.dialect, self.patience).await);
            *self.shelf.write().unwrap_or_else(PoisonError::into_inner) = filled;
        }
        self.shelf()
    }

    /// The tools as they were when they were last listed.
    pub(crate) fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Toolbox").field("names", &self.names()).finish_non_exhaustive()
    }
}

/// The tools of one moment, ready for requests.
pub(crate) struct Shelf {
    entries: Vec<Arc<Entry>>,
    by_name: HashMap<String, usize>,
    definitions: Arc<[ToolDefinition]>,
    with_reader: Arc<[ToolDefinition]>,
    /// Bytes of the definitions, roughly.
    pub(crate) size_bytes: usize,
    problems: Vec<String>,
    changes: Vec<(watch::Receiver<u64>, u64)>,
    is_filled: bool,
}

/// One tool.
pub(crate) struct Entry {
    /// The name that the model sees.
    pub(crate) shown: String,
    /// What it says of itself, its own name included.
    pub(crate) info: ToolInfo,
    pub(crate) owner: Owner,
    validator: OnceLock<Option<Validator>>,
}

/// Where a tool lives.
pub(crate) enum Owner {
    Process(Arc<dyn Tool>),
    Server(McpClient),
}

impl Entry {
    pub(crate) fn server(&self) -> Option<&str> {
        match &self.owner {
            Owner::Process(_) => None,
            Owner::Server(client) => Some(client.name()),
        }
    }

    /// Of the tool's own schema; made when the tool is first called.
    pub(crate) fn validator(&self) -> Option<&Validator> {
        let make = || match arguments::validator(&self.info.schema) {
            Ok(validator) => Some(validator),
            Err(problem) => {
                tracing::warn!(tool = self.info.name, problem, "arguments are not checked: the schema is unusable");
                None
            }
        };
        self.validator.get_or_init(make).as_ref()
    }
}

impl Shelf {
    /// Of a toolbox whose servers have not been asked.
    fn unfilled(dialect: SchemaDialect) -> Self {
        Self { is_filled: false, ..Self::of(Vec::new(), Vec::new(), Vec::new(), dialect) }
    }

    async fn fill(
        tools: &[Arc<dyn Tool>],
        servers: &[(McpClient, ServerTools)],
        dialect: SchemaDialect,
        patience: Duration,
    ) -> Self {
        let mut problems = Vec::new();
        let mut found: Vec<(ToolInfo, Owner)> =
            tools.iter().map(|tool| (tool.info(), Owner::Process(Arc::clone(tool)))).collect();
        let lists = join_all(servers.iter().map(|(client, how)| async move {
            let listed = match tokio::time::timeout(patience, client.tools()).await {
                Ok(listed) => listed.map_err(|error| error.to_string()),
                Err(_) => Err(format!("{} did not list its tools within {patience:?}; look at it", client.name())),
            };
            (client, how, listed)
        }));
        for (client, how, listed) in lists.await {
            match listed {
                Ok(tools) => found.extend(tools.into_iter().filter(|tool| how.wants(&tool.name)).map(|tool| {
                    let info = ToolInfo {
                        description: tool.description.or(tool.title).unwrap_or_default(),
                        schema: tool.input_schema.as_ref().clone(),
                        annotations: tool.annotations,
                        polls: how.polls.contains(&tool.name),
                        timeout: how.timeouts.get(&tool.name).copied().or(how.timeout),
                        name: tool.name,
                    };
                    (info, Owner::Server(client.clone()))
                })),
                Err(problem) => problems.push(problem),
            }
        }
        if found.len() > MAX_TOOLS {
            problems.push(format!(
                "there are {} tools and models take {MAX_TOOLS}; the last {} were left out: name those you need",
                found.len(),
                found.len() - MAX_TOOLS
            ));
            found.truncate(MAX_TOOLS);
        }
        for problem in &problems {
            tracing::warn!(problem, "the toolbox is not complete");
        }
        // As they are once the servers have been asked: connecting anew counts as a change.
        let changes = servers.iter().map(|(client, _)| client.list_changes()).map(|changes| {
            let seen = *changes.borrow();
            (changes, seen)
        });
        Self::of(found, problems, changes.collect(), dialect)
    }

    fn of(
        found: Vec<(ToolInfo, Owner)>,
        problems: Vec<String>,
        changes: Vec<(watch::Receiver<u64>, u64)>,
        dialect: SchemaDialect,
    ) -> Self {
        let keys: Vec<(Option<&str>, &str)> = found
            .iter()
            .map(|(info, owner)| match owner {
                Owner::Process(_) => (None, info.name.as_str()),
                Owner::Server(client) => (Some(client.name()), info.name.as_str()),
            })
            .collect();
        let shown = shown_names(&keys);
        let entries: Vec<Arc<Entry>> = found
            .into_iter()
            .zip(shown)
            .map(|((info, owner), shown)| Arc::new(Entry { shown, info, owner, validator: OnceLock::new() }))
            .collect();
        let definitions: Vec<ToolDefinition> =
            entries.iter().map(|entry| definition(&entry.shown, &entry.info, dialect)).collect();
        // A tool of that name goes first.
        let has_own = entries.iter().any(|entry| entry.shown == READER);
        let reader = (!has_own).then(|| definition(READER, &reader_info(), dialect));
        let with_reader = definitions.iter().cloned().chain(reader).collect();
        Self {
            by_name: entries.iter().enumerate().map(|(at, entry)| (entry.shown.clone(), at)).collect(),
            size_bytes: definitions.iter().map(|d| d.description.len() + d.parameters.to_string().len() + 64).sum(),
            definitions: definitions.into(),
            with_reader,
            entries,
            problems,
            changes,
            is_filled: true,
        }
    }

    /// What a request offers.
    pub(crate) fn definitions(&self, with_reader: bool) -> Arc<[ToolDefinition]> {
        Arc::clone(if with_reader { &self.with_reader } else { &self.definitions })
    }

    pub(crate) fn get(&self, shown: &str) -> Option<&Arc<Entry>> {
        self.by_name.get(shown).map(|&at| &self.entries[at])
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.shown.as_str())
    }

    fn is_stale(&self) -> bool {
        !self.is_filled || self.changes.iter().any(|(changes, seen)| *changes.borrow() != *seen)
    }
}

impl ServerTools {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

fn definition(shown: &str, info: &ToolInfo, dialect: SchemaDialect) -> ToolDefinition {
    let description = info.description.chars().take(MAX_DESCRIPTION_CHARS).filter(|c| *c != '\0').collect();
    ToolDefinition { name: shown.to_owned(), description, parameters: for_provider(&info.schema, dialect) }
}

/// Arguments with their keys in order, whatever order they came in.
pub(crate) fn canonical(arguments: &Map<String, Value>) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(fields) => {
                let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
                fields.sort_by_key(|(key, _)| *key);
                out.push('{');
                for (key, value) in fields {
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    write(value, out);
                    out.push(',');
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    write(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut out = String::new();
    write(&Value::Object(arguments.clone()), &mut out);
    out
}
