//! Tests with data several times the size of the buffer pool: all of the data is still there, and
//! changes to it survive a restart.

use bench::instance::Settings;
use bench::sbtest::{Load, RandType, Size, Workload, run_workload};
use testkit::Server;
use testkit::server::flavor_under_test;

/// The rows and their keys take about 60 MB, in a pool of 8 MB.
const SIZE: Size = Size { tables: 2, rows: 120_000 };
const POOL_BYTES: u64 = 8 << 20;

#[test]
fn rows_are_read_changed_and_recovered() {
    let settings = Settings { pool_bytes: POOL_BYTES, durable: false, log_bin: false, ..Settings::default() };
    let mut server = Server::start(flavor_under_test(), &settings);
    server.fill(SIZE, 1);
    let expected: Vec<u64> = server.checksums(SIZE.tables).iter().map(|checksum| checksum.rows).collect();
    assert_eq!(expected, [SIZE.rows, SIZE.rows]);
    for (workload, seed) in [(Workload::ReadWrite, 2), (Workload::UpdateIndex, 3)] {
        let load = Load {
            workload,
            size: SIZE,
            transactions: 1_000,
            clients: 4,
            rand_type: RandType::Special,
            seed,
        };
        run_workload(&server.connect_options(), &load, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    }
    let before = server.checksums(SIZE.tables);
    // The secondary index must have as many entries as the table has rows, and the same sum.
    for table in 1..=SIZE.tables {
        let by_key = server.rows(&format!(
            "SELECT COUNT(*), SUM(k) FROM sbtest.sbtest{table} FORCE INDEX (k_{table}) WHERE k BETWEEN 0 AND 1000000"
        ));
        let by_row = server.rows(&format!("SELECT COUNT(*), SUM(k) FROM sbtest.sbtest{table}"));
        assert_eq!(by_key, by_row);
    }
    server.kill();
    server.come_back();
    assert_eq!(server.checksums(SIZE.tables), before, "after kill -9");
    server.shut_down();
    server.come_back();
    assert_eq!(server.checksums(SIZE.tables), before, "after a polite stop");
}
