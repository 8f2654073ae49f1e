//! Tests of events, compared with MySQL: what a schedule may say, what a run sees and leaves, and
//! what stops runs.
//!
//! No test here measures how long something takes. A test polls for what is to happen; where
//! something must not happen, it waits for something else that would come later.

use super::{compare_with, told};
use bench::instance::{Flavor, Settings};
use bench::replication::StartFrom;
use os::clock::Stopwatch;
use std::time::Duration;
use testkit::server::{SOON, same_as_mysql};
use testkit::{Replica, Server};

/// Waits until a query returns these rows.
fn wait_for(server: &Server, query: &str, wanted: &[&str]) {
    let clock = Stopwatch::start();
    loop {
        let rows = server.rows(query);
        if rows == wanted {
            return;
        }
        let log = server.log_tail();
        assert!(clock.elapsed() < SOON, "{}: {query}: {rows:?}, not {wanted:?}\n{log}", server.flavor());
        os::clock::sleep(Duration::from_millis(20));
    }
}

fn run_all(server: &Server, statements: &[&str]) {
    let mut client = server.connect();
    for sql in statements {
        client.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
    }
}

/// Returns the lines of the error log that contain these words, without what stands before the
/// message.
fn logged(server: &Server, words: &str) -> Vec<String> {
    let log = std::fs::read_to_string(server.error_log()).unwrap_or_default();
    let is_numbered = |line: &&str| line.contains("[MY-010045]") || line.contains("[MY-01044");
    let lines = log.lines().filter(|line| line.contains(words)).filter(is_numbered);
    lines.filter_map(|line| line.split_once("[Server] ")).map(|(_, text)| text.to_owned()).collect()
}

fn off() -> Settings {
    Settings { extra: vec!["--event-scheduler=OFF".into()], ..Settings::default() }
}

#[test]
fn schedules_are_read_checked_and_shown_as_mysqls() {
    compare_with("programs_events", include_str!("events.sql"), &off());
}

/// Events that run once, each of which leaves something in a table, in the dictionary or in the
/// error log.
const ONCE: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "CREATE TABLE t (id INT PRIMARY KEY, said VARCHAR(500))",
    "CREATE USER writer@'%'",
    "GRANT INSERT, EVENT ON d.* TO writer@'%'",
    "CREATE USER barred@'%'",
    "GRANT INSERT ON d.* TO barred@'%'",
    "SET time_zone = '+05:00', sql_mode = 'NO_ZERO_DATE,ANSI_QUOTES'",
    "CREATE EVENT context ON SCHEDULE AT NOW() DO INSERT INTO t VALUES (1, CONCAT_WS('|', USER(), CURRENT_USER(), \
     DATABASE(), @@time_zone, @@sql_mode, @@autocommit, @@sql_log_bin, \"id\"))",
    "SET time_zone = DEFAULT, sql_mode = DEFAULT",
    "CREATE DEFINER = writer@'%' EVENT by_definer ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO \
     BEGIN INSERT INTO t VALUES (2, CONCAT_WS('|', USER(), CURRENT_USER())); UPDATE t SET said = ''; END",
    "CREATE DEFINER = barred@'%' EVENT barred ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO \
     INSERT INTO t VALUES (3, 'never')",
    "CREATE DEFINER = nobody@'%' EVENT of_nobody ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO \
     INSERT INTO t VALUES (4, 'never')",
    "CREATE EVENT unfinished ON SCHEDULE AT NOW() DO \
     BEGIN START TRANSACTION; INSERT INTO t VALUES (5, 'committed by DROP EVENT'); END",
    "CREATE EVENT left_open ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO \
     BEGIN START TRANSACTION; INSERT INTO t VALUES (13, 'rolled back'); END",
    "CREATE EVENT fails ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO \
     BEGIN INSERT INTO t VALUES (6, 'before the error'); INSERT INTO nowhere VALUES (1); END",
    "CREATE EVENT warns ON SCHEDULE AT NOW() DO SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'a warning'",
    "CREATE EVENT selects ON SCHEDULE AT NOW() DO BEGIN SELECT * FROM t; INSERT INTO t VALUES (7, 'selected'); END",
    "CREATE EVENT handles ON SCHEDULE AT NOW() DO BEGIN DECLARE EXIT HANDLER FOR 1146 \
     INSERT INTO t VALUES (8, 'handled'); INSERT INTO nowhere VALUES (1); END",
    "CREATE EVENT drops_itself ON SCHEDULE EVERY 1 HOUR DO BEGIN INSERT INTO t VALUES (9, 'once'); \
     DROP EVENT drops_itself; END",
    "CREATE EVENT unseen ON SCHEDULE EVERY 1 DAY STARTS '2050-01-01' DO INSERT INTO t VALUES (10, 'never')",
    "CREATE EVENT disabled ON SCHEDULE AT NOW() DISABLE DO INSERT INTO t VALUES (11, 'never')",
    "CREATE EVENT elsewhere ON SCHEDULE AT NOW() DISABLE ON REPLICA DO INSERT INTO t VALUES (12, 'never')",
];

