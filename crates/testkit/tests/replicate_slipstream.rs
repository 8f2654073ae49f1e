//! Tests of a replica behind a Slipstream source.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::{StartFrom, Thread};
use testkit::following::{
    By, Pair, carries_everything, notices_damage, survives_interruptions, tells_that_logs_are_lost,
};
use testkit::{Replica, Server};

const SOURCE: Flavor = Flavor::Slipstream;

#[test]
fn by_gtid_with_full_images() {
    carries_everything(SOURCE, Flavor::Slipstream, RowImage::Full, By::Gtid);
}

#[test]
fn by_gtid_with_minimal_images() {
    carries_everything(SOURCE, Flavor::Slipstream, RowImage::Minimal, By::Gtid);
}

#[test]
fn by_file_and_position() {
    carries_everything(SOURCE, Flavor::Slipstream, RowImage::Minimal, By::Position);
}

#[test]
fn through_interruptions() {
    survives_interruptions(SOURCE, Flavor::Slipstream, By::Gtid);
}

#[test]
fn through_interruptions_by_position() {
    survives_interruptions(SOURCE, Flavor::Slipstream, By::Position);
}

#[test]
fn through_damage() {
    notices_damage(SOURCE, Flavor::Slipstream);
}

#[test]
fn when_logs_are_lost() {
    tells_that_logs_are_lost(SOURCE, Flavor::Slipstream, By::Position);
}

/// A source that comes back begins a new file. A replica that has everything reports the file's end
/// as its position, and no lag, before there is a transaction in the file.
#[test]
fn an_idle_source_that_was_restarted() {
    let mut pair = Pair::start(SOURCE, Flavor::Slipstream, RowImage::Minimal, By::Gtid);
    pair.source.run("CREATE DATABASE d");
    pair.replica.catch_up(&pair.source);
    pair.source.shut_down();
    pair.source.come_back();
    let end = pair.source.position();
    let status =
        pair.replica.wait_until("at the end of the new file", |status| status.applied.as_ref() == Some(&end));
    assert_eq!(status.received, Some(end));
    pair.replica.wait_until("without lag", |status| status.seconds_behind == Some(0));
}

/// A replica without a binary log forgets its GTIDs as a replica with one does, and then receives
/// everything once more.
#[test]
fn once_more_without_a_binary_log() {
    let source = Server::start(SOURCE, &Settings { server_id: 1, ..Settings::default() });
    let replica =
        Replica::start(Flavor::Slipstream, &Settings { server_id: 2, log_bin: false, ..Settings::default() });
    replica.follow(SOURCE, source.port(), &StartFrom::Gtid);
    for sql in
        ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"]
    {
        source.run(sql);
    }
    replica.catch_up(&source);
    [Thread::Io, Thread::Sql].iter().for_each(|thread| replica.stop_thread(*thread));
    for sql in ["RESET REPLICA", "RESET BINARY LOGS AND GTIDS", "DROP DATABASE d"] {
        replica.run(sql);
    }
    assert_eq!(replica.rows("SELECT @@global.gtid_executed"), [""]);
    assert_eq!(replica.refuses("RESET BINARY LOGS AND GTIDS TO 5").0, 1381);
    [Thread::Io, Thread::Sql].iter().for_each(|thread| replica.start_thread(*thread));
    let all = source.rows("SELECT @@global.gtid_executed")[0].clone();
    replica.wait_until("applied once more", |status| status.executed_gtid_set == all);
    replica.equals_by(&source, "SELECT * FROM d.t");
}
