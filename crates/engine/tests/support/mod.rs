//! The parts that the engine's tests share: an engine on a simulated disk, and tables with short
//! ways to change and read them.
#![allow(dead_code)] // Each test file uses only some of the functions.

use engine::{
    ColumnDef, CommitOptions, DdlContext, Direction, Engine, EngineConfig, EngineError, IndexColumn,
    IndexDef, IndexRef, Isolation, KeyRange, LockMode, Row, SchemaDef, SessionContext, StatementContext,
    Table, TableDef, Transaction,
};
use os::disk::Disk;
use os::random::Rng;
use os::sim::SimDisk;
use std::sync::Arc;
use types::{ColumnType, Value};

pub const INT: fn() -> ColumnType = || ColumnType::int(false);

/// Returns options for a small engine in `/data` of a simulated disk, with no threads of its own.
pub fn config(disk: &SimDisk) -> EngineConfig {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    EngineConfig {
        page_size: 4096,
        pool_bytes: 1 << 20,
        redo_capacity_bytes: 16 << 20,
        log_buffer_bytes: 1 << 20,
        innodb_lock_wait_timeout_ms: 10_000,
        background: false,
        ..EngineConfig::new(disk, "/data")
    }
}

pub fn open(disk: &SimDisk) -> Arc<Engine> {
    Engine::open(config(disk)).unwrap()
}

/// Returns an engine on a fresh disk, with schema `test`.
pub fn fresh(seed: u64) -> (SimDisk, Arc<Engine>) {
    let disk = SimDisk::new(seed);
    let engine = open(&disk);
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    (disk, engine)
}

