//! What a call brought back.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

/// The result of a call that ended. Data of a stranger, never instructions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutcome {
    /// The tool says that it failed; `content` says why, for the model.
    pub is_error: bool,
    /// The structured result.
    pub structured: Option<Value>,
    /// What it shows, in its order.
    pub content: Vec<Content>,
}

/// One piece of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, decoded.
    Image {
        /// Its media type.
        mime: String,
        /// Its bytes.
        bytes: Bytes,
    },
    /// Sound, decoded.
    Audio {
        /// Its media type.
        mime: String,
        /// Its bytes.
        bytes: Bytes,
    },
    /// A resource that came along.
    Resource {
        /// Its address at the server.
        uri: String,
        /// Its media type.
        mime: Option<String>,
        /// What is in it.
        body: ResourceBody,
    },
    /// A resource that can be fetched.
    Link {
        /// Its address at the server.
        uri: String,
        /// Its name.
        name: String,
        /// What it is.
        description: Option<String>,
        /// Its media type.
        mime: Option<String>,
    },
}

/// What is in a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Anything else, decoded.
    Bytes(Bytes),
}

impl ToolOutcome {
    pub(super) fn of(result: CallToolResult) -> Self {
        Self {
            is_error: result.is_error.unwrap_or(false),
            structured: result.structured_content,
            content: result.content.into_iter().map(Content::of).collect(),
        }
    }

    /// Reads a result that is not quite one of the protocol; nothing if it is none at all. Pieces that nobody knows
    /// become text as they are.
    pub(super) fn read(result: &Value) -> Option<Self> {
        let content = result.get("content").and_then(Value::as_array);
        let structured = result.get("structuredContent").cloned();
        if content.is_none() && structured.is_none() {
            return None;
        }
        let piece = |piece: &Value| match serde_json::from_value::<ContentBlock>(piece.clone()) {
            Ok(block) => Content::of(block),
            Err(_) => Content::Text(piece.as_str().map_or_else(|| piece.to_string(), ToOwned::to_owned)),
        };
        Some(Self {
            is_error: result.get("isError").and_then(Value::as_bool).unwrap_or(false),
            structured,
            content: content.into_iter().flatten().map(piece).collect(),
        })
    }
}

impl Content {
    fn of(block: ContentBlock) -> Self {
        match block {
            ContentBlock::Text(text) => Self::Text(text.text),
            ContentBlock::Image(image) => {
                binary(&image.data, image.mime_type, |mime, bytes| Self::Image { mime, bytes })
            }
            ContentBlock::Audio(audio) => {
                binary(&audio.data, audio.mime_type, |mime, bytes| Self::Audio { mime, bytes })
            }
            ContentBlock::Resource(embedded) => match embedded.resource {
                ResourceContents::TextResourceContents { uri, mime_type, text, .. } => {
                    Self::Resource { uri, mime: mime_type, body: ResourceBody::Text(text) }
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let mime = mime_type.clone().unwrap_or_else(|| "data".to_owned());
                    binary(&blob, mime, |_, bytes| Self::Resource {
                        uri,
                        mime: mime_type,
                        body: ResourceBody::Bytes(bytes),
                    })
                }
                other => as_json(&other),
            },
            ContentBlock::ResourceLink(link) => {
                Self::Link { uri: link.uri, name: link.name, description: link.description, mime: link.mime_type }
            }
            other => as_json(&other),
        }
    }
}

fn as_json(block: &impl serde::Serialize) -> Content {
    Content::Text(serde_json::to_string(block).unwrap_or_default())
}

/// Broken Base64 is said in words: pasting it as text would only cost tokens.
fn binary(data: &str, mime: String, content: impl FnOnce(String, Bytes) -> Content) -> Content {
    match BASE64_STANDARD.decode(data.trim()) {
        Ok(bytes) => content(mime, bytes.into()),
        Err(_) => Content::Text(format!("[{mime} of {} characters that is no Base64]", data.len())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_are_read_whatever_they_are() {
        let check = |piece: Value, expected: Content| {
            let read = ToolOutcome::read(&json!({ "content": [piece] })).unwrap();
            assert_eq!(read.content, [expected]);
        };
        let bytes = || Bytes::from_static(b"png!");
        check(json!({ "type": "text", "text": "七日" }), Content::Text("七日".to_owned()));
        check(
            json!({ "type": "image", "mimeType": "image/png", "data": "cG5nIQ==" }),
            Content::Image { mime: "image/png".to_owned(), bytes: bytes() },
        );
        check(
            json!({ "type": "audio", "mimeType": "audio/wav", "data": "cG5nIQ==" }),
            Content::Audio { mime: "audio/wav".to_owned(), bytes: bytes() },
        );
        check(
            json!({ "type": "image", "mimeType": "image/png", "data": "???" }),
            Content::Text("[image/png of 3 characters that is no Base64]".to_owned()),
        );
        check(
            json!({ "type": "resource", "resource": { "uri": "x:1", "mimeType": "text/plain", "text": "t" } }),
            Content::Resource {
                uri: "x:1".to_owned(),
                mime: Some("text/plain".to_owned()),
                body: ResourceBody::Text("t".to_owned()),
            },
        );
        check(
            json!({ "type": "resource", "resource": { "uri": "x:1", "blob": "cG5nIQ==" } }),
            Content::Resource { uri: "x:1".to_owned(), mime: None, body: ResourceBody::Bytes(bytes()) },
        );
        check(
            json!({ "type": "resource_link", "uri": "x:2", "name": "two" }),
            Content::Link { uri: "x:2".to_owned(), name: "two".to_owned(), description: None, mime: None },
        );
        check(json!({ "type": "hologram", "data": 1 }), Content::Text(r#"{"data":1,"type":"hologram"}"#.to_owned()));
        check(json!("bare"), Content::Text("bare".to_owned()));
    }

    #[test]
    fn what_has_neither_content_nor_structure_is_no_result() {
        assert_eq!(ToolOutcome::read(&json!({ "answer": 42 })), None);
    }
}
