//! The fields that a server's question asks for, read from its JSON Schema, and what a person may write into each.

use serde_json::{Map, Number, Value};

/// One value that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) required: bool,
    pub(super) default: Option<Value>,
    pub(super) kind: Kind,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Text { least: usize, most: Option<usize>, format: Option<Format> },
    Number { whole: bool, least: Option<f64>, most: Option<f64> },
    YesOrNo,
    One(Vec<Choice>),
    Some { of: Vec<Choice>, least: usize, most: Option<usize> },
}

/// One of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) title: Option<String>,
}

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

/// What is wrong with what was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wrong {
    Missing,
    TooShort(usize),
    TooLong(usize),
    No(Format),
    NoNumber,
    NotWhole,
    TooSmall(f64),
    TooLarge(f64),
    NeitherYesNorNo,
    NoChoice(usize),
    TooFew(usize),
    TooMany(usize),
}

/// The fields of a schema, those that are required first. Fails with the name of a field that nobody could fill in here.
pub(super) fn fields(schema: &Value) -> Result<Vec<Field>, String> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Vec::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let text = |key: &str| property[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        fields.push(Field {
            name: name.clone(),
            title: text("title"),
            description: text("description"),
            required: required.contains(&name.as_str()),
            default: property.get("default").filter(|value| !value.is_null()).cloned(),
            kind: kind(property).ok_or_else(|| name.clone())?,
        });
    }
    fields.sort_by_key(|field| !field.required);
    Ok(fields)
}

fn kind(property: &Value) -> Option<Kind> {
    let size = |key: &str| property[key].as_u64().and_then(|n| usize::try_from(n).ok());
    // A union with null is an optional value.
    let named = match &property["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        other => other.as_str(),
    };
    if let Some(choices) = choices(property) {
        return Some(Kind::One(choices));
    }
    match named? {
        "string" => Some(Kind::Text {
            least: size("minLength").unwrap_or(0),
            most: size("maxLength"),
            format: match property["format"].as_str() {
                Some("email") => Some(Format::Email),
                Some("uri") => Some(Format::Uri),
                Some("date") => Some(Format::Date),
                Some("date-time") => Some(Format::DateTime),
                _ => None,
            },
        }),
        name @ ("number" | "integer") => Some(Kind::Number {
            whole: name == "integer",
            least: property["minimum"].as_f64(),
            most: property["maximum"].as_f64(),
        }),
        "boolean" => Some(Kind::YesOrNo),
        "array" => Some(Kind::Some {
            of: choices(&property["items"])?,
            least: size("minItems").unwrap_or(0),
            most: size("maxItems"),
        }),
        _ => None,
    }
}

fn choices(property: &Value) -> Option<Vec<Choice>> {
    if let Some(values) = property["enum"].as_array() {
        let names = property["enumNames"].as_array();
        let choice = |(at, value): (usize, &Value)| {
            let title = names.and_then(|names| names.get(at)).and_then(Value::as_str).map(str::to_owned);
            value.as_str().map(|value| Choice { value: value.to_owned(), title })
        };
        return values.iter().enumerate().map(choice).collect();
    }
    let titled = property["oneOf"].as_array().or_else(|| property["anyOf"].as_array())?;
    let choice = |option: &Value| {
        let value = option["const"].as_str()?.to_owned();
        Some(Choice { value, title: option["title"].as_str().map(str::to_owned) })
    };
    titled.iter().map(choice).collect()
}

impl Field {
    /// What it is called, for a person.
    pub(super) fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Reads what a person wrote; nothing for a field that is left out.
    pub(super) fn read(&self, written: &str) -> Result<Option<Value>, Wrong> {
        let written = narrow(written.trim());
        if written.is_empty() {
            return match (&self.default, self.required, &self.kind) {
                (Some(default), _, _) => Ok(Some(default.clone())),
                (None, false, _) => Ok(None),
                // An empty text is a text.
                (None, true, Kind::Text { least: 0, format: None, .. }) => Ok(Some(Value::from(""))),
                (None, true, Kind::Some { least: 0, .. }) => Ok(Some(Value::Array(Vec::new()))),
                (None, true, _) => Err(Wrong::Missing),
            };
        }
        self.kind.read(&written).map(Some)
    }
}

