//! Tests of `master_info_repository` and `relay_log_info_repository`: a replica shows its source
//! and its position in tables or in files.

use std::path::PathBuf;
use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use os::clock::{Stopwatch, sleep};
use testkit::server::SOON;
use testkit::{Replica, Server};

const FILES: [&str; 2] = ["master.info", "relay-log.info"];
const TABLES: [&str; 2] = ["mysql.slave_master_info", "mysql.slave_relay_log_info"];
const VARIABLES: [&str; 2] = ["master_info_repository", "relay_log_info_repository"];

fn path(server: &Server, file: &str) -> PathBuf {
    server.datadir().join(file)
}

/// Returns the lines of a file in the server's data directory.
fn lines(server: &Server, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path(server, file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    text.lines().map(str::to_string).collect()
}

fn row(server: &Server, table: &str) -> Vec<String> {
    let rows = server.rows(&format!("SELECT * FROM {table}"));
    assert_eq!(rows.len(), 1, "{table}");
    rows[0].split('\t').map(str::to_string).collect()
}

/// Returns a table's row in the form that a file has: an empty line for NULL, numbers for the words
/// of an ENUM, and three decimals of the heartbeat period.
fn as_lines(table: &str, row: &[String]) -> Vec<String> {
    let of = |(at, cell): (usize, &String)| match (table, at, cell.as_str()) {
        ("mysql.slave_relay_log_info", 12 | 13, "STREAM" | "OFF") => "1".to_string(),
        ("mysql.slave_master_info", 15, period) => format!("{period}.000"),
        (_, _, "NULL") => String::new(),
        (_, _, other) => other.to_string(),
    };
    row.iter().enumerate().map(of).collect()
}

fn move_both(server: &Server, place: &str) {
    for variable in VARIABLES {
        let mut client = server.connect();
        client.query(&format!("SET GLOBAL {variable} = {place}")).expect("is set");
        let warnings = client.query("SHOW WARNINGS").expect("are shown").rows;
        let text = format!("'@@{variable}' is deprecated and will be removed in a future release.");
        let wanted = ["Warning", "1287", &text].map(|cell| Some(cell.as_bytes().to_vec()));
        assert_eq!(warnings, [wanted.to_vec()]);
    }
}

fn pair(settings: &Settings) -> (Server, Replica) {
    let source = Server::start(Flavor::Slipstream, &Settings::default());
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..settings.clone() });
    replica.follow(Flavor::Slipstream, source.port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    replica.catch_up(&source);
    (source, replica)
}

#[test]
fn are_moved_while_no_thread_runs() {
    let (source, replica) = pair(&Settings::default());
    for variable in VARIABLES {
        let (code, text) = replica.refuses(&format!("SET GLOBAL {variable} = 'FILE'"));
        assert_eq!((code, text.contains("STOP REPLICA FOR CHANNEL ''")), (3081, true), "{text}");
        replica.run(&format!("SET GLOBAL {variable} = 'TABLE'"));
    }
    replica.stop_thread(Thread::Sql);
    assert_eq!(replica.refuses("SET GLOBAL relay_log_info_repository = 'FILE'").0, 3081, "the receiver runs");
    replica.stop_thread(Thread::Io);
    let rows = TABLES.map(|table| as_lines(table, &row(&replica, table)));
    move_both(&replica, "FILE");
    assert_eq!(FILES.map(|file| lines(&replica, file)), rows);
    for table in TABLES {
        assert_eq!(replica.rows(&format!("SELECT * FROM {table}")).len(), 0, "{table} is a file now");
    }
    let shown = replica.rows("SHOW REPLICA STATUS")[0].clone();
    assert!(shown.contains(&path(&replica, "master.info").display().to_string()), "{shown}");

    for thread in [Thread::Io, Thread::Sql] {
        replica.start_thread(thread);
    }
    for id in 0..20 {
        source.run(&format!("INSERT INTO d.t VALUES ({id})"));
    }
    replica.catch_up(&source);
    let end = source.position();
    let reached = |at: usize| lines(&replica, FILES[at])[if at == 0 { 1..=2 } else { 3..=4 }].to_vec();
    let wanted = vec![end.file.clone(), end.offset.to_string()];
    let clock = Stopwatch::start();
    while [reached(0), reached(1)] != [wanted.clone(), wanted.clone()] {
        assert!(clock.elapsed() < SOON, "the files say {:?} and {:?}, not {end}", reached(0), reached(1));
        sleep(Duration::from_millis(10));
    }
    source.run("INSERT INTO d.t VALUES (20)");
    replica.catch_up(&source);
    for thread in [Thread::Io, Thread::Sql] {
        replica.stop_thread(thread);
    }
    let end = source.position();
    assert_eq!(reached(1), [end.file, end.offset.to_string()], "whoever stops it reads the last position");

    move_both(&replica, "TABLE");
    for (file, table) in FILES.into_iter().zip(TABLES) {
        assert!(!path(&replica, file).exists(), "{file} is a table now");
        row(&replica, table);
    }
    move_both(&replica, "FILE");
    replica.run("RESET REPLICA ALL");
    for file in FILES {
        assert!(!path(&replica, file).exists(), "there is nothing to say in {file}");
    }
}

