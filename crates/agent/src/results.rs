//! What a model reads of a result: text, of a bounded size.

use bylaw_contract::{ArtifactId, Randomness, loop_event::ArtifactRef};
use bylaw_mcp::{Content, ResourceBody, ToolOutcome};
use bytes::Bytes;
use serde_json::Value;

use crate::artifacts::{Artifact, ArtifactStore, READER};

/// A result as it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presented {
    pub(crate) text: String,
    pub(crate) artifacts: Vec<ArtifactRef>,
}

/// Puts results into words and keeps aside what is no text, or too much of it.
pub(crate) struct Presenter<'a> {
    pub(crate) store: &'a dyn ArtifactStore,
    pub(crate) randomness: &'a dyn Randomness,
    pub(crate) limit_bytes: usize,
}

impl Presenter<'_> {
    pub(crate) async fn outcome(&self, outcome: ToolOutcome) -> Presented {
        let mut presented = Presented::default();
        let mut pieces: Vec<String> = Vec::new();
        let mut told = false;
        for content in outcome.content {
            match content {
                Content::Text(text) => {
                    told |= outcome.structured.as_ref().is_some_and(|structured| says(&text, structured));
                    if !text.is_empty() {
                        pieces.push(text);
                    }
                }
                Content::Image { mime, bytes } => pieces.push(self.keep("image", mime, bytes, &mut presented).await),
                Content::Audio { mime, bytes } => pieces.push(self.keep("audio", mime, bytes, &mut presented).await),
                Content::Resource { uri, mime, body: ResourceBody::Text(text) } => {
                    let mime = mime.map(|mime| format!(", {mime}")).unwrap_or_default();
                    pieces.push(format!("[resource {uri}{mime}]\n{text}"));
                }
                Content::Resource { uri, mime, body: ResourceBody::Bytes(bytes) } => {
                    let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
                    pieces.push(self.keep(&format!("resource {uri},"), mime, bytes, &mut presented).await);
                }
                Content::Link { uri, name, description, .. } => {
                    let description = description.map(|text| format!(": {text}")).unwrap_or_default();
                    pieces.push(format!("[link {uri} ({name}){description}]"));
                }
            }
        }
        if let Some(structured) = outcome.structured.filter(|structured| !told && !structured.is_null()) {
            pieces.push(structured.to_string());
        }
        let text = pieces.join("\n");
        presented.text = if text.trim().is_empty() {
            "(The tool returned nothing.)".to_owned()
        } else {
            self.shorten(visible(text), &mut presented).await
        };
        presented
    }

    /// A text that was no result of a tool in the first place.
    pub(crate) async fn text(&self, text: String) -> Presented {
        let mut presented = Presented::default();
        presented.text = self.shorten(visible(text), &mut presented).await;
        presented
    }

    async fn keep(&self, what: &str, mime: String, bytes: Bytes, presented: &mut Presented) -> String {
        let size = bytes.len();
        match self.put(mime.clone(), bytes, presented).await {
            Some(id) => format!("[{what} {mime}, {size} bytes, kept as {id}]"),
            None => format!("[{what} {mime}, {size} bytes, not kept]"),
        }
    }

    async fn shorten(&self, text: String, presented: &mut Presented) -> String {
        if text.len() <= self.limit_bytes {
            return text;
        }
        let head = text.floor_char_boundary(self.limit_bytes / 4 * 3);
        let tail = text.ceil_char_boundary(text.len() - self.limit_bytes / 4);
        let (first, last) = (text[..head].to_owned(), text[tail..].to_owned());
        let size = text.len();
        let more = match self.put("text/plain; charset=utf-8".to_owned(), text.into(), presented).await {
            Some(id) => format!("read on with {READER} {{\"id\":\"{id}\",\"offset\":{head}}}"),
            None => "the whole could not be kept: ask for less".to_owned(),
        };
        format!("{first}\n[… cut: bytes {head} to {tail} of {size} are not shown; {more} …]\n{last}")
    }

    async fn put(&self, mime: String, bytes: Bytes, presented: &mut Presented) -> Option<ArtifactId> {
        let id = ArtifactId::mint(self.randomness);
        let size_bytes = bytes.len() as u64;
        match self.store.put(Artifact { id: id.clone(), mime: mime.clone(), bytes }).await {
            Ok(()) => {
                presented.artifacts.push(ArtifactRef { id: id.clone(), mime, size_bytes });
                Some(id)
            }
            Err(error) => {
                tracing::warn!(%error, "a part of a result is lost");
                None
            }
        }
    }
}

/// Whether a text is the structured result once more, as the protocol advises servers to do.
fn says(text: &str, structured: &Value) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok_and(|v| v == *structured)
}

/// Control characters are shown as symbols: some providers refuse a request that holds them.
fn visible(text: String) -> String {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(is_control) {
        return text;
    }
    let show = |c: char| match u32::from(c) {
        0x7f => '\u{2421}',
        code if is_control(c) && code < 0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        _ if is_control(c) => '\u{fffd}',
        _ => c,
    };
    text.chars().map(show).collect()
}
