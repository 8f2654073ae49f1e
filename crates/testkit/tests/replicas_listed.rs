//! Tests of SHOW REPLICAS: each replica that has registered is listed as long as it is connected. A
//! real MySQL gets the same commands and must answer the same.

use bench::instance::Settings;
use os::clock::Stopwatch;
use protocol::command::{BINLOG_DUMP, REGISTER_SLAVE};
use std::net::Ipv4Addr;
use std::time::Duration;
use testkit::Server;
use testkit::caller::{Caller, Said};
use testkit::server::same_as_mysql;

fn come(server: &Server) -> Caller {
    let mut caller = Caller::from(Ipv4Addr::LOCALHOST, server.port());
    assert_eq!(caller.log_in("r", ""), Said::Ok);
    caller
}

/// Sends COM_REGISTER_SLAVE without user and password, and returns the answer.
fn register(caller: &mut Caller, id: u32, host: &str, source_id: u32) -> Said {
    let mut packet = vec![REGISTER_SLAVE];
    packet.extend_from_slice(&id.to_le_bytes());
    packet.push(host.len() as u8);
    packet.extend_from_slice(host.as_bytes());
    packet.extend_from_slice(&[0, 0]);
    packet.extend_from_slice(&3306u16.to_le_bytes());
    packet.extend_from_slice(&0u32.to_le_bytes());
    packet.extend_from_slice(&source_id.to_le_bytes());
    caller.command(&packet);
    caller.hear()
}

#[test]
fn replicas_are_listed_as_long_as_they_are_connected() {
    let answers = same_as_mysql("show_replicas", &Settings::default(), |server| {
        server.run("CREATE USER r");
        server.run("GRANT REPLICATION SLAVE ON *.* TO r");
        let list = || {
            let mut rows = server.rows("SHOW REPLICAS");
            rows.sort();
            rows.join(", ")
        };
        let [mut one, mut other, mut third] = [0; 3].map(|_| come(server));
        one.command(b"\x03SET @replica_uuid = '11111111-2222-3333-4444-555555555555'");
        let mut lines = vec![format!("{:?}", one.hear())];
        lines.push(format!("{:?}: {}", register(&mut one, 77, "host", 0), list()));
        lines.push(format!("{:?}: {}", register(&mut other, 78, "", 5), list()));
        other.command(&[REGISTER_SLAVE, 1, 2]);
        lines.push(format!("{:?}: {}", other.hear(), list()));
        lines.push(format!("{:?}: {}", register(&mut third, 77, "taken over", 5), list()));
        drop((one, other, third));
        let watch = Stopwatch::start();
        while !list().is_empty() {
            assert!(watch.elapsed() < Duration::from_secs(60), "{}: {}", server.flavor(), list());
        }
        lines
    });
    assert!(answers[1].contains("77\thost\t3306\t1\t11111111-2222-3333-4444-555555555555"), "{answers:#?}");
}

/// Comes as the replica of this UUID, with NULL for none, and of this server id. It asks for the
/// whole binary log and hears the first event.
fn dump_as(server: &Server, uuid: &str, server_id: u32) -> Caller {
    let mut caller = come(server);
    let told = format!("\x03SET @source_binlog_checksum = 'NONE', @replica_uuid = {uuid}");
    caller.command(told.as_bytes());
    assert_eq!(caller.hear(), Said::Ok);
    let mut packet = vec![BINLOG_DUMP];
    packet.extend_from_slice(&4u32.to_le_bytes());
    packet.extend_from_slice(&0u16.to_le_bytes());
    packet.extend_from_slice(&server_id.to_le_bytes());
    caller.command(&packet);
    // The packet of an event begins like OK.
    assert_eq!(caller.hear(), Said::Ok);
    caller
}

#[test]
fn a_replica_that_comes_again_ends_its_older_dump() {
    const ONE: &str = "'11111111-2222-3333-4444-555555555555'";
    const OTHER: &str = "'21111111-2222-3333-4444-555555555555'";
    /// Who comes one after the other, and how many dumps there are then.
    const COMERS: [(&str, u32, &str); 8] = [
        (ONE, 7, "1"),
        (ONE, 7, "1"),
        (OTHER, 7, "2"),
        (ONE, 8, "2"),
        ("NULL", 7, "3"),
        ("NULL", 7, "3"),
        ("NULL", 9, "4"),
        // A client that is no replica gets what there is, and its dump ends.
        ("NULL", 0, "4"),
    ];
    let ends = same_as_mysql("replaced_dumps", &Settings::default(), |server| {
        server.run("CREATE USER r");
        server.run("GRANT REPLICATION SLAVE ON *.* TO r");
        let dumps = "SELECT COUNT(*) FROM information_schema.processlist WHERE command = 'Binlog Dump'";
        let mut callers = Vec::new();
        for (uuid, id, wanted) in COMERS {
            callers.push(dump_as(server, uuid, id));
            let watch = Stopwatch::start();
            while server.rows(dumps) != [wanted] {
                let seen = server.rows(dumps);
                let flavor = server.flavor();
                assert!(watch.elapsed() < Duration::from_secs(60), "{flavor}: {uuid} {id}: {seen:?}");
            }
        }
        let end = std::iter::repeat_with(|| callers[0].hear()).find(|said| *said != Said::Ok);
        let Some(Said::Error(code, state, message)) = end else { panic!("{end:?}") };
        // The words about files and positions that follow are MySQL's alone.
        vec![format!("{code} {state} {}", message.split(';').next().unwrap_or_default())]
    });
    assert!(ends[0].starts_with("1236 HY000 A replica with the same server_uuid"), "{ends:?}");
}
