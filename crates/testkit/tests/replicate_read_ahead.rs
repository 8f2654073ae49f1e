//! A replica whose data is several times its buffer pool reads the pages of coming rows before its
//! applier wants them, and ends with the source's rows.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::Thread;
use bench::sbtest::{Load, RandType, Size, Workload, run_workload};
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;

/// The rows and their keys take about 20 MB, in a pool of 8 MB.
const SIZE: Size = Size { tables: 2, rows: 40_000 };
const POOL_BYTES: u64 = 8 << 20;
const TRANSACTIONS: u64 = 6_000;

fn read_ahead_pages(pair: &Pair) -> u64 {
    let row = &pair.replica.rows("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_ahead'")[0];
    row.split('\t').nth(1).and_then(|count| count.parse().ok()).expect("a count")
}

/// Applies what the replica has received of a load, and returns how many pages were read ahead
/// meanwhile.
fn applied(pair: &Pair, workload: Workload, seed: u64) -> u64 {
    pair.replica.stop_thread(Thread::Sql);
    let load = Load {
        workload,
        size: SIZE,
        transactions: TRANSACTIONS,
        clients: 4,
        rand_type: RandType::Uniform,
        seed,
    };
    run_workload(&pair.source.connect_options(), &load, &mut |_| {})
        .unwrap_or_else(|error| panic!("{error}"));
    let before = read_ahead_pages(pair);
    pair.replica.start_thread(Thread::Sql);
    pair.replica.catch_up(&pair.source);
    let pages = read_ahead_pages(pair) - before;
    pair.replica.equals(&pair.source, SIZE.tables);
    pages
}

fn reads_ahead(image: RowImage, workers: u32) {
    let settings = Settings {
        pool_bytes: POOL_BYTES,
        durable: false,
        row_image: image,
        replica_workers: workers,
        ..Settings::default()
    };
    let pair = Pair::start_with(Flavor::Slipstream, flavor_under_test(), &settings, By::Gtid);
    pair.source.fill(SIZE, 1);
    pair.replica.equals(&pair.source, SIZE.tables);
    for (workload, seed) in [(Workload::UpdateIndex, 2), (Workload::ReadWrite, 3)] {
        let pages = applied(&pair, workload, seed);
        assert!(pages > 0, "{workload}: no page was read ahead\n{}", pair.replica.log_tail());
    }
    for table in 1..=SIZE.tables {
        let check = pair.replica.rows(&format!("CHECK TABLE sbtest.sbtest{table} EXTENDED"));
        assert_eq!(check, [format!("sbtest.sbtest{table}\tcheck\tstatus\tOK")]);
    }
}

#[test]
fn pages_of_whole_images_are_read_ahead() {
    reads_ahead(RowImage::Full, 0);
}

#[test]
fn pages_of_minimal_images_are_read_ahead() {
    reads_ahead(RowImage::Minimal, 0);
}

#[test]
fn pages_are_read_ahead_of_workers() {
    reads_ahead(RowImage::Minimal, 4);
}

#[test]
fn nothing_is_read_ahead_when_it_is_off_and_statements_that_define_tables_get_their_turn() {
    let settings = Settings { pool_bytes: POOL_BYTES, durable: false, ..Settings::default() };
    let pair = Pair::start_with(Flavor::Slipstream, flavor_under_test(), &settings, By::Gtid);
    pair.source.fill(SIZE, 1);
    pair.replica.equals(&pair.source, SIZE.tables);
    pair.replica.run("SET GLOBAL slipstream_replica_read_ahead = OFF");
    assert_eq!(applied(&pair, Workload::UpdateNonIndex, 2), 0);
    pair.replica.run("SET GLOBAL slipstream_replica_read_ahead = ON");
    // Definitions change while rows of the table are being looked at.
    pair.replica.stop_thread(Thread::Sql);
    for (step, seed) in (0..6).zip(10..) {
        let load = Load {
            workload: Workload::UpdateIndex,
            size: SIZE,
            transactions: 1_000,
            clients: 4,
            rand_type: RandType::Uniform,
            seed,
        };
        run_workload(&pair.source.connect_options(), &load, &mut |_| {})
            .unwrap_or_else(|error| panic!("{error}"));
        pair.source.run(match step % 3 {
            0 => "ALTER TABLE sbtest.sbtest1 ADD COLUMN more INT DEFAULT 7",
            1 => "ALTER TABLE sbtest.sbtest1 DROP COLUMN more",
            _ => "ALTER TABLE sbtest.sbtest2 ENGINE = InnoDB",
        });
    }
    pair.replica.start_thread(Thread::Sql);
    pair.replica.equals(&pair.source, SIZE.tables);
}
