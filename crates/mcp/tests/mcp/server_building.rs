//! What may be offered.

use std::sync::Arc;

use async_trait::async_trait;
use bylaw_contract::Language;
use bylaw_mcp::{CallContext, ServerTool, ToolReply, ToolServer, ToolServerError, ToolSpec, ToolStop, Words};
use serde_json::{Value, json};

struct Offered(ToolSpec);

#[async_trait]
impl ServerTool for Offered {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }

    async fn call(&self, _call: CallContext) -> Result<ToolReply, ToolStop> {
        Ok(ToolReply::default())
    }
}

fn build(specs: impl IntoIterator<Item = ToolSpec>) -> Result<(), String> {
    let tools = specs.into_iter().map(|spec| Arc::new(Offered(spec)) as Arc<dyn ServerTool>);
    ToolServer::builder("s", "1").tools(tools).build().map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn a_schema_that_some_client_would_not_take_is_refused() {
    let with = |property: Value| json!({ "type": "object", "properties": { "a": property } });
    for (schema, expected) in [
        (json!(true), "the schema is no object"),
        (json!({ "type": "array" }), "the schema must have the type \"object\""),
        (json!({ "type": "object" }), "the schema must have `properties`"),
        (with(json!({ "$ref": "#/$defs/a" })), "`a` uses $ref, which not every client understands"),
        (with(json!({ "type": ["string", "null"] })), "`a` must have one type, not [\"string\",\"null\"]"),
        (with(json!({ "anyOf": [] })), "`a` uses anyOf, which not every client understands"),
        (with(json!({})), "`a` has no type"),
        (with(json!({ "type": "array" })), "`a` has no `items`"),
        (with(json!({ "type": "array", "items": {} })), "the items of `a` has no type"),
        (with(json!(true)), "`a` must be an object, not true"),
        (with(with(json!({ "oneOf": [] }))), "`a` uses oneOf, which not every client understands"),
    ] {
        let expected = Err(format!("the input schema of t: {expected}"));
        assert_eq!(build([ToolSpec::new("t", "").taking(schema.clone())]), expected, "{schema}");
    }
    let full = with(json!({ "type": "array", "items": { "enum": ["a", "b"] }, "maxItems": 3 }));
    assert_eq!(build([ToolSpec::new("t", "").taking(full)]), Ok(()));
    let nullable = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] } } });
    assert_eq!(build([ToolSpec::new("t", "").giving(nullable)]), Ok(()), "replies may be richer");
    let refused = build([ToolSpec::new("t", "").giving(json!({ "type": "string" }))]);
    assert_eq!(refused, Err("the output schema of t: the schema must have the type \"object\"".to_owned()));
}

#[test]
fn a_name_that_some_client_would_not_take_is_refused() {
    for name in ["", "a b", "查假單", "a/b", &"x".repeat(65)] {
        assert!(build([ToolSpec::new(name, "")]).is_err(), "{name}");
    }
    assert_eq!(build([ToolSpec::new("a", ""), ToolSpec::new("a", "")]), Err("a is offered twice".to_owned()));
    let twice =
        ToolServer::builder("s", "1").tool(Offered(ToolSpec::new("a", ""))).tool(Offered(ToolSpec::new("a", "")));
    assert!(matches!(twice.build(), Err(ToolServerError::Twice(_))));
}

#[test]
fn words_are_those_of_the_language_where_there_are_any() {
    let both = Words::new("leave", "請假");
    for (language, expected) in
        [(Language::English, "leave"), (Language::TraditionalChinese, "請假"), (Language::SimplifiedChinese, "請假")]
    {
        assert_eq!(both.in_language(language), expected);
        assert_eq!(Words::from("leave").in_language(language), "leave");
    }
}
