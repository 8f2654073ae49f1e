//! Tests of `slipstream status` with servers that are well and servers that are not.

use std::process::{Command, Output};

use bench::instance::{Flavor, Settings, USER};
use bench::replication::{StartFrom, Thread};
use testkit::{Replica, Server, available};

fn status(server: &Server, words: &[&str]) -> Output {
    let address = format!("mysql://{USER}@127.0.0.1:{}/", server.port());
    let mut command = Command::new(testkit::binary::slipstream());
    command.arg("status").arg(address).args(words).env("SLIPSTREAM_PASSWORD", USER);
    command.output().unwrap_or_else(|error| panic!("slipstream status: {error}"))
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text in UTF-8")
}

/// Returns the value behind a name in JSON that is written with a name on each line.
fn value<'a>(json: &'a str, name: &str) -> &'a str {
    let behind = json.split_once(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("no {name} in {json}")).1;
    behind.lines().next().unwrap_or_default().trim_end_matches(',')
}

fn pair(replica: Flavor, source: Flavor) -> (Replica, Server) {
    let source_server = Server::start(source, &Settings { server_id: 1, ..Settings::default() });
    let server = Replica::start(replica, &Settings { server_id: 2, ..Settings::default() });
    server.follow(source, source_server.port(), &StartFrom::Gtid);
    source_server.run("CREATE DATABASE d");
    source_server.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    server.catch_up(&source_server);
    server.wait_until("connected", |status| status.seconds_behind == Some(0));
    (server, source_server)
}

#[test]
fn a_pair_of_servers_is_shown_from_both_sides() {
    let (replica, source) = pair(Flavor::Slipstream, Flavor::Slipstream);
    let shown = status(&replica, &[]);
    let screen = text(&shown);
    assert_eq!(shown.status.code(), Some(0), "{screen}");
    assert!(screen.contains("\nall is well\n") && screen.contains("  replica"), "{screen}");
    assert!(screen.contains(&format!("127.0.0.1:{}", source.port())), "{screen}");
    assert!(screen.contains("nothing: all that was received is applied"), "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 100), "{screen}");
    assert!(!screen.contains('\x1b'), "{screen}");

    let shown = text(&status(&source, &["--json"]));
    assert_eq!([value(&shown, "well"), value(&shown, "role")], ["true", "\"source\""]);
    let replicas = shown.split_once("\"replicas\": [").expect("the replicas").1;
    assert_eq!(value(replicas, "server_id"), "2");
}

#[test]
fn a_channel_that_has_stopped_is_told() {
    let (replica, source) = pair(Flavor::Slipstream, Flavor::Slipstream);
    replica.stop_thread(Thread::Sql);
    source.run("INSERT INTO d.t VALUES (1)");
    source.run("INSERT INTO d.t VALUES (2)");
    let end = source.position();
    replica.wait_until("received", |status| status.received.as_ref() == Some(&end));
    let shown = status(&replica, &["--json"]);
    let json = text(&shown);
    assert_eq!(shown.status.code(), Some(1), "{json}");
    let names = ["well", "receiver", "applier", "transactions_to_apply"];
    assert_eq!(names.map(|name| value(&json, name)), ["false", "\"running\"", "\"stopped\"", "2"]);

    replica.run("INSERT INTO d.t VALUES (1)");
    replica.start_thread(Thread::Sql);
    replica.wait_until("stopped", |status| status.sql_errno == 1062);
    let shown = status(&replica, &[]);
    assert_eq!(shown.status.code(), Some(1));
    let screen = text(&shown);
    let problem = screen.lines().find(|line| line.starts_with("! ")).expect("a problem");
    assert!(
        problem.starts_with("! channel (default): the applier is stopped with error 1062: "),
        "{problem}"
    );
}

#[test]
fn a_server_that_cannot_be_asked_is_told() {
    let mut server = Server::start(Flavor::Slipstream, &Settings::default());
    server.run("CREATE USER nobody IDENTIFIED BY 'x'");
    let refused = status(&server, &["--password-file=/nonexistent"]);
    assert_eq!(refused.status.code(), Some(2));
    // The status variables are for everybody, the channels are not.
    let mut command = Command::new(testkit::binary::slipstream());
    command.arg("status").arg(format!("mysql://nobody:x@127.0.0.1:{}/", server.port()));
    let denied = command.output().expect("an answer");
    assert_eq!(denied.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&denied.stderr).contains("REPLICATION CLIENT"), "{denied:?}");
    server.shut_down();
    let gone = status(&server, &[]);
    assert_eq!((gone.status.code(), gone.stdout.as_slice()), (Some(1), b"".as_slice()));
    let said = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert!(said.starts_with(&format!("slipstream status: 127.0.0.1:{}: ", server.port())), "{said}");
}

#[test]
fn looks_follow_each_other_without_codes_for_a_terminal() {
    let server = Server::start(Flavor::Slipstream, &Settings::default());
    let screens = text(&status(&server, &["--watch=1", "--looks=2"]));
    assert!(screens.contains("since the server's start") && screens.contains("in the last "), "{screens}");
    assert!(!screens.contains('\x1b'), "{screens}");
    let lines = text(&status(&server, &["--watch=1", "--looks=2", "--json"]));
    assert_eq!(
        lines.lines().filter(|line| line.starts_with("{\"") && line.ends_with('}')).count(),
        2,
        "{lines}"
    );
}

#[test]
fn a_real_mysql_is_shown_as_far_as_it_goes() {
    if !available("a_real_mysql_is_shown_as_far_as_it_goes", &[Flavor::MySql]) {
        return;
    }
    let (replica, source) = pair(Flavor::MySql, Flavor::Slipstream);
    let shown = status(&replica, &["--json"]);
    let json = text(&shown);
    assert_eq!(shown.status.code(), Some(0), "{json}");
    let names = ["well", "role", "source_port", "lag_milliseconds", "transactions_to_apply"];
    let port = source.port().to_string();
    assert_eq!(names.map(|name| value(&json, name)), ["true", "\"replica\"", &port, "0.0", "0"]);
    assert!(text(&status(&replica, &[])).contains(" commits/s"));
    assert!(text(&status(&source, &[])).contains("replicas  1: id 2"));
}
