//! What the library calls: one request of the protocol after another.

use std::{
    collections::BTreeMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use axum::http::request::Parts;
use bylaw_contract::Language;
use futures_util::FutureExt;
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        PromptMessage as WireMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceTemplate as WireTemplate, Role, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::Value;

use super::{
    CallContext, Caller, Principal, ProgressReporter, PromptRole, ToolServer, Words,
    answer::tool_error,
    confirm::{Asker, Place},
    content, language, schema,
    tool_server::OfferedTool,
};

/// Whence the principal of a request is known.
#[derive(Clone)]
pub(super) enum Who {
    /// From whoever started this process.
    Started(Principal),
    /// From the request itself, where the door put it.
    Request,
}

/// One connection, session, or request.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) server: Arc<ToolServer>,
    pub(super) who: Who,
}

impl Handler {
    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let principal = match &self.who {
            Who::Started(principal) => Some(principal.clone()),
            Who::Request => {
                context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Principal>()).cloned()
            }
        };
        let principal =
            principal.ok_or_else(|| ErrorData::internal_error("it is not known who sends this request", None))?;
        Ok(Caller::of(context, principal, self.language(context)))
    }

    fn language(&self, context: &RequestContext<RoleServer>) -> Language {
        let asked = context.extensions.get::<Parts>().and_then(|parts| language::preferred(&parts.headers));
        asked.unwrap_or(self.server.language)
    }

    /// One page of a list, and where the next begins.
    fn page<T: Clone>(
        &self,
        all: &[T],
        request: Option<PaginatedRequestParams>,
    ) -> Result<(Vec<T>, Option<String>), ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let from = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(from)) if from < all.len() => from,
            Some(_) => return Err(ErrorData::invalid_params("there is no such page: list from the beginning", None)),
        };
        let to = all.len().min(from + self.server.page);
        Ok((all[from..to].to_vec(), (to < all.len()).then(|| to.to_string())))
    }

    async fn run(&self, tool: &OfferedTool, call: CallContext) -> Result<CallToolResponse, ErrorData> {
        let name = tool.name();
        let Ok(ended) = AssertUnwindSafe(tool.tool.call(call)).catch_unwind().await else {
            tracing::error!(tool = %name, "a tool panicked");
            let sentence = format!(
                "{name} failed for a reason of its own, and whether it did anything is not known. Look up the present state \
                 before you call it again."
            );
            return Ok(tool_error(sentence, None).into());
        };
        match ended {
            Ok(reply) => {
                debug_assert_eq!(
                    tool.output.as_ref().zip(reply.structured.as_ref()).and_then(|(v, r)| schema::problems(v, r)),
                    None,
                    "the reply of {name} does not satisfy its schema"
                );
                Ok(reply.into_result().into())
            }
            Err(stop) => stop.into_response(),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.server.config.clone()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.tool_of.get(name).map(|at| self.server.tools[*at].wire.of(self.server.language).clone())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let language = self.language(&context);
        let all: Vec<&Tool> = self.server.tools.iter().map(|tool| tool.wire.of(language)).collect();
        let (page, next) = self.page(&all, request)?;
        let mut result = ListToolsResult::with_all_items(page.into_iter().cloned().collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let Some(at) = self.server.tool_of.get(request.name.as_ref()) else {
            return Err(ErrorData::invalid_params(format!("there is no tool {}", request.name), None));
        };
        let tool = &self.server.tools[*at];
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if let Some(problems) = schema::problems(&tool.input, &arguments) {
            return tool.tool.wrong(&caller, &problems).into_response();
        }
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let slot = tokio::select! {
            slot = self.server.slots.take(caller.principal.id()) => slot,
            () = context.ct.cancelled() => {
                return Ok(tool_error("The call was cancelled, and nothing was done.".to_owned(), None).into());
            }
        };
        let Some(slot) = slot else {
            let sentence = "Too many calls are waiting, and nothing was done. Call again in a few seconds.".to_owned();
            return Ok(tool_error(sentence, None).into());
        };
        let able = context.client_capabilities().and_then(|able| able.elicitation);
        let asker = Asker {
            gate: self.server.gate.clone(),
            tool: tool.name().to_owned(),
            peer: context.peer.clone(),
            // Empty means forms, as it did before there was anything else.
            able: able.is_some_and(|able| able.form.is_some() || able.url.is_none()),
            state: request.request_state,
            responses: request.input_responses,
            place: Place { slots: Arc::clone(&self.server.slots), slot: Mutex::new(Some(slot)) },
            asked: AtomicBool::new(false),
        };
        let progress = ProgressReporter::new(&context.peer, context.meta.get_progress_token());
        let cancel = context.ct.clone();
        self.run(tool, CallContext { caller, arguments, cancel, progress, asker }).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let Some(resources) = &self.server.resources else { return Ok(ListResourcesResult::default()) };
        let caller = self.caller(&context)?;
        let all = resources.list(&caller).await.map_err(unavailable)?;
        let (page, next) = self.page(&all, request)?;
        let wire = |resource: super::ResourceSpec| {
            let mut wire = Resource::new(resource.uri, resource.name);
            wire.title = words(resource.title, caller.language);
            wire.description = words(resource.description, caller.language);
            wire.mime_type = resource.mime;
            wire
        };
        let mut result = ListResourcesResult::with_all_items(page.into_iter().map(wire).collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let language = self.language(&context);
        let all = self.server.resources.as_ref().map(|resources| resources.templates()).unwrap_or_default();
        if all.is_empty() {
            return Ok(ListResourceTemplatesResult::default());
        }
        let (page, next) = self.page(&all, request)?;
        let wire = |template: super::ResourceTemplate| {
            let mut wire = WireTemplate::new(template.uri_template, template.name);
            wire.description = words(template.description, language);
            wire.mime_type = template.mime;
            wire
        };
        let mut result = ListResourceTemplatesResult::with_all_items(page.into_iter().map(wire).collect());
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let found = match &self.server.resources {
            Some(resources) => resources.read(&caller, &request.uri).await.map_err(unavailable)?,
            None => None,
        };
        let Some((mime, body)) = found else {
            let data = serde_json::json!({ "uri": request.uri });
            return Err(ErrorData::resource_not_found(format!("there is no resource {}", request.uri), Some(data)));
        };
        Ok(ReadResourceResult::new(vec![content::contents(request.uri, mime, body)]).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let language = self.language(&context);
        let all: Vec<_> = self.server.prompts.values().map(|prompt| prompt.wire.of(language).clone()).collect();
        if all.is_empty() {
            return Ok(ListPromptsResult::default());
        }
        let (page, next) = self.page(&all, request)?;
        let mut result = ListPromptsResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let caller = self.caller(&context)?;
        let Some(offered) = self.server.prompts.get(&request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no prompt {}", request.name), None));
        };
        let text = |(name, value): (String, Value)| match value {
            Value::String(text) => Ok((name, text)),
            _ => Err(ErrorData::invalid_params(format!("the argument {name} must be a text"), None)),
        };
        let arguments: BTreeMap<_, _> =
            request.arguments.unwrap_or_default().into_iter().map(text).collect::<Result<_, _>>()?;
        let spoken = offered.wire.of(caller.language);
        let mut wanted = spoken.arguments.iter().flatten();
        if let Some(missing) = wanted.find(|a| a.required == Some(true) && !arguments.contains_key(&a.name)) {
            return Err(ErrorData::invalid_params(format!("the argument {} is missing", missing.name), None));
        }
        let messages = offered.prompt.render(&caller, &arguments).await.map_err(unavailable)?;
        let wire = |message: super::PromptMessage| {
            let role = match message.role {
                PromptRole::User => Role::User,
                PromptRole::Assistant => Role::Assistant,
            };
            WireMessage::new(role, content::block(message.content))
        };
        let mut result = GetPromptResult::new(messages.into_iter().map(wire).collect());
        result.description.clone_from(&spoken.description);
        Ok(result.into())
    }
}

fn words(words: Option<Words>, language: Language) -> Option<String> {
    words.map(|words| words.in_language(language).to_owned())
}

fn unavailable(sentence: String) -> ErrorData {
    ErrorData::internal_error(sentence, None)
}
