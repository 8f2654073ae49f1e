//! Counts, under callgrind, the instructions that a point lookup, a row of a scan, an update and a
//! page hit cost. `docs/costs.md` says under "Instructions" how to run the program.
//!
//! Everything is on a simulated disk and in the pool. Each function that is never inlined gives one
//! figure: divide what callgrind counts for the function by [`TIMES`].

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use buffer::page::PageType;
use buffer::{Mtr, PageId, Pool, PoolConfig};
use engine::{
    ColumnDef, CommitOptions, DdlContext, Direction, Engine, EngineConfig, Found, IndexColumn, IndexRef,
    Isolation, KeyRange, LockMode, SchemaDef, SessionContext, StatementContext, Table, TableDef, Transaction,
};
use os::disk::Disk;
use os::sim::SimDisk;
use redo::{Log, LogConfig};
use types::{ColumnType, Value};

/// The number of times that each function does its work.
const TIMES: u64 = 10_000;
/// The rows of the table: enough for a root above some hundred leaves.
const ROWS: u64 = 20_000;
const SPACE: u32 = 3;
/// The capacity of the log. Its first file, which opening makes, is a thirty-second part of it and
/// holds everything that the program logs, so no function is counted while it makes a file.
const REDO_CAPACITY_BYTES: u64 = 2 << 30;

fn main() {
    let mut config = EngineConfig::new(Arc::new(SimDisk::new(1)), "/data");
    config.redo_capacity_bytes = REDO_CAPACITY_BYTES;
    let engine = Engine::open(config).expect("it is made");
    let table = fill(&engine);
    let mut txn = engine.begin(Isolation::RepeatableRead);
    (0..ROWS).for_each(|id| look_up(&mut txn, &table, id));
    point_lookups(&mut txn, &table);
    transactions_of_a_lookup(&engine, &table);
    scanned_rows(&mut txn, &table);
    drop(txn);
    updates(&engine, &table);
    let (pool, page) = pool_with_a_page();
    page_hits(&pool, page);
}

/// Looks up rows by primary key in a transaction that has its snapshot already.
#[inline(never)]
fn point_lookups(txn: &mut Transaction, table: &Arc<Table>) {
    (0..TIMES).for_each(|at| look_up(txn, table, at * 7919 % ROWS));
}

/// Looks up rows by primary key, each in a transaction of its own.
#[inline(never)]
fn transactions_of_a_lookup(engine: &Arc<Engine>, table: &Arc<Table>) {
    for at in 0..TIMES {
        let mut txn = engine.begin(Isolation::RepeatableRead);
        look_up(&mut txn, table, at * 7919 % ROWS);
        txn.commit(&CommitOptions::default()).expect("nothing to commit");
    }
}

/// Reads rows of plain scans, a hundred rows each, without copying them, in the way in which the
/// query processor reads them.
#[inline(never)]
fn scanned_rows(txn: &mut Transaction, table: &Arc<Table>) {
    for at in 0..TIMES / 100 {
        let start = key_of(table, at * 7919 % (ROWS - 100));
        let range = KeyRange::between(Bound::Included(&start), Bound::Unbounded);
        let mut scan = txn
            .scan(table, IndexRef::Primary, range, Direction::Forward, LockMode::Snapshot)
            .expect("it opens");
        for _ in 0..100 {
            if let Some(image) = scan.lend_at_once(txn) {
                std::hint::black_box(image);
                continue;
            }
            assert_eq!(scan.next_lent(txn, false).expect("it is read"), Some(Found::Lent));
            std::hint::black_box(scan.image());
        }
    }
}

/// Runs transactions that read a row for update, change a column and commit. Each commit waits
/// until the log is written.
#[inline(never)]
fn updates(engine: &Arc<Engine>, table: &Arc<Table>) {
    let mut image = Vec::new();
    for at in 0..TIMES {
        let mut txn = engine.begin(Isolation::RepeatableRead);
        txn.begin_statement(StatementContext { timestamp_us: 1_000_000, rows_query: None });
        let key = key_of(table, at * 7919 % ROWS);
        let row = txn.get(table, &key, LockMode::Update).expect("it is read").expect("it is there");
        image.clear();
        image.extend_from_slice(&row.image);
        *image.last_mut().expect("a row has bytes") = b'a' + (at / ROWS) as u8;
        txn.update(table, &row, &image).expect("it is changed");
        txn.commit(&CommitOptions::default()).expect("the disk works");
    }
}

/// Latches a page in the pool shared and releases it.
#[inline(never)]
fn page_hits(pool: &Pool, page: PageId) {
    for _ in 0..TIMES {
        std::hint::black_box(pool.read(page).expect("it is there").first());
    }
}

fn key_of(table: &Table, id: u64) -> Vec<u8> {
    table.encode_key(IndexRef::Primary, &[Value::Int(id as i64)]).expect("a key")
}

fn look_up(txn: &mut Transaction, table: &Arc<Table>, id: u64) {
    let key = key_of(table, id);
    let row = txn.get(table, &key, LockMode::Snapshot).expect("it is read");
    assert!(std::hint::black_box(row).is_some());
}

fn fill(engine: &Arc<Engine>) -> Arc<Table> {
    let session = SessionContext::default();
    let context = DdlContext::new("CREATE", "s", &session);
    engine.create_schema(SchemaDef { name: "s".to_owned(), collation: 255 }, &context).expect("made");
    let mut def = TableDef::new("s", "t");
    def.columns.push(ColumnDef::new("id", ColumnType::int(false)).not_null());
    def.columns.push(ColumnDef::new("c", ColumnType::varchar(120, 255)));
    def.primary = Some(vec![IndexColumn::whole(0)]);
    engine.create_table(def, &context).expect("made");
    let mut txn = engine.begin(Isolation::ReadCommitted);
    txn.begin_statement(StatementContext::default());
    let table = txn.open_table("s", "t").expect("it is there");
    for id in 0..ROWS {
        let mut image = Vec::new();
        let values = [Value::Int(id as i64), Value::text(&"c".repeat(120))];
        table.layout.encode(&values, &mut image).expect("a row");
        txn.insert(&table, &image).expect("it is new");
    }
    txn.end_statement();
    txn.commit(&CommitOptions::default()).expect("the disk works");
    table
}

fn pool_with_a_page() -> (Arc<Pool>, PageId) {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(2));
    disk.create_dir_all(Path::new("/data")).expect("an empty disk");
    disk.sync_dir(Path::new("/")).expect("an empty disk");
    let log = Log::create(Arc::clone(&disk), LogConfig::new("/data")).expect("an empty disk");
    let pool = Pool::open(disk, log, PoolConfig::new(Path::new("/data"), 4 << 20)).expect("it opens");
    pool.create_space(SPACE, Path::new("/data/t.ibd")).expect("it is new");
    let no = {
        let lock = pool.lock_structure(SPACE).expect("open");
        let mut mtr = Mtr::begin(&pool, &lock);
        let held = mtr.alloc().expect("there is room");
        mtr.format(held, PageType::Overflow, 0);
        let no = mtr.no(held);
        mtr.commit();
        no
    };
    (pool, PageId::new(SPACE, no))
}
