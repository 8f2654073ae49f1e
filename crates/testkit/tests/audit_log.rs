//! Tests of the audit log: what is in it, what the filters leave out, and that no event is lost
//! when files are rotated or many sessions write.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ConnectOptions};
use serde_json::Value;
use testkit::Server;
use testkit::http::{address_of, get_with};

fn started(options: &[&str]) -> Server {
    let mut settings = Settings::default();
    settings.extra.extend(options.iter().map(|&option| option.to_owned()));
    Server::start(Flavor::Slipstream, &settings)
}

fn file(server: &Server, name: &str) -> PathBuf {
    PathBuf::from(&server.rows("SELECT @@datadir")[0]).join(name)
}

/// Returns the events of a file, each of which has to be an object on a line of its own.
fn events_in(path: &Path) -> Vec<Value> {
    let bytes = os::disk::real().read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = String::from_utf8(bytes).expect("UTF-8");
    assert!(text.is_empty() || text.ends_with('\n'), "a line is not whole");
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}

/// Ends the log, so that everything is in the file, and returns its events.
fn events(server: &Server) -> Vec<Value> {
    server.run("SET GLOBAL audit_log = OFF");
    events_in(&file(server, "audit.log"))
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// What an event says, but for times and numbers.
fn said(event: &Value) -> String {
    let status = ["/general_data/status", "/connection_data/status"].iter().find_map(|at| event.pointer(at));
    let class = match text(event, "/class") {
        "general" => {
            format!("{} {}", text(event, "/general_data/command"), text(event, "/general_data/sql_command"))
        }
        class => format!("{class} {}", text(event, "/event")),
    };
    let status = status.map(Value::to_string).unwrap_or_default();
    format!("{}: {class} {status} {}", text(event, "/account/user"), text(event, "/general_data/query"))
}

fn as_user(server: &Server, user: &str, password: &str) -> Result<Client, protocol::client::ClientError> {
    let (user, password) = (user.to_owned(), password.to_owned());
    Client::connect(&ConnectOptions { user, password, ..server.connect_options() })
}

fn of<'e>(events: &'e [Value], user: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| text(event, "/login/user") == user).collect()
}

#[test]
fn a_session_is_in_the_log_from_its_login_to_its_end() {
    let server = started(&["--audit-log=ON"]);
    server.run("CREATE DATABASE d");
    server.run("CREATE TABLE d.t (id INT PRIMARY KEY, name VARCHAR(20))");
    server.run("CREATE USER a IDENTIFIED BY 'secret-word'");
    server.run("GRANT ALL ON d.* TO a");
    assert!(as_user(&server, "a", "wrong").is_err());
    let mut client = as_user(&server, "a", "secret-word").unwrap();
    client.command(2, b"d").expect("COM_INIT_DB");
    client.query("INSERT INTO t VALUES (1, 'one'), (2, 'two\nlines')").unwrap();
    client.query("SELECT * FROM t").unwrap();
    client.query("INSERT INTO t VALUES (1, 'again')").unwrap_err();
    client.query("SELCT 'another-secret'").unwrap_err();
    let statement = client.prepare("UPDATE t SET name = 'x' WHERE id >= 1").unwrap();
    client.execute(&statement, &[]).unwrap();
    client.query("CALL no_such()").unwrap_err();
    client.query("SET PASSWORD = 'third-secret'").unwrap();
    drop(client);
    // The end of the connection is noted by its own thread, which has to see it first.
    let clock = os::clock::Stopwatch::start();
    while !server.rows("SELECT 1 FROM information_schema.processlist WHERE user = 'a'").is_empty() {
        assert!(clock.elapsed() < testkit::server::SOON, "the connection does not end");
    }
    let events = events(&server);
    let own = of(&events, "a");
    let expected = [
        "a: connection connect 1045 ",
        "a: connection connect 0 ",
        "a: Init DB init_db 0 d",
        "a: Query insert 0 INSERT INTO t VALUES (1, 'one'), (2, 'two\nlines')",
        "a: Query select 0 SELECT * FROM t",
        "a: Query insert 1062 INSERT INTO t VALUES (1, 'again')",
        "a: Query error 1064 ",
        "a: Prepare prepare 0 UPDATE t SET name = 'x' WHERE id >= 1",
        "a: Execute update 0 UPDATE t SET name = 'x' WHERE id >= 1",
        "a: Query call_procedure 1305 CALL no_such()",
        "a: Query set_option 0 SET PASSWORD = <secret>",
        "a: connection disconnect 0 ",
    ];
    assert_eq!(own.iter().map(|event| said(event)).collect::<Vec<_>>(), expected);
    let figures = |at: usize, name: &str| own[at]["query_statistics"][name].as_u64();
    assert_eq!(
        (figures(3, "rows_affected"), figures(4, "rows_sent"), figures(8, "rows_affected")),
        (Some(2), Some(2), Some(2))
    );
    assert!(own[4]["query_statistics"]["query_time"].is_f64() && own[4]["db"] == "d");
    assert_eq!((text(own[1], "/login/ip"), text(own[1], "/account/host")), ("127.0.0.1", "%"));
    assert_eq!(own[1]["connection_id"], own[3]["connection_id"]);
    let whole = serde_json::to_string(&events).unwrap();
    for secret in ["secret-word", "another-secret", "third-secret"] {
        assert!(!whole.contains(secret), "{secret} is in the log");
    }
    assert_eq!((text(&events[0], "/event"), text(events.last().unwrap(), "/event")), ("startup", "shutdown"));
    let ids: Vec<_> = events.iter().map(|event| event["id"].as_u64()).collect();
    assert_eq!(ids[0], Some(0));
}

