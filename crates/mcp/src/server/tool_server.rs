//! A server: what it offers, before it is mounted anywhere.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use bylaw_contract::Language;
use jsonschema::Validator;
use rmcp::model::{
    Implementation, JsonObject, Prompt, PromptArgument, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};

use super::{
    CallLimits, ConfirmationGate, PromptSpec, ServerPrompt, ServerResources, ServerTool, ToolSpec, Words, schema,
    slots::Slots, words::InEach,
};

/// Why a server cannot be built: a mistake of whoever writes it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolServerError {
    /// Two tools or prompts have one name.
    #[error("{0} is offered twice")]
    Twice(String),
    /// A name that not every client takes.
    #[error("{0:?} is no name for a tool: letters, digits, '_', '-' and '.', at most 64 of them")]
    Name(String),
    /// A schema that not every client takes.
    #[error("the {which} schema of {tool}: {problem}")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        which: &'static str,
        /// What is wrong.
        problem: String,
    },
}

pub(super) struct OfferedTool {
    pub(super) tool: Arc<dyn ServerTool>,
    pub(super) input: Validator,
    /// Held against replies where debug assertions are on.
    pub(super) output: Option<Validator>,
    pub(super) wire: InEach<Tool>,
}

impl OfferedTool {
    pub(super) fn name(&self) -> &str {
        &self.wire.of(Language::English).name
    }
}

pub(super) struct OfferedPrompt {
    pub(super) prompt: Arc<dyn ServerPrompt>,
    pub(super) wire: InEach<Prompt>,
}

/// What a server offers, ready to be mounted on HTTP ([`super::HttpMount`]) or pipes ([`super::serve_stdio`]).
pub struct ToolServer {
    pub(super) config: ServerConfig,
    /// Where a caller does not say which they read.
    pub(super) language: Language,
    /// In the order in which they were offered.
    pub(super) tools: Vec<OfferedTool>,
    pub(super) tool_of: HashMap<String, usize>,
    pub(super) prompts: BTreeMap<String, OfferedPrompt>,
    pub(super) resources: Option<Arc<dyn ServerResources>>,
    pub(super) gate: Option<Arc<ConfirmationGate>>,
    pub(super) slots: Arc<Slots>,
    pub(super) page: usize,
}

impl ToolServer {
    /// Begins a server of this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ToolServerBuilder {
        ToolServerBuilder {
            name: name.into(),
            version: version.into(),
            title: None,
            instructions: None,
            language: Language::English,
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: None,
            gate: None,
            limits: CallLimits::default(),
            page: 100,
        }
    }
}

/// Collects what a server offers.
#[must_use]
pub struct ToolServerBuilder {
    name: String,
    version: String,
    title: Option<Words>,
    instructions: Option<Words>,
    language: Language,
    tools: Vec<Arc<dyn ServerTool>>,
    prompts: Vec<Arc<dyn ServerPrompt>>,
    resources: Option<Arc<dyn ServerResources>>,
    gate: Option<Arc<ConfirmationGate>>,
    limits: CallLimits,
    page: usize,
}

