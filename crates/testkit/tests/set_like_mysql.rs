//! Tests of SET: which names a scope applies to, that the statement sets all variables or none, and
//! what it answers for values that variables do not accept. A real MySQL gets the same statements
//! and must answer the same.

use bench::instance::{Flavor, Settings};
use testkit::Server;
use testkit::answers::same_answers;

#[test]
fn a_scope_in_set_is_for_the_names_behind_it() {
    let global = "SELECT @@max_connections, @@global.sort_buffer_size, @@global.wait_timeout";
    let own = "SELECT @@session.sort_buffer_size, @@session.wait_timeout";
    let answers = same_answers(
        "set_scopes",
        &[
            "SET GLOBAL max_connections = 152, super_read_only = ON",
            "SELECT @@max_connections, @@super_read_only, @@read_only",
            "SET GLOBAL super_read_only = OFF, read_only = OFF",
            "SET GLOBAL max_connections = 153, sort_buffer_size = 300000",
            global,
            own,
            "SET SESSION sort_buffer_size = 270000, GLOBAL sort_buffer_size = 280000, wait_timeout = 1000",
            global,
            own,
            "SET GLOBAL sort_buffer_size = 262144, @a = 1, wait_timeout = 2000",
            global,
            own,
            "SET @a = 1, GLOBAL max_connections = 154, max_connections = 155",
            "SET GLOBAL max_connections = 156, NAMES utf8mb4, max_connections = 157",
            global,
            "SET @@GLOBAL.max_connections = 158, max_connections = 159",
            "SET GLOBAL max_connections = 160, @@session.sort_buffer_size = 262144, max_connections = 161",
            "SET GLOBAL max_connections = 162, @@sort_buffer_size = 333000",
            global,
            own,
            "SET GLOBAL max_connections = 162, sql_log_bin = 0",
            "SET max_connections = 5",
            "SET LOCAL wait_timeout = 3000, GLOBAL wait_timeout = 4000, SESSION wait_timeout = 5000, sort_buffer_size = 262144",
            global,
            own,
        ],
    );
    assert_eq!(answers[1], "SELECT @@max_connections, @@super_read_only, @@read_only: 152,1,1");
}

#[test]
fn nothing_is_set_when_something_cannot_be() {
    let answers = same_answers(
        "set_all_or_nothing",
        &[
            "SET GLOBAL max_connections = 200",
            "SET GLOBAL max_connections = 202, nosuch = 2",
            "SET GLOBAL max_connections = 201, sort_buffer_size = 'x'",
            "SET GLOBAL max_connections = 203, read_only = 5",
            "SET GLOBAL max_connections = 204, server_uuid = 'foo'",
            "SELECT @@global.max_connections, @@global.sort_buffer_size, @@global.read_only",
            "SET SESSION sort_buffer_size = 300000, max_connections = 3",
            "SET @u = 5, SESSION sort_buffer_size = 300001, sql_mode = 'foo'",
            "SET @u = 7, lc_time_names = 'de_DE', character_set_results = latin1, foo.bar = 1",
            "SET NAMES latin1, @u = 9, foo = 1",
            "SELECT @u, @@sort_buffer_size, @@lc_time_names, @@character_set_client, @@character_set_results",
            // An unknown name is reported before a wrong value.
            "SET GLOBAL max_connections = 'x', nosuch = 1",
            "SET nosuch = 1, @a = 1/0",
            // Values are computed before any variable is set.
            "SET @x = 1",
            "SET @x = 2, @y = @x",
            "SET SESSION sort_buffer_size = 500000, @w = @@session.sort_buffer_size",
            "SET SESSION sort_buffer_size = 500000, SESSION sort_buffer_size = 600000",
            "SELECT @x, @y, @w, @@sort_buffer_size",
            "SET autocommit = 0, sql_log_bin = 2",
            "SELECT @@autocommit",
            "BEGIN",
            "SET @g = 1, sql_log_bin = 0",
            "SELECT @g",
            "ROLLBACK",
            // Whether the value is a GTID is checked only when it is set.
            "SET @x = 10, gtid_next = 'foo'",
            "SELECT @x",
            // These are values with which new sessions begin.
            "SET GLOBAL max_connections = 205, sql_mode = 'foo'",
            "SET GLOBAL max_connections = 206, time_zone = 'foo/bar'",
            "SET GLOBAL max_connections = 207, character_set_server = 'foo'",
            "SET GLOBAL max_connections = 208, collation_server = 'foo'",
            "SET GLOBAL max_connections = 209, transaction_isolation = 'foo'",
            "SET GLOBAL max_connections = 210, binlog_row_image = 'foo'",
            "SET GLOBAL sql_mode = 'foo'",
            "SELECT @@global.max_connections, @@global.time_zone, @@global.collation_server",
            "SET GLOBAL max_connections = DEFAULT",
        ],
    );
    assert_eq!(
        answers[10],
        format!("{}: NULL,262144,en_US,utf8mb4,utf8mb4", {
            "SELECT @u, @@sort_buffer_size, @@lc_time_names, @@character_set_client, @@character_set_results"
        })
    );
}

