//! JSON Schemas, portable ones: objects with one type each and nothing referred to.

use serde_json::{Map, Value, json};

/// A string.
pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

/// An object with these properties, of which the first few are required.
pub(super) fn object(properties: &[(&str, Value)], required: usize) -> Value {
    let required: Vec<&str> = properties.iter().take(required).map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

pub(super) fn leave_id() -> (&'static str, Value) {
    ("leave_id", text("The id as a look-up showed it: LV- and six hexadecimal digits. Never guess one."))
}

pub(super) fn version() -> (&'static str, Value) {
    let description = "The version that was shown; refused if the leave has changed since. Optional.";
    ("version", json!({ "type": "integer", "minimum": 1, "maximum": 4_294_967_295_u32, "description": description }))
}

pub(super) fn once() -> (&'static str, Value) {
    let description = "A name of your own for this one write, so that it can be sent again safely. Optional.";
    ("idempotency_key", text(description))
}

pub(super) fn leave_fields() -> Vec<(&'static str, Value)> {
    vec![
        ("type", text("The leave type, by its id or any name: annual, 特休, 病假. See list_leave_types.")),
        ("title", text("What the person calls it, at most 60 characters.")),
        ("start", text("First day as 2026-03-01, or moment as 2026-03-01T09:00, on the company's clock.")),
        ("end", text("Last day as 2026-03-01, or moment as 2026-03-01T18:00.")),
        ("reason", text("Why, at most 500 characters. Optional.")),
        ("deputy", text("Who stands in: employee id or full name. Optional; the usual person unless given.")),
        (
            "event_date",
            text("For marriage, bereavement, maternity, paternity and prenatal leave: the day of the event."),
        ),
        ("event_case", text("Which case of such a type, such as parent. See list_leave_types.")),
    ]
}

/// A leave as tools show it.
pub(super) fn leave() -> Value {
    let next = json!({
        "type": "object",
        "properties": {
            "status": { "type": "string" },
            "by": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["status", "by"],
    });
    let event = json!({
        "type": "object",
        "properties": { "on": { "type": "string" }, "case": { "type": "string" } },
        "required": ["on", "case"],
    });
    let string = || json!({ "type": "string" });
    json!({
        "type": "object",
        "properties": {
            "leave_id": string(), "title": string(), "type": string(), "type_name": string(), "status": string(),
            "status_name": string(), "start": string(), "end": string(), "amount": string(),
            "minutes": { "type": "integer" }, "applicant": string(), "applicant_name": string(), "deputy": string(),
            "deputy_name": string(), "deputy_agreed": { "type": "boolean" }, "reason": string(), "event": event,
            "version": { "type": "integer" }, "next": { "type": "array", "items": next },
            "remarks": { "type": "array", "items": string() },
        },
        "required": [
            "leave_id", "title", "type", "type_name", "status", "status_name", "start", "end", "amount", "minutes",
            "applicant", "applicant_name", "deputy_agreed", "reason", "version", "next",
        ],
    })
}

/// Several leaves.
pub(super) fn leaves() -> Value {
    json!({
        "type": "object",
        "properties": { "leaves": { "type": "array", "items": leave() }, "total": { "type": "integer" } },
        "required": ["leaves", "total"],
    })
}

/// A list under a name.
pub(super) fn list(name: &str) -> Value {
    json!({
        "type": "object",
        "properties": { name: { "type": "array", "items": { "type": "object" } } },
        "required": [name],
    })
}
