//! Tests of a power cut at any moment of RESET BINARY LOGS AND GTIDS: the server starts again, and
//! either everything is as it was or nothing is left.

use binlog::gtid::GtidSet;

use crate::{Life, UUID, expected, new_disk};

const TRANSACTIONS: u64 = 30;

/// Resets the log with power for only `changes` more changes of the disk, and checks what a restart
/// finds. Returns whether the reset came to its end.
fn cut_after(changes: u64, first: u64) -> bool {
    let place = format!("power for {changes} changes, to {first}");
    let disk = new_disk(changes);
    let life = Life::start(&disk);
    (0..TRANSACTIONS).for_each(|number| life.commit(number));
    let files = life.binlog.list().expect("lists").len();
    assert!(files > 1, "{files} files");
    disk.cut_power_after(changes);
    let outcome = life.binlog.reset(first);
    let was_cut = disk.is_off();
    assert!(was_cut || outcome.is_ok(), "{place}: {outcome:?}");
    let rest = disk.power_cut();
    life.binlog.close();
    drop(life);
    let life = Life::start(&rest);
    let (executed, queries) = (life.engine.gtid_executed(), life.queries());
    if executed.is_empty() {
        assert_eq!(queries, Vec::<String>::new(), "{place}");
        let name = format!("binlog.{first:06}");
        assert_eq!(life.binlog.list().expect("lists")[0].name, name, "{place}");
    } else {
        assert!(outcome.is_err(), "{place}: the reset was acknowledged");
        assert_eq!(executed.to_string(), format!("{UUID}:1-{TRANSACTIONS}"), "{place}");
        assert_eq!(queries, expected(TRANSACTIONS), "{place}");
    }
    // The log goes on as if it had never been cut.
    let before = executed.last_gno(UUID.parse::<binlog::gtid::Uuid>().expect("a UUID"));
    life.commit(before);
    assert_eq!(life.engine.gtid_executed().to_string(), GtidSet::to_string(&up_to(before + 1)), "{place}");
    assert_eq!(life.queries(), expected(before + 1), "{place}");
    life.end();
    !was_cut
}

fn up_to(last: u64) -> GtidSet {
    format!("{UUID}:1-{last}").parse().expect("a GTID set")
}

#[test]
fn a_reset_that_is_cut_has_reset_everything_or_nothing() {
    for first in [1, 7] {
        let whole = (0..).find(|&changes| cut_after(changes, first));
        println!("a reset to {first} is {whole:?} changes of the disk");
    }
}