#[test]
fn values_out_of_range_are_moved_and_told() {
    let answers = same_answers(
        "set_out_of_range",
        &[
            "SET sort_buffer_size = 1",
            "SET auto_increment_increment = 0",
            "SET group_concat_max_len = 1",
            "SET lock_wait_timeout = 0",
            "SET GLOBAL max_connections = 0",
            "SET GLOBAL max_connections = DEFAULT",
            "SET GLOBAL max_allowed_packet = 67108865",
            "SET timestamp = -1",
            "SET div_precision_increment = 31",
            "SET long_query_time = -1",
            "SET insert_id = -1",
            "SET sort_buffer_size = 32769",
            "SELECT @@sort_buffer_size, @@auto_increment_increment, @@group_concat_max_len, @@lock_wait_timeout, \
             @@div_precision_increment, @@long_query_time, @@insert_id",
            "SET sql_mode = 'STRICT_ALL_TABLES'",
            "SET sort_buffer_size = 1",
            "SET auto_increment_offset = 0",
            "SET timestamp = 1.5",
            "SELECT @@timestamp, @@sort_buffer_size",
            "SET timestamp = 'x'",
            "SET auto_increment_offset = '10'",
            "SET auto_increment_offset = NULL",
            "SET auto_increment_offset = 1.5",
            "SET autocommit = 7",
            "SET xa.b = 1",
            "SET @@foo.bar = 1",
            "SET @@session.foo.bar = 1",
        ],
    );
    assert_eq!(
        answers[0],
        "SET sort_buffer_size = 1: \n    Warning,1292,Truncated incorrect sort_buffer_size value: '1'"
    );
}

#[test]
fn modes_are_mysqls_by_name_and_by_number() {
    let answers = same_answers(
        "set_sql_mode",
        &[
            "SET sql_mode = 'STRICT_TRANS_TABLES'",
            "SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE'",
            "SET sql_mode = 'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO'",
            "SET sql_mode = 'NO_ZERO_DATE'",
            "SET sql_mode = ''",
            "SET GLOBAL sql_mode = 'NO_ZERO_DATE'",
            "SET GLOBAL sql_mode = DEFAULT",
            "SET sql_mode = 'TRADITIONAL'",
            "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,ANSI'",
            "SELECT @@sql_mode",
            "SET sql_mode = 'MAXDB'",
            "SET sql_mode = 256",
            "SET sql_mode = 268435456",
            "SET sql_mode = 4294967295",
            "SET sql_mode = -1",
            "SET sql_mode = 1.5",
            "SET sql_mode = NULL",
            "SET sql_mode = 262144",
            "SELECT @@sql_mode",
        ],
    );
    assert!(answers[0].contains("3135"), "{answers:?}");
}

