//! Tests of START REPLICA with USER and PASSWORD: beside a real MySQL, what is refused, noted and
//! shown; and a receiver that connects with them until it is stopped.

use bench::instance::{Flavor, Settings};
use bench::replication::Thread;
use testkit::answers::rows;
use testkit::server::same_as_mysql;
use testkit::{Replica, Server};

#[test]
fn the_login_is_taken_as_by_mysql() {
    let test = "start_replica_login::the_login_is_taken_as_by_mysql";
    let lines = same_as_mysql(test, &Settings::default(), |server: &Server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for sql in [
            "STOP REPLICA",
            "START REPLICA USER = 'u' PASSWORD = 'p'",
            // Nobody listens there, so that the receiver tries again and again.
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'kept', \
             SOURCE_PASSWORD = 'secret'",
            "START REPLICA SQL_THREAD USER = 'u' PASSWORD = 'p'",
            "START REPLICA PASSWORD = 'p' USER = 'u'",
            "START REPLICA USER = 'u', PASSWORD = 'p'",
            "START REPLICA USER 'u'",
            "START REPLICA FOR CHANNEL '' USER = 'u'",
            "STOP REPLICA USER = 'u'",
            "START REPLICA USER = 'u' PASSWORD = 'p' DEFAULT_AUTH = 'x' PLUGIN_DIR = '/y' FOR CHANNEL ''",
            "START REPLICA USER = 'other' PASSWORD = 'p'",
            "STOP REPLICA IO_THREAD",
            "START REPLICA IO_THREAD USER = 'v' PASSWORD = 'p'",
            "STOP REPLICA IO_THREAD",
            "START REPLICA",
            "STOP REPLICA",
            "RESET REPLICA ALL",
        ] {
            let done = client.query(sql).map(|done| done.ok.warnings);
            lines.push(format!("{sql}: {done:?}"));
            lines.extend(rows(&mut client, "SHOW WARNINGS"));
            let status = client.query("SHOW REPLICA STATUS").expect("it answers");
            lines.push(format!("user: {:?}", status.text(0, "Source_User")));
            lines.extend(rows(
                &mut client,
                "SELECT USER FROM performance_schema.replication_connection_configuration",
            ));
        }
        lines
    });
    for wanted in ["user: Some(\"u\")", "user: Some(\"v\")", "user: Some(\"kept\")"] {
        assert!(lines.iter().any(|line| line == wanted), "{wanted}: {lines:?}");
    }
}

#[test]
fn a_receiver_connects_with_the_login_until_it_is_stopped() {
    let mut source = Server::start(Flavor::Slipstream, &Settings { server_id: 1, ..Settings::default() });
    let replica = Replica::start(Flavor::Slipstream, &Settings { server_id: 2, ..Settings::default() });
    source.run("CREATE USER lent IDENTIFIED BY 'right'");
    source.run("GRANT REPLICATION SLAVE ON *.* TO lent");
    replica.run(&format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {}, SOURCE_USER = 'lent', \
         SOURCE_PASSWORD = 'wrong', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, \
         SOURCE_CONNECT_RETRY = 1",
        source.port()
    ));
    replica.run("START REPLICA USER = 'lent' PASSWORD = 'right'");
    replica.catch_up(&source);
    // The receiver that connects anew still has the login.
    source.kill();
    source.come_back();
    source.run("CREATE DATABASE after_the_kill");
    replica.catch_up(&source);
    replica.stop_thread(Thread::Io);
    replica.run("START REPLICA");
    let status = replica.wait_until("the old password is refused", |status| status.io_errno == 1045);
    assert_ne!(status.io_running, "Yes");
}
