//! Clients whose configuration is JSON: an object of servers by name.

use serde::Serialize;

use super::{entry::Entry, ordered::Ordered};

/// The text with the server in it, under `servers`. An empty text is an empty object.
pub(super) fn add(before: &str, servers: &str, entry: &Entry, names_transport: bool) -> Result<String, String> {
    let text = before.trim_start_matches('\u{feff}');
    let parsed = if text.trim().is_empty() { Ok(Ordered::Object(Vec::new())) } else { serde_json::from_str(text) };
    let mut whole: Ordered = parsed.map_err(|error| format!("this is not plain JSON ({error})"))?;
    let Ordered::Object(fields) = &mut whole else { return Err("this is JSON, but no object".to_owned()) };
    let listed = Ordered::entry(fields, servers, Ordered::Object(Vec::new()));
    let Ordered::Object(listed) = listed else { return Err(format!("{servers} is no object")) };
    let server = Ordered::Object(server(entry, names_transport));
    *Ordered::entry(listed, &entry.name, Ordered::Object(Vec::new())) = server;
    let mut bytes = Vec::new();
    let indent = indent(text);
    let pretty = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, pretty);
    whole.serialize(&mut serializer).map_err(|error| error.to_string())?;
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn server(entry: &Entry, names_transport: bool) -> Vec<(String, Ordered)> {
    let mut fields = Vec::new();
    if names_transport {
        fields.push(("type".to_owned(), Ordered::text("stdio")));
    }
    fields.push(("command".to_owned(), Ordered::text(&entry.command)));
    let arguments = entry.arguments.iter().map(|word| Ordered::text(word)).collect();
    fields.push(("args".to_owned(), Ordered::Array(arguments)));
    if let Some(key) = &entry.key {
        fields.push(("env".to_owned(), Ordered::Object(vec![("BYLAW_KEY".to_owned(), Ordered::text(key))])));
    }
    fields
}

/// How the file is indented: by what its first indented line begins with.
fn indent(text: &str) -> String {
    let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let first = text.lines().find(|line| blank(line) > 0 && !line.trim().is_empty());
    first.map_or_else(|| "  ".to_owned(), |line| line[..blank(line)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::entry::sample, *};

    #[test]
    fn a_server_is_put_among_others_and_nothing_else_changes() {
        let before = "{\n    \"theme\": \"dark\",\n    \"mcpServers\": {\n        \"zebra\": { \"command\": \"z\", \"args\": [1, 2.5, null, true] }\n    },\n    \"a\": \"中\"\n}\n";
        insta::assert_snapshot!(add(before, "mcpServers", &sample(), false).unwrap());
    }

    #[test]
    fn what_was_there_under_the_name_is_replaced() {
        let once = add("{\"servers\":{\"bylaw\":{\"url\":\"http://old\"}}}", "servers", &sample(), true).unwrap();
        assert_eq!(add(&once, "servers", &sample(), true).unwrap(), once, "twice is once");
        assert!(!once.contains("old") && once.contains("\"type\": \"stdio\""), "{once}");
    }

    #[test]
    fn an_empty_file_is_an_empty_object() {
        for before in ["", " \n", "\u{feff}{}"] {
            let text = add(before, "mcpServers", &sample(), false).unwrap();
            assert!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["mcpServers"]["bylaw"].is_object());
        }
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for (before, problem) in [
            ("{ // mine\n}", "not plain JSON"),
            ("[]", "no object"),
            ("{\"mcpServers\": []}", "mcpServers is no object"),
            ("{\"a\": 1,}", "not plain JSON"),
        ] {
            let refused = add(before, "mcpServers", &sample(), false).unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
