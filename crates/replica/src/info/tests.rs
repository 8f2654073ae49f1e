//! Tests of the files' text against a text that mysqld 8.0 could have written.

use super::Repository;
use super::files::lines;
use crate::config::ChannelConfig;
use crate::status::ReplicaStatus;

fn status() -> ReplicaStatus {
    let config = ChannelConfig {
        host: "db1".into(),
        port: 3307,
        user: "repl".into(),
        password: "secret".into(),
        ignore_server_ids: vec![7, 9],
        heartbeat_period_s: 2.5,
        delay_s: 60,
        auto_position: true,
        ..ChannelConfig::default()
    };
    ReplicaStatus {
        config,
        read_file: "binlog.000003".into(),
        read_pos: 400,
        relay_file: "./relay.000002".into(),
        relay_pos: 320,
        exec_file: "binlog.000002".into(),
        exec_pos: 157,
        source_uuid: "11111111-1111-1111-1111-111111111111".into(),
        workers: 4,
        ..ReplicaStatus::default()
    }
}

#[test]
fn a_line_for_each_value_and_their_number_first() {
    let applier = lines(Repository::Applier, &status());
    assert_eq!(applier, "14\n./relay.000002\n320\nbinlog.000002\n157\n60\n4\n1\n\n\n\n0\n1\n1\n\n");
    let connection = lines(Repository::Connection, &status());
    assert_eq!(
        connection,
        "33\nbinlog.000003\n400\ndb1\nrepl\n\n3307\n60\n0\n\n\n\n\n\n0\n2.500\n\n2 7 9\n\
         11111111-1111-1111-1111-111111111111\n10\n\n\n1\n\n\n\n0\n\nuncompressed\n3\n\n0\n0\n"
    );
    assert_eq!(connection.lines().count(), 33);
}