impl Kind {
    fn read(&self, written: &str) -> Result<Value, Wrong> {
        match self {
            Self::Text { least, most, format } => {
                let length = written.chars().count();
                if length < *least {
                    return Err(Wrong::TooShort(*least));
                }
                if let Some(most) = most.filter(|most| length > *most) {
                    return Err(Wrong::TooLong(most));
                }
                match format.filter(|format| !format.fits(written)) {
                    Some(format) => Err(Wrong::No(format)),
                    None => Ok(Value::from(written)),
                }
            }
            Self::Number { whole, least, most } => {
                let number: Number =
                    serde_json::from_str(written.trim_start_matches('+')).map_err(|_| Wrong::NoNumber)?;
                let value = number.as_f64().ok_or(Wrong::NoNumber)?;
                if *whole && !(number.is_i64() || number.is_u64()) {
                    return Err(Wrong::NotWhole);
                }
                if let Some(least) = least.filter(|least| value < *least) {
                    return Err(Wrong::TooSmall(least));
                }
                match most.filter(|most| value > *most) {
                    Some(most) => Err(Wrong::TooLarge(most)),
                    None => Ok(Value::Number(number)),
                }
            }
            Self::YesOrNo => yes_or_no(written).map(Value::from).ok_or(Wrong::NeitherYesNorNo),
            Self::One(choices) => Ok(chosen(choices, written)?.into()),
            Self::Some { of, least, most } => {
                let mut values: Vec<&str> = Vec::new();
                for part in written.split([',', '、', ';']).map(str::trim).filter(|part| !part.is_empty()) {
                    let value = chosen(of, part)?;
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                if values.len() < *least {
                    return Err(Wrong::TooFew(*least));
                }
                match most.filter(|most| values.len() > *most) {
                    Some(most) => Err(Wrong::TooMany(most)),
                    None => Ok(values.into()),
                }
            }
        }
    }
}

impl Format {
    fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => {
                text.split_once('@')
                    .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
                    && !text.contains(char::is_whitespace)
            }
            Self::Uri => reqwest::Url::parse(text).is_ok(),
            Self::Date => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
            Self::DateTime => text.parse::<jiff::Timestamp>().is_ok(),
        }
    }
}

/// The choice that is named by its number, its value or its title.
fn chosen<'c>(choices: &'c [Choice], written: &str) -> Result<&'c str, Wrong> {
    let is_meant = |choice: &&Choice| {
        let names = [Some(&choice.value), choice.title.as_ref()];
        names.into_iter().flatten().any(|name| name.eq_ignore_ascii_case(written))
    };
    // A value goes before a number: choices may be numbers themselves.
    let by_name = choices.iter().find(is_meant);
    let by_number = || written.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    by_name.or_else(by_number).map(|choice| choice.value.as_str()).ok_or(Wrong::NoChoice(choices.len()))
}

fn yes_or_no(written: &str) -> Option<bool> {
    match written.to_lowercase().as_str() {
        "y" | "yes" | "true" | "1" | "是" | "對" | "好" | "要" => Some(true),
        "n" | "no" | "false" | "0" | "否" | "不" | "不是" | "不要" => Some(false),
        _ => None,
    }
}

/// Full-width digits, letters and signs as an input method writes them, in their usual width.
pub(super) fn narrow(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            c => c,
        })
        .collect()
}

