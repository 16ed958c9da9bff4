//! Clients whose configuration is TOML: one table for each server.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::entry::Entry;

/// The text with the server in it. Comments and order stay.
pub(super) fn add(before: &str, entry: &Entry) -> Result<String, String> {
    let mut whole: DocumentMut = before.parse().map_err(|error| format!("this is not TOML ({error})"))?;
    let servers = whole.entry("mcp_servers").or_insert_with(|| {
        let mut servers = Table::new();
        // Only its tables are written, not a head of its own.
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_mut().ok_or("mcp_servers is no table")?;
    let mut server = Table::new();
    server["command"] = value(entry.command.as_str());
    server["args"] = value(entry.arguments.iter().map(String::as_str).collect::<Array>());
    if let Some(key) = &entry.key {
        let mut environment = Table::new();
        environment["BYLAW_KEY"] = value(key.as_str());
        server["env"] = Item::Table(environment);
    }
    servers.insert(&entry.name, Item::Table(server));
    Ok(whole.to_string())
}

#[cfg(test)]
mod tests {
    use super::{super::entry::sample, *};

    #[test]
    fn a_table_is_put_among_others_and_comments_stay() {
        let before = "# mine\nmodel = \"o3\" # the good one\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = \"dark\"\n";
        let text = add(before, &sample()).unwrap();
        insta::assert_snapshot!(text);
        assert_eq!(add(&text, &sample()).unwrap(), text, "twice is once");
        text.parse::<toml::Table>().unwrap();
    }

    #[test]
    fn an_empty_file_gets_one_table() {
        insta::assert_snapshot!(add("", &sample()).unwrap());
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for (before, problem) in [("a = ", "not TOML"), ("mcp_servers = 1", "no table")] {
            assert!(add(before, &sample()).unwrap_err().contains(problem));
        }
    }
}
