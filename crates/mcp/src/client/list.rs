//! All tools of a server, page by page, within bounds.

use std::collections::HashSet;

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use serde_json::Value;

use super::{
    CallOptions, McpError, RemoteTool,
    connection::Connection,
    trouble::{Asked, Trouble},
};

impl Connection {
    /// Not rmcp's own listing: that follows a cursor for ever, and shows an old list when a server fails.
    pub(super) async fn list_tools(&self, how: &CallOptions) -> Result<Vec<RemoteTool>, Trouble> {
        let server = || self.server.clone();
        let asked = Asked { server: &self.server, tool: "tools/list" };
        let endless = |why: String| Trouble::Final(McpError::EndlessList { server: server(), why });
        let (max_tools, max_bytes) = (self.options.max_tools, self.options.max_list_bytes);
        let mut tools: Vec<RemoteTool> = Vec::new();
        let (mut names, mut cursors) = (HashSet::new(), HashSet::new());
        let (mut cursor, mut bytes): (Option<String>, usize) = (None, 0);
        // A page may be empty, but there is no use for more pages than tools.
        for _page in 0..=max_tools {
            let params = cursor.clone().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let request = ListToolsRequest { params, ..ListToolsRequest::default() };
            let page = match self.request(ClientRequest::ListToolsRequest(request), asked, how).await? {
                ServerResult::ListToolsResult(list) => serde_json::to_value(list).unwrap_or_default(),
                // One odd tool must not hide the others.
                ServerResult::CustomResult(custom) => custom.0,
                _ => Value::Null,
            };
            let Some(entries) = page.get("tools").and_then(Value::as_array) else {
                return Err(Trouble::Final(McpError::NotMcp { server: server(), why: "it lists no tools".to_owned() }));
            };
            for entry in entries {
                bytes += entry.to_string().len();
                if bytes > max_bytes {
                    return Err(Trouble::Final(McpError::ListTooLarge { server: server(), limit: max_bytes }));
                }
                match RemoteTool::read(entry) {
                    Some(tool) if names.insert(tool.name.clone()) => tools.push(tool),
                    Some(tool) => tracing::warn!(server = self.server, tool = tool.name, "a tool is listed twice"),
                    None => tracing::warn!(server = self.server, "a tool without a name is left out"),
                }
                if tools.len() > max_tools {
                    return Err(Trouble::Final(McpError::TooManyTools { server: server(), limit: max_tools }));
                }
            }
            match page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()) {
                None => return Ok(tools),
                Some(next) if !cursors.insert(next.to_owned()) => {
                    return Err(endless("a page points back to an earlier one".to_owned()));
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        Err(endless(format!("more than {max_tools} pages")))
    }
}
