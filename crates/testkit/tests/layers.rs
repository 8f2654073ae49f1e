//! Tests that the layers hold: a crate depends only on crates below it, and every library that is
//! not ours has its reason in docs/dependencies.md. Dependencies and libraries are read from the
//! manifests, so that a new arrow fails a test and is discussed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The arrows of the design: each crate with the crates directly below it. A crate may use
/// everything that can be reached downward. `types`, `binlog` and `protocol` are pure: no arrow
/// leads from them to `os`.
const LAYERS: &[(&str, &[&str])] = &[
    ("os", &[]),
    ("types", &[]),
    ("binlog", &["types"]),
    ("redo", &["os"]),
    ("buffer", &["redo"]),
    ("btree", &["buffer"]),
    ("engine", &["btree", "binlog", "types"]),
    ("sql", &["engine"]),
    ("protocol", &["types"]),
    ("source", &["engine", "protocol"]),
    // A relay log is a series of binary log files, and the same code reads its events.
    ("replica", &["engine", "protocol", "sql", "source"]),
    ("bench", &["protocol", "os"]),
    // The tables on a terminal and the form of a server's address come from `bench`.
    ("analyze", &["bench", "binlog", "protocol"]),
    // The progress that a terminal shows comes from `bench`.
    ("attach", &["bench", "protocol", "os"]),
    // The tables on a terminal and the form of a server's address come from `bench`.
    ("status", &["bench", "binlog", "protocol"]),
    // The form of a server's address comes from `bench`.
    ("backup", &["bench", "binlog", "protocol", "os"]),
    // The form of a server's address comes from `bench`.
    ("switchover", &["bench", "binlog", "protocol", "os"]),
    ("testkit", &["bench", "binlog"]),
    ("server", &["replica", "source", "bench", "analyze", "attach", "backup", "status", "switchover"]),
];

struct Manifest {
    name: String,
    dependencies: Vec<String>,
    test_dependencies: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's directory")
}

/// Reads the names of a manifest's dependencies, which are the keys of its dependency tables in
/// either spelling of TOML (`name = ...`, `name.workspace = true`, or a table
/// `[dependencies.name]`).
fn parse(text: &str) -> Manifest {
    let mut manifest =
        Manifest { name: String::new(), dependencies: Vec::new(), test_dependencies: Vec::new() };
    let mut section = String::new();
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').trim().to_string();
            for kind in ["dependencies.", "build-dependencies."] {
                if let Some(name) = section.strip_prefix(kind) {
                    manifest.dependencies.push(name.to_string());
                }
            }
            if let Some(name) = section.strip_prefix("dev-dependencies.") {
                manifest.test_dependencies.push(name.to_string());
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = key.trim().split('.').next().unwrap_or("").trim_matches('"').to_string();
        match section.as_str() {
            "package" if key == "name" => manifest.name = value.trim().trim_matches('"').to_string(),
            "dependencies" | "build-dependencies" => manifest.dependencies.push(key),
            "dev-dependencies" => manifest.test_dependencies.push(key),
            target if target.starts_with("target.") && target.ends_with("dev-dependencies") => {
                manifest.test_dependencies.push(key);
            }
            target if target.starts_with("target.") && target.ends_with("dependencies") => {
                manifest.dependencies.push(key);
            }
            _ => {}
        }
    }
    manifest
}

fn manifests() -> Vec<Manifest> {
    let crates = std::fs::read_dir(root().join("crates")).expect("the crates' directory");
    let found: Vec<Manifest> = crates
        .map(|entry| entry.expect("an entry of crates/").path().join("Cargo.toml"))
        .filter(|path| path.exists())
        .map(|path| parse(&std::fs::read_to_string(&path).expect("a readable manifest")))
        .collect();
    assert!(found.len() >= LAYERS.len(), "found only {} manifests under crates/", found.len());
    found
}

/// Returns everything that can be reached downward from each crate.
fn below() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let direct: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    let mut reach = BTreeMap::new();
    for (name, _) in LAYERS {
        let mut seen = BTreeSet::new();
        let mut open = vec![*name];
        while let Some(at) = open.pop() {
            for next in direct[at] {
                assert!(*next != *name, "the table itself has a circle through {name}");
                if seen.insert(*next) {
                    open.push(next);
                }
            }
        }
        reach.insert(*name, seen);
    }
    reach
}

#[test]
fn dependencies_point_downward() {
    let below = below();
    for manifest in manifests() {
        let allowed = below
            .get(manifest.name.as_str())
            .unwrap_or_else(|| panic!("crate {} has no place in the table of layers", manifest.name));
        let ours = |name: &&String| below.contains_key(name.as_str());
        for used in manifest.dependencies.iter().filter(ours) {
            assert!(allowed.contains(used.as_str()), "{} must not depend on {used}", manifest.name);
        }
        // Tests may use the test kit and `os`, but never a layer above their own.
        for used in manifest.test_dependencies.iter().filter(ours) {
            let reachable = allowed.contains(used.as_str()) || ["testkit", "os"].contains(&used.as_str());
            assert!(reachable, "tests of {} must not depend on {used}", manifest.name);
        }
    }
}

#[test]
fn every_library_has_its_reason() {
    let below = below();
    let reasons = std::fs::read_to_string(root().join("docs/dependencies.md")).expect("docs/dependencies.md");
    let mut used = BTreeSet::new();
    for manifest in manifests() {
        used.extend(manifest.dependencies.into_iter().chain(manifest.test_dependencies));
    }
    for library in used.iter().filter(|name| !below.contains_key(name.as_str())) {
        assert!(reasons.contains(&format!("`{library}`")), "docs/dependencies.md does not say why {library}");
    }
}

#[test]
fn an_arrow_upward_would_be_seen() {
    let manifest = parse(
        "[package]\nname = \"btree\"\n[dependencies]\nengine.workspace = true\n[dev-dependencies.sql]\n",
    );
    assert_eq!(manifest.name, "btree");
    assert_eq!(manifest.dependencies, ["engine"]);
    assert_eq!(manifest.test_dependencies, ["sql"]);
    assert!(!below()["btree"].contains("engine"));
    assert!(below()["btree"].contains("os"));
    assert!(!below()["protocol"].contains("os"));
}
