//! The server of tools, and what goes wrong with it.

use serde_json::{Value, json};

use super::super::{
    super::tool_server::{Done, UNKNOWN, failed, greeting, said},
    case::Case,
    ended::Seen,
};

/// Answers a request, whatever its case does to it. `session` is the one that it claims.
pub(super) fn answer(case: Option<Case>, seen: &mut Seen, request: &Value, session: &str) -> Done {
    let method = request["method"].as_str().unwrap_or_default();
    if case == Some(Case::Session404) && method != "initialize" && !seen.exec.is_empty() && session.ends_with("-1") {
        return Done::Status(404);
    }
    match method {
        "initialize" => {
            seen.inits += 1;
            greeting("faults", &request["params"])
        }
        "ping" => Done::Result(json!({})),
        "tools/list" => Done::Result(list(case, &request["params"])),
        "tools/call" => {
            let params = &request["params"];
            let name = params["name"].as_str().unwrap_or_default().to_owned();
            if case.is_some() {
                seen.exec.push((name.clone(), params["arguments"].clone()));
            }
            call(case, &name, seen.exec.len())
        }
        _ => UNKNOWN,
    }
}

fn list(case: Option<Case>, params: &Value) -> Value {
    let search = json!({
        "type": "object", "required": ["keyword"], "additionalProperties": false,
        "properties": { "keyword": { "type": "string", "description": "a word of its title" } },
    });
    let update = json!({
        "type": "object", "required": ["leave_id", "status"],
        "properties": {
            "leave_id": { "type": "string" }, "status": { "type": "string", "enum": ["draft", "submitted"] },
        },
    });
    let nothing = json!({ "type": "object", "properties": {} });
    let tool = |name: &str, schema: &Value| json!({ "name": name, "description": name, "inputSchema": schema });
    let mut tools = vec![tool("search_leaves", &search), tool("update_leave_status", &update)];
    match case {
        Some(Case::PageTwo) if params["cursor"] == "2" => {
            return json!({ "tools": [tool("page_two_tool", &nothing)] });
        }
        Some(Case::PageTwo) => return json!({ "tools": tools, "nextCursor": "2" }),
        Some(Case::EmptyArgs) => tools.push(tool("ping_hr", &nothing)),
        Some(Case::NoProperties) => tools.push(json!({ "name": "ping_hr", "inputSchema": { "type": "object" } })),
        Some(Case::LongDottedName) => tools
            .push(tool("hr.leave/search_by_keyword_in_the_archive_of_all_previous_years_and_departments_v2", &search)),
        Some(_) | None => {}
    }
    json!({ "tools": tools })
}

/// What a tool says; this is the `count`th call.
fn call(case: Option<Case>, name: &str, count: usize) -> Done {
    let is_update = name == "update_leave_status";
    match case {
        Some(Case::ParallelOneError) if is_update => failed("409 not allowed from draft"),
        Some(Case::ParallelOneRpcError) if is_update => {
            Done::Error { code: -32603, message: "internal error: db down" }
        }
        Some(Case::Mcp500) if count == 1 => Done::Status(500),
        Some(Case::Hang) => Done::Nothing,
        Some(Case::StructuredOnly) => Done::Result(
            json!({ "content": [], "structuredContent": { "items": [{ "id": "LV-7f3a91" }] }, "isError": false }),
        ),
        Some(Case::ImageResult) => {
            let image = json!({ "type": "image", "data": "QUJD".repeat(20_000), "mimeType": "image/png" });
            let text = json!({ "type": "text", "text": "a picture" });
            Done::Result(json!({ "content": [text, image], "isError": false }))
        }
        Some(Case::HugeResult) => said(&"x".repeat(2_000_000)),
        Some(_) | None => said(r#"[{"id": "LV-7f3a91", "status": "draft"}]"#),
    }
}
