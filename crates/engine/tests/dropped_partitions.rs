//! Rows that went with their partitions: nobody sees them from then on, wherever they still are.
//! Random changes over their keys, index builds, columns that come, old snapshots, the deletion in
//! steps and crashes are compared with a model.

mod support;

use engine::{
    AddedColumn, ColumnDef, ConditionCompiler, Conditions, Direction, Emptied, Engine, EngineError,
    EngineOfRows, Found, IndexColumn, IndexRef, InstantColumns, KeyRange, LockMode, Partition, PartitionForm,
    PartitionFunction, PartitionKind, Partitioning, Row, RowCondition, StatementContext, Table, TableDef,
    Transaction,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;
use types::{ColumnType, Value};

/// The values of each row, by its key: the id and the group. A group is a partition.
type Rows = BTreeMap<(i64, i64), Vec<Value>>;

const IDS: u64 = 40;
const GROUPS: u64 = 4;

/// The condition that a row is in a group. Its text is the group.
struct OfGroup(i64);

impl RowCondition for OfGroup {
    fn holds(&self, values: &[Value]) -> Result<bool, String> {
        Ok(values[1] == Value::Int(self.0))
    }
}

struct Groups;

impl ConditionCompiler for Groups {
    fn compile(&self, _: &EngineOfRows, def: &TableDef, text: &str) -> Result<Box<dyn RowCondition>, String> {
        assert_eq!(def.columns[1].name, "g");
        Ok(Box::new(OfGroup(text.parse().map_err(|_| format!("{text} is no group"))?)))
    }
}

fn open_with_groups(disk: &SimDisk) -> Arc<Engine> {
    let conditions = Conditions::new(Arc::new(Groups));
    Engine::open(engine::EngineConfig { conditions, ..config(disk) }).unwrap()
}

/// Returns `t (id INT, g INT, v INT, b MEDIUMBLOB, PRIMARY KEY (id, g), UNIQUE (v, g), KEY (g))`.
fn definition() -> TableDef {
    let mut def = TableDef::new("test", "t");
    for name in ["id", "g", "v"] {
        def.columns.push(ColumnDef::new(name, INT()).not_null());
    }
    def.columns.push(ColumnDef::new("b", ColumnType::mediumblob()));
    def.primary = Some(vec![IndexColumn::whole(0), IndexColumn::whole(1)]);
    def.indexes.push(index("v", true, &[2, 1]));
    def.indexes.push(index("g", false, &[1]));
    let partition = |group: u64| Partition {
        name: format!("p{group}"),
        values: vec![vec![group.to_string()]],
        options: Vec::new(),
        subpartitions: Vec::new(),
    };
    def.partitioning = Some(Partitioning {
        by: PartitionFunction {
            kind: PartitionKind::List,
            linear: false,
            algorithm_1: false,
            expression: None,
            columns: vec!["g".to_owned()],
        },
        form: PartitionForm::List,
        sub: None,
        partitions: (0..GROUPS).map(partition).collect(),
    });
    def
}

struct World {
    rng: Rng,
    disk: SimDisk,
    engine: Arc<Engine>,
    rows: Rows,
    /// How often columns were added.
    added: i64,
    /// How many rows were inserted or moved over ones that had gone.
    inserted_over: usize,
    gone: Rows,
}

impl World {
    fn new(seed: u64) -> World {
        let (disk, engine) = fresh(seed);
        drop(engine);
        let disk = disk.kill();
        let engine = open_with_groups(&disk);
        create(&engine, definition());
        let (rng, rows) = (Rng::new(seed), Rows::new());
        World { rng, disk, engine, rows, added: 0, inserted_over: 0, gone: Rows::new() }
    }

    fn table(&self) -> Arc<Table> {
        table(&self.engine, "test", "t")
    }

    fn new_values(&mut self, id: i64, group: i64) -> Vec<Value> {
        let long = *self.rng.pick(&[0, 30, 30, 6000]);
        let blob = if self.rng.one_in(4) { Value::Null } else { Value::Bytes(self.rng.bytes(long)) };
        let mut values = vec![Value::Int(id), Value::Int(group), Value::Int(self.rng.below(30) as i64), blob];
        values.extend((0..self.added).map(|_| Value::Int(self.rng.below(9) as i64)));
        values
    }

    /// Changes some rows in one transaction, which may be rolled back.
    fn change_rows(&mut self) {
        let (table, mut rows) = (self.table(), self.rows.clone());
        let mut txn = begin(&self.engine);
        let mut over = 0;
        for _ in 0..1 + self.rng.below(8) {
            let key = (self.rng.below(IDS) as i64, self.rng.below(GROUPS) as i64);
            let savepoint = txn.begin_statement(StatementContext::default());
            let old = txn.get(&table, &key_of(&table, key), LockMode::Update).unwrap();
            let wanted = rows.get(&key).map(|values| image(&table, values));
            assert_eq!(old.as_ref().map(|row| &row.image), wanted.as_ref(), "the row {key:?} under a lock");
            let new_key = match old.is_some() && self.rng.one_in(3) {
                true => (self.rng.below(IDS) as i64, self.rng.below(GROUPS) as i64),
                false => key,
            };
            let values = self.new_values(new_key.0, new_key.1);
            let deletes = old.is_some() && self.rng.one_in(4);
            let is_taken = |(other, held): (&(i64, i64), &Vec<Value>)| {
                *other != key && (*other == new_key || held[1] == values[1] && held[2] == values[2])
            };
            let refused = !deletes && rows.iter().any(is_taken);
            let new = image(&table, &values);
            let done = match &old {
                Some(old) if deletes => txn.delete(&table, old),
                Some(old) => txn.update(&table, old, &new),
                None => txn.insert(&table, &new),
            };
            match done {
                Ok(()) => {
                    assert!(!refused, "{new_key:?} is a duplicate");
                    over += usize::from(!deletes && self.gone.contains_key(&new_key));
                    rows.remove(&key);
                    if !deletes {
                        rows.insert(new_key, values);
                    }
                    txn.end_statement();
                }
                Err(EngineError::Duplicate { .. }) => {
                    assert!(refused, "{new_key:?} is no duplicate");
                    txn.rollback_to_savepoint(savepoint);
                }
                Err(error) => panic!("{error}"),
            }
        }
        if self.rng.one_in(6) {
            drop(txn);
        } else {
            commit(txn);
            self.inserted_over += over;
            self.rows = rows;
        }
    }

    /// Removes the rows of a group.
    fn truncate(&mut self) {
        let group = self.rng.below(GROUPS) as i64;
        self.truncate_group(group);
    }

    fn truncate_group(&mut self, group: i64) {
        let text = group.to_string();
        ddl("ALTER TABLE t TRUNCATE PARTITION", |context| {
            let context = engine::DdlContext { dropped_rows: Some(&text), ..context.clone() };
            let def = self.table().def.clone();
            self.engine.alter_table("test", "t", def, &mut |_| panic!("no row is converted"), &context)
        })
        .unwrap();
        self.gone.extend(self.rows.extract_if(.., |key, _| key.1 == group));
    }

    fn alter(&mut self, def: TableDef, instant: InstantColumns) {
        ddl("ALTER TABLE t", |context| {
            let context = engine::DdlContext { instant, ..context.clone() };
            self.engine.alter_table("test", "t", def, &mut |_| panic!("no row is converted"), &context)
        })
        .unwrap();
    }

    /// Adds a unique index or drops it again, or adds a column.
    fn change_definition(&mut self) {
        let mut def = self.table().def.clone();
        if self.rng.one_in(3) && self.added < 5 {
            let column = ColumnDef::new(&format!("added_{}", self.added), INT());
            let mut value = Vec::new();
            types::packed::encode(&column.ty, &Value::Int(self.added), &mut value).unwrap();
            let position = def.columns.len();
            def.columns.push(column);
            let added = vec![AddedColumn { position, value: Some(value) }];
            self.rows.values_mut().for_each(|values| values.push(Value::Int(self.added)));
            self.added += 1;
            return self.alter(def, InstantColumns { added, dropped: Vec::new() });
        }
        match def.index("later") {
            Some(at) => drop(def.indexes.remove(at)),
            // Rows that have gone may have the same keys.
            None => def.indexes.push(index("later", true, &[2, 1, 0])),
        }
        self.alter(def, InstantColumns::default());
    }

    /// Deletes rows that have gone, and returns whether there is more to do.
    fn delete_some(&self) -> bool {
        self.engine.delete_dropped_rows().unwrap() != Emptied::Done
    }

    fn compare(&self) {
        let table = self.table();
        compare_in(&mut begin(&self.engine), &table, &self.rows);
        check(&self.engine, &table);
    }

    /// Writes all rows anew, which are those of the model.
    fn rebuild(&mut self) {
        let table = self.table();
        let mut copied = Vec::new();
        let mut keep = |row: &[u8]| {
            copied.push(row.to_vec());
            Ok(Some(row.to_vec()))
        };
        ddl("ALTER TABLE t FORCE", |context| {
            self.engine.rebuild_table("test", "t", table.def.clone(), &mut keep, context)
        })
        .unwrap();
        let wanted: Vec<Vec<u8>> = self.rows.values().map(|values| image(&table, values)).collect();
        assert!(copied == wanted, "a rebuild copies other rows");
        self.gone.clear();
    }
}

fn key_of(table: &Table, (id, group): (i64, i64)) -> Vec<u8> {
    table.encode_key(IndexRef::Primary, &[Value::Int(id), Value::Int(group)]).unwrap()
}

/// Compares rows with wanted ones, and names the keys of those that differ.
fn assert_same(table: &Table, found: &[Vec<u8>], wanted: &[Vec<u8>]) {
    let missing_in = |rows: &[Vec<u8>], others: &[Vec<u8>]| -> Vec<String> {
        let key = |row: &Vec<u8>| {
            let column = |at| table.layout.decode(row, at).unwrap();
            format!("({:?}, {:?}, {:?})", column(0), column(1), column(2))
        };
        rows.iter().filter(|row| !others.contains(row)).map(key).collect()
    };
    let (more, fewer) = (missing_in(found, wanted), missing_in(wanted, found));
    assert!(found == wanted, "found besides: {more:?}, not found: {fewer:?}");
}

/// Compares what every kind of read finds with the model.
fn compare_in(txn: &mut Transaction, table: &Arc<Table>, model: &Rows) {
    let wanted: Vec<Vec<u8>> = model.values().map(|values| image(table, values)).collect();
    let images = |rows: Vec<Row>| -> Vec<Vec<u8>> { rows.into_iter().map(|row| row.image).collect() };
    assert_same(table, &images(rows(txn, table, IndexRef::Primary, KeyRange::all())), &wanted);
    for at in 0..table.def.indexes.len() {
        let mut found = images(rows(txn, table, IndexRef::Secondary(at), KeyRange::all()));
        found.sort_unstable();
        let mut wanted = wanted.clone();
        wanted.sort_unstable();
        assert!(found == wanted, "the rows by index {at} are others");
        assert_eq!(lent(txn, table, IndexRef::Secondary(at)), wanted.len(), "entries of index {at}");
    }
    assert_eq!(lent(txn, table, IndexRef::Primary), wanted.len(), "lent rows");
    for id in 0..IDS as i64 {
        for group in 0..GROUPS as i64 {
            let found = txn.get(table, &key_of(table, (id, group)), LockMode::Snapshot).unwrap();
            let wanted = model.get(&(id, group)).map(|values| image(table, values));
            assert_eq!(found.map(|row| row.image), wanted, "the row ({id}, {group})");
        }
    }
}

fn lent(txn: &mut Transaction, table: &Arc<Table>, index: IndexRef) -> usize {
    let mut scan = txn.scan(table, index, KeyRange::all(), Direction::Forward, LockMode::Snapshot).unwrap();
    let mut count = 0;
    while let Some(Found::Row(_) | Found::Entry | Found::Lent) = scan.next_lent(txn, true).unwrap() {
        count += 1;
    }
    count
}

#[test]
fn rows_that_went_with_their_partitions_are_seen_by_nobody() {
    let seed = test_seed("rows_that_went_with_their_partitions_are_seen_by_nobody");
    let mut world = World::new(seed);
    let mut forgotten = 0;
    for _ in 0..700 {
        match world.rng.below(20) {
            0..=9 => world.change_rows(),
            10 | 11 => world.truncate(),
            12 => match world.rng.one_in(4) {
                true => world.rebuild(),
                false => world.change_definition(),
            },
            13 => {
                world.delete_some();
            }
            14 => {
                while world.delete_some() {}
                world.gone.clear();
                forgotten += 1;
            }
            15 => drop(world.engine.checkpoint().unwrap()),
            16 => drop(world.engine.purge().unwrap()),
            17 => {
                world.disk = if world.rng.one_in(2) { world.disk.kill() } else { world.disk.power_cut() };
                world.engine = open_with_groups(&world.disk);
                world.compare();
            }
            18 => {
                // What a snapshot sees stays, while rows that have gone are deleted behind it.
                let mut reader = begin(&world.engine);
                reader.open_snapshot().unwrap();
                let seen = world.rows.clone();
                world.change_rows();
                for _ in 0..4 {
                    world.delete_some();
                }
                world.change_rows();
                world.engine.purge().unwrap();
                compare_in(&mut reader, &world.table(), &seen);
            }
            _ => world.compare(),
        }
    }
    world.compare();
    assert!(forgotten > 0 && world.inserted_over > 0, "{forgotten}, {}", world.inserted_over);
}

#[test]
fn snapshots_from_before_a_partition_was_dropped_cannot_read_the_table() {
    let mut world = World::new(1);
    world.change_rows();
    let mut reader = begin(&world.engine);
    reader.open_snapshot().unwrap();
    world.truncate();
    let table = world.table();
    let read = reader.get(&table, &key_of(&table, (1, 1)), LockMode::Snapshot);
    assert!(matches!(read, Err(EngineError::TableChanged(_))), "{read:?}");
}

/// Puts the row (1, 1), removes it with its partition, and returns its image and its key.
fn removed_row(world: &mut World) -> (Arc<Table>, Vec<u8>, Vec<u8>) {
    let table = world.table();
    let row = image(&table, &[Value::Int(1), Value::Int(1), Value::Int(7), Value::Null]);
    let mut txn = begin(&world.engine);
    txn.begin_statement(StatementContext::default());
    txn.insert(&table, &row).unwrap();
    txn.end_statement();
    commit(txn);
    world.truncate_group(1);
    let table = world.table();
    let key = key_of(&table, (1, 1));
    (table, row, key)
}

#[test]
fn a_row_that_made_way_for_one_that_is_gone_does_not_come_back_after_a_crash() {
    let mut world = World::new(1);
    let (table, row, key) = removed_row(&mut world);
    let mut txn = begin(&world.engine);
    txn.begin_statement(StatementContext::default());
    txn.insert(&table, &row).unwrap();
    let put = txn.get(&table, &key, LockMode::Update).unwrap().expect("it was put");
    txn.delete(&table, &put).unwrap();
    txn.end_statement();
    commit(txn);
    while world.delete_some() {}
    // This commit waits until the log has everything before it.
    create(&world.engine, keyed("other"));
    world.engine = open_with_groups(&world.disk.kill());
    world.compare();
}

#[test]
fn a_snapshot_does_not_see_a_row_that_made_way_for_a_later_one() {
    let mut world = World::new(1);
    let (table, row, _) = removed_row(&mut world);
    let mut reader = begin(&world.engine);
    reader.open_snapshot().unwrap();
    let mut txn = begin(&world.engine);
    txn.begin_statement(StatementContext::default());
    txn.insert(&table, &row).unwrap();
    txn.end_statement();
    commit(txn);
    drop(table);
    for _ in 0..4 {
        world.delete_some();
    }
    compare_in(&mut reader, &world.table(), &Rows::new());
}

/// A condition that cannot be computed as long as the flag is set.
struct Failing(Arc<AtomicBool>);

impl RowCondition for Failing {
    fn holds(&self, _: &[Value]) -> Result<bool, String> {
        if self.0.load(Ordering::Relaxed) { Err("it fails".to_owned()) } else { Ok(true) }
    }
}

impl ConditionCompiler for Failing {
    fn compile(&self, _: &EngineOfRows, _: &TableDef, _: &str) -> Result<Box<dyn RowCondition>, String> {
        Ok(Box::new(Failing(self.0.clone())))
    }
}

/// The deletion is tried every second. An error that lasts is told once, and again when it comes
/// back.
#[test]
fn an_error_of_the_deletion_is_told_once_as_long_as_it_lasts() {
    let fails = Arc::new(AtomicBool::new(false));
    let (disk, engine) = fresh(1);
    drop(engine);
    let disk = disk.kill();
    let conditions = Conditions::new(Arc::new(Failing(fails.clone())));
    let engine = Engine::open(engine::EngineConfig { conditions, ..config(&disk) }).unwrap();
    create(&engine, definition());
    let table = || table(&engine, "test", "t");
    let mut txn = begin(&engine);
    txn.begin_statement(StatementContext::default());
    // There are more rows than two steps delete, so that a step can succeed between two errors.
    for id in 0..4000 {
        let values = [Value::Int(id), Value::Int(1), Value::Int(id), Value::Null];
        txn.insert(&table(), &image(&table(), &values)).unwrap();
    }
    txn.end_statement();
    commit(txn);
    ddl("ALTER TABLE t TRUNCATE PARTITION", |context| {
        let context = engine::DdlContext { dropped_rows: Some("1"), ..context.clone() };
        let def = table().def.clone();
        engine.alter_table("test", "t", def, &mut |_| panic!("no row is converted"), &context)
    })
    .unwrap();
    for _ in 0..2 {
        fails.store(true, Ordering::Relaxed);
        let told = engine.delete_dropped_rows().unwrap_err().to_string();
        assert!(told.contains("it fails"), "{told}");
        for _ in 0..3 {
            assert_eq!(engine.delete_dropped_rows().unwrap(), Emptied::Waits);
        }
        fails.store(false, Ordering::Relaxed);
        assert_eq!(engine.delete_dropped_rows().unwrap(), Emptied::GoesOn);
    }
    while engine.delete_dropped_rows().unwrap() != Emptied::Done {}
    assert_eq!(begin(&engine).get(&table(), &key_of(&table(), (1, 1)), LockMode::Snapshot).unwrap(), None);
}
