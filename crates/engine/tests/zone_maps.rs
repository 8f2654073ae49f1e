//! A scan that leaves out zones finds all rows that it wants: at old and new snapshots, while rows
//! come, go and change their partitions, in tables of several leaves, and beside threads that
//! change the table. It reads less than the whole table where keys and partitions go together.

mod support;

use engine::{
    ConditionCompiler, Conditions, Direction, Engine, EngineOfRows, Found, IndexRef, Isolation, KeyRange,
    LockMode, Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning, RowCondition, Table,
    TableDef, Transaction,
};
use os::random::{Rng, test_seed};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use support::*;
use types::Value;
use types::order_number::{OrderNumber, position};

/// The `k` of every row by its id.
type Model = BTreeMap<i64, i64>;

/// Returns [`keyed`], partitioned by ranges of `k`.
fn definition() -> TableDef {
    let mut def = keyed("t");
    def.primary.as_mut().unwrap().push(engine::IndexColumn::whole(1));
    let partition = |at: i64| Partition {
        name: format!("p{at}"),
        values: vec![vec![(at * 1000).to_string()]],
        options: Vec::new(),
        subpartitions: Vec::new(),
    };
    def.partitioning = Some(Partitioning {
        by: PartitionFunction {
            kind: PartitionKind::Range,
            linear: false,
            algorithm_1: false,
            expression: Some("`k`".into()),
            columns: Vec::new(),
        },
        form: PartitionForm::List,
        sub: None,
        partitions: (1..10).map(partition).collect(),
    });
    def
}

/// No partition is dropped in these tests.
struct NoConditions;

impl ConditionCompiler for NoConditions {
    fn compile(&self, _: &EngineOfRows, _: &TableDef, text: &str) -> Result<Box<dyn RowCondition>, String> {
        Err(format!("nobody asks for {text}"))
    }
}

/// Returns an engine with the empty table. With threads of its own it makes checkpoints, which long
/// loads need.
fn empty(seed: u64, background: bool) -> (Arc<Engine>, Arc<Table>) {
    let (disk, engine) = fresh(seed);
    drop(engine);
    let conditions = Conditions::new(Arc::new(NoConditions));
    let engine =
        Engine::open(engine::EngineConfig { conditions, background, ..config(&disk.kill()) }).unwrap();
    let table = create(&engine, definition());
    (engine, table)
}

fn full_key(table: &Table, id: i64, k: i64) -> Vec<u8> {
    table.encode_key(IndexRef::Primary, &[Value::Int(id), Value::Int(k)]).unwrap()
}

/// Returns the order numbers of the values from `low` to `high`.
fn numbers(table: &Table, low: i64, high: i64) -> (u64, u64) {
    let number = |value| position(&table.layout.types()[1], &Value::Int(value)).unwrap().floor as u64;
    assert_eq!(OrderNumber::of(&table.layout.types()[1]), Some(OrderNumber::Signed));
    (number(low), number(high))
}

/// Returns the `(id, k)` of the rows with a `k` from `low` to `high` that a scan finds which wants
/// only these, and the number of rows that it gave out.
fn wanted(txn: &mut Transaction, table: &Arc<Table>, low: i64, high: i64) -> (Vec<(i64, i64)>, usize) {
    let range = KeyRange::all();
    let mut scan = txn.scan(table, IndexRef::Primary, range, Direction::Forward, LockMode::Snapshot).unwrap();
    scan.leave_out(numbers(table, low, high));
    let (mut found, mut given) = (Vec::new(), 0);
    while let Some(next) = scan.next_lent(txn, false).unwrap() {
        let image = match next {
            Found::Lent => scan.image().to_vec(),
            Found::Row(row) => row.image,
            Found::Entry => panic!("nobody asked for entries"),
        };
        let row = engine::Row { key: Vec::new(), image };
        let of = |column| ints(table, std::slice::from_ref(&row), column)[0];
        given += 1;
        if (low..=high).contains(&of(1)) {
            found.push((of(0), of(1)));
        }
    }
    (found, given)
}

/// Inserts the row of an id, deletes it or gives it another `k`, which is near the id or anywhere.
fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>, model: &mut Model, id: i64) {
    let k = if rng.one_in(4) { rng.below(9000) as i64 } else { id / 2 + rng.below(50) as i64 };
    let c = "x".repeat(rng.below(100) as usize);
    txn.begin_statement(engine::StatementContext::default());
    match model.get(&id) {
        None => txn.insert(table, &row(table, id, k, &c)).unwrap(),
        Some(old) => {
            let old = txn.get(table, &full_key(table, id, *old), LockMode::Update).unwrap().unwrap();
            if rng.one_in(3) {
                txn.delete(table, &old).unwrap();
                model.remove(&id);
                txn.end_statement();
                return;
            }
            txn.update(table, &old, &row(table, id, k, &c)).unwrap();
        }
    }
    txn.end_statement();
    model.insert(id, k);
}

