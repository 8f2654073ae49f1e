//! One engine's groups applied by another: the same rows on both sides, positions, and what cannot
//! be applied.

#[path = "support/apply.rs"]
mod applier;
mod support;

use applier::{apply, change_rows, events, format};
use binlog::gtid::{Gtid, Uuid};
use engine::{
    CommitHeader, CommitOptions, Engine, EngineConfig, EngineError, GtidNext, IndexRef, KeyRange, LockMode,
    PositionUpdate, Prepared, ReplicaPosition, RowImage, SchemaDef, Table, TableDef, TableHold, Turn,
};
use os::random::Rng;
use os::sim::SimDisk;
use std::sync::Arc;
use support::*;
use types::{ColumnType, Value};

const SOURCE: Uuid = Uuid([1; 16]);

fn engine_with(seed: u64, change: impl FnOnce(&mut EngineConfig)) -> (SimDisk, Arc<Engine>) {
    let disk = SimDisk::new(seed);
    let mut config = config(&disk);
    change(&mut config);
    let engine = Engine::open(config).unwrap();
    let schema = SchemaDef { name: "test".into(), collation: 255 };
    ddl("CREATE SCHEMA test", |context| engine.create_schema(schema, context)).unwrap();
    (disk, engine)
}

fn source(seed: u64, image: RowImage) -> (SimDisk, Arc<Engine>) {
    engine_with(seed, |config| {
        config.log_bin = true;
        config.gtid_mode = true;
        config.server_uuid = SOURCE;
        config.binlog_row_image = image;
    })
}

/// A committed group as a replica gets it.
struct Received {
    header: CommitHeader,
    group: Vec<u8>,
}

fn groups(engine: &Arc<Engine>, from: u64) -> Vec<Received> {
    engine.log().wait_durable(engine.log().current_lsn()).unwrap();
    let mut stream = engine.commit_stream(from).unwrap();
    let mut groups = Vec::new();
    while let Some(group) = stream.next(None).unwrap() {
        groups.push(Received { header: group.header, group: group.group.to_vec().unwrap() });
    }
    groups
}

fn position(pos: u64) -> PositionUpdate<'static> {
    PositionUpdate {
        channel: "",
        source_log_file: "binlog.000001",
        source_log_pos: pos,
        relay_log_file: "relay.000001",
        relay_log_pos: pos + 1,
        change: Default::default(),
    }
}

fn content(engine: &Arc<Engine>, t: &Arc<Table>) -> Vec<Vec<u8>> {
    let mut rows: Vec<Vec<u8>> = rows(&mut begin(engine), t, IndexRef::Primary, KeyRange::all())
        .into_iter()
        .map(|row| row.image)
        .collect();
    rows.sort();
    rows
}

fn tables() -> Vec<TableDef> {
    let mut blobs = keyed("blobs");
    blobs.columns[2].ty = ColumnType::longblob();
    let mut keyless = keyed("keyless");
    keyless.primary = None;
    keyless.indexes.clear();
    let mut unique = keyed("uniq");
    unique.primary = None;
    unique.indexes = vec![index("u", true, &[0])];
    vec![keyed("plain"), blobs, keyless, unique]
}

fn random_transaction(rng: &mut Rng, engine: &Arc<Engine>, tables: &[Arc<Table>]) {
    let mut txn = begin(engine);
    for _ in 0..rng.between(1, 6) {
        txn.begin_statement(Default::default());
        let t = rng.pick(tables).clone();
        let (id, k) = (rng.below(40) as i64, rng.below(5) as i64);
        let long = t.column_type(2).is_blob() && rng.one_in(3);
        let len = if long { rng.between(3000, 9000) } else { rng.below(30) };
        let c = Value::Bytes(vec![b'a' + rng.below(26) as u8; len as usize]);
        let new = image(&t, &[Value::Int(id), Value::Int(k), c]);
        let mut scan = txn
            .scan(&t, IndexRef::Primary, KeyRange::all(), engine::Direction::Forward, LockMode::Update)
            .unwrap();
        let mut found = None;
        while let Some(row) = scan.next(&mut txn).unwrap() {
            if ints(&t, std::slice::from_ref(&row), 0)[0] == id {
                found = Some(row);
                break;
            }
        }
        match found {
            None => txn.insert(&t, &new).unwrap(),
            Some(old) if rng.one_in(3) => txn.delete(&t, &old).unwrap(),
            Some(old) => txn.update(&t, &old, &new).unwrap(),
        }
        txn.end_statement();
    }
    commit(txn);
}

