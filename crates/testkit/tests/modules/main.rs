//! Tests that inside a crate the arrows between files run one way, and that the code of a type is
//! in at most three files.
//!
//! An arrow goes from a file to a file that defines something that the first one names. Files that
//! reach one another along arrows are a circle: none of them can be understood, tested or changed
//! without the others. There are no circles. The types whose inherent `impl` blocks are in more
//! than three files are listed here. The list is exact, so that a commit that moves such a type
//! into fewer files has to shorten it.

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sources::Crate;

/// The number of files in which a type's inherent `impl` blocks may stand.
const MOST_FILES_OF_A_TYPE: usize = 3;

/// The types whose `impl` blocks stand in more files, with the crate and the number of files.
const SPREAD_TYPES: &[(&str, &str, usize)] = &[
    // A place among the tokens. Each file has the grammar of one subject.
    ("sql", "Parser", 35),
];

fn crates() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = std::fs::read_dir(folder).expect("the crates' folder");
    let found: BTreeMap<String, PathBuf> = entries
        .map(|entry| entry.expect("an entry of crates/").path())
        .filter(|path| path.join("src/lib.rs").exists())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), path.join("src")))
        .collect();
    assert!(found.len() >= 14, "found only {} crates", found.len());
    found
}

/// Describes a circle: its files, and the arrows without which most of it falls apart.
fn describe(krate: &Crate, circle: &BTreeSet<usize>) -> String {
    let names: Vec<&str> = circle.iter().map(|file| krate.files[*file].as_str()).collect();
    let inside = krate.arrows.iter().filter(|(from, to)| circle.contains(from) && circle.contains(to));
    let mut arrows: Vec<(usize, String)> = inside
        .map(|arrow| {
            let left = krate.circles(Some(*arrow));
            let left = left.iter().filter(|other| other.is_subset(circle)).map(|other| other.len()).max();
            let words = format!("{} -> {}", krate.files[arrow.0], krate.files[arrow.1]);
            (left.unwrap_or(0), words)
        })
        .collect();
    arrows.sort();
    let arrows: Vec<String> =
        arrows.iter().take(8).map(|(left, arrow)| format!("    without {arrow}: {left}")).collect();
    format!("  {} files: {}\n{}", names.len(), names.join(", "), arrows.join("\n"))
}

#[test]
fn no_files_of_a_crate_are_a_circle() {
    let mut wrong = Vec::new();
    for (name, src) in crates() {
        let krate = Crate::read(&src);
        let circles = krate.circles(None);
        println!("{name}: {} files, {} arrows", krate.files.len(), krate.arrows.len());
        if !circles.is_empty() {
            let circles: Vec<String> = circles.iter().map(|circle| describe(&krate, circle)).collect();
            wrong.push(format!("{name} has circles of files:\n{}", circles.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn types_in_many_files_are_those_that_are_listed() {
    let mut found = Vec::new();
    for (name, src) in crates() {
        for ((owner, _), files) in Crate::read(&src).owners {
            if files.len() > MOST_FILES_OF_A_TYPE {
                found.push((name.clone(), owner, files.len()));
            }
        }
    }
    let listed: Vec<(String, String, usize)> = SPREAD_TYPES
        .iter()
        .map(|(name, owner, files)| ((*name).to_owned(), (*owner).to_owned(), *files))
        .collect();
    assert_eq!(found, listed, "a type whose impl spreads over a fourth file is cut, or listed");
}

#[test]
fn a_circle_and_a_spread_type_are_seen() {
    let src = std::env::temp_dir().join(format!("slipstream-modules-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = src.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        let status = os::disk::real()
            .open(&path, os::disk::OpenMode::CreateNew)
            .and_then(|file| file.write_all_at(text.as_bytes(), 0));
        status.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    };
    write(
        "lib.rs",
        "mod low; mod high; mod alone; mod other; pub use high::Top;\n#[cfg(test)]\nmod tests {}",
    );
    write("low.rs", "pub struct Base; impl Base { fn up() { assert!(crate::Top::is_there()); } }");
    write(
        "high/mod.rs",
        "mod part; use crate::low::*; pub struct Top; fn f() { part::g(); } fn h(_: Base) {}",
    );
    write("high/part.rs", "use super::Base; pub fn g() {} impl Base {}");
    write("alone.rs", "use crate::low::Base; impl Base { fn f() {} } impl Clone for Base {}");
    write("other.rs", "struct Base; impl Base {}");
    let krate = Crate::read(&src);
    std::fs::remove_dir_all(&src).expect("it is ours");
    let circles = krate.circles(None);
    let named: Vec<Vec<&str>> = circles
        .iter()
        .map(|circle| circle.iter().map(|file| krate.files[*file].as_str()).collect())
        .collect();
    assert_eq!(named, [["low.rs", "high/mod.rs", "high/part.rs"]], "a re-export leads to what it names");
    let of_base = krate.owners.iter().filter(|((name, _), _)| name == "Base");
    let mut spread: Vec<usize> = of_base.map(|(_, files)| files.len()).collect();
    spread.sort_unstable();
    assert_eq!(spread, [1, 3], "two types have this name, one of them in three files");
    let up = krate.arrows.iter().find(|(from, _)| krate.files[*from] == "low.rs");
    assert!(krate.circles(up.copied()).is_empty(), "without the arrow upward nothing is left");
}
