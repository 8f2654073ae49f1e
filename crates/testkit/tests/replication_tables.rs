//! Tests of the tables in which a replica describes its state: their columns, and those values that
//! can be foreseen, are those of a MySQL replica.

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use protocol::client::ClientError;
use testkit::server::{flavor_under_test, same_as_mysql};
use testkit::{Replica, Server, USER, available};

const TABLES: &[&str] = &[
    "performance_schema.replication_connection_configuration",
    "performance_schema.replication_connection_status",
    "performance_schema.replication_applier_configuration",
    "performance_schema.replication_applier_status",
    "performance_schema.replication_applier_status_by_coordinator",
    "performance_schema.replication_applier_status_by_worker",
    "performance_schema.replication_applier_filters",
    "performance_schema.replication_applier_global_filters",
    "mysql.slave_master_info",
    "mysql.slave_relay_log_info",
    "mysql.slave_worker_info",
];

/// Queries that replicas of MySQL and Slipstream must answer alike.
const ALIKE: &[&str] = &[
    "SELECT CHANNEL_NAME, HOST, PORT, USER, AUTO_POSITION, CONNECTION_RETRY_INTERVAL, CONNECTION_RETRY_COUNT, \
     HEARTBEAT_INTERVAL, GET_PUBLIC_KEY, COMPRESSION_ALGORITHM FROM performance_schema.replication_connection_configuration",
    "SELECT SOURCE_UUID, SERVICE_STATE, RECEIVED_TRANSACTION_SET, LAST_ERROR_NUMBER, LAST_QUEUED_TRANSACTION, \
     LAST_QUEUED_TRANSACTION_IMMEDIATE_COMMIT_TIMESTAMP, QUEUEING_TRANSACTION FROM performance_schema.replication_connection_status",
    "SELECT * FROM performance_schema.replication_applier_configuration",
    "SELECT * FROM performance_schema.replication_applier_status",
    "SELECT SERVICE_STATE, LAST_ERROR_NUMBER, LAST_PROCESSED_TRANSACTION, PROCESSING_TRANSACTION \
     FROM performance_schema.replication_applier_status_by_coordinator",
    "SELECT WORKER_ID, SERVICE_STATE, LAST_ERROR_NUMBER, APPLYING_TRANSACTION \
     FROM performance_schema.replication_applier_status_by_worker ORDER BY WORKER_ID",
    "SELECT Host, User_name, Port, Connect_retry, Enabled_auto_position, Uuid FROM mysql.slave_master_info",
    "SELECT Sql_delay, Number_of_workers, Channel_name FROM mysql.slave_relay_log_info",
];

fn columns(server: &Server, table: &str) -> Vec<String> {
    let result = server.run(&format!("SELECT * FROM {table}"));
    result.columns.iter().map(|column| column.name.to_uppercase()).collect()
}

fn follower(flavor: Flavor, server_id: u32, source: &Server) -> Replica {
    let settings = Settings { server_id, replica_workers: 3, ..Settings::default() };
    let replica = Replica::start(flavor, &settings);
    replica.follow(source.flavor(), source.port(), &StartFrom::Gtid);
    replica
}

#[test]
fn as_a_mysql_replica_has_them() {
    if !available("replication_tables::as_a_mysql_replica_has_them", &[Flavor::MySql]) {
        return;
    }
    let source = Server::start(Flavor::MySql, &Settings::default());
    let theirs = follower(Flavor::MySql, 2, &source);
    let ours = follower(flavor_under_test(), 3, &source);
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    for id in 0..20 {
        source.run(&format!("INSERT INTO d.t VALUES ({id})"));
    }
    for replica in [&theirs, &ours] {
        replica.catch_up(&source);
    }
    for table in TABLES {
        assert_eq!(columns(&ours, table), columns(&theirs, table), "{table}");
    }
    for query in ALIKE {
        assert_eq!(ours.rows(query), theirs.rows(query), "{query}");
    }
    let set = source.rows("SELECT @@GLOBAL.gtid_executed").remove(0);
    let last = format!(
        "{}:{}",
        set.split(':').next().unwrap_or_default(),
        set.rsplit('-').next().unwrap_or_default()
    );
    let applied = "SELECT LAST_APPLIED_TRANSACTION FROM performance_schema.replication_applier_status_by_worker \
                   WHERE LAST_APPLIED_TRANSACTION <> ''";
    assert_eq!(ours.rows(applied), [last]);
    let threads = "SELECT COUNT(*) FROM performance_schema.replication_applier_status_by_worker w \
                   JOIN performance_schema.threads t ON t.THREAD_ID = w.THREAD_ID";
    assert_eq!(ours.rows(threads), ["3"], "every worker is a thread");
}

