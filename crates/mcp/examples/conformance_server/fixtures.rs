//! What the conformance suite wants to find.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use base64::{Engine, prelude::BASE64_STANDARD};
use bylaw_mcp::{
    CallContext, Caller, Confirmation, Content, Progress, PromptArgument, PromptMessage, PromptRole, PromptSpec,
    Question, ResourceBody, ResourceSpec, ResourceTemplate, ServerPrompt, ServerResources, ServerTool, ToolAnnotations,
    ToolReply, ToolSpec, ToolStop,
};
use bytes::Bytes;
use serde_json::{Value, json};

/// One red dot.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// Eight samples of silence.
const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

const TOOLS: [&str; 17] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_logging_tool",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_custom_header",
];

pub(crate) fn tools() -> Vec<Arc<dyn ServerTool>> {
    TOOLS.into_iter().map(|name| Arc::new(TestTool(name)) as Arc<dyn ServerTool>).collect()
}

struct TestTool(&'static str);

fn decoded(text: &str) -> Bytes {
    BASE64_STANDARD.decode(text).unwrap_or_default().into()
}

fn image() -> Content {
    Content::Image { mime: "image/png".to_owned(), bytes: decoded(PNG) }
}

fn resource(uri: &str, mime: &str, text: &str) -> Content {
    Content::Resource { uri: uri.to_owned(), mime: Some(mime.to_owned()), body: ResourceBody::Text(text.to_owned()) }
}

fn shown(content: impl Into<Vec<Content>>) -> Result<ToolReply, ToolStop> {
    Ok(ToolReply { content: content.into(), structured: None })
}

/// The form of each tool that asks, and the name of its question.
fn form(tool: &str) -> Option<(&'static str, &'static str, Value)> {
    let titled = |titles: [&str; 3]| {
        let choice = |(n, title): (usize, &&str)| json!({ "const": format!("value{}", n + 1), "title": title });
        titles.iter().enumerate().map(choice).collect::<Vec<_>>()
    };
    let named = || json!({ "name": { "type": "string" } });
    let agreed = || json!({ "ok": { "type": "boolean" } });
    let (name, message, properties, required) = match tool {
        "test_elicitation" => {
            let text = |description: &str| json!({ "type": "string", "description": description });
            let properties = json!({ "username": text("User's response"), "email": text("User's email address") });
            ("confirm", "", properties, vec!["username", "email"])
        }
        "test_elicitation_sep1034_defaults" => {
            let properties = json!({
                "name": { "type": "string", "default": "John Doe" },
                "age": { "type": "integer", "default": 30 },
                "score": { "type": "number", "default": 95.5 },
                "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
                "verified": { "type": "boolean", "default": true },
            });
            ("confirm", "Please look the values over", properties, vec![])
        }
        "test_elicitation_sep1330_enums" => {
            let options = json!(["option1", "option2", "option3"]);
            let properties = json!({
                "untitledSingle": { "type": "string", "enum": options },
                "titledSingle": {
                    "type": "string",
                    "oneOf": titled(["First Option", "Second Option", "Third Option"]),
                },
                "legacyEnum": {
                    "type": "string",
                    "enum": ["opt1", "opt2", "opt3"],
                    "enumNames": ["Option One", "Option Two", "Option Three"],
                },
                "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
                "titledMulti": {
                    "type": "array",
                    "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
                },
            });
            ("confirm", "Please choose", properties, vec![])
        }
        "test_input_required_result_elicitation" => ("user_name", "What is your name?", named(), vec!["name"]),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state"
        | "test_input_required_result_capabilities"
        | "test_streaming_elicitation" => ("confirm", "Please confirm", agreed(), vec!["ok"]),
        _ => return None,
    };
    Some((name, message, json!({ "type": "object", "properties": properties, "required": required })))
}

#[async_trait]
impl ServerTool for TestTool {
    fn spec(&self) -> ToolSpec {
        let spec = ToolSpec::new(self.0, "For the conformance suite.").that(ToolAnnotations::READS);
        match self.0 {
            "test_elicitation" => spec.taking(json!({
                "type": "object",
                "properties": { "message": { "type": "string", "description": "What the person is shown." } },
                "required": ["message"],
            })),
            "test_custom_header" => spec.taking(json!({
                "type": "object",
                "properties": {
                    "region": { "type": "string", "description": "Where.", "x-mcp-header": "Region" },
                },
            })),
            _ => spec,
        }
    }

    async fn call(&self, call: CallContext) -> Result<ToolReply, ToolStop> {
        let text = |text: &str| Content::Text(text.to_owned());
        match self.0 {
            "test_simple_text" => shown([text("This is a simple text response for testing.")]),
            "test_image_content" => shown([image()]),
            "test_audio_content" => shown([Content::Audio { mime: "audio/wav".to_owned(), bytes: decoded(WAV) }]),
            "test_embedded_resource" => {
                shown([resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
            }
            "test_multiple_content_types" => shown([
                text("Multiple content types test:"),
                image(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ]),
            "test_error_handling" => Err(ToolStop::refused("This tool intentionally returns an error for testing")),
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    call.progress.report(Progress { done, total: Some(100.0), message: None }).await;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                shown([text("done")])
            }
            "test_custom_header" => shown([text("The header and the argument agree.")]),
            "test_logging_tool" => shown([text("This server sends no log messages.")]),
            asking => {
                let Some((name, message, form)) = form(asking) else {
                    return Err(ToolStop::refused("There is no such fixture."));
                };
                let given = call.arguments.get("message").and_then(Value::as_str).unwrap_or(message);
                let question = Question::new(asking, "1", given).named(name).with_form(form);
                let (action, content) = match call.confirm(question).await? {
                    Confirmation::Accepted(filled) => ("accept", Value::Object(filled)),
                    Confirmation::Declined => ("decline", Value::Null),
                    Confirmation::Dismissed | Confirmation::TimedOut => ("cancel", Value::Null),
                    Confirmation::Unsupported => return Err(ToolStop::refused("Your client cannot ask.")),
                };
                shown([Content::Text(format!("state-ok: action={action}, content={content}"))])
            }
        }
    }
}

pub(crate) struct TestResources;

#[async_trait]
impl ServerResources for TestResources {
    async fn list(&self, _caller: &Caller) -> Result<Vec<ResourceSpec>, String> {
        Ok(["test://static-text", "test://static-binary"].map(|uri| ResourceSpec::new(uri, &uri[7..])).into())
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: "test://template/{id}/data".to_owned(),
            name: "template".to_owned(),
            description: None,
            mime: Some("application/json".to_owned()),
        }]
    }

    async fn read(&self, _caller: &Caller, uri: &str) -> Result<Option<(Option<String>, ResourceBody)>, String> {
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let (mime, body) = match (uri, id) {
            ("test://static-text", _) => {
                let text = "This is the content of the static text resource.";
                ("text/plain", ResourceBody::Text(text.to_owned()))
            }
            ("test://static-binary", _) => ("image/png", ResourceBody::Bytes(decoded(PNG))),
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ("application/json", ResourceBody::Text(data.to_string()))
            }
            (_, None) => return Ok(None),
        };
        Ok(Some((Some(mime.to_owned()), body)))
    }
}

