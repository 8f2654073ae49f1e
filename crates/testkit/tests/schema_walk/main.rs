//! Tests with random walks over schemas: whatever a MySQL or MariaDB source has accepted, its
//! replica accepts, shows and holds the same. Statements about definitions, rows, objects and
//! accounts are made from a grammar (`rules/`) and from the names that the source's
//! information_schema has. The source refuses many; what it has carried out must not stop the
//! replica nor make it differ.
//!
//! `make test` walks the same 300 statements for each source each time. `make nightly` walks as
//! many as `SLIPSTREAM_WALK` says, and different ones. The seed is printed; `SEED=...` plays it
//! again. A case that went wrong is played again with parts of its statements left out
//! (`SLIPSTREAM_WALK_TRIES` times), and the statements that still show the fault are printed.

mod walk;
mod world;

use testkit::Flavor;

use crate::walk::Walk;

const RULES: &[&str] = &[
    include_str!("rules/columns.txt"),
    include_str!("rules/tables.txt"),
    include_str!("rules/rows.txt"),
    include_str!("rules/objects.txt"),
    include_str!("rules/sessions.txt"),
];

fn walk(name: &str, source: Flavor, format: &str, image: &str) {
    if !testkit::available(&format!("schema_walk::{name}"), &[source]) {
        return;
    }
    // A short walk is the same each time. Only long walks have new seeds, to search for faults.
    let seed = match std::env::var_os("SLIPSTREAM_WALK") {
        Some(_) => os::random::test_seed(name),
        None => os::random::test_seed_or(name, 1),
    };
    Walk::start(source, RULES, format, image).run(name, seed, testkit::times("SLIPSTREAM_WALK", 300));
}

#[test]
fn mysql_full() {
    walk("mysql_full", Flavor::MySql, "ROW", "FULL");
}

#[test]
fn mysql_minimal() {
    walk("mysql_minimal", Flavor::MySql, "ROW", "MINIMAL");
}

#[test]
fn mysql_mixed() {
    walk("mysql_mixed", Flavor::MySql, "MIXED", "MINIMAL");
}

#[test]
fn mysql_statements() {
    walk("mysql_statements", Flavor::MySql, "STATEMENT", "FULL");
}

#[test]
fn mariadb_rows() {
    walk("mariadb_rows", Flavor::MariaDb, "ROW", "FULL");
}

#[test]
fn mariadb_mixed() {
    walk("mariadb_mixed", Flavor::MariaDb, "MIXED", "MINIMAL");
}

#[test]
fn mariadb_statements() {
    walk("mariadb_statements", Flavor::MariaDb, "STATEMENT", "FULL");
}