fn replicate(seed: u64, image: RowImage) {
    let mut rng = Rng::new(seed);
    let (_, from) = source(seed, image);
    let (replica_disk, mut to) = engine_with(seed + 1, |config| config.flush_log_at_trx_commit = 1);
    let defs = tables();
    let source_tables: Vec<_> = defs.iter().map(|def| create(&from, def.clone())).collect();
    for def in &defs {
        create(&to, def.clone());
    }
    let start = from.log().current_lsn();
    for _ in 0..150 {
        random_transaction(&mut rng, &from, &source_tables);
    }
    let mut disk = replica_disk;
    let format = format();
    for (at, group) in groups(&from, start).iter().enumerate() {
        let gtid = group.header.gtid.unwrap();
        let options = CommitOptions {
            gtid: GtidNext::Given(gtid),
            server_id: Some(group.header.server_id),
            original_commit_us: Some(group.header.original_commit_us),
            position: Some(position(at as u64 + 1)),
            wait: false,
            ..CommitOptions::default()
        };
        let outcome = apply(&to, &format, &group.group, &options).unwrap();
        if rng.one_in(40) {
            // After a crash the replica is at exactly the position that its log holds.
            to.log().wait_durable(outcome.seq).unwrap();
            drop(to);
            disk = disk.power_cut();
            to = open(&disk);
            let expected = ReplicaPosition {
                source_log_file: "binlog.000001".into(),
                source_log_pos: at as u64 + 1,
                relay_log_file: "relay.000001".into(),
                relay_log_pos: at as u64 + 2,
                mariadb_gtid_state: String::new(),
            };
            assert_eq!(to.replica_position(""), Some(expected));
            assert!(to.has_executed(gtid));
        }
        if rng.one_in(10) {
            to.purge().unwrap();
            to.checkpoint().unwrap();
        }
    }
    for t in &source_tables {
        let copy = table(&to, "test", &t.def.name);
        assert!(content(&from, t) == content(&to, &copy), "{}", t.def.name);
        check(&to, &copy);
        check(&from, t);
    }
    // These are the source's own numbers, without those of the schema and the tables, which were
    // created on each side.
    let mut executed = from.gtid_executed();
    let ddl: binlog::gtid::GtidSet = format!("{SOURCE}:1-{}", 1 + defs.len()).parse().unwrap();
    executed.subtract(&ddl);
    assert_eq!(to.gtid_executed(), executed);
}

/// Applies groups in windows: those of a window are prepared in a random order, then each takes its
/// turn. Returns how many were committed as they were prepared.
fn replicate_ahead(seed: u64, image: RowImage) -> usize {
    let mut rng = Rng::new(seed);
    let (_, from) = source(seed, image);
    let (_, to) = engine_with(seed + 1, |_| ());
    let source_tables: Vec<_> = tables().into_iter().map(|def| create(&from, def)).collect();
    tables().into_iter().for_each(|def| drop(create(&to, def)));
    let start = from.log().current_lsn();
    (0..400).for_each(|_| random_transaction(&mut rng, &from, &source_tables));
    let groups = groups(&from, start);
    let format = format();
    let (mut at, mut as_prepared) = (0, 0);
    while at < groups.len() {
        let window = &groups[at..groups.len().min(at + rng.between(1, 9) as usize)];
        let mut hold = TableHold::new(to.clone());
        for def in &tables() {
            hold.hold(&table(&to, "test", &def.name), true).unwrap();
        }
        let mut left: Vec<usize> = (0..window.len()).collect();
        let mut prepared: Vec<Option<Prepared>> = window.iter().map(|_| None).collect();
        while !left.is_empty() {
            let next = left.swap_remove(rng.below(left.len() as u64) as usize);
            let rows = change_rows(hold.begin_apply_ahead(), &format, &window[next].group);
            prepared[next] = rows.ok().map(|transaction| transaction.prepared());
        }
        hold.release();
        for (group, prepared) in window.iter().zip(prepared) {
            let gtid = GtidNext::Given(group.header.gtid.unwrap());
            let options = CommitOptions { gtid, wait: false, ..CommitOptions::default() };
            let outcome = match prepared.map(|prepared| prepared.take_turn(&mut hold, true)) {
                Some(Ok(Turn::Ready(transaction))) => {
                    as_prepared += 1;
                    transaction.commit_received(&group.group, &options)
                }
                _ => apply(&to, &format, &group.group, &options),
            };
            outcome.unwrap();
            if rng.one_in(10) {
                to.purge().unwrap();
            }
        }
        at += window.len();
    }
    for t in &source_tables {
        let copy = table(&to, "test", &t.def.name);
        assert!(content(&from, t) == content(&to, &copy), "{}", t.def.name);
        check(&to, &copy);
    }
    as_prepared
}

