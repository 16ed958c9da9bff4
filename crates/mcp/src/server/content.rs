//! From our pieces of a result to those of the wire.

use base64::{Engine, prelude::BASE64_STANDARD};
use rmcp::model::{ContentBlock, Resource, ResourceContents};

use crate::client::{Content, ResourceBody};

pub(super) fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image { mime, bytes } => ContentBlock::image(BASE64_STANDARD.encode(bytes), mime),
        Content::Audio { mime, bytes } => ContentBlock::audio(BASE64_STANDARD.encode(bytes), mime),
        Content::Resource { uri, mime, body } => ContentBlock::resource(contents(uri, mime, body)),
        Content::Link { uri, name, description, mime } => {
            let mut link = Resource::new(uri, name);
            link.description = description;
            link.mime_type = mime;
            ContentBlock::resource_link(link)
        }
    }
}

pub(super) fn contents(uri: String, mime: Option<String>, body: ResourceBody) -> ResourceContents {
    match body {
        ResourceBody::Text(text) => ResourceContents::TextResourceContents { uri, mime_type: mime, text, meta: None },
        ResourceBody::Bytes(bytes) => ResourceContents::BlobResourceContents {
            uri,
            mime_type: mime,
            blob: BASE64_STANDARD.encode(bytes),
            meta: None,
        },
    }
}
