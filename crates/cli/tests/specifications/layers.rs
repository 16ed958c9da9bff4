//! Holds the layer table of `ARCHITECTURE.md` against what the manifests say.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, MetadataCommand};

/// Crate → the crates of ours that it may use; `contract` is open to all. The same table stands in ARCHITECTURE.md.
const MAY_USE: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("corpus", &[]),
    ("retrieval", &["corpus"]),
    ("model", &[]),
    ("mcp", &[]),
    ("gate", &[]),
    ("library", &["corpus", "retrieval", "model", "gate"]),
    ("answer", &["retrieval", "corpus", "model", "gate"]),
    ("agent", &["corpus", "retrieval", "model", "gate", "answer", "mcp"]),
    ("store", &["corpus", "retrieval", "model", "gate", "library", "answer"]),
    ("service", &["corpus", "retrieval", "model", "gate", "library", "answer", "store"]),
    ("cli", &["corpus", "retrieval", "model", "gate", "library", "answer", "store", "service"]),
];

/// What tests may use beside the above.
const TESTS_MAY_USE: &[&str] = &["store"];

/// Libraries that only one crate, or a few, may know.
const CONFINED: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("tantivy", &["retrieval"]),
    ("axum", &["service", "cli"]),
    ("reqwest", &["model", "mcp", "cli"]),
    ("rmcp", &["mcp"]),
    ("sse-stream", &["mcp"]),
    ("clap", &["cli"]),
    ("jsonschema", &["agent"]),
    ("tokio", &["agent", "gate", "model", "mcp", "library", "answer", "store", "service", "cli"]),
];

fn crates() -> BTreeMap<String, Vec<(String, DependencyKind)>> {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let name = |package: &str| package.strip_prefix("bylaw-").unwrap_or(package).to_owned();
    metadata
        .workspace_packages()
        .into_iter()
        .map(|package| {
            let dependencies = package.dependencies.iter().map(|d| (d.name.clone(), d.kind)).collect();
            (name(&package.name), dependencies)
        })
        .collect()
}

#[test]
fn arrows_between_crates_point_down_only() {
    let table: BTreeMap<&str, BTreeSet<&str>> =
        MAY_USE.iter().map(|(name, uses)| (*name, uses.iter().copied().chain(["contract"]).collect())).collect();
    for (name, dependencies) in crates() {
        let allowed = table.get(name.as_str()).unwrap_or_else(|| panic!("crate {name} is not in the layer table"));
        for (dependency, kind) in dependencies {
            let Some(used) = dependency.strip_prefix("bylaw-") else { continue };
            let is_test = kind == DependencyKind::Development;
            assert!(
                allowed.contains(used) || (is_test && TESTS_MAY_USE.contains(&used)),
                "{name} must not use {used}: ARCHITECTURE.md, layer table"
            );
        }
    }
}

#[test]
fn every_crate_of_the_table_exists_one_level_down_under_its_own_name() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, _) in MAY_USE {
        let manifest = std::fs::read_to_string(root.join(name).join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("name = \"bylaw-{name}\"")), "{name}");
    }
    assert_eq!(crates().len(), MAY_USE.len());
}

#[test]
fn heavy_libraries_stay_where_they_belong() {
    for (name, dependencies) in crates() {
        for (library, owners) in CONFINED {
            let uses = dependencies.iter().any(|(d, kind)| d == library && *kind != DependencyKind::Development);
            assert!(!uses || owners.contains(&name.as_str()), "{name} must not use {library}");
        }
    }
}

#[test]
fn the_table_in_the_map_is_the_table_that_is_tested() {
    let map = include_str!("../../../../ARCHITECTURE.md");
    for (name, uses) in MAY_USE {
        let expected = if uses.is_empty() { "–".to_owned() } else { uses.join(", ") };
        let row = format!("| `{name}` | {expected} |");
        assert!(map.contains(&row), "ARCHITECTURE.md lacks the row: {row}");
    }
}