#[test]
fn are_options_under_names_of_ones_choice() {
    let options = [
        "--relay-log-info-repository=FILE",
        "--relay-log-info-file=applied.info",
        "--master-info-repository=file",
        "--master-info-file=source.info",
    ];
    let settings = Settings { extra: options.map(str::to_string).to_vec(), ..Settings::default() };
    let (source, mut replica) = pair(&settings);
    assert_eq!(
        replica.rows("SELECT @@relay_log_info_repository, @@relay_log_info_file"),
        ["FILE\tapplied.info"]
    );
    let log = std::fs::read_to_string(replica.error_log()).expect("the log is read");
    for option in options.iter().map(|option| option.split_once('=').unwrap_or_default().0) {
        let text = format!("The syntax '{option}' is deprecated and will be removed in a future release.");
        assert!(log.contains(&text), "{log}");
    }
    replica.shut_down();
    let end = source.position();
    assert_eq!(lines(&replica, "applied.info")[3..=4], [end.file, end.offset.to_string()]);
    assert_eq!(lines(&replica, "source.info").len(), 33);

    // The repository of the next start counts, but not what was written into its file meanwhile.
    let elsewhere = b"14\n./relay.000001\n4\nbinlog.000099\n4\n";
    os::disk::real().write_atomically(&path(&replica, "applied.info"), elsewhere).expect("is written");
    let tables = Settings { extra: vec![options[1].to_string()], ..replica.settings().clone() };
    replica.start_again_with(&tables).unwrap_or_else(|error| panic!("{error}"));
    source.run("INSERT INTO d.t VALUES (1)");
    replica.catch_up(&source);
    assert!(!path(&replica, "applied.info").exists(), "it is a table now");
    assert_eq!(row(&replica, TABLES[1])[3], source.position().file);
}

#[test]
fn are_files_of_the_only_channel() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let channel = "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1' FOR CHANNEL 'c'";
    server.run("SET GLOBAL relay_log_info_repository = FILE");
    let (code, text) = server.refuses(channel);
    assert_eq!(
        (code, text.starts_with("To have multiple channels, repository cannot be of type FILE")),
        (3077, true)
    );
    server.run("SET GLOBAL relay_log_info_repository = TABLE");
    server.run(channel);
    for variable in VARIABLES {
        let refused = server.refuses(&format!("SET GLOBAL {variable} = FILE"));
        let text = "Failure while changing the type of replication repository: \
                    Repository conversion is possible when only default channel exists.";
        assert_eq!(refused, (1750, text.to_string()));
    }
    assert_eq!(server.refuses("SET GLOBAL master_info_repository = NONE").0, 1231);
    assert_eq!(server.refuses("SET GLOBAL relay_log_info_file = 'x'").0, 1238);
}
