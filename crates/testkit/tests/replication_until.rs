//! Tests of where the applier stops by itself (START REPLICA UNTIL), and of how long it waits
//! (SOURCE_DELAY).

use std::time::Duration;

use bench::instance::{Flavor, Settings};
use bench::replication::{StartFrom, Thread};
use os::clock::Stopwatch;
use testkit::server::{SOON, flavor_under_test};
use testkit::{Replica, Server, available};

const COUNT: &str = "SELECT COUNT(*) FROM d.t";

/// Starts a source with an empty table, and a replica that has it too.
fn pair(source: Flavor, workers: u32) -> (Server, Replica) {
    let source = Server::start(source, &Settings::default());
    let settings = Settings { server_id: 2, replica_workers: workers, ..Settings::default() };
    let replica = Replica::start(flavor_under_test(), &settings);
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    replica.follow(source.flavor(), source.port(), &StartFrom::Gtid);
    replica.catch_up(&source);
    (source, replica)
}

fn shown(replica: &Replica, column: &str) -> String {
    replica.run("SHOW REPLICA STATUS").text(0, column).unwrap_or_else(|| "NULL".to_string())
}

/// Starts the applier with a condition, waits until it has stopped by itself, and returns what the
/// replica shows of the condition.
fn apply_until(replica: &Replica, condition: &str) -> Vec<String> {
    replica.run(&format!("START REPLICA SQL_THREAD UNTIL {condition}"));
    let status = replica.wait_until("stopped by itself", |status| status.sql_running == "No");
    assert_eq!((status.sql_errno, status.io_running.as_str()), (0, "Yes"), "{condition}: {status:?}");
    let columns = ["Until_Condition", "Until_Log_File", "Until_Log_Pos"];
    columns.map(|column| shown(replica, column)).into()
}

