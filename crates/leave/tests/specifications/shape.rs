//! What each module must not know.

use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_domain_knows_neither_mcp_nor_sql_and_the_server_no_sql() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (module, forbidden) in [
        ("domain", ["bylaw_mcp", "rmcp", "sqlx", "crate::store", "crate::desk", "crate::server", "tokio"].as_slice()),
        ("desk", &["bylaw_mcp", "rmcp", "sqlx", "crate::store", "crate::server"]),
        ("store", &["bylaw_mcp", "rmcp", "crate::desk", "crate::server"]),
        ("server", &["sqlx", "crate::store"]),
    ] {
        let files = sources(&root.join(module));
        assert!(module == "server" || files.len() > 3, "{module} has moved");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for word in forbidden {
                assert!(!text.contains(word), "{} must not know {word}", file.display());
            }
        }
    }
}
