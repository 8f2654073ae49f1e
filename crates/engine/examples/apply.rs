//! Applies sysbench's update_non_index groups from memory, on one thread, and prints what a transaction costs.
//!
//! `cargo run --release -p engine --example apply -- [transactions] [rows a table] [flush_log_at_trx_commit] [log_bin 0|1]`

#[path = "../tests/support/apply.rs"]
mod applier;

use binlog::gtid::Uuid;
use engine::{
    ColumnDef, CommitOptions, CommittedGroup, DdlContext, Engine, EngineConfig, GtidNext, IndexColumn,
    IndexDef, IndexRef, Isolation, LockMode, PositionUpdate, RowImage, SchemaDef, SessionContext,
    StatementContext, Table, TableDef,
};
use os::clock::Stopwatch;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use types::{ColumnType, Value};

const TABLES: usize = 4;
const COLLATION: u16 = 255;

fn sbtest(name: &str) -> TableDef {
    let mut def = TableDef::new("sbtest", name);
    def.columns.push(ColumnDef::new("id", ColumnType::int(false)).auto_increment());
    def.columns.push(ColumnDef::new("k", ColumnType::int(false)).not_null());
    def.columns.push(ColumnDef::new("c", ColumnType::char(120, COLLATION)).not_null());
    def.columns.push(ColumnDef::new("pad", ColumnType::char(60, COLLATION)).not_null());
    def.primary = Some(vec![IndexColumn::whole(0)]);
    def.indexes.push(IndexDef {
        id: 0,
        name: "k_1".into(),
        unique: false,
        columns: vec![IndexColumn::whole(1)],
        comment: String::new(),
        invisible: false,
    });
    def
}

fn open(dir: &Path, uuid: u8, flush: u8, log_bin: bool) -> Arc<Engine> {
    let config = EngineConfig {
        pool_bytes: 512 << 20,
        redo_capacity_bytes: 1 << 30,
        log_buffer_bytes: 64 << 20,
        flush_log_at_trx_commit: flush,
        server_uuid: Uuid([uuid; 16]),
        gtid_mode: true,
        log_bin,
        binlog_row_image: RowImage::Minimal,
        ..EngineConfig::new(os::disk::real(), dir)
    };
    Engine::open(config).expect("the engine opens")
}

fn digits(rng: &mut os::random::Rng, groups: usize) -> Value {
    let groups: Vec<String> = (0..groups).map(|_| format!("{:011}", rng.below(100_000_000_000))).collect();
    Value::text(&groups.join("-"))
}

fn fill(engine: &Arc<Engine>, rows: u64) -> Vec<Arc<Table>> {
    let session = SessionContext::default();
    let context = DdlContext::new("", "sbtest", &session);
    let schema = SchemaDef { name: "sbtest".into(), collation: COLLATION };
    engine.create_schema(schema, &context).expect("the schema is new");
    let mut rng = os::random::Rng::new(7);
    let mut tables = Vec::new();
    for n in 1..=TABLES {
        let name = format!("sbtest{n}");
        engine.create_table(sbtest(&name), &context).expect("the table is new");
        let table = engine.catalog().table("sbtest", &name).expect("just made");
        let mut id = 1;
        while id <= rows {
            let mut txn = engine.begin(Isolation::RepeatableRead);
            txn.begin_statement(StatementContext::default());
            for _ in 0..2000.min(rows - id + 1) {
                let values = [
                    Value::Int(id as i64),
                    Value::Int(rng.between(1, rows) as i64),
                    digits(&mut rng, 10),
                    digits(&mut rng, 5),
                ];
                let mut image = Vec::new();
                table.layout.encode(&values, &mut image).expect("values of the columns' types");
                txn.insert(&table, &image).expect("ids are unique");
                id += 1;
            }
            txn.end_statement();
            txn.commit(&CommitOptions { wait: false, ..CommitOptions::default() }).expect("it commits");
        }
        tables.push(table);
    }
    tables
}

