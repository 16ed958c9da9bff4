//! Holds the layer table of `ARCHITECTURE.md` against what the manifests say, and that money has one meter against the
//! sources.

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
    ("cost", &[]),
    ("library", &["corpus", "retrieval", "model", "gate"]),
    ("answer", &["retrieval", "corpus", "model", "gate"]),
    ("agent", &["corpus", "retrieval", "model", "gate", "answer", "mcp"]),
    ("handover", &["mcp"]),
    ("leave", &["mcp"]),
    ("store", &["corpus", "retrieval", "model", "gate", "library", "answer", "agent"]),
    (
        "service",
        &["corpus", "retrieval", "model", "gate", "cost", "library", "answer", "agent", "mcp", "handover", "store"],
    ),
    (
        "cli",
        &[
            "corpus",
            "retrieval",
            "model",
            "mcp",
            "gate",
            "cost",
            "handover",
            "leave",
            "library",
            "answer",
            "agent",
            "store",
            "service",
        ],
    ),
];

/// What tests may use beside the above.
const TESTS_MAY_USE: &[&str] = &["store", "leave"];

/// Libraries that only one crate, or a few, may know.
const CONFINED: &[(&str, &[&str])] = &[
    ("sqlx", &["store", "leave"]),
    ("tantivy", &["retrieval"]),
    ("axum", &["mcp", "service", "cli"]),
    ("reqwest", &["model", "mcp", "cli"]),
    ("rmcp", &["mcp"]),
    ("sse-stream", &["handover", "mcp"]),
    ("clap", &["cli"]),
    ("rust_decimal", &["cost"]),
    ("jsonschema", &["agent", "mcp"]),
    ("tokio", &["agent", "gate", "handover", "leave", "model", "mcp", "library", "answer", "store", "service", "cli"]),
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

/// Every source of a crate beside its tests: path under `crates/`, and text without what only tests compile.
fn sources() -> Vec<(String, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<_> = MAY_USE.iter().map(|(name, _)| root.join(name).join("src")).collect();
    let (mut sources, mut tests) = (Vec::new(), BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let (text, modules) = without_tests(&std::fs::read_to_string(&path).unwrap());
                let children = match path.file_stem().unwrap().to_str().unwrap() {
                    "lib" | "main" | "mod" => path.parent().unwrap().to_owned(),
                    _ => path.with_extension(""),
                };
                tests.extend(modules.into_iter().map(|module| children.join(module)));
                sources.push((path, text));
            }
        }
    }
    let is_test = |path: &std::path::Path| path.with_extension("").ancestors().any(|part| tests.contains(part));
    let named = |path: &std::path::Path| path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
    let mut sources: Vec<_> =
        sources.into_iter().filter(|(path, _)| !is_test(path)).map(|(path, text)| (named(&path), text)).collect();
    sources.sort();
    sources
}

/// A formatted source without the items under `#[cfg(test)]`, and the names of the modules among them that are files.
fn without_tests(source: &str) -> (String, Vec<String>) {
    let (mut kept, mut modules) = (String::new(), Vec::new());
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        // An item ends at its first line that closes it as deep as it begins.
        let ends = |line: &str| {
            let inner = line.strip_prefix(indent).filter(|inner| !inner.starts_with([' ', '#', '/']));
            inner.is_some_and(|inner| inner.starts_with('}') || inner.ends_with([';', ',', '}']))
        };
        for line in lines.by_ref() {
            let module = line.trim().strip_suffix(';').and_then(|line| line.rsplit_once("mod "));
            modules.extend(module.map(|(_, name)| name.to_owned()));
            if ends(line) {
                break;
            }
        }
    }
    (kept, modules)
}

#[test]
fn what_only_tests_compile_is_left_out() {
    let source = "#[cfg(test)]\nmod testing;\nmod a;\n\nimpl A {\n    #[cfg(test)]\n    fn b() {\n        if c {\n        }\n    }\n\n    \
                  fn d() {}\n}\n\n#[cfg(test)]\n#[expect(x)]\nmod tests {\n    fn e() {}\n}\nfn f() {}\n";
    let kept = "mod a;\n\nimpl A {\n\n    fn d() {}\n}\n\nfn f() {}\n";
    assert_eq!(without_tests(source), (kept.to_owned(), vec!["testing".to_owned()]));
    let sources = sources();
    for (name, is_there) in [
        ("gate/src/gate.rs", true),
        ("cli/src/main.rs", true),
        ("gate/src/testing.rs", false),
        ("gate/src/tests/ring.rs", false),
    ] {
        assert_eq!(sources.iter().any(|(path, _)| path == name), is_there, "{name}");
    }
}

#[test]
fn there_is_one_meter() {
    let mention = |words: &str| -> Vec<String> {
        let mentions = sources().into_iter().filter(|(_, text)| text.contains(words));
        mentions.map(|(path, _)| path).collect()
    };
    assert_eq!(mention("CountingMeter"), ["model/src/counting.rs", "model/src/lib.rs"]);
    assert_eq!(mention("Meter for "), ["answer/src/meter.rs", "model/src/counting.rs"]);
}