#[test]
fn runs_see_and_leave_what_mysqls_do() {
    // MySQL may report a run that begins beside others before or after them, so the lines are
    // sorted.
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    same_as_mysql("programs_events_run", &off(), |server| {
        run_all(server, ONCE);
        run_all(server, &["SET GLOBAL event_scheduler = ON"]);
        // Events that are not preserved go when their runs are over, and failures are in the log.
        wait_for(server, "SELECT COUNT(*) FROM information_schema.EVENTS", &["8"]);
        wait_for(server, "SELECT COUNT(*) FROM d.t", &["7"]);
        let clock = Stopwatch::start();
        while logged(server, "Event Scheduler: [").len() < 7 {
            assert!(clock.elapsed() < SOON, "not all is told of: {}", server.log_tail());
            os::clock::sleep(Duration::from_millis(20));
        }
        let mut told = server.rows("SELECT * FROM d.t ORDER BY id");
        told.extend(server.rows(
            "SELECT EVENT_NAME, STATUS, ON_COMPLETION, LAST_EXECUTED IS NULL FROM information_schema.EVENTS \
             ORDER BY 1",
        ));
        told.extend(sorted(logged(server, "Event Scheduler: [")));
        told
    });
}

/// The events' bodies. They run one after the other, so that both servers log the same.
const LOGGED: &[&str] = &[
    "DO BEGIN DECLARE x INT DEFAULT 7; INSERT INTO t VALUES (x, 'one'); UPDATE t SET said = CONCAT(said, x); END",
    "DO INSERT INTO d.t SELECT id + 1, 'two' FROM t",
    "DO BEGIN SET @u = 100; INSERT INTO t VALUES (@u, 'three'); CREATE TABLE made (a INT); END",
    "DO BEGIN START TRANSACTION; DELETE FROM t WHERE id = 7; INSERT INTO t VALUES (7, 'four'); COMMIT; END",
];

/// Returns what the binary log has from the events on, without numbers that differ.
fn binary_log(server: &Server) -> Vec<String> {
    let mut client = server.connect();
    let events = client.query("SHOW BINLOG EVENTS").expect("there is a binary log");
    let text = |row: usize, name: &str| events.text(row, name).unwrap_or_default().to_owned();
    let lines = (0..events.rows.len()).map(|row| (text(row, "Event_type"), text(row, "Info")));
    let lines = lines.skip_while(|(_, info)| !info.contains("EVENT"));
    lines
        .filter(|(kind, _)| !kind.contains("tid") && kind != "Rotate")
        .map(|(kind, info)| {
            let info = info.split(" /* xid").next().unwrap_or_default().to_owned();
            match &*kind {
                "Table_map" | "Write_rows" | "Update_rows" | "Delete_rows" => kind,
                _ => format!("{kind} {info}"),
            }
        })
        .collect()
}

