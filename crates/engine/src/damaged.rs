//! Log records and stored definitions with random damage and a right checksum are read, replayed or
//! refused, without a panic.

use crate::checkpoint::CheckpointState;
use crate::commit::record::CommitRecord;
use crate::commit::sidecar::Sidecar;
use crate::definition::codec;
use crate::entry::{self, ClusteredValue};
use crate::recovery::for_each_record;
use crate::{
    ColumnDef, CommitOptions, DdlContext, Engine, EngineConfig, IndexColumn, IndexDef, IndexRef, Isolation,
    LockMode, RowImage, SchemaDef, SessionContext, StatementContext, TableDef,
};
use buffer::RecordLsn;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use redo::kind;
use std::sync::Arc;
use types::{ColumnType, Value};

/// Returns the definitions of two tables, with and without a primary key, with indexes and long
/// values.
fn definitions() -> [TableDef; 2] {
    ["keyed", "keyless"].map(|name| {
        let mut def = TableDef::new("s", name);
        def.columns.push(ColumnDef::new("id", ColumnType::int(false)).not_null());
        def.columns.push(ColumnDef::new("k", ColumnType::varchar(100, 255)));
        def.columns.push(ColumnDef::new("big", ColumnType::mediumblob()));
        let index = |name: &str, unique, column| IndexDef {
            id: 0,
            name: name.to_owned(),
            unique,
            columns: vec![IndexColumn::whole(column)],
            comment: String::new(),
            invisible: false,
            generated: false,
            using_btree: false,
        };
        def.indexes.push(index("by_k", false, 1));
        if name == "keyed" {
            def.primary = Some(vec![IndexColumn::whole(0)]);
        } else {
            def.indexes.push(index("by_id", true, 0));
        }
        def
    })
}

fn config(disk: &SimDisk) -> EngineConfig {
    EngineConfig {
        page_size: 4096,
        pool_bytes: 4 << 20,
        redo_capacity_bytes: 4 << 20,
        log_buffer_bytes: 64 << 10,
        binlog_row_image: RowImage::Minimal,
        background: false,
        ..EngineConfig::new(Arc::new(disk.clone()), "/data")
    }
}

fn work(engine: &Arc<Engine>, rng: &mut Rng) {
    let session = SessionContext::default();
    let context = DdlContext::new("CREATE", "s", &session);
    engine.create_schema(SchemaDef { name: "s".to_owned(), collation: 255 }, &context).unwrap();
    definitions().into_iter().for_each(|def| {
        engine.create_table(def, &context).unwrap();
    });
    for round in 0..80 {
        let mut txn = engine.begin(Isolation::ReadCommitted);
        txn.begin_statement(StatementContext::default());
        for name in ["keyed", "keyless"] {
            let table = txn.open_table("s", name).unwrap();
            let big_len = if rng.one_in(4) { 9000 } else { 300 };
            let values = [
                Value::Int(round),
                Value::text(&format!("k{}", round % 7)),
                Value::Bytes(rng.bytes(big_len)),
            ];
            let mut image = Vec::new();
            table.layout.encode(&values, &mut image).unwrap();
            let old = match table.primary {
                Some(_) if round > 10 => {
                    let key = [Value::Int(rng.below(round as u64) as i64)];
                    let key = table.encode_key(IndexRef::Primary, &key).unwrap();
                    txn.get(&table, &key, LockMode::Update).unwrap()
                }
                _ => None,
            };
            match old {
                Some(old) if rng.one_in(3) => txn.delete(&table, &old).unwrap(),
                Some(old) => txn.update(&table, &old, &image).unwrap(),
                None => txn.insert(&table, &image).unwrap(),
            }
        }
        txn.end_statement();
        txn.commit(&CommitOptions::default()).unwrap();
    }
}

fn records(engine: &Engine) -> Vec<(u8, u64, u64, Vec<u8>)> {
    let mut records = Vec::new();
    for_each_record(&engine.log, redo::START_LSN..engine.log.current_lsn(), |record| {
        records.push((record.kind, record.start_lsn, record.lsn, record.payload.to_vec()));
        Ok(())
    })
    .unwrap();
    records
}

#[test]
fn damaged_records_are_replayed_or_refused() {
    let seed = test_seed("damaged_records_are_replayed_or_refused");
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new(seed);
    let engine = Engine::open(config(&disk)).unwrap();
    work(&engine, &mut rng);
    let records = records(&engine);
    assert!(records.iter().any(|(kind, ..)| *kind == kind::STRUCTURE));
    for round in 0..20_000 {
        let (kind, start_lsn, lsn, payload) = rng.pick(&records);
        let damaged = rng.damaged(payload);
        if let Ok(commit) = CommitRecord::parse(&damaged) {
            let _ = commit.position();
            let _ = Sidecar::parse(commit.sidecar).is_ok_and(|sidecar| {
                sidecar.dictionary().is_ok() & sidecar.counters().is_ok() & sidecar.placements().is_ok()
            });
        }
        // Records are replayed over and over into the same trees, which by then have what other
        // damaged records put there.
        if *kind == kind::COMMIT {
            let shift = if rng.one_in(2) { 1 << 30 } else { 0 };
            let place = RecordLsn::new(start_lsn + shift, lsn + shift);
            let _ = crate::replay::Replay::new(&engine).payload(&damaged, place).is_ok();
        } else if *kind == kind::STRUCTURE && round % 4 == 0 {
            let _ = CheckpointState::decode(&damaged).is_ok();
        }
    }
}

#[test]
fn damaged_structure_records_are_replayed_or_refused() {
    let seed = test_seed("damaged_structure_records_are_replayed_or_refused");
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new(seed);
    let engine = Engine::open(config(&disk)).unwrap();
    work(&engine, &mut rng);
    let records = records(&engine);
    let structure: Vec<_> = records.iter().filter(|(kind, ..)| *kind == kind::STRUCTURE).collect();
    for _ in 0..20_000 {
        let (_, start_lsn, lsn, payload) = rng.pick(&structure);
        let damaged = rng.damaged(payload);
        let shift = if rng.one_in(2) { 1 << 30 } else { 0 };
        let _ = engine.pool.replay(start_lsn + shift, lsn + shift, &damaged).is_ok();
    }
}

#[test]
fn damaged_definitions_and_states_are_read_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_definitions_and_states_are_read_or_refused"));
    let mut table = Vec::new();
    codec::put_table(&mut table, &definitions()[0]);
    let mut schema = Vec::new();
    codec::put_schema(&mut schema, &SchemaDef { name: "s".to_owned(), collation: 255 });
    let state = {
        let disk = SimDisk::new(1);
        let _ = Engine::open(config(&disk)).unwrap();
        crate::recovery::open_storage(&config(&disk.kill())).unwrap().log.checkpoint.state
    };
    assert!(CheckpointState::decode(&state).is_ok());
    let mut value = Vec::new();
    entry::put_clustered(&mut value, &[], b"an image");
    for _ in 0..60_000 {
        let bytes = rng.damaged(&table);
        let _ = codec::read_table(&mut crate::bytes::Reader::new(&bytes, "table")).is_ok();
        let bytes = rng.damaged(&schema);
        let _ = codec::read_schema(&mut crate::bytes::Reader::new(&bytes, "schema")).is_ok();
        let _ = CheckpointState::decode(&rng.damaged(&state)).is_ok();
        let bytes = rng.damaged(&value);
        let _ = ClusteredValue::parse(&bytes).is_ok_and(|parsed| parsed.externs().is_empty());
        let _ = (entry::parse_header(&bytes).is_ok(), entry::secondary_len(&bytes).is_ok());
    }
}
