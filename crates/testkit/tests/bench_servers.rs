//! Tests of `slipstream bench oltp`, `insert`, `apply`, `lag`, `copy`, `large` and `load` from end
//! to end: with the real binary, the real sysbench and the real mydumper, at small sizes.

use bench::instance::{Flavor, Instance, Settings, USER};
use testkit::Server;

/// Runs `slipstream bench` and returns the JSON that it wrote.
fn bench(command: &str, words: &[String]) -> String {
    let file = std::env::temp_dir().join(format!("slipstream-bench-{command}-{}.json", std::process::id()));
    let mut all = vec!["bench".to_string(), command.to_string()];
    all.extend(words.iter().cloned());
    all.extend(["--json".to_string(), file.display().to_string()]);
    testkit::program::succeed(&testkit::binary::slipstream().display().to_string(), &all);
    let json = std::fs::read_to_string(&file).expect("the report");
    std::fs::remove_file(file).expect("our own report");
    json
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_string).collect()
}

/// Returns every number that follows a name in the JSON.
fn numbers(json: &str, name: &str) -> Vec<f64> {
    let name = format!("\"{name}\":");
    let after = json.split(name.as_str()).skip(1);
    after.filter_map(|rest| rest.split([',', '}', '\n']).next()?.trim().parse().ok()).collect()
}

fn address(name: &str, server: &Instance) -> [String; 2] {
    ["--server".to_string(), format!("{name}=127.0.0.1:{},{USER},{USER}", server.port())]
}

#[test]
fn oltp_of_servers_that_run_already() {
    if !testkit::tool_available("oltp_of_servers_that_run_already", "sysbench") {
        return;
    }
    let (one, two) = (Server::under_test(), Server::under_test());
    one.run("SET GLOBAL sync_binlog = 7");
    let mut line =
        words("--fill --tables 1 --rows 1000 --clients 2 --seconds 4 --warmup 0 --relaxed --base two");
    line.extend(address("one", &one));
    line.extend(address("two", &two));
    let json = bench("oltp", &line);
    for name in ["rate_over_base", "transactions_per_second", "p99_ms", "cpu_us"] {
        assert!(numbers(&json, name).iter().all(|figure| *figure > 0.0), "{name} in {json}");
    }
    assert_eq!(
        (numbers(&json, "rate_over_base").len(), numbers(&json, "rate_over_base")[1]),
        (2, 1.0),
        "{json}"
    );
    // A server that the benchmark did not start keeps its settings of durability.
    assert_eq!(one.rows("SELECT @@global.sync_binlog"), ["7"]);
}

#[test]
fn every_step_of_the_insert_benchmark() {
    if testkit::server::flavor_under_test() != Flavor::Slipstream {
        return;
    }
    let own = Server::start(Flavor::Slipstream, &Settings { log_bin: false, ..Settings::default() });
    let mut line =
        words("--start slipstream --rows 3000 --l1-rows 500 --l2-rows 100 --query-seconds 1 --clients 2");
    line.extend(address("own", &own));
    let json = bench("insert", &line);
    assert_eq!(numbers(&json, "operations_per_second").len(), 14, "{json}");
    assert!(numbers(&json, "operations_per_second").iter().all(|rate| *rate > 0.0), "{json}");
    let (inserted, deleted) = (numbers(&json, "inserted"), numbers(&json, "deleted"));
    assert_eq!((inserted[0], deleted[0]), (3000.0, 0.0), "l.i0: {json}");
    assert_eq!((inserted[4], deleted[4]), (500.0, 500.0), "l.i1: {json}");
    assert_eq!(numbers(&json, "indexed")[2], 3000.0, "l.x: {json}");
    let left: f64 =
        inserted.iter().skip(1).step_by(2).sum::<f64>() - deleted.iter().skip(1).step_by(2).sum::<f64>();
    let count = own.rows("SELECT (SELECT COUNT(*) FROM ibench.pi1) + (SELECT COUNT(*) FROM ibench.pi2)");
    assert_eq!(count, [left.to_string()], "{json}");
}

/// A load is generated once and applied by both replicas with every setting; a load that cannot be
/// repeated is generated anew. Rows that differ at the end would make the program fail.
#[test]
fn a_matrix_of_loads_and_settings_applied() {
    let line = "--source slipstream --replicas slipstream --tables 1 --rows 300 --transactions 200 --clients 2 --relaxed --pool 64M \
                --workload read_write,mysqlslap --format row,statement --workers 0,2 --log-replica-updates on,off";
    let logs = std::env::temp_dir().join(format!("slipstream-bench-logs-{}", std::process::id()));
    let mut line = words(line);
    line.extend(["--keep-logs".to_string(), logs.display().to_string()]);
    let json = bench("apply", &line);
    let rates = numbers(&json, "applied_per_second");
    assert_eq!((rates.len(), rates.iter().all(|rate| *rate > 0.0)), (16, true), "{json}");
    assert_eq!(numbers(&json, "efficiency").len(), 16, "{json}");
    // Two settings have two values each. Each of them is reported with a line for its second value.
    assert_eq!(numbers(&json, "cells"), [8.0, 8.0], "{json}");
    assert_eq!(json.matches("\"format\": \"STATEMENT\"").count(), 2 * 8, "{json}");
    // The source's logs are kept, so that they can be analyzed: they have three loads of read_write
    // (one of them as rows) and two of the inserts.
    let source = logs.join("slipstream").display().to_string();
    let said = testkit::program::succeed(
        &testkit::binary::slipstream().display().to_string(),
        &["analyze".to_string(), source, "--json".to_string()],
    );
    assert_eq!(numbers(&said, "transactions").last(), Some(&1000.0), "{said}");
    std::fs::remove_dir_all(logs).expect("our own directory");
}

