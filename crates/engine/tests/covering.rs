//! Reading from the entries of a secondary index alone gives the same as reading the rows: at old
//! and new snapshots, among the transaction's own changes, and while others change rows and purge
//! runs.

mod support;

use engine::{Direction, Engine, Found, IndexRef, Isolation, KeyRange, LockMode, Table, Transaction};
use os::random::{Rng, test_seed};
use std::collections::BTreeMap;
use std::sync::Arc;
use support::*;
use types::Value;

const BY_K: IndexRef = IndexRef::Secondary(0);

/// The `k` of every row by its id.
type Model = BTreeMap<i64, i64>;

/// Returns the `(k, id)` pairs that an index scan finds, and how many of them it read from entries.
fn covered(txn: &mut Transaction, table: &Arc<Table>, direction: Direction) -> (Vec<(i64, i64)>, usize) {
    let reader = table.entry_reader(BY_K, &[0, 1]).expect("the index has k and the primary key");
    let mut scan = txn.scan(table, BY_K, KeyRange::all(), direction, LockMode::Snapshot).unwrap();
    let (mut found, mut entries) = (Vec::new(), 0);
    let mut values = vec![Value::Null; table.columns()];
    while let Some(next) = scan.next_lent(txn, true).unwrap() {
        match next {
            Found::Entry => {
                table.read_entry(BY_K, &reader, scan.entry(), &mut values).unwrap();
                entries += 1;
            }
            Found::Row(row) => values = table.layout.decode_all(&row.image).unwrap(),
            Found::Lent => unreachable!("the clustered index lends its rows"),
        }
        let int = |value: &Value| match value {
            Value::Int(n) => *n,
            other => panic!("not an int: {other:?}"),
        };
        found.push((int(&values[1]), int(&values[0])));
    }
    (found, entries)
}

fn by_k(model: &Model) -> Vec<(i64, i64)> {
    let mut pairs: Vec<(i64, i64)> = model.iter().map(|(id, k)| (*k, *id)).collect();
    pairs.sort_unstable();
    pairs
}

fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>, model: &mut Model) {
    let (id, k) = (rng.below(40) as i64, rng.below(12) as i64 - 6);
    match (model.contains_key(&id), rng.below(4)) {
        (false, _) => {
            insert(txn, table, id, k, "new").unwrap();
            model.insert(id, k);
        }
        (true, 0) => {
            delete(txn, table, id).unwrap();
            model.remove(&id);
        }
        (true, 1) => {
            // The index does not have the changed column, so the entry stays older than its row.
            update(txn, table, id, model[&id], &format!("c{}", rng.below(100))).unwrap();
        }
        (true, _) => {
            update(txn, table, id, k, "moved").unwrap();
            model.insert(id, k);
        }
    }
}

#[test]
fn entries_say_what_rows_say_at_every_snapshot() {
    let seed = test_seed("covering entries_say_what_rows_say");
    let mut rng = Rng::new(seed);
    let (_, engine) = fresh(seed);
    let table = create(&engine, keyed("t"));
    let mut model = Model::new();
    let mut readers: Vec<(Transaction, Model)> = Vec::new();
    let (mut from_entries, mut from_rows) = (0, 0);
    for round in 0..600 {
        let mut txn = begin(&engine);
        let mut changed = model.clone();
        for _ in 0..1 + rng.below(4) {
            change(&mut rng, &mut txn, &table, &mut changed);
            let (own, _) = covered(&mut txn, &table, Direction::Forward);
            assert_eq!(own, by_k(&changed), "round {round}: its own changes");
        }
        if rng.below(5) == 0 {
            txn.rollback();
        } else {
            commit(txn);
            model = changed;
        }
        if rng.below(8) == 0 {
            engine.purge().unwrap();
        }
        match rng.below(6) {
            0 if readers.len() < 8 => {
                let mut reader = engine.begin(Isolation::RepeatableRead);
                reader.open_snapshot().unwrap();
                readers.push((reader, model.clone()));
            }
            1 if !readers.is_empty() => drop(readers.swap_remove(rng.below(readers.len() as u64) as usize)),
            _ => {}
        }
        for (reader, seen) in &mut readers {
            let (forward, entries) = covered(reader, &table, Direction::Forward);
            assert_eq!(forward, by_k(seen), "round {round}: an old snapshot");
            let (mut backward, _) = covered(reader, &table, Direction::Backward);
            backward.reverse();
            assert_eq!(backward, forward, "round {round}: backward");
            (from_entries, from_rows) = (from_entries + entries, from_rows + forward.len() - entries);
        }
    }
    assert!(from_entries > 0 && from_rows > 0, "{from_entries} from entries, {from_rows} from rows");
    drop(readers);
    check(&engine, &table);
}

/// A writer keeps the sum of all `k`, while it changes many rows in one commit. A reader that reads
/// entries only must always find this sum.
#[test]
fn a_snapshot_of_entries_has_no_half_of_a_transaction() {
    let seed = test_seed("covering a_snapshot_of_entries");
    let (_, engine) = fresh(seed);
    let table = create(&engine, keyed("t"));
    const ROWS: i64 = 30;
    let mut txn = begin(&engine);
    (0..ROWS).for_each(|id| insert(&mut txn, &table, id, 100, "").unwrap());
    commit(txn);
    let writer = {
        let (engine, table): (Arc<Engine>, Arc<Table>) = (engine.clone(), table.clone());
        os::thread::spawn("writer", move || {
            let mut rng = Rng::new(seed);
            for _ in 0..1500 {
                let mut txn = begin(&engine);
                let (from, to) = (rng.below(ROWS as u64) as i64, rng.below(ROWS as u64) as i64);
                for (id, by) in [(from, -3), (to, 3)] {
                    let row = txn.get(&table, &key(&table, id), LockMode::Update).unwrap().unwrap();
                    let k = ints(&table, &[row], 1)[0];
                    update(&mut txn, &table, id, k + by, "").unwrap();
                }
                commit(txn);
                if rng.below(20) == 0 {
                    engine.purge().unwrap();
                }
            }
        })
    };
    let mut entries = 0;
    while !writer.is_finished() {
        let (found, read) = covered(&mut begin(&engine), &table, Direction::Forward);
        assert_eq!((found.len() as i64, found.iter().map(|(k, _)| k).sum::<i64>()), (ROWS, ROWS * 100));
        entries += read;
    }
    writer.join().unwrap();
    assert!(entries > 0);
    check(&engine, &table);
}

#[test]
fn weights_and_prefixes_and_other_columns_are_not_covered() {
    let (_, engine) = fresh(1);
    let mut def = keyed("t");
    def.indexes.push(index("c", false, &[2]));
    let table = create(&engine, def);
    assert!(table.entry_reader(BY_K, &[1]).is_some() && table.entry_reader(BY_K, &[]).is_some());
    assert!(table.entry_reader(BY_K, &[1, 2]).is_none(), "c is not in the index");
    assert!(table.entry_reader(IndexRef::Secondary(1), &[2]).is_none(), "weights");
    assert!(table.entry_reader(IndexRef::Secondary(1), &[0]).is_some(), "the primary key behind weights");
    assert!(table.entry_reader(IndexRef::Primary, &[0]).is_none(), "it has the rows");
}