fn held_back_by(replica: &Replica) -> String {
    let row = replica.rows("SHOW GLOBAL STATUS LIKE 'Replica_held_back_by'").remove(0);
    row.split('\t').nth(1).unwrap_or_default().to_string()
}

fn wait_until_held_by_a_lock(replica: &Replica) {
    let clock = os::clock::Stopwatch::start();
    while held_back_by(replica) != "a lock that a session of this server holds" {
        assert!(clock.elapsed() < testkit::server::SOON, "it says: {}", held_back_by(replica));
        os::clock::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn stop_replica_ends_a_wait_for_a_table_and_the_statement_is_carried_out_later() {
    let flavor = flavor_under_test();
    let source = Server::start(flavor, &Settings::default());
    let replica = Replica::start(flavor, &Settings { server_id: 2, ..Settings::default() });
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)");
    source.run("INSERT INTO d.t VALUES (1, 1)");
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    replica.catch_up(&source);
    let mut session = replica.connect();
    session.query("BEGIN").expect("begins");
    session.query("SELECT * FROM d.t").expect("uses the table");
    source.run("ALTER TABLE d.t ADD COLUMN c INT DEFAULT 5");
    wait_until_held_by_a_lock(&replica);
    replica.stop_thread(Thread::Sql);
    let status = replica.status();
    assert_eq!((status.sql_running.as_str(), status.sql_errno), ("No", 0), "{}", status.sql_error);
    assert_eq!(replica.rows("SELECT COUNT(*) FROM information_schema.columns WHERE table_schema='d'"), ["2"]);
    session.query("COMMIT").expect("commits");
    replica.start_thread(Thread::Sql);
    replica.catch_up(&source);
    assert_eq!(replica.rows("SELECT * FROM d.t"), ["1\t1\t5"]);
}

#[test]
fn what_holds_the_applier_back_in_words() {
    let flavor = flavor_under_test();
    let source = Server::start(flavor, &Settings::default());
    let replica = Replica::start(flavor, &Settings { server_id: 2, ..Settings::default() });
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)");
    source.run("INSERT INTO d.t VALUES (1, 1)");
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    replica.catch_up(&source);
    assert_eq!(held_back_by(&replica), "nothing: all that was received is applied");
    let mut session = replica.connect();
    session.query("BEGIN").expect("begins");
    session.query("SELECT * FROM d.t WHERE id = 1 FOR UPDATE").expect("locks");
    source.run("UPDATE d.t SET n = 2");
    wait_until_held_by_a_lock(&replica);
    session.query("ROLLBACK").expect("rolls back");
    replica.catch_up(&source);
    replica.stop_thread(Thread::Io);
    replica.wait_until("the receiver stopped", |status| status.io_running == "No");
    assert_eq!(held_back_by(&replica), "the receiver, which is stopped");
    replica.stop_thread(Thread::Sql);
    assert_eq!(held_back_by(&replica), "the applier is stopped");
}

/// Only accounts that may read schema `mysql` see the account at the source.
#[test]
fn information_about_the_source_is_not_for_everybody() {
    let server = Server::start(flavor_under_test(), &Settings::default());
    server.run("CREATE USER guest IDENTIFIED BY 'guest'");
    let options = server.connect_options().user("guest", "guest");
    let mut guest = protocol::client::Client::connect(&options).expect("connects");
    match guest.query("SELECT * FROM mysql.slave_master_info") {
        Err(ClientError::Server(error)) => assert_eq!(error.code, 1142),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.rows("SELECT * FROM mysql.slave_master_info").len(), 0, "{USER} may");
}

#[test]
fn a_change_of_the_source_takes_the_timeout_of_its_moment() {
    same_as_mysql("replication_tables::the_timeout_of_its_moment", &Settings::default(), |server| {
        let heartbeat =
            "SELECT heartbeat_interval FROM performance_schema.replication_connection_configuration";
        let mut seen = Vec::new();
        for seconds in [20, 8] {
            server.run(&format!("SET GLOBAL replica_net_timeout = {seconds}"));
            server.run(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=1, SOURCE_USER='nobody'",
            );
            seen.extend(server.rows(heartbeat));
        }
        seen
    });
}