pub fn ddl<R>(statement: &str, run: impl FnOnce(&DdlContext<'_>) -> R) -> R {
    let session = SessionContext::default();
    run(&DdlContext::new(statement, "test", &session))
}

pub fn index(name: &str, unique: bool, columns: &[usize]) -> IndexDef {
    IndexDef {
        id: 0,
        name: name.into(),
        unique,
        columns: columns.iter().map(|column| IndexColumn::whole(*column)).collect(),
        comment: String::new(),
        invisible: false,
        generated: false,
        using_btree: false,
    }
}

/// Returns the definition `test.name (id INT PRIMARY KEY, k INT NOT NULL, c VARCHAR(2000), KEY k
/// (k))`.
pub fn keyed(name: &str) -> TableDef {
    let mut def = TableDef::new("test", name);
    def.columns.push(ColumnDef::new("id", INT()).not_null());
    def.columns.push(ColumnDef::new("k", INT()).not_null());
    def.columns.push(ColumnDef::new("c", ColumnType::varchar(2000, 46)));
    def.primary = Some(vec![IndexColumn::whole(0)]);
    def.indexes.push(index("k", false, &[1]));
    def
}

pub fn create(engine: &Arc<Engine>, def: TableDef) -> Arc<Table> {
    let (schema, name) = (def.schema.clone(), def.name.clone());
    ddl("CREATE TABLE", |context| engine.create_table(def, context)).unwrap();
    table(engine, &schema, &name)
}

pub fn table(engine: &Arc<Engine>, schema: &str, name: &str) -> Arc<Table> {
    engine.catalog().table(schema, name).unwrap()
}

pub fn image(table: &Table, values: &[Value]) -> Vec<u8> {
    let mut image = Vec::new();
    table.layout.encode(values, &mut image).unwrap();
    image
}

/// Returns the image of a row of [`keyed`].
pub fn row(table: &Table, id: i64, k: i64, c: &str) -> Vec<u8> {
    image(table, &[Value::Int(id), Value::Int(k), Value::text(c)])
}

pub fn key(table: &Table, id: i64) -> Vec<u8> {
    table.encode_key(IndexRef::Primary, &[Value::Int(id)]).unwrap()
}

pub fn begin(engine: &Arc<Engine>) -> Transaction {
    engine.begin(Isolation::RepeatableRead)
}

pub fn insert(
    txn: &mut Transaction,
    table: &Arc<Table>,
    id: i64,
    k: i64,
    c: &str,
) -> Result<(), EngineError> {
    txn.begin_statement(StatementContext::default());
    let result = txn.insert(table, &row(table, id, k, c));
    txn.end_statement();
    result
}

pub fn update(
    txn: &mut Transaction,
    table: &Arc<Table>,
    id: i64,
    k: i64,
    c: &str,
) -> Result<bool, EngineError> {
    let Some(old) = txn.get(table, &key(table, id), LockMode::Update)? else { return Ok(false) };
    txn.begin_statement(StatementContext::default());
    txn.update(table, &old, &row(table, id, k, c))?;
    txn.end_statement();
    Ok(true)
}

pub fn delete(txn: &mut Transaction, table: &Arc<Table>, id: i64) -> Result<bool, EngineError> {
    let Some(old) = txn.get(table, &key(table, id), LockMode::Update)? else { return Ok(false) };
    txn.begin_statement(StatementContext::default());
    txn.delete(table, &old)?;
    txn.end_statement();
    Ok(true)
}

pub fn commit(txn: Transaction) -> u64 {
    txn.commit(&CommitOptions::default()).unwrap().seq
}

pub fn rows(txn: &mut Transaction, table: &Arc<Table>, index: IndexRef, range: KeyRange) -> Vec<Row> {
    rows_in(txn, table, index, range, Direction::Forward)
}

pub fn rows_in(
    txn: &mut Transaction,
    table: &Arc<Table>,
    index: IndexRef,
    range: KeyRange,
    direction: Direction,
) -> Vec<Row> {
    let mut scan = txn.scan(table, index, range, direction, LockMode::Snapshot).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = scan.next(txn).unwrap() {
        rows.push(row);
    }
    rows
}

pub fn ints(table: &Table, rows: &[Row], column: usize) -> Vec<i64> {
    let int = |row: &Row| match table.layout.decode(&row.image, column).unwrap() {
        Value::Int(value) => value,
        other => panic!("not an int: {other:?}"),
    };
    rows.iter().map(int).collect()
}

/// Returns the ids of all rows that a new transaction sees.
pub fn ids(engine: &Arc<Engine>, table: &Arc<Table>) -> Vec<i64> {
    ids_in(&mut begin(engine), table)
}

pub fn ids_in(txn: &mut Transaction, table: &Arc<Table>) -> Vec<i64> {
    let rows = rows(txn, table, IndexRef::Primary, KeyRange::all());
    ints(table, &rows, 0)
}

/// Checks that everything about the table is sound.
pub fn check(engine: &Arc<Engine>, table: &Arc<Table>) {
    assert_eq!(engine.check_table(table).unwrap(), Vec::<String>::new());
}

/// Runs transactions at random, each with statements that make changes by `change`, some of which
/// are taken back. `compare` compares what a transaction sees with a model: the open one with its
/// changes, and one from before with those of that time.
pub fn transact<M: Clone>(
    rng: &mut Rng,
    engine: &Arc<Engine>,
    model: &mut M,
    rounds: u64,
    compare: impl Fn(&mut Transaction, &M),
    change: impl Fn(&mut Rng, &mut Transaction, &mut M),
) {
    for _ in 0..rounds {
        let mut before = begin(engine);
        let old = model.clone();
        compare(&mut before, &old);
        let mut txn = begin(engine);
        let mut new = model.clone();
        for _ in 0..rng.between(1, 6) {
            let savepoint = txn.begin_statement(StatementContext::default());
            let kept = new.clone();
            for _ in 0..rng.between(1, 3) {
                change(rng, &mut txn, &mut new);
            }
            if rng.one_in(5) {
                txn.rollback_to(savepoint);
                new = kept;
            } else {
                txn.end_statement();
            }
        }
        compare(&mut txn, &new);
        if rng.one_in(5) {
            txn.rollback();
        } else {
            txn.commit(&CommitOptions::default()).unwrap();
            *model = new;
        }
        // The older snapshot sees what it saw.
        compare(&mut before, &old);
        before.rollback();
    }
}