/// Returns the number of the last GTID in a set of one server.
fn last_gno(set: &str) -> u64 {
    set.rsplit([':', '-']).next().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn stops_where_it_should(source: Flavor, workers: u32) {
    let (source, replica) = pair(source, workers);
    let uuid = source.rows("SELECT @@server_uuid").remove(0);
    replica.stop_thread(Thread::Sql);
    let before = last_gno(&source.rows("SELECT @@GLOBAL.gtid_executed")[0]);
    let mut places = Vec::new();
    for id in 1..=30 {
        source.run(&format!("INSERT INTO d.t VALUES ({id})"));
        places.push(source.position());
    }
    let received = source.position();
    replica.wait_until("received", |status| status.received.as_ref() >= Some(&received));
    let count = || replica.rows(COUNT).remove(0);

    let until = apply_until(&replica, &format!("SQL_BEFORE_GTIDS = '{uuid}:{}-{}'", before + 6, before + 9));
    assert_eq!((count().as_str(), until[0].as_str()), ("5", "SQL_BEFORE_GTIDS"));
    let until = apply_until(&replica, &format!("SQL_AFTER_GTIDS = '{uuid}:1-{}'", before + 10));
    assert_eq!((count().as_str(), until[0].as_str()), ("10", "SQL_AFTER_GTIDS"));
    // The applier is past the first condition already, and the second one is always true.
    apply_until(&replica, &format!("SQL_BEFORE_GTIDS = '{uuid}:{}'", before + 3));
    apply_until(&replica, "SQL_AFTER_MTS_GAPS");
    assert_eq!(count(), "10");
    let (file, pos) = (&places[14].file, places[14].offset);
    let until = apply_until(&replica, &format!("SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {pos}"));
    assert_eq!((count(), until), ("15".to_string(), vec!["Source".into(), file.clone(), pos.to_string()]));
    // The position is within a transaction, which is completed.
    let until = apply_until(&replica, &format!("SOURCE_LOG_FILE = '{file}', SOURCE_LOG_POS = {}", pos + 1));
    assert_eq!((count().as_str(), until[0].as_str()), ("16", "Source"));
    let relay = (shown(&replica, "Relay_Log_File"), shown(&replica, "Relay_Log_Pos"));
    replica.start_thread(Thread::Sql);
    replica.catch_up(&source);
    assert_eq!((count().as_str(), shown(&replica, "Until_Condition").as_str()), ("30", "None"));

    // The position is one of the relay log: the one that has been reached.
    replica.stop_thread(Thread::Sql);
    let until =
        apply_until(&replica, &format!("RELAY_LOG_FILE = '{}', RELAY_LOG_POS = {}", relay.0, relay.1));
    assert_eq!(until, ["Relay".to_string(), relay.0, relay.1]);

    let (code, _) = replica.refuses("START REPLICA IO_THREAD UNTIL SQL_AFTER_MTS_GAPS");
    assert_eq!(code, 1277);
    let (code, _) = replica.refuses("START REPLICA UNTIL SQL_AFTER_GTIDS = 'no set'");
    assert_eq!(code, 1772);
    assert_eq!(replica.status().sql_running, "No", "nothing was started");
}

#[test]
fn until_behind_mysql() {
    if available("replication_until::until_behind_mysql", &[Flavor::MySql]) {
        stops_where_it_should(Flavor::MySql, 0);
    }
}

#[test]
fn until_with_workers() {
    stops_where_it_should(flavor_under_test(), 3);
}

fn waits(source: Flavor, workers: u32) {
    let (source, replica) = pair(source, workers);
    replica.stop_thread(Thread::Sql);
    // The delay applies to the applier only: the receiver goes on, and nothing that it has received
    // is dropped.
    replica.run("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 3600");
    source.run("INSERT INTO d.t VALUES (1)");
    let received = source.position();
    replica.wait_until("received", |status| status.received.as_ref() >= Some(&received));
    replica.start_thread(Thread::Sql);
    let clock = Stopwatch::start();
    while shown(&replica, "SQL_Remaining_Delay") == "NULL" {
        assert!(clock.elapsed() < SOON, "it does not wait:\n{}", replica.log_tail());
        os::clock::sleep(Duration::from_millis(5));
    }
    assert_eq!(shown(&replica, "SQL_Delay"), "3600");
    let left: u64 = shown(&replica, "SQL_Remaining_Delay").parse().expect("is a number");
    assert!((3500..=3600).contains(&left), "{left} s are left");
    assert_eq!(
        shown(&replica, "Replica_SQL_Running_State"),
        "Waiting until SOURCE_DELAY seconds after source executed event"
    );
    let delays = "SELECT DESIRED_DELAY FROM performance_schema.replication_applier_configuration";
    assert_eq!(replica.rows(delays), ["3600"]);
    assert_eq!(replica.rows(COUNT), ["0"]);
    let (code, _) = replica.refuses("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 1");
    assert_eq!(code, 3017, "the applier must be stopped");

    // A thread that waits can be stopped, and the transaction that it waited for is still there.
    replica.stop_thread(Thread::Sql);
    replica.run("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 2");
    replica.start_thread(Thread::Sql);
    replica.catch_up(&source);
    let clock = Stopwatch::start();
    source.run("INSERT INTO d.t VALUES (2)");
    replica.catch_up(&source);
    // The clocks may differ, so that the wait may seem shorter than two seconds.
    assert!(clock.elapsed() > Duration::from_millis(1_500), "applied after {:?}", clock.elapsed());
    assert_eq!(replica.rows(COUNT), ["2"]);
    let (code, _) = replica.refuses("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 4000000000");
    assert_eq!(code, 3017);
    replica.stop_thread(Thread::Sql);
    let (code, _) = replica.refuses("CHANGE REPLICATION SOURCE TO SOURCE_DELAY = 4000000000");
    assert_eq!(code, 1729);
}

#[test]
fn delay_behind_mysql() {
    if available("replication_until::delay_behind_mysql", &[Flavor::MySql]) {
        waits(Flavor::MySql, 0);
    }
}

#[test]
fn delay_with_workers() {
    waits(flavor_under_test(), 3);
}

#[test]
fn relay_log_settings_change_at_run_time() {
    let (source, replica) = pair(flavor_under_test(), 0);
    let relay_logs = || {
        let names = std::fs::read_dir(replica.datadir()).expect("the data directory is there");
        let names = names.map(|entry| entry.expect("is readable").file_name().to_string_lossy().into_owned());
        let is_numbered =
            |name: &String| name.rsplit_once('.').is_some_and(|(_, n)| n.parse::<u32>().is_ok());
        names.filter(|name| name.contains("relay") && is_numbered(name)).count()
    };
    let insert = |from: u32| {
        for id in from..from + 60 {
            source.run(&format!("INSERT INTO d.t VALUES ({id})"));
        }
        replica.catch_up(&source);
    };
    replica.run("SET GLOBAL relay_log_purge = OFF, GLOBAL max_relay_log_size = 4096");
    insert(0);
    let kept = relay_logs();
    assert!(kept > 3, "{kept} relay logs, which begin anew after 4 KB");
    replica.run("SET GLOBAL relay_log_purge = ON");
    insert(100);
    let clock = Stopwatch::start();
    while relay_logs() >= kept {
        assert!(clock.elapsed() < SOON, "{} relay logs after they are applied", relay_logs());
        os::clock::sleep(Duration::from_millis(20));
    }
}