#[test]
fn characteristics_of_transactions_are_the_sessions_or_the_next_ones() {
    let answers = same_answers(
        "set_characteristics",
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (a INT PRIMARY KEY)",
            "BEGIN",
            "SET transaction_isolation = 'READ-COMMITTED'",
            "SELECT @@transaction_isolation",
            "SET @@transaction_isolation = 'REPEATABLE-READ'",
            "SET @@transaction_read_only = 1",
            "SET @@session.transaction_isolation = 'REPEATABLE-READ'",
            "COMMIT",
            "SET @@transaction_read_only = 1",
            "BEGIN",
            "SELECT @@transaction_read_only",
            "INSERT INTO d.t VALUES (1)",
            "COMMIT",
            "INSERT INTO d.t VALUES (2)",
            "SET transaction_read_only = 1",
            "INSERT INTO d.t VALUES (3)",
            "INSERT INTO d.t VALUES (4)",
            "SET transaction_read_only = 0",
            "SELECT * FROM d.t",
        ],
    );
    assert_eq!(answers[19], "SELECT * FROM d.t: 2");
}

#[test]
fn a_scope_that_a_variable_has_not_is_no_place_to_read_it() {
    let names = [
        "max_connections",
        "version",
        "server_uuid",
        "timestamp",
        "last_insert_id",
        "identity",
        "read_only",
        "sql_log_bin",
        "gtid_next",
        "rand_seed1",
        "pseudo_thread_id",
        "warning_count",
        "error_count",
        "gtid_mode",
        "port",
        "hostname",
        "innodb_buffer_pool_size",
        "nosuch",
    ];
    let scopes = ["session", "local", "global"];
    let reads = names.iter().flat_map(|name| scopes.map(|scope| format!("SELECT @@{scope}.{name} IS NULL")));
    let asked: Vec<String> = reads
        .chain([
            "SET @a = @@session.gtid_mode".to_owned(),
            "SELECT @@local.wait_timeout = @@global.wait_timeout".to_owned(),
            "SELECT @@max_connections IS NULL, @@timestamp IS NULL".to_owned(),
        ])
        .collect();
    let answers = same_answers("set_read_scopes", &asked.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        answers[0],
        "SELECT @@session.max_connections IS NULL: 1238 (HY000) Variable 'max_connections' is a GLOBAL \
         variable\n    Error,1238,Variable 'max_connections' is a GLOBAL variable"
    );
}

/// COMMIT and ROLLBACK that do not say what follows them do what `completion_type` says.
#[test]
fn completion_type_says_what_follows_a_commit() {
    let answers = same_answers(
        "completion_type",
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
            "SET completion_type = CHAIN",
            "SELECT @@completion_type",
            "BEGIN",
            "INSERT INTO d.t VALUES (1)",
            "COMMIT",
            "INSERT INTO d.t VALUES (2)",
            "ROLLBACK",
            "INSERT INTO d.t VALUES (3)",
            "ROLLBACK AND NO CHAIN",
            "INSERT INTO d.t VALUES (4)",
            "ROLLBACK",
            "SELECT id FROM d.t",
            "ROLLBACK AND NO CHAIN",
            "SET completion_type = 0",
            "COMMIT AND CHAIN",
            "INSERT INTO d.t VALUES (5)",
            "ROLLBACK",
            "SELECT id FROM d.t",
            "SET completion_type = 2",
            "COMMIT NO RELEASE",
            "SELECT @@completion_type",
            "SET completion_type = 3",
            "SET completion_type = 'nope'",
            "SET completion_type = NULL",
            "SET completion_type = 1.5",
            "SET GLOBAL completion_type = 'chain'",
            "SELECT @@global.completion_type, @@session.completion_type",
            "SET GLOBAL completion_type = DEFAULT",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("CHAIN")), "{answers:#?}");
}

