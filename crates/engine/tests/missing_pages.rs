//! Pages that are found missing before a source's change comes, and read ahead of it: the change
//! then waits for none.

mod support;

use engine::{ComingRow, Engine, MissingPages, PartialRow, Table, TableHold};
use os::random::{Rng, test_seed};
use std::sync::Arc;
use support::*;
use types::ColumnMask;

const ROWS: i64 = 3_000;

/// Returns an engine that has just been opened, with a table of rows whose ids are even.
fn just_opened(rng: &mut Rng) -> (Arc<Engine>, Arc<Table>) {
    let (disk, engine) = fresh(rng.u64());
    let t = create(&engine, keyed("t"));
    for first in (0..ROWS).step_by(200) {
        let mut txn = begin(&engine);
        for id in first..first + 200 {
            insert(&mut txn, &t, 2 * id, rng.below(100_000) as i64, &"x".repeat(60)).unwrap();
        }
        commit(txn);
    }
    engine.close().unwrap();
    drop((t, engine));
    let engine = open(&disk);
    let t = table(&engine, "test", "t");
    (engine, t)
}

fn mask(columns: &[usize]) -> ColumnMask {
    let mut mask = ColumnMask::empty(3);
    columns.iter().for_each(|column| mask.insert(*column));
    mask
}

/// Reads the pages of a coming row until none is missing. Returns how many were read.
fn read_ahead(engine: &Arc<Engine>, t: &Arc<Table>, row: ComingRow<'_>) -> usize {
    let mut hold = TableHold::new(engine.clone());
    hold.hold(t, true).unwrap();
    let (mut missing, mut pages) = (MissingPages::default(), 0);
    for _ in 0..10 {
        let asks_again = missing.add(engine, t, row).unwrap();
        assert_eq!(asks_again, !missing.is_empty(), "it asks again for what is missing");
        if missing.is_empty() {
            hold.release();
            return pages;
        }
        let (read, sufficed) = missing.read(engine).unwrap();
        assert!(sufficed, "the pool has room for all");
        pages += read;
    }
    panic!("pages are missing after ten rounds");
}

#[test]
fn changes_of_rows_wait_for_no_page_after_their_pages_were_read_ahead() {
    const CHANGES: u64 = 400;
    let mut rng = Rng::new(test_seed("missing_pages"));
    let (engine, t) = just_opened(&mut rng);
    let (key, value, all) = (mask(&[0]), mask(&[1]), mask(&[0, 1, 2]));
    let (mut read, mut waited) = (0, 0);
    for _ in 0..CHANGES {
        let id = 2 * rng.below(ROWS as u64) as i64;
        let k = rng.below(100_000) as i64;
        let new = row(&t, id, k, "new");
        let (mut before, mut after) = (Vec::new(), Vec::new());
        t.layout.extract(&new, &key, &mut before).unwrap();
        t.layout.extract(&new, &value, &mut after).unwrap();
        let before = PartialRow { mask: &key, image: &before };
        let mut txn = begin(&engine);
        let seen = || engine.pool().pages_waited_for();
        let waited_before;
        let changed = match rng.below(3) {
            0 => {
                let after = PartialRow { mask: &value, image: &after };
                read += read_ahead(&engine, &t, ComingRow::Update(before, after));
                waited_before = seen();
                update(&mut txn, &t, id, k, &"x".repeat(60)).unwrap()
            }
            1 => {
                read += read_ahead(&engine, &t, ComingRow::Delete(before));
                waited_before = seen();
                delete(&mut txn, &t, id).unwrap()
            }
            _ => {
                let new = row(&t, id + 1, k, "new");
                let after = PartialRow { mask: &all, image: &new };
                read += read_ahead(&engine, &t, ComingRow::Insert(after));
                waited_before = seen();
                insert(&mut txn, &t, id + 1, k, "new").is_ok()
            }
        };
        if changed {
            commit(txn);
        }
        waited += seen() - waited_before;
    }
    assert!(read > 100, "{read} pages were read ahead");
    // A leaf that is split or merged wants neighbours of its own, which nobody could know before.
    assert!(waited * 20 < CHANGES, "{CHANGES} changes waited for {waited} pages");
    check(&engine, &t);
}

#[test]
fn rows_that_name_no_primary_key_and_images_of_other_tables_want_nothing() {
    let mut rng = Rng::new(test_seed("missing_pages_nothing"));
    let (engine, t) = just_opened(&mut rng);
    let mut missing = MissingPages::default();
    let (none, of_others) = (mask(&[1]), ColumnMask::full(5));
    let image = [0; 40];
    for mask in [&none, &of_others] {
        let row = ComingRow::Delete(PartialRow { mask, image: &image });
        assert!(!missing.add(&engine, &t, row).unwrap());
    }
    // An image that is cut short is an error, and does no harm.
    let key = mask(&[0]);
    assert!(missing.add(&engine, &t, ComingRow::Delete(PartialRow { mask: &key, image: &[0] })).is_err());
    assert!(missing.is_empty());
}
