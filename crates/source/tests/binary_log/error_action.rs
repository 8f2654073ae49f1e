//! Tests with files that cannot be written: `binlog_error_action`, and full disks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use binlog::gtid::{GtidSet, MariadbGtidState};
use os::sim::SimDisk;
use source::dump::{DumpEnd, DumpStart};

use super::{Life, expected, new_disk, refused};

/// Makes writes or syncs of the binary log fail, so that commits turn it off and go on without it.
fn turn_off(disk: &SimDisk, life: &Life, fails: &str, commits: std::ops::Range<u64>) {
    life.binlog.set_ignores_errors(true);
    match fails {
        "write" => disk.fail_writes(Some("binlog.")),
        _ => disk.fail_sync("binlog."),
    }
    for number in commits {
        life.commit(number);
        while !life.binlog.is_turned_off() {
            os::clock::sleep(Duration::from_millis(1));
        }
    }
    assert_eq!(disk.stopped_with(), None);
}

/// Returns why a dump from `start` is refused. `None` means that it is not.
fn refusal(life: &Life, start: DumpStart) -> Option<String> {
    match life.dump(start).0 {
        DumpEnd::Complete => None,
        end => Some(refused(end)),
    }
}

fn refusal_by_gtids(life: &Life, has: &GtidSet) -> Option<String> {
    refusal(life, DumpStart::Gtids(has.clone()))
}

#[test]
fn an_ignored_error_turns_the_log_off_until_the_next_start() {
    for fails in ["write", "sync"] {
        let disk = new_disk(7);
        let life = Life::start_with(&disk, 1 << 20);
        (0..5).for_each(|number| life.commit(number));
        assert_eq!(life.queries(), expected(5));
        life.binlog.rotate().expect("rotates");
        let logged = life.engine.gtid_executed();
        turn_off(&disk, &life, fails, 5..9);
        let (end, events) = life.dump(DumpStart::Gtids(logged.clone()));
        assert_eq!((refused(end).as_str(), events.len()), ("Binary log is not open", 0));
        assert!(life.binlog.list().is_err());
        // The redo log keeps no records for the files any more.
        let end = life.engine.visible_lsn();
        assert!(life.engine.sharp_checkpoint().expect("makes a checkpoint") >= end);
        let all = life.engine.gtid_executed();
        assert_eq!(all.count(), 9);
        life.end();
        disk.fail_writes(None);

        let life = Life::start(&disk);
        life.commit(9);
        assert_eq!(life.queries(), [&expected(5)[..], &expected(10)[9..]].concat(), "{fails}");
        assert_eq!(life.engine.gtid_purged().count(), 4);
        assert!(refusal_by_gtids(&life, &logged).expect("transactions are missing").contains("purged"));
        assert_eq!(refusal_by_gtids(&life, &all), None);
        for (has, follows) in [("0-1-5", false), ("0-1-9", true)] {
            let has: MariadbGtidState = has.parse().expect("a GTID position");
            let refusal = refusal(&life, DumpStart::MariadbGtids { has, until: None });
            assert_eq!(refusal.is_none(), follows, "{refusal:?}");
        }
        life.end();
    }
}

#[test]
fn a_reset_of_a_log_that_is_off_leaves_nothing_of_it() {
    let disk = new_disk(11);
    let life = Life::start_with(&disk, 1 << 20);
    (0..5).for_each(|number| life.commit(number));
    life.binlog.rotate().expect("rotates");
    turn_off(&disk, &life, "write", 5..7);
    disk.fail_writes(None);
    life.binlog.reset(1).expect("resets");
    life.commit(100);
    assert_eq!(life.engine.gtid_executed().count(), 1);
    let lost = life.engine.gtid_executed();
    life.end();
    let life = Life::start(&disk);
    life.commit(0);
    assert_eq!(life.queries(), expected(1));
    assert_eq!(life.engine.gtid_purged(), lost);
    assert!(
        refusal_by_gtids(&life, &GtidSet::default()).expect("a transaction is missing").contains("purged")
    );
    life.end();
}

/// Until a checkpoint records that the log is off, recovery from a crash writes everything into the
/// files again; afterwards the missing transactions count as purged. A replica gets everything, or
/// is refused.
#[test]
fn no_crash_makes_replicas_pass_over_what_was_ignored() {
    let disk = new_disk(8);
    let life = Life::start_with(&disk, 1 << 20);
    (0..3).for_each(|number| life.commit(number));
    assert_eq!(life.queries(), expected(3));
    let cuts = Arc::new(Mutex::new(Vec::new()));
    let taken = cuts.clone();
    disk.before_each_change(move |disk| taken.lock().expect("is not poisoned").push(disk.if_power_went()));
    turn_off(&disk, &life, "write", 3..6);
    life.engine.sharp_checkpoint().expect("makes a checkpoint");
    let last = disk.power_cut();
    life.binlog.close();
    drop(life);
    let mut cuts = std::mem::take(&mut *cuts.lock().expect("is not poisoned"));
    cuts.push(last);
    let (mut complete, mut refused) = (0, 0);
    for cut in cuts {
        let life = Life::start(&cut);
        match refusal_by_gtids(&life, &GtidSet::default()) {
            None => {
                assert_eq!(life.queries(), expected(life.engine.gtid_executed().count()));
                complete += 1;
            }
            Some(why) => {
                assert!(why.contains("purged"), "{why}");
                assert_eq!(life.engine.gtid_executed().count(), 6);
                refused += 1;
            }
        }
        life.end();
    }
    assert!(complete > 0 && refused > 0, "{complete} complete, {refused} refused");
}

#[test]
fn an_error_that_is_not_ignored_stops_the_server() {
    let disk = new_disk(9);
    let life = Life::start(&disk);
    life.commit(0);
    assert_eq!(life.queries(), expected(1));
    disk.fail_writes(Some("binlog."));
    life.commit(1);
    while disk.stopped_with().is_none() {
        os::clock::sleep(Duration::from_millis(1));
    }
    let message = disk.stopped_with().expect("it stopped");
    assert!(
        message.contains("Binary logging not possible") && message.contains("'ABORT_SERVER'"),
        "{message}"
    );
    life.binlog.close();
    drop(life);
    let life = Life::start(&disk.power_cut());
    assert_eq!(life.queries(), expected(2));
    life.end();
}

/// Whatever `binlog_error_action` says, a full disk is waited out, both when a transaction finds no
/// space and when the head of the next file finds none.
#[test]
fn a_full_disk_is_waited_out() {
    for left_bytes in [60, 300] {
        let disk = new_disk(10);
        let life = Life::start_with(&disk, 200);
        life.binlog.set_ignores_errors(true);
        life.commit(0);
        life.binlog.rotate().expect("rotates");
        // After two checkpoints both of the checkpoint's files are as long as they ever get.
        for _ in 0..2 {
            life.engine.checkpoint().expect("makes a checkpoint");
        }
        disk.limit_space(Some(left_bytes));
        life.commit(1);
        os::clock::sleep(Duration::from_millis(150));
        assert!(!life.binlog.is_turned_off() && disk.stopped_with().is_none());
        // A writer that waits for space does not hold the index's lock.
        assert!(life.binlog.basename_path().ends_with("binlog"));
        disk.limit_space(None);
        life.commit(2);
        assert_eq!(life.queries(), expected(3));
        life.end();
    }
}