#[test]
fn values_are_kept_for_later_starts_as_in_mysql() {
    let kept = "SELECT * FROM performance_schema.persisted_variables ORDER BY 1";
    let answers = same_answers(
        "set_persist",
        &[
            "SET PERSIST max_connections = 200",
            "SELECT @@max_connections",
            "SET PERSIST sql_mode = 'ANSI', sort_buffer_size = 300000",
            "SET GLOBAL sql_mode = 4",
            "SELECT @@global.sql_mode",
            "SET GLOBAL sql_mode = 'nosuch'",
            "SET PERSIST_ONLY back_log = 90, PERSIST long_query_time = 3.5",
            "SELECT @@back_log = 90, @@global.long_query_time",
            kept,
            "SET PERSIST back_log = 90",
            "SET PERSIST datadir = '/x'",
            "SET PERSIST_ONLY datadir = '/x'",
            "SET PERSIST_ONLY port = 4000",
            "SET PERSIST_ONLY hostname = 'x'",
            "SET PERSIST timestamp = 1",
            "SET PERSIST nosuch = 1",
            "SET PERSIST_ONLY max_connections = 'abc'",
            "SET PERSIST_ONLY back_log = 'abc'",
            "SET PERSIST gtid_purged = ''",
            "SET PERSIST_ONLY sql_log_bin = 0",
            "SET PERSIST gtid_next = 'AUTOMATIC'",
            "SET PERSIST TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET PERSIST max_connections = DEFAULT, PERSIST_ONLY wait_timeout = DEFAULT",
            "SET @@persist.read_only = OFF, @@persist_only.slow_query_log = ON",
            "SET PERSIST optimizer_switch = 'mrr=off'",
            "SELECT VARIABLE_VALUE LIKE '%mrr=off%' FROM performance_schema.persisted_variables \
             WHERE VARIABLE_NAME = 'optimizer_switch'",
            "RESET PERSIST optimizer_switch",
            kept,
            "RESET PERSIST nosuch",
            "RESET PERSIST IF EXISTS nosuch",
            "SHOW WARNINGS",
            "RESET PERSIST IF EXISTS",
            "RESET PERSIST back_log",
            "RESET PERSIST back_log",
            "RESET PERSIST",
            kept,
        ],
    );
    assert_eq!(answers[1], "SELECT @@max_connections: 200");
}

#[test]
fn values_that_are_kept_are_in_force_after_a_restart() {
    let settings = Settings { extra: vec!["--max-connections=180".to_owned()], ..Settings::default() };
    let mut server = Server::start(Flavor::Slipstream, &settings);
    server.run("SET PERSIST max_connections = 222, PERSIST_ONLY back_log = 77, PERSIST wait_timeout = 100");
    server.run("RESET PERSIST wait_timeout");
    server.run("SET GLOBAL wait_timeout = 200");
    let now = "SELECT @@max_connections, @@back_log = 77, @@global.wait_timeout";
    assert_eq!(server.rows(now), ["222\t0\t200"]);
    server.kill();
    server.come_back();
    assert_eq!(server.rows(now), ["222\t1\t28800"], "they stand above the command line");
    server.run("RESET PERSIST");
    server.shut_down();
    server.come_back();
    assert_eq!(server.rows(now), ["180\t0\t28800"]);
}

#[test]
fn conditions_are_counted_and_kept_as_in_mysql() {
    let three = "select cast('a' as signed), cast('b' as signed), cast('c' as signed)";
    let statements = [
        three,
        "select @@warning_count, @@error_count",
        "select @@warning_count",
        "nonsense",
        "select @@session.warning_count, @@error_count",
        three,
        "show count(*) warnings",
        "select @@warning_count",
        "set max_error_count = 1",
        three,
        "select @@warning_count",
        "set max_error_count = 0",
        three,
        "nonsense",
        "select @@error_count",
        "set max_error_count = -1",
        "set max_error_count = 70000",
        "select @@max_error_count",
        "set max_error_count = default",
        "select @@max_error_count",
        "set warning_count = 5",
        "create table d.w (a int not null)",
        "insert ignore into d.w values (null)",
        "select @@warning_count from d.w",
        "insert into d.w values (null)",
        "select @@warning_count, @@error_count",
    ];
    let all: Vec<&str> = ["create database d"].into_iter().chain(statements).collect();
    let answers = same_answers("counted_conditions", &all);
    assert!(answers.iter().any(|answer| answer.contains("@@error_count: 3,0")), "{answers:#?}");
}