#[test]
fn the_log_is_off_unless_it_is_asked_for() {
    let server = started(&[]);
    server.run("SELECT 1");
    assert!(!file(&server, "audit.log").exists());
    assert_eq!(server.rows("SHOW GLOBAL STATUS LIKE 'Audit_log_events'"), ["Audit_log_events\t0"]);
    // It begins and ends while the server runs, also without the right to change other variables.
    server.run("CREATE USER variables, auditor");
    server.run("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO variables, auditor");
    server.run("GRANT AUDIT_ADMIN ON *.* TO auditor");
    let refused = as_user(&server, "variables", "").unwrap().query("SET GLOBAL audit_log = ON").unwrap_err();
    assert_eq!(refused.server_code(), Some(1227), "{refused}");
    as_user(&server, "auditor", "").unwrap().query("SET GLOBAL audit_log = ON").unwrap();
    server.run("SELECT 'seen'");
    assert!(events(&server).iter().any(|event| text(event, "/general_data/query") == "SELECT 'seen'"));
}

#[test]
fn accounts_and_classes_are_chosen() {
    let server = started(&["--audit-log=ON", "--audit-log-include-accounts='a'@'%', b@%"]);
    server.run("CREATE USER a, b, c");
    let play = |user: &str| {
        let mut client = as_user(&server, user, "").unwrap();
        client.query("SELECT 1").unwrap();
        client.query("DO 2").unwrap();
    };
    ["a", "b", "c"].into_iter().for_each(play);
    assert_eq!(server.refuses("SET GLOBAL audit_log_exclude_accounts = 'c@%'").0, 1231);
    server.run("SET GLOBAL audit_log_include_accounts = ''");
    server
        .run("SET GLOBAL audit_log_exclude_accounts = 'a@%', GLOBAL audit_log_exclude_commands = 'do, select_nothing'");
    ["a", "b"].into_iter().for_each(play);
    server.run("SET GLOBAL audit_log_policy = LOGINS");
    play("c");
    server.run("SET GLOBAL audit_log_policy = QUERIES, GLOBAL audit_log_statements = DIGEST");
    play("c");
    let events = events(&server);
    let of_user = |user: &str| -> Vec<String> {
        let own = of(&events, user).into_iter().filter(|event| text(event, "/event") != "disconnect");
        own.map(|event| said(event).replace(&format!("{user}: "), "")).collect()
    };
    let all = ["connection connect 0 ", "Query select 0 SELECT 1", "Query do 0 DO 2"];
    assert_eq!(of_user("a"), all);
    assert_eq!(of_user("b"), [&all[..], &all[..2]].concat());
    assert_eq!(of_user("c"), ["connection connect 0 ", "Query select 0 "]);
    let by_digest = of(&events, "c").into_iter().find(|event| event["digest"].is_string()).expect("a digest");
    assert_eq!(by_digest["general_data"]["query_digest"], "SELECT ?");
    let digest = &server.rows("SELECT STATEMENT_DIGEST('SELECT 1')")[0];
    assert_eq!(text(by_digest, "/digest"), digest);
    let filtered = server.rows("SHOW GLOBAL STATUS LIKE 'Audit_log_events_filtered'");
    assert_ne!(filtered, ["Audit_log_events_filtered\t0"]);
}