fn load(engine: &Arc<Engine>, tables: &[Arc<Table>], transactions: u64, rows: u64) -> Vec<CommittedGroup> {
    let start = engine.log().current_lsn();
    let mut rng = os::random::Rng::new(11);
    for _ in 0..transactions {
        let table = rng.pick(tables).clone();
        let id = Value::Int(rng.between(1, rows) as i64);
        let key = table.encode_key(IndexRef::Primary, &[id]).expect("an int");
        let mut txn = engine.begin(Isolation::RepeatableRead);
        txn.begin_statement(StatementContext::default());
        let old = txn.get(&table, &key, LockMode::Update).expect("it reads").expect("the row is there");
        let mut values = table.layout.decode_all(&old.image).expect("our own image");
        values[2] = digits(&mut rng, 10);
        let mut image = Vec::new();
        table.layout.encode(&values, &mut image).expect("values of the columns' types");
        txn.update(&table, &old, &image).expect("the row is locked");
        txn.end_statement();
        txn.commit(&CommitOptions { wait: false, ..CommitOptions::default() }).expect("it commits");
    }
    engine.log().wait_written(engine.log().current_lsn()).expect("the log works");
    let mut stream = engine.commit_stream(start).expect("the log is there");
    let mut groups = Vec::new();
    while let Some(group) = stream.next(None).expect("the log reads") {
        groups.push(group);
    }
    groups
}

/// Applies every group; returns wall and CPU time and where the last commit ends.
fn apply_all(replica: &Arc<Engine>, groups: &[CommittedGroup]) -> (u64, u64, u64) {
    let format = applier::format();
    let (watch, cpu_before) = (Stopwatch::start(), os::clock::thread_cpu_ns());
    let mut last = 0;
    for (at, group) in groups.iter().enumerate() {
        let position = PositionUpdate {
            channel: "",
            source_log_file: "binlog.000001",
            source_log_pos: at as u64,
            relay_log_file: "relay.000001",
            relay_log_pos: at as u64,
            change: Default::default(),
        };
        let options = CommitOptions {
            gtid: GtidNext::Given(group.header.gtid.expect("gtid_mode is on")),
            server_id: Some(group.header.server_id),
            original_commit_us: Some(group.header.original_commit_us),
            position: Some(position),
            wait: false,
            ..CommitOptions::default()
        };
        last = applier::apply(replica, &format, &group.group, &options).expect("it applies").seq;
    }
    (watch.elapsed_ns(), os::clock::thread_cpu_ns() - cpu_before, last)
}

fn main() {
    let args: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let arg = |at: usize, default: u64| args.get(at).copied().unwrap_or(default);
    let (transactions, rows) = (arg(0, 200_000), arg(1, 250_000));
    let (flush, log_bin) = (arg(2, 2) as u8, arg(3, 1) == 1);
    let base: PathBuf = std::env::temp_dir().join(format!("slipstream-apply-{}", std::process::id()));
    let watch = Stopwatch::start();
    let source = open(&base.join("source"), 1, 2, true);
    let tables = fill(&source, rows);
    println!("filled the source in {} ms", watch.elapsed_ms());
    let watch = Stopwatch::start();
    let groups = load(&source, &tables, transactions, rows);
    println!(
        "source: {} groups, {} ns each (local transactions)",
        groups.len(),
        watch.elapsed_ns() / transactions
    );
    drop(tables);
    source.close().expect("it closes");
    let replica = open(&base.join("replica"), 2, flush, log_bin);
    fill(&replica, rows);
    replica.sharp_checkpoint().expect("it flushes");
    let (wall_ns, cpu_ns, last) = {
        let (replica, groups) = (replica.clone(), groups.clone());
        // A thread of its own, so that a profiler can tell it from the rest.
        os::thread::spawn("applier", move || apply_all(&replica, &groups)).join().expect("it applies")
    };
    let watch = Stopwatch::start();
    replica.log().commit_wait(last).expect("the log works");
    let count = groups.len() as u64;
    println!(
        "apply: {} ns wall, {} ns cpu each: {} a second; {} us more until the log is safe",
        wall_ns / count,
        cpu_ns / count,
        count * 1_000_000_000 / wall_ns,
        watch.elapsed_us()
    );
    replica.close().expect("it closes");
    os::disk::real().remove_dir_all(&base).expect("our own directory");
}
