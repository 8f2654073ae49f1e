//! The test suites of clients, beside MySQL: what passes there passes here, but for tests that are
//! named with the reason.
//!
//! The longer suites run where `SLIPSTREAM_CLIENT_SUITES` says so (`make nightly`).

use std::fmt::Write;

use bench::instance::{Flavor, Settings};
use testkit::Server;
use testkit::client_suite::{ClientSuite, Outcome, Outcomes};

/// Tests that pass at MySQL alone: how the name of each begins, and why.
type Different = &'static [(&'static str, &'static str)];

fn outcomes_at(flavor: Flavor, suite: &ClientSuite) -> Outcomes {
    let mut settings = Settings { durable: false, ..Settings::default() };
    settings.extra.push("--local-infile=ON".to_string());
    // On a busy machine a server's first keys take more than ten seconds.
    settings.extra.push("--connect-timeout=120".to_string());
    suite.run(&Server::start(flavor, &settings))
}

/// Runs a suite at both servers. At least so many of its tests must pass at MySQL; the names that
/// are excused must be of tests that do not pass here.
fn passes_as_at_mysql(suite: &ClientSuite, least: usize, different: Different) {
    let test = format!("client_suites::{}", suite.name);
    if !testkit::available(&test, &[Flavor::MySql]) || !suite.is_available(&test) {
        return;
    }
    let [theirs, ours] = [Flavor::MySql, Flavor::Slipstream].map(|flavor| outcomes_at(flavor, suite));
    let passed: Vec<&String> =
        theirs.iter().filter(|(_, outcome)| **outcome == Outcome::Passed).map(|(name, _)| name).collect();
    assert!(passed.len() >= least, "of {} only {} tests passed at MySQL", suite.name, passed.len());
    let (mut wrong, mut excused) = (String::new(), vec![false; different.len()]);
    for name in &passed {
        let here = ours.get(*name).copied();
        if here == Some(Outcome::Passed) {
            continue;
        }
        match different.iter().position(|(prefix, _)| name.starts_with(prefix)) {
            Some(at) => excused[at] = true,
            None => writeln!(wrong, "{name}: {here:?}").expect("a string takes it"),
        }
    }
    for ((prefix, _), _) in different.iter().zip(&excused).filter(|(_, excused)| !**excused) {
        writeln!(wrong, "{prefix}: is excused, and passes").expect("a string takes it");
    }
    assert!(wrong.is_empty(), "{}: passed at MySQL and not here:\n{wrong}", suite.name);
    println!("{}: {} tests passed at MySQL", suite.name, passed.len());
}

/// Whether this is a night in which there is time.
fn is_nightly() -> bool {
    std::env::var_os("SLIPSTREAM_CLIENT_SUITES").is_some()
}

#[test]
fn go_sql_driver() {
    passes_as_at_mysql(&ClientSuite::of_go(), 400, &[]);
}

#[test]
fn mysqlclient() {
    // One test wants a result to be so slow that another thread comes in between.
    const PARTS: &[&str] = &["--deselect=tests/test_connection.py::test_result_concurrent_use_raises"];
    passes_as_at_mysql(&ClientSuite::of_python("mysqlclient", &["suite"], PARTS), 180, &[]);
}

#[test]
fn sqlalchemy() {
    const DIFFERENT: Different = &[
        (
            "test/dialect/mysql/test_reflection.py::ReflectionTest::test_autoincrement",
            "MyISAM is not there: its keys may number the rows of each group",
        ),
        (
            "test/dialect/mysql/test_reflection.py::ReflectionTest::test_reflection_with_table_options",
            "MEMORY is not there",
        ),
    ];
    const PARTS: &[&str] = &["test/dialect/mysql", "test/dialect/test_suite.py", "test/dialect/test_all.py"];
    if is_nightly() {
        let databases = &["suite", "test_schema", "test_schema_2"];
        passes_as_at_mysql(&ClientSuite::of_python("sqlalchemy", databases, PARTS), 2300, DIFFERENT);
    }
}

/// The parts of Django's suite that talk SQL.
const OF_DJANGO: &[&str] = &[
    "aggregation",
    "aggregation_regress",
    "annotations",
    "backends",
    "basic",
    "bulk_create",
    "cache",
    "composite_pk",
    "constraints",
    "contenttypes_tests",
    "custom_columns",
    "custom_lookups",
    "custom_migration_operations",
    "custom_pk",
    "datatypes",
    "dates",
    "datetimes",
    "db_functions",
    "db_typecasts",
    "db_utils",
    "defer",
    "delete",
    "delete_regress",
    "distinct_on_fields",
    "expressions",
    "expressions_case",
    "expressions_window",
    "extra_regress",
    "field_defaults",
    "filtered_relation",
    "fixtures",
    "fixtures_regress",
    "force_insert_update",
    "foreign_object",
    "from_db_value",
    "generic_relations",
    "get_or_create",
    "indexes",
    "inspectdb",
    "introspection",
    "lookup",
    "m2m_regress",
    "m2m_through",
    "many_to_many",
    "many_to_one",
    "migrate_signals",
    "migration_test_data_persistence",
    "migrations",
    "model_fields",
    "model_indexes",
    "model_inheritance",
    "multiple_database",
    "null_queries",
    "or_lookups",
    "order_with_respect_to",
    "ordering",
    "prefetch_related",
    "proxy_models",
    "queries",
    "raw_query",
    "reserved_names",
    "save_delete_hooks",
    "schema",
    "select_for_update",
    "select_related",
    "select_related_regress",
    "serializers",
    "sessions_tests",
    "string_lookup",
    "test_utils",
    "timezones",
    "transaction_hooks",
    "transactions",
    "unmanaged_models",
    "update",
    "update_only_fields",
    "xor_lookups",
];

#[test]
fn django() {
    const DIFFERENT: Different = &[(
        "backends.mysql.test_introspection.StorageEngineTests.test_get_storage_engine",
        "MyISAM is not there",
    )];
    if is_nightly() {
        passes_as_at_mysql(&ClientSuite::of_python("django", &[], OF_DJANGO), 6000, DIFFERENT);
    }
}
