//! A sync that fails, for each kind of file. The server stops and says which file it was, and
//! everything that was acknowledged before is there afterwards. Nobody retries the sync and
//! believes its result, because the kernel may have dropped the writes.

mod support;

use std::sync::Arc;

use engine::{CommitOptions, Engine, EngineConfig, EngineError, Table};
use os::sim::SimDisk;
use support::{begin, check, config, create, fresh, ids, insert, keyed, table};

const SPILL_BYTES: usize = 16 << 10;

fn small(disk: &SimDisk) -> EngineConfig {
    EngineConfig { spill_bytes: SPILL_BYTES, redo_capacity_bytes: 4 << 20, ..config(disk) }
}

/// Commits one more row at a time, sometimes in a transaction that is spilled, and then makes a
/// checkpoint. Acknowledged commits are pushed to `made`.
fn work(engine: &Arc<Engine>, t: &Arc<Table>, made: &mut Vec<i64>) -> Result<(), EngineError> {
    for id in (made.len() as i64..).take(8) {
        let mut txn = begin(engine);
        let first = id * 100;
        let rows = if id % 8 == 3 { 30 } else { 1 };
        for id in first..first + rows {
            insert(&mut txn, t, id, id % 7, &"x".repeat(1500))?;
        }
        txn.commit(&CommitOptions::default())?;
        made.push(first);
    }
    engine.sharp_checkpoint().map(|_| ())
}

#[test]
fn it_stops_with_the_file_and_loses_nothing() {
    for (seed, part) in
        ["#ib_redo", "t.ibd", "#ib_checkpoint", "#innodb_spill", ".dblwr"].into_iter().enumerate()
    {
        let (disk, engine) = fresh(seed as u64);
        engine.close().expect("the disk works");
        drop(engine);
        let engine = Engine::open(small(&disk)).expect("the disk works");
        let (t, mut made) = (create(&engine, keyed("t")), Vec::new());
        work(&engine, &t, &mut made).expect("the disk works");
        disk.fail_sync(part);
        let failed = (0..10).find_map(|_| work(&engine, &t, &mut made).err());
        let failed = failed.unwrap_or_else(|| panic!("{part}: its sync is never asked for"));
        let said = disk.stopped_with().unwrap_or_else(|| panic!("{part}: it went on after {failed}"));
        assert!(said.contains(part), "{part}: the place is not in: {said}");
        // No further commit is let in.
        let before = made.len();
        assert!(work(&engine, &t, &mut made).is_err());
        assert_eq!(made.len(), before, "{part}: a commit was acknowledged afterwards");
        let left = disk.power_cut();
        let engine = Engine::open(small(&left)).unwrap_or_else(|error| panic!("{part}: {error}"));
        let t = table(&engine, "test", "t");
        check(&engine, &t);
        let found = ids(&engine, &t);
        for id in &made {
            assert!(found.binary_search(id).is_ok(), "{part}: row {id} was acknowledged and is gone");
        }
    }
}