impl ToolServerBuilder {
    /// With a name for people.
    pub fn titled(mut self, title: impl Into<Words>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// With what a model should know of the server as a whole.
    pub fn instructed(mut self, instructions: impl Into<Words>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// In this language where a caller does not say theirs (over HTTP: `accept-language`); English unless said otherwise.
    /// What is said of the server as a whole is in this language always.
    pub fn in_language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// With a tool. They are listed in the order in which they come.
    pub fn tool(mut self, tool: impl ServerTool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// With several tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn ServerTool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// With a prompt.
    pub fn prompt(mut self, prompt: impl ServerPrompt + 'static) -> Self {
        self.prompts.push(Arc::new(prompt));
        self
    }

    /// With resources.
    pub fn resources(mut self, resources: impl ServerResources + 'static) -> Self {
        self.resources = Some(Arc::new(resources));
        self
    }

    /// With a gate that asks humans. Without one, [`super::Confirmation::Unsupported`] is all that handlers get.
    pub fn gate(mut self, gate: ConfirmationGate) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// With other limits.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With this many entries on each page of a list; 100 unless said otherwise.
    pub fn entries_per_page(mut self, entries: usize) -> Self {
        self.page = entries.max(1);
        self
    }

    /// The server.
    ///
    /// # Errors
    /// When not every client would understand what is offered.
    pub fn build(self) -> Result<Arc<ToolServer>, ToolServerError> {
        let language = self.language;
        let mut tools = Vec::with_capacity(self.tools.len());
        let mut tool_of = HashMap::new();
        for tool in self.tools {
            let spec = tool.spec();
            if tool_of.insert(spec.name.clone(), tools.len()).is_some() {
                return Err(ToolServerError::Twice(spec.name));
            }
            tools.push(offer(tool, spec)?);
        }
        let mut prompts = BTreeMap::new();
        for prompt in self.prompts {
            let spec = prompt.spec();
            let wire = InEach::new(|language| wire_prompt(&spec, language));
            let name = spec.name;
            if prompts.insert(name.clone(), OfferedPrompt { prompt, wire }).is_some() {
                return Err(ToolServerError::Twice(name));
            }
        }
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = (!tools.is_empty()).then(Default::default);
        capabilities.prompts = (!prompts.is_empty()).then(Default::default);
        capabilities.resources = self.resources.is_some().then(Default::default);
        let mut about = Implementation::new(self.name, self.version);
        about.title = self.title.map(|title| title.in_language(language).to_owned());
        let mut config = ServerConfig::new(capabilities).with_server_info(about);
        config.instructions = self.instructions.map(|words| words.in_language(language).to_owned());
        Ok(Arc::new(ToolServer {
            config,
            language,
            tools,
            tool_of,
            prompts,
            resources: self.resources,
            gate: self.gate,
            slots: Arc::new(Slots::new(self.limits)),
            page: self.page,
        }))
    }
}

fn offer(tool: Arc<dyn ServerTool>, spec: ToolSpec) -> Result<OfferedTool, ToolServerError> {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if spec.name.is_empty() || spec.name.len() > 64 || !spec.name.chars().all(letters) {
        return Err(ToolServerError::Name(spec.name));
    }
    let wrong = |which| {
        let tool = spec.name.clone();
        move |problem| ToolServerError::Schema { tool, which, problem }
    };
    let (input_schema, input) = schema::portable(&spec.input_schema).map_err(wrong("input"))?;
    let output = spec.output_schema.as_ref().map(schema::object).transpose().map_err(wrong("output"))?;
    let (output_schema, output): (Option<JsonObject>, _) = output.unzip();
    let (input_schema, output_schema) = (Arc::new(input_schema), output_schema.map(Arc::new));
    let hints = spec.annotations;
    let wire = InEach::new(|language| {
        let description = spec.description.in_language(language).to_owned();
        let mut wire = Tool::new(spec.name.clone(), description, Arc::clone(&input_schema));
        wire.title = spec.title.as_ref().map(|title| title.in_language(language).to_owned());
        wire.output_schema.clone_from(&output_schema);
        wire.annotations = Some(
            ToolAnnotations::new()
                .read_only(hints.read_only)
                .destructive(hints.destructive)
                .idempotent(hints.idempotent)
                .open_world(hints.open_world),
        );
        wire
    });
    Ok(OfferedTool { tool, input, output, wire })
}

fn wire_prompt(spec: &PromptSpec, language: Language) -> Prompt {
    let words = |words: &Option<Words>| words.as_ref().map(|words| words.in_language(language).to_owned());
    let arguments = spec.arguments.iter().map(|argument| {
        let mut wire = PromptArgument::new(argument.name.clone()).with_required(argument.required);
        wire.description = words(&argument.description);
        wire
    });
    let arguments: Vec<_> = arguments.collect();
    let mut wire =
        Prompt::new(spec.name.clone(), words(&spec.description), (!arguments.is_empty()).then_some(arguments));
    wire.title = words(&spec.title);
    wire
}
