//! Tests with files of the binary log that are damaged, cut short or gone before a start: the start
//! makes them again from what is there, or ends with an error that names the file and what is wrong
//! with it.

use std::path::Path;
use std::sync::Arc;

use engine::{Engine, EngineConfig};
use os::disk::{Disk, OpenMode};
use os::sim::SimDisk;
use source::error::BinlogError;
use source::{Binlog, BinlogConfig};

use super::{Life, UUID, datadir, expected, new_disk};

/// Returns the disk that a server has left with a log of several files, and the number of
/// transactions in them.
fn left(seed: u64) -> (SimDisk, u64) {
    let disk = new_disk(seed);
    let life = Life::start(&disk);
    let committed = 60;
    (0..committed).for_each(|number| life.commit(number));
    assert!(life.binlog.list().expect("lists").len() > 2, "several files");
    life.end();
    (disk, committed)
}

#[test]
fn an_index_that_is_lost_costs_no_file() {
    let index = Path::new("/data/binlog.index");
    let (disk, committed) = left(1);
    let whole = disk.read(index).expect("reads");
    for damaged in [None, Some(&b""[..]), Some(&whole[..3]), Some(&whole[..16]), Some(&[0; 64])] {
        let disk = disk.if_power_went();
        match damaged {
            None => disk.remove(index).expect("removes"),
            Some(bytes) => disk.write_atomically(index, bytes).expect("writes"),
        }
        let life = Life::start(&disk);
        assert_eq!(life.queries(), expected(committed), "{damaged:?}");
        life.commit(committed);
        assert_eq!(life.queries(), expected(committed + 1), "{damaged:?}");
        life.end();
        assert!(disk.read(index).expect("reads").starts_with(&whole));
    }
}

#[test]
fn a_file_that_lost_what_was_synced_is_named() {
    let (disk, _) = left(2);
    let names = disk.read(Path::new("/data/binlog.index")).expect("reads");
    let newest = String::from_utf8(names).expect("text").lines().last().expect("a file").to_owned();
    let path = datadir().join(&newest);
    let cut = |disk: &SimDisk| {
        let file = disk.open(&path, OpenMode::ReadWrite).expect("opens");
        let len = file.len_bytes().expect("has a length");
        file.set_len(len * 9 / 10).expect("cuts");
    };
    let remove = |disk: &SimDisk| disk.remove(&path).expect("removes");
    for (is_cut, words) in [(true, "synced up to position"), (false, "not there")] {
        let disk = disk.if_power_went();
        if is_cut {
            cut(&disk)
        } else {
            remove(&disk)
        }
        let Err(error) = open(&disk) else { panic!("{words}: it was opened") };
        assert!(matches!(error, BinlogError::Damaged { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(words) && text.contains(newest.trim_start_matches("./")), "{text}");
    }
}

/// Damages the last byte of the redo log that is not zero, which belongs to the record of the last
/// commit.
fn damage_log_end(disk: &SimDisk) {
    let path = datadir().join("#innodb_redo/#ib_redo0");
    let bytes = disk.read(&path).expect("reads");
    let last = bytes.iter().rposition(|byte| *byte != 0).expect("has records");
    disk.flip_bit(&path, last as u64 * 8 + 3);
}

#[test]
fn what_the_redo_log_has_lost_is_cut_off_and_its_gtid_is_not_given_again() {
    let disk = new_disk(3);
    let life = Life::start_with(&disk, 1 << 20);
    (0..20).for_each(|number| life.commit(number));
    life.binlog.wait_caught_up().expect("writes");
    let (killed, executed) = (disk.kill(), life.engine.gtid_executed());
    drop(life);
    damage_log_end(&killed);

    let life = Life::start_with(&killed, 1 << 20);
    assert_eq!(life.queries(), expected(19));
    assert_eq!(life.engine.gtid_purged().to_string(), format!("{UUID}:20"));
    assert_eq!(life.engine.gtid_executed(), executed, "replicas that lack the lost one are refused");
    life.commit(19);
    assert_eq!(life.engine.gtid_executed().to_string(), format!("{UUID}:1-21"));
    assert_eq!(life.queries(), expected(20));
    life.end();
    // The file that a further start begins has the same purged GTIDs.
    let life = Life::start_with(&killed, 1 << 20);
    assert_eq!(life.engine.gtid_purged().to_string(), format!("{UUID}:20"));
    life.end();
}

fn open(disk: &SimDisk) -> Result<Arc<Binlog>, BinlogError> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let config = EngineConfig {
        log_bin: true,
        gtid_mode: true,
        server_uuid: UUID.parse().expect("a UUID"),
        redo_capacity_bytes: 8 << 20,
        pool_bytes: 8 << 20,
        ..EngineConfig::new(disk.clone(), datadir())
    };
    let engine = Engine::open(config).expect("the engine opens");
    Binlog::open(disk, engine, config_of_log())
}

fn config_of_log() -> BinlogConfig {
    BinlogConfig {
        datadir: datadir(),
        basename: "binlog".to_string(),
        index: None,
        max_file_bytes: 2_000,
        expire_after_s: 0,
        dependency_history_size: 10_000,
        checksum: binlog::Checksum::Crc32,
        server_id: 1,
        server_uuid: UUID.to_string(),
        server_version: "8.4.0-slipstream".to_string(),
    }
}