pub(crate) enum TestPrompt {
    Simple,
    WithArguments,
    WithEmbeddedResource,
    WithImage,
}

#[async_trait]
impl ServerPrompt for TestPrompt {
    fn spec(&self) -> PromptSpec {
        let (name, arguments): (_, &[&str]) = match self {
            Self::Simple => ("test_simple_prompt", &[]),
            Self::WithArguments => ("test_prompt_with_arguments", &["arg1", "arg2"]),
            Self::WithEmbeddedResource => ("test_prompt_with_embedded_resource", &["resourceUri"]),
            Self::WithImage => ("test_prompt_with_image", &[]),
        };
        let argument = |name: &&str| PromptArgument {
            name: (*name).to_owned(),
            description: Some("A text.".into()),
            required: true,
        };
        PromptSpec {
            name: name.to_owned(),
            title: None,
            description: Some("For the conformance suite.".into()),
            arguments: arguments.iter().map(argument).collect(),
        }
    }

    async fn render(
        &self,
        _caller: &Caller,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, String> {
        let says = |content| PromptMessage { role: PromptRole::User, content };
        let text = |text: String| says(Content::Text(text));
        let argument = |name: &str| arguments.get(name).cloned().unwrap_or_default();
        Ok(match self {
            Self::Simple => vec![text("This is a simple prompt for testing.".to_owned())],
            Self::WithArguments => {
                let (first, second) = (argument("arg1"), argument("arg2"));
                vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            Self::WithEmbeddedResource => {
                let embedded =
                    resource(&argument("resourceUri"), "text/plain", "Embedded resource content for testing.");
                vec![says(embedded), text("Please process the embedded resource above.".to_owned())]
            }
            Self::WithImage => vec![says(image()), text("Please analyze the image above.".to_owned())],
        })
    }
}