#[test]
fn transactions_prepared_in_any_order_make_the_same_rows() {
    let seed = os::random::test_seed("apply ahead");
    for (offset, image) in [RowImage::Full, RowImage::Minimal, RowImage::Noblob].into_iter().enumerate() {
        let as_prepared = replicate_ahead(seed + 10 * offset as u64, image);
        assert!(as_prepared > 40, "{as_prepared} of 400 were committed as prepared");
    }
}

#[test]
fn an_overtaken_row_is_changed_again_and_the_others_stay_as_prepared() {
    let (_, from) = source(1, RowImage::Minimal);
    let (_, to) = engine_with(2, |_| ());
    let (t, copy) = (create(&from, keyed("t")), create(&to, keyed("t")));
    let start = from.log().current_lsn();
    let mut txn = begin(&from);
    (1..=4).for_each(|id| insert(&mut txn, &t, id, id, "first").unwrap());
    commit(txn);
    // All of these change row 1, and each also changes a row of its own.
    for id in 2..=4 {
        let mut txn = begin(&from);
        update(&mut txn, &t, id, id, "own").unwrap();
        update(&mut txn, &t, 1, 1, &format!("by {id}")).unwrap();
        commit(txn);
    }
    let groups = groups(&from, start);
    let format = format();
    let options = CommitOptions { gtid: GtidNext::Anonymous, wait: false, ..CommitOptions::default() };
    apply(&to, &format, &groups[0].group, &options).unwrap();
    let mut hold = TableHold::new(to.clone());
    hold.hold(&copy, true).unwrap();
    let prepare =
        |group: &Received| change_rows(hold.begin_apply_ahead(), &format, &group.group).unwrap().prepared();
    let prepared: Vec<Prepared> = groups[1..].iter().map(prepare).collect();
    for (group, prepared) in groups[1..].iter().zip(prepared) {
        let Ok(Turn::Ready(transaction)) = prepared.take_turn(&mut hold, true) else {
            panic!("nobody stands in its way")
        };
        transaction.commit_received(&group.group, &options).unwrap();
    }
    assert_eq!(content(&from, &t), content(&to, &copy));
    check(&to, &copy);
}

#[test]
fn what_is_prepared_holds_no_lock_and_notices_ddl() {
    let (_, from) = source(1, RowImage::Minimal);
    let (_, to) = engine_with(2, |_| ());
    let (t, copy) = (create(&from, keyed("t")), create(&to, keyed("t")));
    let start = from.log().current_lsn();
    let mut txn = begin(&from);
    insert(&mut txn, &t, 1, 1, "").unwrap();
    commit(txn);
    let groups = groups(&from, start);
    let format = format();
    let mut hold = TableHold::new(to.clone());
    hold.hold(&copy, true).unwrap();
    let prepared = change_rows(hold.begin_apply_ahead(), &format, &groups[0].group).unwrap().prepared();
    hold.release();
    ddl("DROP TABLE t", |context| to.drop_table("test", "t", context)).unwrap();
    assert!(matches!(prepared.take_turn(&mut hold, true).err(), Some(EngineError::TableChanged(_))));
}

#[test]
fn full_images_make_the_same_rows() {
    replicate(os::random::test_seed("apply full"), RowImage::Full);
}

#[test]
fn minimal_images_make_the_same_rows() {
    replicate(os::random::test_seed("apply minimal"), RowImage::Minimal);
}

#[test]
fn images_without_blobs_make_the_same_rows() {
    replicate(os::random::test_seed("apply noblob"), RowImage::Noblob);
}