#[test]
fn runs_are_logged_as_mysqls() {
    for format in ["ROW", "STATEMENT", "MIXED"] {
        let mut settings = Settings::default();
        settings.extra.push(format!("--binlog-format={format}"));
        let lines = same_as_mysql(&format!("programs_events_logged_{format}"), &settings, |server| {
            run_all(
                server,
                &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, said VARCHAR(99))"],
            );
            for (number, body) in LOGGED.iter().enumerate() {
                let preserve = if number == 0 { "ON COMPLETION PRESERVE " } else { "" };
                let create = format!("CREATE EVENT e{number} ON SCHEDULE AT NOW() {preserve}{body}");
                run_all(server, &["USE d", &create]);
                match number {
                    0 => wait_for(server, "SELECT said FROM d.t", &["one7"]),
                    _ => wait_for(server, "SELECT COUNT(*) FROM information_schema.EVENTS", &["1"]),
                }
            }
            binary_log(server)
        });
        assert!(lines.iter().any(|line| line.contains("DROP EVENT IF EXISTS`d`.`e1`")), "{lines:?}");
        assert_eq!(lines.iter().any(|line| line == "Write_rows"), format == "ROW", "{format}: {lines:?}");
    }
}

const RUNS: &str = "SELECT COUNT(*) > 1 FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect'";

#[test]
fn an_event_runs_beside_itself_and_ends_by_kill() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    run_all(
        &server,
        &["CREATE DATABASE d", "CREATE EVENT d.slow ON SCHEDULE EVERY 1 SECOND DO DO SLEEP(100000)"],
    );
    wait_for(&server, RUNS, &["1"]);
    // Neither the end of the event nor that of the scheduler ends a run.
    run_all(&server, &["SET GLOBAL event_scheduler = OFF", "DROP EVENT d.slow"]);
    let shown =
        "SELECT USER, HOST, DB, INFO FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect' LIMIT 1";
    assert_eq!(server.rows(shown), ["root\tlocalhost\td\tDO SLEEP(100000)".replace("root", &user(&server))]);
    assert_eq!(server.rows(RUNS), ["1"]);
    for id in server.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect'") {
        run_all(&server, &[&format!("KILL {id}")]);
    }
    wait_for(
        &server,
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Connect'",
        &["0"],
    );
}

/// Returns the name of the kit's user.
fn user(server: &Server) -> String {
    server.rows("SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)").remove(0)
}

const DAEMON: &str = "SELECT USER, HOST, COMMAND, STATE FROM information_schema.PROCESSLIST \
                      WHERE USER = 'event_scheduler'";
const WAITS: &str = "event_scheduler\tlocalhost\tDaemon\tWaiting on empty queue";

#[test]
fn the_daemon_comes_and_goes_with_its_variable() {
    same_as_mysql("programs_events_daemon", &Settings::default(), |server| {
        let mut shown = Vec::new();
        wait_for(server, DAEMON, &[WAITS]);
        run_all(server, &["SET GLOBAL event_scheduler = OFF"]);
        shown.extend(server.rows(DAEMON));
        run_all(server, &["SET GLOBAL event_scheduler = ON"]);
        wait_for(server, DAEMON, &[WAITS]);
        // The scheduler is no connection that could be killed.
        let id = server.rows("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'event_scheduler'");
        shown.push(server.refuses(&format!("KILL {}", id[0])).0.to_string());
        // When nobody may write, the scheduler ends as soon as an event is due, and comes back
        // later.
        run_all(
            server,
            &[
                "CREATE DATABASE d",
                "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY)",
                "SET GLOBAL super_read_only = ON",
            ],
        );
        run_all(server, &["SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"]);
        run_all(server, &["CREATE EVENT d.e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO d.t VALUES ()"]);
        wait_for(server, "SELECT COUNT(*) > 0 FROM d.t", &["1"]);
        run_all(server, &["SET GLOBAL super_read_only = ON"]);
        wait_for(server, DAEMON, &[]);
        shown.extend(server.rows("SELECT @@event_scheduler"));
        let rows = server.rows("SELECT COUNT(*) FROM d.t")[0].clone();
        run_all(server, &["SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"]);
        wait_for(server, &format!("SELECT COUNT(*) > {rows} FROM d.t"), &["1"]);
        shown
    });
    let settings = Settings { extra: vec!["--event-scheduler=DISABLED".into()], ..Settings::default() };
    same_as_mysql("programs_events_disabled", &settings, |server| {
        let mut client = server.connect();
        [
            "SET GLOBAL event_scheduler = ON",
            "SET GLOBAL event_scheduler = 'DISABLED'",
            "SELECT @@event_scheduler",
        ]
        .iter()
        .map(|sql| told(&mut client, sql))
        .chain(server.rows(DAEMON))
        .collect()
    });
}