#[test]
fn positions_in_a_table_and_in_a_file() {
    let line = "--source slipstream --replicas slipstream --tables 1 --rows 300 --transactions 200 --clients 2 --relaxed --pool 64M \
                --position table,file";
    let json = bench("apply", &words(line));
    let rates = numbers(&json, "applied_per_second");
    assert_eq!((rates.len(), rates.iter().all(|rate| *rate > 0.0)), (2, true), "{json}");
    for place in ["TABLE", "FILE"] {
        assert!(json.contains(&format!("\"position\": \"{place}\"")), "{json}");
    }
}

#[test]
fn lag_over_time() {
    let line = "--source slipstream --replicas slipstream --seconds 1 --rate 200 --clients 2 --rows 100 --large-rows 5000 --pool 64M";
    let json = bench("lag", &words(line));
    assert_eq!(numbers(&json, "lag_ms_max").len(), 2, "{json}");
    assert_eq!(numbers(&json, "large_transaction_seconds").len(), 1, "{json}");
    assert!(numbers(&json, "reads").iter().all(|count| *count > 0.0), "{json}");
    assert!(numbers(&json, "source_commits_per_second").iter().all(|rate| *rate > 0.0), "{json}");
}

/// Copies a source in every way that is on the machine, and returns the report. Rows that differ
/// at the end make the program fail.
fn copies(source: &str, load: &str) -> String {
    let line = format!(
        "--source {source} --tables 2 --rows 2000 --changes-per-second {load} --clients 2 --lag-seconds 1 --pool 64M"
    );
    let json = bench("copy", &words(&line));
    for name in ["rows_per_second", "mb_per_second", "copied_seconds", "caught_up_seconds", "rss_peak_bytes"]
    {
        assert!(numbers(&json, name).iter().all(|figure| *figure > 0.0), "{name} in {json}");
    }
    assert_eq!(numbers(&json, "times_ours").first(), Some(&1.0), "{json}");
    assert!(!json.contains("\"checksums_equal\": false"), "{json}");
    json
}

#[test]
fn new_replicas_of_mysql() {
    if !testkit::available("new_replicas_of_mysql", &[Flavor::MySql]) {
        return;
    }
    let json = copies("mysql", "0,100");
    // Each way is measured without a load and with it, and without one there is no lag.
    let has_dump = Flavor::MySql.program("mydumper").is_some();
    let ways = if has_dump { 3 } else { 2 };
    assert_eq!(numbers(&json, "times_ours").len(), 2 * ways, "{json}");
    assert_eq!(numbers(&json, "lag_ms_max").len(), ways, "{json}");
    assert_eq!(json.contains("no mydumper"), !has_dump, "what is not measured is said: {json}");
    let rates = numbers(&json, "changes_per_second");
    assert_eq!(rates.iter().filter(|rate| **rate > 0.0).count(), ways, "{json}");
}

#[test]
fn new_replicas_of_mariadb() {
    if !testkit::available("new_replicas_of_mariadb", &[Flavor::MariaDb]) {
        return;
    }
    let json = copies("mariadb", "100");
    for (way, program) in [("dump", "mydumper"), ("backup", "mariadb-backup")] {
        let is_there = Flavor::MariaDb.program(program).is_some();
        assert_eq!(json.contains(&format!("\"way\": \"{way}\"")), is_there, "{json}");
    }
}

#[test]
fn a_large_transaction_beside_single_row_commits() {
    if testkit::server::flavor_under_test() != Flavor::Slipstream {
        return;
    }
    let line = words("--start slipstream --transaction wide --wide-bytes 32M --pool 64M --redo 64M");
    let json = bench("large", &line);
    let commits = numbers(&json, "commits");
    assert!(commits.len() == 4 && commits.iter().all(|count| *count > 0.0), "{json}");
    assert_eq!(numbers(&json, "longest_ms").len(), 4, "{json}");
    for name in ["statements_seconds", "commit_seconds", "rss_before_bytes", "rss_peak_bytes"] {
        assert!(numbers(&json, name)[0] > 0.0, "{name} in {json}");
    }
}

/// The rows of a dump come in both ways, in statements of 20 KB. Rows that differ between the
/// servers or the ways would make the program fail.
#[test]
fn the_rows_of_a_dump() {
    let line = "--servers slipstream,mysql,mariadb --rows 3000 --indexes 3 --statement-kb 20 --rounds 1 --pool 64M --redo 64M --relaxed";
    let json = bench("load", &words(line));
    let there = [Flavor::Slipstream, Flavor::MySql, Flavor::MariaDb];
    let there = there.iter().filter(|flavor| testkit::available("the_rows_of_a_dump", &[**flavor])).count();
    let seconds = numbers(&json, "seconds");
    assert_eq!(seconds.len(), 2 * there, "{json}");
    assert!(seconds.iter().all(|seconds| *seconds > 0.0), "{json}");
    // The system counts a server's processor time in hundredths of a second, so that a fast load
    // of so few rows may take none.
    assert_eq!(numbers(&json, "cpu_us").len(), seconds.len(), "{json}");
    assert!(json.contains(r#""wrong": []"#), "{json}");
}