/// The object that answers, from the fields that were filled in.
pub(super) fn object(filled: Vec<(String, Value)>) -> Value {
    Value::Object(Map::from_iter(filled))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(property: &Value, required: bool) -> Field {
        let required: &[&str] = if required { &["x"] } else { &[] };
        fields(&json!({ "properties": { "x": property }, "required": required })).unwrap().remove(0)
    }

    #[test]
    fn what_is_written_is_read_by_the_schema_or_said_to_be_wrong() {
        let check = |property: Value, written: &str, expected: Result<Value, Wrong>| {
            assert_eq!(field(&property, true).read(written).map(Option::unwrap_or_default), expected, "{written}");
        };
        check(json!({ "type": "string" }), " 家庭照顧 ", Ok(json!("家庭照顧")));
        check(json!({ "type": "string" }), "", Ok(json!("")));
        check(json!({ "type": "string", "minLength": 2 }), "", Err(Wrong::Missing));
        check(json!({ "type": "string", "minLength": 3 }), "家庭", Err(Wrong::TooShort(3)));
        check(json!({ "type": "string", "maxLength": 1 }), "家庭", Err(Wrong::TooLong(1)));
        check(json!({ "type": "string", "format": "email" }), "a@b", Ok(json!("a@b")));
        check(json!({ "type": "string", "format": "email" }), "a.b", Err(Wrong::No(Format::Email)));
        check(json!({ "type": "string", "format": "uri" }), "https://a/b", Ok(json!("https://a/b")));
        check(json!({ "type": "string", "format": "uri" }), "a b", Err(Wrong::No(Format::Uri)));
        check(json!({ "type": "string", "format": "date" }), "2026-02-28", Ok(json!("2026-02-28")));
        check(json!({ "type": "string", "format": "date" }), "2026-02-30", Err(Wrong::No(Format::Date)));
        check(
            json!({ "type": "string", "format": "date-time" }),
            "2026-02-28T08:00:00+08:00",
            Ok(json!("2026-02-28T08:00:00+08:00")),
        );
        check(json!({ "type": "string", "format": "date-time" }), "2026-02-28", Err(Wrong::No(Format::DateTime)));
        check(json!({ "type": "integer" }), "３", Ok(json!(3)));
        check(json!({ "type": "integer" }), "+3", Ok(json!(3)));
        check(json!({ "type": "integer" }), "3.5", Err(Wrong::NotWhole));
        check(json!({ "type": "number" }), "3.5", Ok(json!(3.5)));
        check(json!({ "type": "number" }), "三", Err(Wrong::NoNumber));
        check(json!({ "type": "number", "minimum": 1, "maximum": 7 }), "0.5", Err(Wrong::TooSmall(1.0)));
        check(json!({ "type": "number", "minimum": 1, "maximum": 7 }), "8", Err(Wrong::TooLarge(7.0)));
        check(json!({ "type": ["boolean", "null"] }), "是", Ok(json!(true)));
        check(json!({ "type": "boolean" }), "N", Ok(json!(false)));
        check(json!({ "type": "boolean" }), "maybe", Err(Wrong::NeitherYesNorNo));
        let status = json!({ "type": "string", "enum": ["draft", "sent"], "enumNames": ["草稿", "送出"] });
        for written in ["2", "２", "sent", "送出", "SENT"] {
            check(status.clone(), written, Ok(json!("sent")));
        }
        check(status, "3", Err(Wrong::NoChoice(2)));
        check(json!({ "type": "string", "enum": ["2", "1"] }), "1", Ok(json!("1")));
        check(json!({ "oneOf": [{ "const": "a", "title": "甲" }] }), "甲", Ok(json!("a")));
        let some = json!({ "type": "array", "minItems": 1, "maxItems": 2, "items": { "enum": ["a", "b", "c"] } });
        check(some.clone(), "1、c，a", Ok(json!(["a", "c"])));
        check(some.clone(), "", Err(Wrong::Missing));
        check(some, "a,b,c", Err(Wrong::TooMany(2)));
    }

    #[test]
    fn what_is_left_out_is_the_default_or_nothing() {
        let check = |property: Value, required: bool, expected: Result<Option<Value>, Wrong>| {
            assert_eq!(field(&property, required).read(" "), expected);
        };
        check(json!({ "type": "integer", "default": 7 }), true, Ok(Some(json!(7))));
        check(json!({ "type": "integer" }), false, Ok(None));
        check(json!({ "type": "integer" }), true, Err(Wrong::Missing));
    }

    #[test]
    fn required_fields_come_first_and_what_nobody_can_fill_in_is_named() {
        let schema =
            json!({ "properties": { "a": { "type": "string" }, "z": { "type": "string" } }, "required": ["z"] });
        let names: Vec<_> = fields(&schema).unwrap().into_iter().map(|field| field.name).collect();
        assert_eq!(names, ["z", "a"]);
        assert_eq!(fields(&json!({ "properties": { "deep": { "type": "object" } } })), Err("deep".to_owned()));
        assert_eq!(fields(&json!({ "type": "object" })), Ok(Vec::new()));
    }
}