#[test]
fn what_cannot_be_applied_leaves_nothing() {
    let (_, from) = source(1, RowImage::Minimal);
    let (_, to) = engine_with(2, |_| ());
    let t = create(&from, keyed("t"));
    let copy = create(&to, keyed("t"));
    let start = from.log().current_lsn();
    let mut txn = begin(&from);
    insert(&mut txn, &t, 1, 1, "").unwrap();
    insert(&mut txn, &t, 2, 2, "").unwrap();
    commit(txn);
    let mut txn = begin(&from);
    insert(&mut txn, &t, 3, 3, "").unwrap();
    update(&mut txn, &t, 2, 20, "").unwrap();
    commit(txn);
    let groups = groups(&from, start);
    let format = format();
    let mut local = begin(&to);
    insert(&mut local, &copy, 2, 5, "mine").unwrap();
    commit(local);
    let (end, visible) = (to.log().current_lsn(), to.visible_lsn());
    let gtid = Gtid::new(SOURCE, 77);
    let options = CommitOptions { gtid: GtidNext::Given(gtid), ..CommitOptions::default() };
    let error = apply(&to, &format, &groups[0].group, &options).unwrap_err();
    assert_eq!(error.to_string(), "Duplicate entry '2' for key 't.PRIMARY'");
    let mut local = begin(&to);
    delete(&mut local, &copy, 2).unwrap();
    local.rollback();
    assert_eq!((to.log().current_lsn(), to.visible_lsn()), (end, visible), "nothing went into the log");
    let mut local = begin(&to);
    delete(&mut local, &copy, 2).unwrap();
    commit(local);
    let error = apply(&to, &format, &groups[1].group, &options).unwrap_err();
    assert!(
        matches!(&error, EngineError::RowNotFound { table, key } if table == "test.t" && key == "2"),
        "{error}"
    );
    assert_eq!(ids(&to, &copy), Vec::<i64>::new());
    assert!(!to.has_executed(gtid));
    apply(&to, &format, &groups[0].group, &options).unwrap();
    assert_eq!(ids(&to, &copy), vec![1, 2]);
    assert!(to.has_executed(gtid));
}

#[test]
fn a_group_is_begin_map_rows_and_xid() {
    let (_, from) = source(3, RowImage::Full);
    let t = create(&from, keyed("t"));
    let other = create(&from, keyed("u"));
    let start = from.log().current_lsn();
    let mut txn = begin(&from);
    txn.begin_statement(Default::default());
    for id in 0..3 {
        txn.insert(&t, &row(&t, id, id, "x")).unwrap();
    }
    txn.end_statement();
    txn.begin_statement(Default::default());
    txn.insert(&t, &row(&t, 9, 9, "x")).unwrap();
    txn.insert(&other, &row(&other, 1, 1, "x")).unwrap();
    txn.end_statement();
    commit(txn);
    let mut off = begin(&from);
    insert(&mut off, &t, 50, 50, "").unwrap();
    off.commit(&CommitOptions { binlog: false, ..CommitOptions::default() }).unwrap();
    let groups = groups(&from, start);
    assert_eq!(groups.len(), 1, "what is not for the binary log is not in the stream");
    let kinds: Vec<u8> = events(&groups[0].group).iter().map(|event| event[4]).collect();
    assert_eq!(kinds, vec![2, 19, 30, 19, 30, 19, 30, 16]);
    assert_eq!(groups[0].header.gtid.unwrap().tsid.uuid, SOURCE);
}

#[test]
fn a_channel_is_set_and_forgotten_for_good() {
    let (disk, engine) = engine_with(4, |_| ());
    let set = ReplicaPosition {
        source_log_file: "mariadb-bin.000002".into(),
        source_log_pos: 4,
        relay_log_file: String::new(),
        relay_log_pos: 0,
        mariadb_gtid_state: "0-1-5".into(),
    };
    engine.set_replica_position("", Some(&set)).unwrap();
    engine.set_replica_position("other", Some(&ReplicaPosition::default())).unwrap();
    engine.set_replica_position("other", None).unwrap();
    drop(engine);
    let disk = disk.power_cut();
    let engine = open(&disk);
    assert_eq!(engine.replica_position(""), Some(set));
    assert_eq!(engine.replica_position("other"), None);
}
