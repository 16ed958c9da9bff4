//! A report as a table of two columns: the path of each figure, and the figure.

use serde::Serialize;
use serde_json::Value;

/// Writes each value of a report in a line of its own, `break_even.steps.0.from,45426.42`, after a line of titles. Text that
/// a spreadsheet would take for a formula gets an apostrophe before it.
#[must_use]
pub fn csv(report: &impl Serialize) -> String {
    let mut lines = "figure,value\n".to_owned();
    if let Ok(value) = serde_json::to_value(report) {
        walk("", &value, &mut lines);
    }
    lines
}

fn walk(path: &str, value: &Value, lines: &mut String) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| walk(&below(name), value, lines)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| walk(&below(&index.to_string()), value, lines));
        }
        Value::Null => lines.push_str(&format!("{path},\n")),
        Value::Bool(_) | Value::Number(_) => lines.push_str(&format!("{path},{value}\n")),
        Value::String(text) => lines.push_str(&format!("{path},{}\n", quoted(text))),
    }
}

fn quoted(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err() { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) || !guard.is_empty() {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