#[test]
fn a_scan_that_leaves_out_zones_finds_what_each_snapshot_sees() {
    let seed = test_seed("a_scan_that_leaves_out_zones");
    let mut rng = Rng::new(seed);
    const IDS: u64 = 120;
    /// The distance of the ids that change.
    const STEP: i64 = 100;
    let (engine, table) = empty(seed, false);
    let (mut model, mut txn) = (Model::new(), begin(&engine));
    for id in 0..IDS as i64 * STEP {
        model.insert(id, id / 2);
        insert(&mut txn, &table, id, id / 2, "some text that is long enough for leaves").unwrap();
    }
    commit(txn);
    let mut readers: Vec<(Transaction, Model)> = Vec::new();
    let (mut given, mut whole) = (0, 0);
    for round in 0..150 {
        let mut txn = begin(&engine);
        for _ in 0..rng.below(6) {
            let id = rng.below(IDS) as i64 * STEP;
            change(&mut rng, &mut txn, &table, &mut model, id);
        }
        // A transaction sees its own changes before it commits.
        let low = rng.below(6000) as i64;
        let high = low + rng.below(400) as i64;
        let expected = |model: &Model| -> Vec<(i64, i64)> {
            model.iter().map(|(id, k)| (*id, *k)).filter(|(_, k)| (low..=high).contains(k)).collect()
        };
        if rng.one_in(3) {
            assert_eq!(wanted(&mut txn, &table, low, high).0, expected(&model), "round {round}, own changes");
        }
        commit(txn);
        if rng.one_in(8) {
            engine.purge().unwrap();
        }
        if readers.len() < 5 && rng.one_in(3) {
            let mut reader = engine.begin(Isolation::RepeatableRead);
            reader.open_snapshot().unwrap();
            readers.push((reader, model.clone()));
        } else if rng.one_in(6) && !readers.is_empty() {
            readers.swap_remove(rng.below(readers.len() as u64) as usize);
        }
        let mut newest = begin(&engine);
        let (found, number) = wanted(&mut newest, &table, low, high);
        assert_eq!(found, expected(&model), "round {round}: {low} to {high}");
        (given, whole) = (given + number, whole + model.len());
        for (reader, seen) in &mut readers {
            assert_eq!(wanted(reader, &table, low, high).0, expected(seen), "round {round}: {low} to {high}");
        }
    }
    assert!(given < whole * 9 / 10, "{given} of {whole} rows were given out");
    drop(readers);
    check(&engine, &table);
}

/// Few rows have a low `k`, and writers give it from one row to another, so that there are always
/// as many, whatever a scan leaves out.
#[test]
fn scans_beside_writers_miss_no_row() {
    let seed = test_seed("scans_beside_writers_miss_no_row");
    const IDS: i64 = 16_000;
    const LOW_ROWS: i64 = 6;
    let (engine, table) = empty(seed, true);
    let k_of = |is_low: bool, id: i64| if is_low { 100 + id % 3 } else { 7000 + id % 7 };
    let mut txn = begin(&engine);
    for id in 0..IDS {
        insert(&mut txn, &table, id, k_of(id < LOW_ROWS, id), "some text").unwrap();
    }
    commit(txn);
    let ends = AtomicBool::new(false);
    let write = |thread: i64| {
        // The ids that are even belong to one thread, the odd ones to the other.
        let mut rng = Rng::new(seed + 1 + thread as u64);
        let mut low: Vec<i64> = (0..LOW_ROWS).filter(|id| id % 2 == thread).collect();
        while !ends.load(Ordering::Relaxed) {
            let (at, to) =
                (rng.below(low.len() as u64) as usize, rng.below(IDS as u64 / 2) as i64 * 2 + thread);
            if low.contains(&to) {
                continue;
            }
            let from = std::mem::replace(&mut low[at], to);
            let mut txn = begin(&engine);
            for (id, was_low) in [(from, true), (to, false)] {
                let old = txn.get(&table, &full_key(&table, id, k_of(was_low, id)), LockMode::Update);
                txn.begin_statement(engine::StatementContext::default());
                txn.update(&table, &old.unwrap().unwrap(), &row(&table, id, k_of(!was_low, id), "o"))
                    .unwrap();
                txn.end_statement();
            }
            commit(txn);
            // A zone that every scan finds changed is never left out.
            os::clock::sleep(Duration::from_millis(1));
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let write = &write;
            scope.spawn(move || write(thread));
        }
        let mut rng = Rng::new(seed);
        for round in 0..300 {
            if rng.one_in(10) {
                engine.purge().unwrap();
            }
            let (found, _) = wanted(&mut begin(&engine), &table, 0, 500);
            if found.len() != LOW_ROWS as usize {
                ends.store(true, Ordering::Relaxed);
                panic!("round {round}: the rows with a low value are {found:?}");
            }
        }
        ends.store(true, Ordering::Relaxed);
    });
}

/// Where keys and partitions go together, a scan for one partition reads little more than its rows.
#[test]
fn a_partition_is_read_without_the_others() {
    let (engine, table) = empty(1, false);
    let mut txn = begin(&engine);
    for id in 0..20_000 {
        insert(&mut txn, &table, id, id / 3, "some text").unwrap();
    }
    commit(txn);
    let (_, first) = wanted(&mut begin(&engine), &table, 3000, 3099);
    assert_eq!(first, 20_000, "nothing is known before the first scan");
    let (found, second) = wanted(&mut begin(&engine), &table, 3000, 3099);
    assert_eq!(found.len(), 300);
    assert!(second < 3000, "{second} rows were given out");
    // The rows of a new partition are behind all zones.
    let mut txn = begin(&engine);
    for id in 20_000..20_300 {
        insert(&mut txn, &table, id, 8000, "some text").unwrap();
    }
    commit(txn);
    let (found, third) = wanted(&mut begin(&engine), &table, 8000, 8000);
    assert_eq!(found.len(), 300);
    assert!(third < 3000, "{third} rows were given out");
}