#[test]
fn files_are_rotated_between_lines_and_opened_anew() {
    let server = started(&["--audit-log=ON", "--audit-log-rotate-on-size=4096", "--audit-log-rotations=2"]);
    let mut client = server.connect();
    let count = |name: &str| {
        let shown = server.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))[0].clone();
        shown.split('\t').nth(1).and_then(|number| number.parse::<u64>().ok()).expect("a number")
    };
    for number in 0..100 {
        client.query(&format!("SELECT {number}, REPEAT('x', 10)")).unwrap();
    }
    // What came before is in the old file after FLUSH LOGS, whoever has renamed it.
    let path = file(&server, "audit.log");
    server.run("FLUSH LOGS");
    let away = path.with_extension("away");
    os::disk::real().rename(&path, &away).unwrap();
    server.run("SELECT 'before'");
    server.run("FLUSH LOGS");
    server.run("SELECT 'after'");
    let newest = events(&server);
    let has = |events: &[Value], query: &str| events.iter().any(|e| text(e, "/general_data/query") == query);
    let (first, second, away) =
        (file(&server, "audit.log.1"), file(&server, "audit.log.2"), events_in(&away));
    assert!(has(&away, "SELECT 'before'") && !has(&newest, "SELECT 'before'"));
    assert!(has(&newest, "SELECT 'after'") || has(&events_in(&first), "SELECT 'after'"));
    assert!(!file(&server, "audit.log.3").exists(), "only two earlier files are kept");
    for earlier in [&first, &second] {
        let bytes = os::disk::real().read(earlier).unwrap().len();
        assert!((4096..8192).contains(&bytes), "{} has {bytes} bytes", earlier.display());
        assert!(!events_in(earlier).is_empty());
    }
    assert_eq!(count("Audit_log_events_lost"), 0);
}

#[test]
fn no_event_is_lost_among_many_sessions_and_a_small_buffer() {
    let server = started(&["--audit-log=ON", "--audit-log-buffer-size=4096"]);
    let (sessions, each) = (4, 300);
    std::thread::scope(|scope| {
        for session in 0..sessions {
            let server = &server;
            scope.spawn(move || {
                let mut client = server.connect();
                for number in 0..each {
                    client.query(&format!("SELECT {session}, {number}")).unwrap();
                }
            });
        }
    });
    let mut seen: Vec<String> = events(&server)
        .iter()
        .map(|event| text(event, "/general_data/query").to_owned())
        .filter(|query| query.starts_with("SELECT ") && query.contains(", "))
        .collect();
    let in_order = |session: usize| {
        let of_session = seen.iter().filter(|query| query.starts_with(&format!("SELECT {session},")));
        of_session.cloned().collect::<Vec<_>>()
            == (0..each).map(|number| format!("SELECT {session}, {number}")).collect::<Vec<_>>()
    };
    assert!((0..sessions).all(in_order), "a session's statements are not all there in their order");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), sessions * each);
    assert_eq!(server.rows("SHOW GLOBAL STATUS LIKE 'Audit_log_events_lost'"), ["Audit_log_events_lost\t0"]);
}

#[test]
fn logins_on_the_web_page_are_in_the_log() {
    let server = started(&["--audit-log=ON", "--http-address=127.0.0.1:0"]);
    server.run("CREATE USER watcher IDENTIFIED BY 'right', other IDENTIFIED BY 'right'");
    server.run("GRANT PROCESS, REPLICATION CLIENT ON *.* TO watcher");
    let address = address_of(&server);
    for (user, password) in [
        ("watcher", "right"),
        ("watcher", "right"),
        ("watcher", "wrong"),
        ("watcher", "wrong"),
        ("other", "right"),
        ("nobody", "right"),
        ("watcher", "right"),
    ] {
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        get_with(address, "/page.json", &format!("Authorization: Basic {credentials}\r\n"));
    }
    let events = events(&server);
    let of_page = events.iter().filter(|event| text(event, "/connection_data/connection_type") == "http");
    let lines: Vec<String> =
        of_page.map(|event| format!("{} at {}", said(event).trim_end(), text(event, "/login/ip"))).collect();
    // The account that is let in again and again is noted once.
    assert_eq!(
        lines,
        [
            "watcher: connection connect 0 at 127.0.0.1",
            "watcher: connection connect 1045 at 127.0.0.1",
            "watcher: connection connect 1045 at 127.0.0.1",
            "other: connection connect 1227 at 127.0.0.1",
            "nobody: connection connect 1045 at 127.0.0.1",
        ]
    );
}
