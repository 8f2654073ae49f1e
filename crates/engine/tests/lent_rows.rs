//! A scan that lends its rows finds the same rows as a scan that copies them: at old and new
//! snapshots, in tables of several leaves, and when its transaction changes the table while it goes
//! on. So does one scan that begins again for each look-up, by either index.

mod support;

use engine::{Direction, Engine, Found, IndexRef, Isolation, KeyRange, LockMode, Scan, Table, Transaction};
use os::random::{Rng, test_seed};
use std::collections::BTreeMap;
use std::sync::Arc;
use support::*;
use types::Value;

const IDS: u64 = 600;
/// The number of values of `k`, so that several rows have one.
const KS: u64 = 60;
const BY_K: IndexRef = IndexRef::Secondary(0);

/// The `k` of every row by its id.
type Model = BTreeMap<i64, i64>;

fn open_scan(txn: &mut Transaction, table: &Arc<Table>, direction: Direction) -> Scan {
    txn.scan(table, IndexRef::Primary, KeyRange::all(), direction, LockMode::Snapshot).unwrap()
}

/// Returns the `(id, k)` of the scan's next row, and whether it was lent.
fn next(scan: &mut Scan, txn: &mut Transaction, table: &Table) -> Option<((i64, i64), bool)> {
    let (image, lent) = match scan.next_lent(txn, false).unwrap()? {
        Found::Lent => (scan.image().to_vec(), true),
        Found::Row(row) => (row.image, false),
        Found::Entry => panic!("nobody asked for entries"),
    };
    let row = engine::Row { key: Vec::new(), image };
    let of = |column| ints(table, std::slice::from_ref(&row), column)[0];
    Some(((of(0), of(1)), lent))
}

fn all(txn: &mut Transaction, table: &Arc<Table>, direction: Direction) -> (Vec<(i64, i64)>, usize) {
    let mut scan = open_scan(txn, table, direction);
    let (mut found, mut lent) = (Vec::new(), 0);
    while let Some((row, was_lent)) = next(&mut scan, txn, table) {
        found.push(row);
        lent += usize::from(was_lent);
    }
    (found, lent)
}

fn pairs(model: &Model) -> Vec<(i64, i64)> {
    model.iter().map(|(id, k)| (*id, *k)).collect()
}

/// Returns a random text that makes rows long enough for several leaves.
fn text(rng: &mut Rng) -> String {
    "x".repeat(rng.below(100) as usize)
}

fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>, model: &mut Model, id: i64) {
    let (k, c) = (rng.below(KS) as i64, text(rng));
    match (model.contains_key(&id), rng.below(3)) {
        (false, _) => insert(txn, table, id, k, &c).unwrap(),
        (true, 0) => {
            delete(txn, table, id).unwrap();
            model.remove(&id);
            return;
        }
        (true, _) => {
            update(txn, table, id, k, &c).unwrap();
        }
    }
    model.insert(id, k);
}

fn filled(seed: u64, rng: &mut Rng) -> (Arc<Engine>, Arc<Table>, Model) {
    let (_, engine) = fresh(seed);
    let table = create(&engine, keyed("t"));
    let (mut txn, mut model) = (begin(&engine), Model::new());
    for id in 0..IDS as i64 / 2 {
        change(rng, &mut txn, &table, &mut model, id * 2);
    }
    commit(txn);
    (engine, table, model)
}

#[test]
fn lent_rows_are_what_each_snapshot_sees() {
    let seed = test_seed("lent_rows_are_what_each_snapshot_sees");
    let mut rng = Rng::new(seed);
    let (engine, table, mut model) = filled(seed, &mut rng);
    let mut readers: Vec<(Transaction, Model)> = Vec::new();
    let mut lent = 0;
    for round in 0..120 {
        let mut txn = begin(&engine);
        for _ in 0..rng.below(12) {
            let id = rng.below(IDS) as i64;
            change(&mut rng, &mut txn, &table, &mut model, id);
        }
        commit(txn);
        if rng.below(8) == 0 {
            engine.purge().unwrap();
        }
        if readers.len() < 5 && rng.below(3) == 0 {
            let mut reader = engine.begin(Isolation::RepeatableRead);
            reader.open_snapshot().unwrap();
            readers.push((reader, model.clone()));
        } else if rng.below(6) == 0 && !readers.is_empty() {
            readers.swap_remove(rng.below(readers.len() as u64) as usize);
        }
        for (reader, seen) in &mut readers {
            let (forward, count) = all(reader, &table, Direction::Forward);
            assert_eq!(forward, pairs(seen), "round {round}");
            let (mut backward, _) = all(reader, &table, Direction::Backward);
            backward.reverse();
            assert_eq!(backward, forward, "round {round}: backward");
            lent += count;
        }
    }
    assert!(lent > 0);
    drop(readers);
    check(&engine, &table);
}

/// Changes that the transaction makes ahead of its scan are seen, changes behind it are not, and
/// nothing comes twice.
#[test]
fn a_change_on_the_way_ends_the_lending_and_loses_no_row() {
    let seed = test_seed("a_change_on_the_way_ends_the_lending");
    let mut rng = Rng::new(seed);
    for round in 0..60 {
        let (engine, table, mut model) = filled(seed + round, &mut rng);
        let mut txn = engine.begin(Isolation::RepeatableRead);
        let mut scan = open_scan(&mut txn, &table, Direction::Forward);
        let before = rng.below(model.len() as u64 + 1) as usize;
        let mut found = Vec::new();
        for _ in 0..before {
            let (row, lent) = next(&mut scan, &mut txn, &table).expect("there are so many");
            assert!(lent, "round {round}");
            found.push(row);
        }
        let passed = found.last().map_or(-1, |(id, _)| *id);
        let mut expected = found.clone();
        for _ in 0..4 {
            let id = rng.below(IDS) as i64;
            change(&mut rng, &mut txn, &table, &mut model, id);
        }
        expected.extend(pairs(&model).into_iter().filter(|(id, _)| *id > passed));
        while let Some((row, lent)) = next(&mut scan, &mut txn, &table) {
            assert!(!lent, "round {round}: it has changed the table");
            found.push(row);
        }
        assert_eq!(found, expected, "round {round}, after {before} rows");
    }
}

