//! The general log and the slow query log, as tables beside MySQL's, and as files.

use bench::instance::{Flavor, Settings};
use testkit::Server;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

/// What a client does while both logs are on.
const STATEMENTS: &[&str] = &[
    "create table t (a int primary key, b varchar(20))",
    "insert into t values (1,'one'),(2,'two'),(3,'three')",
    "select * from t where a > 1 /* a comment */",
    "select count(*) from t where b like '%o%'",
    "prepare p from 'select b from t where a = ? or b = ?'",
    "set @a = 2, @b = 'it''s'",
    "execute p using @a, @b",
    "deallocate prepare p",
    "select * from nosuch",
    "selec 1",
    "use logs_d",
    "create procedure two() begin select 1; select count(*) from t; end",
    "call two()",
    "alter table t add c int",
    "analyze table t",
    "create index i on t (b)",
    "/* administrative */ alter table t add d int",
    "drop index i on t",
    "prepare q from 'analyze table t'",
    "execute q",
    "set session long_query_time = 9999",
    "select 'not slow'",
    "set session long_query_time = 0",
    "set session min_examined_row_limit = 2",
    "select 'reads nothing'",
    "select * from t order by b",
    "set session min_examined_row_limit = 0",
    "set session sql_log_off = 1",
    "select 'in the slow log alone'",
    "set session sql_log_off = 0",
    "select sleep(0)\n, 'two lines'",
];

/// Both logs as tables, but for what differs from server to server.
fn logged(server: &Server) -> Vec<String> {
    let mut watcher = server.connect();
    for sql in [
        "create database logs_d",
        "set global log_output = 'TABLE'",
        "set global long_query_time = 0",
        "set global slow_query_log = on",
        "set global general_log = on",
    ] {
        watcher.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let mut client = server.connect();
    let id = answer(&mut client, "select connection_id()");
    client.query("use logs_d").expect("it is there");
    let answers: Vec<String> = STATEMENTS.iter().map(|sql| answer(&mut client, sql)).collect();
    for sql in ["set global general_log = off", "set global slow_query_log = off"] {
        watcher.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let id: u64 = id.rsplit(' ').next().and_then(|id| id.parse().ok()).expect("a number");
    let mut all = answers;
    for asked in [
        format!(
            "select command_type, argument, user_host from mysql.general_log where thread_id = {id} \
             and argument not like '%connection_id%' and command_type <> 'Connect' order by event_time"
        ),
        format!(
            "select sql_text, rows_sent, db, query_time < 10, lock_time < 10 from mysql.slow_log \
             where thread_id = {id} and sql_text not like '%connection_id%' order by start_time"
        ),
    ] {
        all.push(answer(&mut watcher, &asked).replace(&format!("thread_id = {id}"), "thread_id = ID"));
    }
    all
}

#[test]
fn tables_of_the_logs_have_what_mysqls_have() {
    let all = same_as_mysql("query_logs::tables", &Settings::default(), logged);
    let general = &all[all.len() - 2];
    assert!(general.contains("Execute,select b from t where a = 2 or b = 'it\\'s'"), "{general}");
    assert!(!general.contains("in the slow log alone"), "sql_log_off: {general}");
    let slow = &all[all.len() - 1];
    assert!(slow.contains("select b from t where a = 2") && !slow.contains("reads nothing"), "{slow}");
    assert!(!slow.contains("alter table t") && !slow.contains("analyze table t"), "{slow}");
}

#[test]
fn files_have_mysqls_form_and_are_rotated() {
    let dir = std::env::temp_dir().join(format!("slipstream-query-logs-{}", std::process::id()));
    std::fs::create_dir(&dir).expect("a directory of its own");
    let file = |name: &str| dir.join(name);
    let server = Server::start(
        testkit::server::flavor_under_test(),
        &Settings {
            extra: vec![
                format!("--slow-query-log-file={}", file("slow.log").display()),
                format!("--general-log-file={}", file("general.log").display()),
                "--slow-query-log".into(),
                "--general-log=1".into(),
                "--long-query-time=0".into(),
            ],
            ..Settings::default()
        },
    );
    assert_eq!(server.flavor(), Flavor::Slipstream);
    let mut client = server.connect();
    client.query("create database d").expect("it is made");
    client.query("use d").expect("it is there");
    client.query("select 'first'").expect("it is answered");
    client.query("create user u identified by 'hidden'").expect("it is made");
    for name in ["slow.log", "general.log"] {
        std::fs::rename(file(name), file(&format!("{name}.1"))).expect("it is there");
    }
    client.query("flush slow logs, general logs").expect("they are opened anew");
    client.query("set global log_slow_extra = on").expect("it is set");
    client.query("select 'second'").expect("it is answered");
    let text = |name: &str| std::fs::read_to_string(file(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let (old, new) = (text("slow.log.1"), text("slow.log"));
    for part in [
        " started with:\nTcp port: ",
        "Time                 Id Command    Argument\n# Time: 2",
        "\n# User@Host: kit[kit] @ localhost [127.0.0.1]  Id: ",
        "\n# Query_time: 0.",
        "  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0\nSET timestamp=",
        ";\nselect 'first';\n",
        "\nuse d;\n",
        "identified by <secret>;\n",
    ] {
        assert!(old.contains(part), "no {part:?} in {old}");
    }
    assert!(!old.contains("second") && !old.contains("hidden"), "{old}");
    assert!(new.contains("select 'second';\n") && new.contains(" Errno: 0 Killed: 0 Read_first: 0"), "{new}");
    let (old, new) = (text("general.log.1"), text("general.log"));
    assert!(old.contains(" Connect\tkit@localhost on ") && old.contains(" Query\tselect 'first'\n"), "{old}");
    assert!(new.contains(" Query\tselect 'second'\n") && !old.contains("hidden"), "{new}");
    let refused = server.refuses("set global slow_query_log_file = '/no/such/dir/slow.log'");
    assert_eq!(refused.0, 1231, "{refused:?}");
    assert_eq!(server.rows("select @@slow_query_log_file"), [file("slow.log").display().to_string()]);
    let refused = server.refuses("set global general_log_file = '/tmp/my.CNF'");
    assert_eq!(refused.0, 1231, "{refused:?}");
    let refused = server.refuses("set global log_output = 'PAPER'");
    assert_eq!(refused.0, 1231, "{refused:?}");
    drop(server);
    std::fs::remove_dir_all(&dir).expect("it is ours");
}
