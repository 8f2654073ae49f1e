use super::*;
use crate::{
    ColumnDef, CommitOptions, DdlContext, EngineConfig, IndexColumn, Isolation, SchemaDef, SessionContext,
    StatementContext, TableDef,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::sync::Arc;
use types::{ColumnType, Value};

#[test]
fn a_spilled_commit_takes_the_memory_of_a_part_of_it() {
    let mut rng = Rng::new(test_seed("a_spilled_commit_takes_the_memory_of_a_part_of_it"));
    let disk = SimDisk::new(rng.u64());
    let spill_bytes = 4 << 10;
    let config =
        EngineConfig { spill_bytes, background: false, ..EngineConfig::new(Arc::new(disk), "/data") };
    let engine = Engine::open(config).unwrap();
    let session = SessionContext::default();
    let context = DdlContext::new("CREATE", "s", &session);
    engine.create_schema(SchemaDef { name: "s".to_owned(), collation: 255 }, &context).unwrap();
    let mut def = TableDef::new("s", "t");
    def.columns.push(ColumnDef::new("id", ColumnType::int(false)).not_null());
    def.columns.push(ColumnDef::new("v", ColumnType::varchar(500, 255)));
    def.primary = Some(vec![IndexColumn::whole(0)]);
    engine.create_table(def, &context).unwrap();
    let mut txn = engine.begin(Isolation::ReadCommitted);
    txn.begin_statement(StatementContext::default());
    let table = txn.open_table("s", "t").unwrap();
    for id in 0..4000 {
        let mut image = Vec::new();
        table.layout.encode(&[Value::Int(id), Value::text(&"v".repeat(400))], &mut image).unwrap();
        txn.insert(&table, &image).unwrap();
    }
    txn.end_statement();
    txn.commit(&CommitOptions::default()).unwrap();

    let spilled = engine.sequencer.capture(&engine.log).spilled;
    let [commit] = spilled.as_slice() else { panic!("{} commits have spilled", spilled.len()) };
    let mut replay = Replay::new(&engine);
    // The place is after the commit's own in the log, so that the rows seem not to be on their
    // pages yet.
    let place = RecordLsn::new(commit.seq, commit.seq + 100);
    replay.spilled(&commit.spill, place).unwrap();
    // The parts are of about the same size, but not exactly.
    let memory: usize = replay.spare.iter().map(Changes::memory_bytes).sum();
    assert!(memory < commit.spill.group_len as usize / 4, "{memory} of {}", commit.spill.group_len);
    let mut rows = 0;
    let mut scan = table.clustered.scan(
        std::ops::Bound::Unbounded,
        std::ops::Bound::Unbounded,
        btree::Direction::Forward,
    );
    while let Some((_, value)) = scan.next().unwrap() {
        assert_eq!(crate::entry::parse_header(value).unwrap().1, place.end);
        rows += 1;
    }
    assert_eq!(rows, 4000);
}
