//! Tests that the keys which commits hand over are those that their event groups name.

use super::*;
use crate::commit::pipeline::CommitOptions;
use crate::definition::{ColumnDef, IndexColumn, IndexDef, IndexRef, SchemaDef, TableDef};
use crate::partial::PartialRow;
use crate::{
    DdlContext, EngineConfig, Isolation, LockMode, RowImage, SessionContext, StatementContext, Transaction,
};
use binlog::{Checksum, Event, Format};
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::Lsn;
use std::collections::BTreeSet;
use types::{ColumnType, Value};

/// Returns an engine whose commits are for a binary log, with a table `test.t (id INT PRIMARY KEY,
/// u INT UNIQUE, v INT, KEY (v))`.
fn engine(seed: u64) -> (Arc<Engine>, Arc<Table>) {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(seed));
    let config = EngineConfig {
        log_bin: true,
        background: false,
        pool_bytes: 1 << 20,
        ..EngineConfig::new(disk, "/data")
    };
    let engine = Engine::open(config).expect("an empty disk");
    let session = SessionContext::default();
    let context = DdlContext::new("CREATE", "test", &session);
    engine.create_schema(SchemaDef { name: "test".into(), collation: 255 }, &context).expect("it is new");
    let mut def = TableDef::new("test", "t");
    def.columns.push(ColumnDef::new("id", ColumnType::int(false)).not_null());
    def.columns.push(ColumnDef::new("u", ColumnType::int(false)));
    def.columns.push(ColumnDef::new("v", ColumnType::int(false)));
    def.primary = Some(vec![IndexColumn::whole(0)]);
    for (name, unique, column) in [("u", true, 1), ("v", false, 2)] {
        def.indexes.push(IndexDef {
            id: 0,
            name: name.into(),
            unique,
            columns: vec![IndexColumn::whole(column)],
            comment: String::new(),
            invisible: false,
            generated: false,
            using_btree: false,
        });
    }
    engine.create_table(def, &context).expect("it is new");
    let table = engine.catalog.table("test", "t").expect("just made");
    (engine, table)
}

/// Changes a random row, unless a key is in the way.
fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>) {
    let number = |rng: &mut Rng| Value::Int(rng.between(1, 12) as i64);
    let id = number(rng);
    let u = if rng.below(4) == 0 { Value::Null } else { number(rng) };
    let key = table.encode_key(IndexRef::Primary, std::slice::from_ref(&id)).expect("a number");
    let found = txn.get(table, &key, LockMode::Update).expect("nobody is in the way");
    let mut image = Vec::new();
    // A row that changes keeps its primary key, or gets another one.
    let id = if found.is_some() && rng.below(3) == 0 { number(rng) } else { id };
    table.layout.encode(&[id, u, number(rng)], &mut image).expect("values of the columns' types");
    txn.begin_statement(StatementContext::default());
    let savepoint = txn.savepoint();
    let changed = match found {
        None => txn.insert(table, &image),
        Some(row) if rng.below(4) == 0 => txn.delete(table, &row),
        Some(row) => txn.update(table, &row, &image),
    };
    if changed.is_err() {
        txn.rollback_to(savepoint);
    }
    txn.end_statement();
}

/// Applies a group of the other engine, whose table has the same id.
fn applied(engine: &Arc<Engine>, table: &Arc<Table>, group: &[u8]) {
    let mut txn = engine.begin_apply();
    for event in binlog::group::walk(group) {
        let event = event.expect("the group is whole").bytes;
        let Event::Rows(rows) = binlog::decode(event, &Format::new(Checksum::None)).expect("it is whole").1
        else {
            continue;
        };
        let (before, after) = (rows.before_mask(), rows.after_mask());
        for row in rows.iter(&table.layout) {
            let row = row.expect("it is whole");
            let before = before.as_ref().zip(row.before).map(|(mask, image)| PartialRow { mask, image });
            let after = after.as_ref().zip(row.after).map(|(mask, image)| PartialRow { mask, image });
            let done = match (before, after) {
                (None, Some(after)) => txn.apply_insert(table, after),
                (Some(before), Some(after)) => txn.apply_update(table, before, after),
                (Some(before), None) => txn.apply_delete(table, before),
                (None, None) => unreachable!("a row change has an image"),
            };
            done.expect("the rows are the same on both sides");
        }
    }
    txn.commit_received(group, &CommitOptions::default()).expect("there is space");
}

/// Compares the keys that the commits behind `from` have handed over with those that their groups
/// name. Returns the last group and how many commits have handed keys over.
fn compared(engine: &Arc<Engine>, from: Lsn) -> (Vec<u8>, usize) {
    engine.log().wait_durable(engine.log().current_lsn()).expect("the disk works");
    let handed = engine.committer.handed_keys.as_ref().expect("there is a binary log");
    let mut stream = engine.commit_stream(from).expect("the log is there");
    let mut reader = WritesetReader::new(engine.clone());
    let (mut last, mut count) = (Vec::new(), 0);
    while let Some(committed) = stream.next(None).expect("the log is sound") {
        let mut keys = Vec::new();
        let is_handed = handed.take(committed.seq, &mut keys);
        let known = reader.read(&committed);
        if is_handed {
            assert_eq!(known, Writeset::Complete);
            let set = |keys: &[u64]| keys.iter().copied().collect::<BTreeSet<_>>();
            assert_eq!(set(&keys), set(reader.keys()), "the keys of the commit {}", committed.seq);
            count += 1;
        }
        last = committed.group.to_vec().expect("it is in memory");
    }
    (last, count)
}

#[test]
fn the_keys_that_a_commit_hands_over_are_those_of_its_events() {
    let mut rng = Rng::new(test_seed("handed keys"));
    for image in [RowImage::Full, RowImage::Minimal] {
        let ((source, table), (replica, copy)) = (engine(1), engine(2));
        assert_eq!(table.id, copy.id, "the events name the table of both");
        let (mut of_sessions, mut of_replica) = (0, 0);
        for _ in 0..300 {
            let (from, there) = (source.log().current_lsn(), replica.log().current_lsn());
            let mut txn = source.begin(Isolation::RepeatableRead);
            txn.set_row_image(image);
            for _ in 0..rng.between(1, 3) {
                change(&mut rng, &mut txn, &table);
            }
            if !txn.has_changes() {
                continue;
            }
            txn.commit(&CommitOptions::default()).expect("there is space");
            let (group, handed) = compared(&source, from);
            of_sessions += handed;
            applied(&replica, &copy, &group);
            of_replica += compared(&replica, there).1;
        }
        assert!(of_sessions > 100 && of_replica > 100, "handed over: {of_sessions}, {of_replica}");
    }
}