#[test]
fn a_server_that_comes_back_runs_what_was_due() {
    let mut server = Server::start(Flavor::Slipstream, &off());
    run_all(
        &server,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (said VARCHAR(20))",
            "CREATE EVENT d.late ON SCHEDULE AT NOW() DO INSERT INTO d.t VALUES ('late')",
            "CREATE EVENT d.often ON SCHEDULE EVERY 1 SECOND DO INSERT INTO d.t VALUES ('often')",
            "CREATE EVENT d.over ON SCHEDULE EVERY 1 YEAR STARTS '2020-01-01' ENDS NOW() + INTERVAL 1 SECOND DO \
             INSERT INTO d.t VALUES ('over')",
        ],
    );
    server.shut_down();
    server.come_back();
    assert!(server.rows("SELECT * FROM d.t").is_empty());
    run_all(&server, &["SET GLOBAL event_scheduler = ON"]);
    wait_for(&server, "SELECT COUNT(*) > 2 FROM d.t WHERE said = 'often'", &["1"]);
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.t WHERE said = 'late'"), ["1"]);
    assert_eq!(server.rows("SELECT COUNT(*) FROM d.t WHERE said = 'over'"), ["0"]);
    let events = "SELECT EVENT_NAME, STATUS, LAST_EXECUTED IS NULL FROM information_schema.EVENTS ORDER BY 1";
    assert_eq!(server.rows(events), ["often\tENABLED\t0", "over\tENABLED\t1"]);
}

#[test]
fn a_replica_leaves_its_sources_events_alone() {
    let settings = |server_id| Settings { server_id, ..Settings::default() };
    let source = Server::start(Flavor::Slipstream, &settings(1));
    let replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    run_all(
        &source,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, ran_on INT)",
            "CREATE EVENT d.e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO d.t (ran_on) VALUES (@@server_id)",
            "CREATE EVENT d.once ON SCHEDULE AT NOW() DO INSERT INTO d.t (ran_on) VALUES (@@server_id)",
        ],
    );
    replica.catch_up(&source);
    wait_for(&replica, "SELECT COUNT(*) > 3 FROM d.t", &["1"]);
    let here = "SELECT STATUS, LAST_EXECUTED IS NULL, ORIGINATOR FROM information_schema.EVENTS WHERE EVENT_NAME = 'e'";
    assert_eq!(replica.rows(here), ["REPLICA_SIDE_DISABLED\t1\t1"]);
    wait_for(&replica, "SELECT COUNT(*) FROM information_schema.EVENTS WHERE EVENT_NAME = 'once'", &["0"]);
    assert_eq!(replica.rows("SELECT DISTINCT ran_on FROM d.t"), ["1"]);
    // A replica that is promoted runs events itself once they are enabled.
    run_all(&source, &["DROP EVENT d.e"]);
    replica.catch_up(&source);
    run_all(&replica, &["STOP REPLICA"]);
    run_all(
        &replica,
        &[
            "CREATE EVENT d.e ON SCHEDULE EVERY 1 SECOND DISABLE ON REPLICA DO INSERT INTO d.t (ran_on) VALUES (@@server_id)",
        ],
    );
    assert_eq!(replica.rows(here), ["REPLICA_SIDE_DISABLED\t1\t2"]);
    run_all(&replica, &["ALTER EVENT d.e ENABLE"]);
    wait_for(&replica, "SELECT DISTINCT ran_on FROM d.t ORDER BY 1", &["1", "2"]);
}
