//! Forms that our binary log can take, while others read it.

use bench::instance::{Flavor, RowImage};
use bench::sbtest::Workload;
use binlog::Checksum;
use binlog::event::event_type;
use testkit::background::Background;
use testkit::binlog_events;
use testkit::following::{By, Pair, SIZE};

const SOURCE: Flavor = Flavor::Slipstream;

/// `binlog_checksum` changes under load with a replica attached; what the source writes after a crash has the checksums of its file.
fn checksums_come_and_go(replica: Flavor) {
    let mut pair = Pair::start(SOURCE, replica, RowImage::Full, By::Gtid);
    pair.source.fill(SIZE, 1);
    let load = Background::start(pair.source.connect_options(), Workload::ReadWrite, SIZE, 2, 7);
    for checksum in ["NONE", "CRC32", "NONE"] {
        pair.source.run(&format!("SET GLOBAL binlog_checksum = {checksum}"));
        assert_eq!(pair.source.rows("SELECT @@GLOBAL.binlog_checksum"), [checksum]);
        pair.replica.catch_up(&pair.source);
    }
    load.stop();
    pair.load(Workload::ReadWrite, 50, 5);
    pair.source.kill();
    pair.source.come_back();
    pair.load(Workload::UpdateIndex, 50, 3);
    pair.is_equal();
    let events = binlog_events::of(&pair.source);
    for checksum in [Checksum::None, Checksum::Crc32] {
        let with = events.iter().filter(|e| e.kind() == event_type::GTID && e.checksum == checksum).count();
        assert!(with > 10, "{with} transactions with {checksum:?}");
    }
}

#[test]
fn checksums_come_and_go_before_mysql() {
    if testkit::available("source_formats::checksums_come_and_go_before_mysql", &[Flavor::MySql]) {
        checksums_come_and_go(Flavor::MySql);
    }
}

#[test]
fn checksums_come_and_go_before_slipstream() {
    checksums_come_and_go(Flavor::Slipstream);
}
