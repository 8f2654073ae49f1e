//! What statements may keep in memory.

use bench::instance::{Flavor, Settings};
use std::path::Path;
use testkit::Server;

/// What all connections may have is measured by what the process has left, not by its limit alone.
#[test]
fn connections_leave_the_process_room_under_a_limit() {
    const LIMIT_KB: u64 = 900 << 10;
    let script = testkit::limited::binary(Path::new(env!("CARGO_TARGET_TMPDIR")), LIMIT_KB);
    let (pool_bytes, redo_bytes) = (32 << 20, 32 << 20);
    let settings = Settings { slipstream: Some(script), pool_bytes, redo_bytes, ..Settings::default() };
    let server = Server::start(Flavor::Slipstream, &settings);
    let mut client = server.connect();
    let refused = (0..1000).find_map(|number| {
        let kept = client.query(&format!("SET @v{number} = REPEAT('x', 2000000)"));
        kept.err().map(|error| error.server_code())
    });
    assert_eq!(refused, Some(Some(1041)));
    let pid = server.pid().expect("it runs");
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process's status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).expect("a line of it");
    let data_kb: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(data_kb < LIMIT_KB - (80 << 10), "{data_kb} of {LIMIT_KB} KB are in use");
    server.run("SELECT 1");
}