/// The scans of a transaction that begin again.
#[derive(Default)]
struct LookUps {
    by_id: Option<Scan>,
    by_k: Option<Scan>,
}

/// Begins to look keys up with a scan, which is opened if there is none.
fn begin_again<'s>(
    scan: &'s mut Option<Scan>,
    txn: &mut Transaction,
    (table, index): (&Arc<Table>, IndexRef),
    prefix: &[u8],
) -> &'s mut Scan {
    match scan {
        Some(scan) => {
            assert!(scan.begin_again(txn, prefix).unwrap(), "it is a plain scan");
            scan
        }
        None => {
            let (range, direction) = (KeyRange::prefix(prefix), Direction::Forward);
            scan.insert(txn.scan(table, index, range, direction, LockMode::Snapshot).unwrap())
        }
    }
}

impl LookUps {
    /// Looks up a random id and a random `k`, and compares what is found with the model. Some of
    /// the look-ups end early. Returns how many rows were lent by their entries in the index.
    fn look_up(
        &mut self,
        rng: &mut Rng,
        txn: &mut Transaction,
        table: &Arc<Table>,
        seen: &Model,
        place: &str,
    ) -> usize {
        let (id, k) = (rng.below(IDS) as i64, rng.below(KS) as i64);
        let of_id: Vec<(i64, i64)> = seen.get(&id).map(|k| (id, *k)).into_iter().collect();
        let mut image = vec![7; rng.below(300) as usize];
        let is_there = txn.get_into(table, &key(table, id), &mut image).unwrap();
        assert_eq!(is_there, !of_id.is_empty(), "{place}: {id}");
        if is_there {
            let row = engine::Row { key: Vec::new(), image };
            assert_eq!(ints(table, &[row], 1)[0], seen[&id], "{place}: {id}");
        }
        let scan = begin_again(&mut self.by_id, txn, (table, IndexRef::Primary), &key(table, id));
        let found: Vec<_> = std::iter::from_fn(|| next(scan, txn, table)).map(|(row, _)| row).collect();
        assert_eq!(found, of_id, "{place}: id {id}");

        let of_k: Vec<(i64, i64)> =
            seen.iter().filter(|(_, own)| **own == k).map(|(id, k)| (*id, *k)).collect();
        let prefix = table.encode_key(BY_K, &[Value::Int(k)]).unwrap();
        let scan = begin_again(&mut self.by_k, txn, (table, BY_K), &prefix);
        let wanted = if rng.below(3) == 0 { rng.below(4) as usize } else { usize::MAX };
        let found: Vec<_> = std::iter::from_fn(|| next(scan, txn, table)).take(wanted).collect();
        let rows: Vec<(i64, i64)> = found.iter().map(|(row, _)| *row).collect();
        assert_eq!(rows, of_k[..of_k.len().min(wanted)], "{place}: k {k}");
        found.iter().filter(|(_, lent)| *lent).count()
    }
}

#[test]
fn look_ups_that_begin_again_find_what_each_snapshot_sees() {
    let seed = test_seed("look_ups_that_begin_again");
    let mut rng = Rng::new(seed);
    let (engine, table, mut model) = filled(seed, &mut rng);
    let mut readers: Vec<(Transaction, Model, LookUps)> = Vec::new();
    let mut lent = 0;
    for round in 0..120 {
        let (mut txn, mut own) = (begin(&engine), LookUps::default());
        for _ in 0..rng.below(12) {
            own.look_up(&mut rng, &mut txn, &table, &model, "its own changes");
            let id = rng.below(IDS) as i64;
            change(&mut rng, &mut txn, &table, &mut model, id);
        }
        own.look_up(&mut rng, &mut txn, &table, &model, "its own changes");
        drop(own);
        commit(txn);
        if rng.below(8) == 0 {
            engine.purge().unwrap();
        }
        if readers.len() < 5 && rng.below(3) == 0 {
            let mut reader = engine.begin(Isolation::RepeatableRead);
            reader.open_snapshot().unwrap();
            readers.push((reader, model.clone(), LookUps::default()));
        } else if rng.below(6) == 0 && !readers.is_empty() {
            readers.swap_remove(rng.below(readers.len() as u64) as usize);
        }
        for (reader, seen, look_ups) in &mut readers {
            for _ in 0..20 {
                lent += look_ups.look_up(&mut rng, reader, &table, seen, &format!("round {round}"));
            }
        }
    }
    assert!(lent > 0);
    drop(readers);
    check(&engine, &table);
}

#[test]
fn a_scan_that_locks_does_not_begin_again() {
    let seed = test_seed("a_scan_that_locks_does_not_begin_again");
    let (engine, table, _) = filled(seed, &mut Rng::new(seed));
    let mut txn = begin(&engine);
    let range = KeyRange::prefix(&key(&table, 2));
    let mut scan = txn.scan(&table, IndexRef::Primary, range, Direction::Forward, LockMode::Update).unwrap();
    assert!(!scan.begin_again(&mut txn, &key(&table, 4)).unwrap());
    assert_eq!(next(&mut scan, &mut txn, &table).map(|((id, _), _)| id), Some(2));
}
