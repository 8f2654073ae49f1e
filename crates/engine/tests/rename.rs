//! RENAME TABLE over several tables whose names change places: each table keeps its rows, whatever
//! a crash left of the files.

mod support;

use engine::Engine;
use os::disk::Disk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;

/// Makes tables `a`, `b` and `c` with one, two and three rows.
fn three(engine: &Arc<Engine>) {
    for (rows, name) in [(1, "a"), (2, "b"), (3, "c")] {
        let t = create(engine, keyed(name));
        let mut txn = begin(engine);
        for id in 1..=rows {
            insert(&mut txn, &t, id, id, name).unwrap();
        }
        commit(txn);
    }
}

fn counts(engine: &Arc<Engine>) -> [usize; 3] {
    ["a", "b", "c"].map(|name| {
        let t = table(engine, "test", name);
        check(engine, &t);
        ids(engine, &t).len()
    })
}

fn rename(engine: &Arc<Engine>, renames: &[(&str, &str)]) {
    let renames: Vec<_> = renames.iter().map(|(from, to)| (("test", *from), ("test", *to))).collect();
    ddl("RENAME TABLE", |context| engine.rename_tables(&renames, Vec::new(), context)).unwrap();
}

#[test]
fn tables_that_swap_their_names_keep_their_rows() {
    let (disk, engine) = fresh(1);
    three(&engine);
    rename(&engine, &[("a", "x"), ("b", "a"), ("x", "b")]);
    assert_eq!(counts(&engine), [2, 1, 3]);
    rename(&engine, &[("a", "x"), ("b", "a"), ("c", "b"), ("x", "c")]);
    assert_eq!(counts(&engine), [1, 3, 2]);
    engine.close().unwrap();
    assert_eq!(counts(&open(&disk)), [1, 3, 2]);
}

#[test]
fn a_crash_before_the_files_have_moved_loses_none() {
    let (disk, engine) = fresh(2);
    three(&engine);
    rename(&engine, &[("a", "x"), ("b", "a"), ("c", "b"), ("x", "c")]);
    assert_eq!(counts(&engine), [2, 3, 1]);
    engine.close().unwrap();
    // The files are put back to the names that they had before the statement.
    let path = |name: &str| Path::new("/data/test").join(name);
    for (from, to) in [("c.ibd", "x.ibd"), ("b.ibd", "c.ibd"), ("a.ibd", "b.ibd"), ("x.ibd", "a.ibd")] {
        disk.rename(&path(from), &path(to)).unwrap();
    }
    assert_eq!(counts(&open(&disk)), [2, 3, 1]);
}

/// Every statement and every row event looks a name up before it locks the table. So a name that
/// has a table before and after a statement must not be without one in between.
#[test]
fn a_name_that_passes_to_another_table_is_never_without_one() {
    let (_disk, engine) = fresh(3);
    three(&engine);
    let ended = AtomicBool::new(false);
    let missed = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut missed = 0;
            while !ended.load(Ordering::Acquire) {
                missed += ["a", "b", "c"]
                    .iter()
                    .filter(|name| engine.catalog().table("test", name).is_none())
                    .count();
            }
            missed
        });
        for _ in 0..100 {
            rename(&engine, &[("a", "x"), ("b", "a"), ("x", "b")]);
            ddl("TRUNCATE TABLE", |context| engine.truncate_table("test", "c", context)).unwrap();
        }
        ended.store(true, Ordering::Release);
        reader.join().unwrap()
    });
    assert_eq!(missed, 0);
}
