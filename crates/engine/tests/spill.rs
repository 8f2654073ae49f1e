//! Transactions larger than memory and log allow: the spill files, what others see meanwhile, and
//! what stays behind.

mod support;
#[path = "support/apply.rs"]
mod support_apply;

use engine::{
    CommitOptions, Engine, EngineConfig, EngineError, GtidNext, IndexRef, KeyRange, LockMode, PositionUpdate,
    RowImage, StatementContext, Table,
};
use os::disk::Disk;
use os::sim::SimDisk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::*;

const SPILL_BYTES: usize = 64 << 10;

fn open_spilling(disk: &SimDisk) -> Arc<Engine> {
    Engine::open(EngineConfig { spill_bytes: SPILL_BYTES, ..config(disk) }).unwrap()
}

fn world(seed: u64) -> (SimDisk, Arc<Engine>, Arc<Table>) {
    let (disk, engine) = fresh(seed);
    drop(engine);
    let engine = open_spilling(&disk);
    let t = create(&engine, keyed("t"));
    (disk, engine, t)
}

fn status(engine: &Engine, name: &str) -> u64 {
    engine.status().iter().find(|(held, _)| held == name).unwrap().1
}

fn spill_files(disk: &SimDisk) -> usize {
    disk.list(Path::new("/data/#innodb_spill")).map_or(0, |files| files.len())
}

/// Inserts these rows in one statement.
fn fill(txn: &mut engine::Transaction, t: &Arc<Table>, ids: std::ops::Range<i64>, c: &str) {
    txn.begin_statement(StatementContext::default());
    for id in ids {
        txn.insert(t, &row(t, id, id % 100, c)).unwrap();
    }
    txn.end_statement();
}

#[test]
fn a_transaction_larger_than_the_log_commits_and_survives() {
    let (disk, engine, t) = world(1);
    let c = "x".repeat(1500);
    // The transaction has 24 MB, and the log 16 MB.
    let rows_of_it = 16_000;
    let stop = Arc::new(AtomicBool::new(false));
    // The log must be freed while the rows go to their pages.
    let checkpointer = {
        let (engine, stop) = (engine.clone(), stop.clone());
        os::thread::spawn("checkpointer", move || {
            while !stop.load(Ordering::Relaxed) {
                engine.sharp_checkpoint().unwrap();
            }
        })
    };
    let mut txn = begin(&engine);
    fill(&mut txn, &t, 0..rows_of_it, &c);
    assert_eq!(spill_files(&disk), 1);
    let own = txn.get(&t, &key(&t, 5), LockMode::Snapshot).unwrap().unwrap();
    assert_eq!(own.image, row(&t, 5, 5, &c), "an own row comes back from the file");
    commit(txn);
    stop.store(true, Ordering::Relaxed);
    checkpointer.join().unwrap();
    assert_eq!(status(&engine, "Slipstream_spilled_commits"), 1);
    assert_eq!(ids(&engine, &t).len(), rows_of_it as usize);
    drop((t, engine));
    let disk = disk.power_cut();
    let engine = open_spilling(&disk);
    let t = table(&engine, "test", "t");
    assert_eq!(ids(&engine, &t), (0..rows_of_it).collect::<Vec<_>>());
    check(&engine, &t);
    let mut txn = begin(&engine);
    assert!(update(&mut txn, &t, 0, 1, "").unwrap());
    commit(txn);
    engine.close().unwrap();
    assert_eq!(spill_files(&disk), 0, "nothing needs the file any more");
}

#[test]
fn others_commit_and_read_while_a_large_commit_goes_to_its_pages() {
    const ROWS: i64 = 30_000;
    let (_, engine, t) = world(2);
    let small = create(&engine, keyed("small"));
    let done = Arc::new(AtomicBool::new(false));
    let large = {
        let (engine, t, done) = (engine.clone(), t.clone(), done.clone());
        os::thread::spawn("large", move || {
            let mut txn = begin(&engine);
            fill(&mut txn, &t, 0..ROWS, "large");
            let seq = commit(txn);
            done.store(true, Ordering::SeqCst);
            seq
        })
    };
    let (mut passed, mut id, mut old_view) = (Vec::new(), 0, None);
    while !done.load(Ordering::SeqCst) {
        let mut txn = begin(&engine);
        id += 1;
        insert(&mut txn, &small, id, 0, "").unwrap();
        let seq = commit(txn);
        let mut reader = begin(&engine);
        // The reader sees the large commit whole or not at all, by either index, and it sees its
        // own session's commit.
        assert!(reader.get(&small, &key(&small, id), LockMode::Snapshot).unwrap().is_some());
        let first = reader.get(&t, &key(&t, 0), LockMode::Snapshot).unwrap().is_some();
        let last = reader.get(&t, &key(&t, ROWS - 1), LockMode::Snapshot).unwrap().is_some();
        assert_eq!(first, last, "half a transaction is seen");
        if !done.load(Ordering::SeqCst) {
            passed.push(seq);
        }
        if !first {
            old_view = Some(reader);
        }
    }
    let large_seq = large.join().unwrap();
    assert!(passed.iter().any(|seq| *seq > large_seq), "commits behind the large one did not wait for it");
    assert_eq!(ids(&engine, &t).len(), ROWS as usize);
    // A reader that began before the large commit was on its pages never sees anything of it, no
    // matter what happens to its rows.
    let mut old_view = old_view.expect("somebody read before it was there");
    let mut txn = begin(&engine);
    for id in 0..10 {
        update(&mut txn, &t, id, 7, "newer").unwrap();
    }
    delete(&mut txn, &t, 11).unwrap();
    commit(txn);
    engine.purge().unwrap();
    assert_eq!(ids_in(&mut old_view, &t), Vec::<i64>::new());
    let by_k = rows(&mut old_view, &t, IndexRef::Secondary(0), KeyRange::all());
    assert!(by_k.is_empty());
    old_view.rollback();
    while engine.purge().unwrap() > 0 {}
    assert_eq!(status(&engine, "Slipstream_versions"), 0);
    check(&engine, &t);
}

#[test]
fn savepoints_go_back_over_spilled_parts_and_a_rollback_leaves_no_file() {
    let (disk, engine, t) = world(3);
    let c = "y".repeat(500);
    let mut txn = begin(&engine);
    fill(&mut txn, &t, 0..300, &c);
    let savepoint = txn.savepoint();
    fill(&mut txn, &t, 300..600, &c);
    for id in 0..300 {
        assert!(update(&mut txn, &t, id, 1, "changed").unwrap());
    }
    assert_eq!(spill_files(&disk), 1);
    txn.rollback_to(savepoint);
    fill(&mut txn, &t, 300..310, "after");
    assert_eq!(ids_in(&mut txn, &t).len(), 310);
    commit(txn);
    let content = |engine: &Arc<Engine>, t: &Arc<Table>| {
        let mut txn = begin(engine);
        let all = rows(&mut txn, t, IndexRef::Primary, KeyRange::all());
        all.into_iter().map(|row| row.image).collect::<Vec<_>>()
    };
    let expected: Vec<Vec<u8>> =
        (0..310).map(|id| row(&t, id, id % 100, if id < 300 { &c } else { "after" })).collect();
    assert!(content(&engine, &t) == expected);
    let mut txn = begin(&engine);
    fill(&mut txn, &t, 1000..1500, &c);
    txn.rollback();
    assert_eq!(spill_files(&disk), 1, "that of the commit alone");
    drop((t, engine));
    let engine = open_spilling(&disk.kill());
    let t = table(&engine, "test", "t");
    assert!(content(&engine, &t) == expected);
    check(&engine, &t);
}

#[test]
fn a_damaged_spill_file_is_reported_with_its_place() {
    let (disk, engine, t) = world(4);
    let mut txn = begin(&engine);
    fill(&mut txn, &t, 0..300, &"z".repeat(500));
    commit(txn);
    drop((t, engine));
    let disk = disk.kill();
    let path = disk.list(Path::new("/data/#innodb_spill")).unwrap().remove(0);
    let mut bytes = disk.read(&path).unwrap();
    bytes[1000] ^= 1;
    disk.write_atomically(&path, &bytes).unwrap();
    let refused = Engine::open(EngineConfig { spill_bytes: SPILL_BYTES, ..config(&disk) });
    let Err(error @ EngineError::Corrupt(_)) = refused else { panic!("it was taken") };
    assert!(error.to_string().contains("#innodb_spill"), "{error}");
}

#[test]
fn a_power_cut_anywhere_in_a_large_commit_leaves_all_of_it_or_nothing() {
    const ROWS: i64 = 1500;
    let seed = os::random::test_seed("power cuts in large commits");
    let mut rng = os::random::Rng::new(seed);
    let (mut before, mut after) = (0, 0);
    for round in 0..24 {
        let (disk, engine, t) = world(seed.wrapping_add(round));
        let mut txn = begin(&engine);
        fill(&mut txn, &t, 0..ROWS, "base");
        commit(txn);
        let mut txn = begin(&engine);
        fill(&mut txn, &t, ROWS..2 * ROWS, &"n".repeat(300));
        for id in 0..ROWS {
            let changed = match id % 3 {
                0 => delete(&mut txn, &t, id).unwrap(),
                _ => update(&mut txn, &t, id, 1000 + id, &"u".repeat(200)).unwrap(),
            };
            assert!(changed);
        }
        disk.cut_power_after(rng.between(1, 400));
        // Checkpoints pass the commit while it goes to its pages.
        let checkpointer =
            {
                let (engine, disk) = (engine.clone(), disk.clone());
                os::thread::spawn("checkpointer", move || {
                    while !disk.is_off() && engine.sharp_checkpoint().is_ok() {}
                })
            };
        let acknowledged = txn.commit(&engine::CommitOptions::default()).is_ok();
        disk.cut_power_after(1);
        let _ = engine.sharp_checkpoint();
        checkpointer.join().unwrap();
        drop((t, engine));
        let disk = disk.power_cut();
        let engine = open_spilling(&disk);
        let t = table(&engine, "test", "t");
        let found = ids(&engine, &t);
        let kept = (0..ROWS).filter(|id| id % 3 != 0);
        let all: Vec<i64> = kept.chain(ROWS..2 * ROWS).collect();
        if found == all {
            after += 1;
            let mut txn = begin(&engine);
            let one = txn.get(&t, &key(&t, 1), LockMode::Snapshot).unwrap().unwrap();
            assert_eq!(ints(&t, &[one], 1), [1001]);
        } else {
            assert!(!acknowledged, "round {round}: an acknowledged commit is lost");
            assert_eq!(found, (0..ROWS).collect::<Vec<_>>(), "round {round}: half a commit");
            before += 1;
        }
        check(&engine, &t);
    }
    assert!(before > 0 && after > 0, "cuts on both sides of the commit: {before} before, {after} after");
}

#[test]
fn the_binary_log_gets_a_spilled_group_whole() {
    let disk = SimDisk::new(6);
    let with_binlog = EngineConfig { spill_bytes: SPILL_BYTES, log_bin: true, ..config(&disk) };
    let engine = Engine::open(with_binlog).unwrap();
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    let t = create(&engine, keyed("t"));
    let from = engine.log().current_lsn();
    let mut txn = begin(&engine);
    fill(&mut txn, &t, 0..1000, &"b".repeat(200));
    let seq = commit(txn);
    let mut stream = engine.commit_stream(from).unwrap();
    let group = stream.next(None).unwrap().expect("it is there");
    assert_eq!(group.seq, seq);
    let (mut rest, mut rows_of_it, format) =
        (&group.group.to_vec().unwrap()[..], 0, binlog::Format::new(binlog::Checksum::None));
    while !rest.is_empty() {
        let size = binlog::Header::decode(rest).unwrap().event_size as usize;
        let (event, behind) = rest.split_at(size);
        if let (_, binlog::Event::Rows(rows)) = binlog::decode(event, &format).unwrap() {
            rows_of_it += rows.iter(&t.layout).map(Result::unwrap).count();
        }
        rest = behind;
    }
    assert_eq!(rows_of_it, 1000);
}

/// Inserts, changes and deletes rows, logged with this kind of images.
fn change_much(txn: &mut engine::Transaction, t: &Arc<Table>, image: RowImage, rows_of_it: i64) {
    txn.set_row_image(image);
    fill(txn, t, rows_of_it..2 * rows_of_it, &"n".repeat(300));
    txn.begin_statement(StatementContext::default());
    for id in 0..rows_of_it {
        let old = txn.get(t, &key(t, id), LockMode::Update).unwrap().unwrap();
        match id % 3 {
            0 => txn.delete(t, &old).unwrap(),
            _ => txn.update(t, &old, &row(t, id, 1000 + id, &"u".repeat(200))).unwrap(),
        }
    }
    txn.end_statement();
}

/// Returns the event group of a transaction on a source.
fn group_of(source: &Arc<Engine>, change: impl FnOnce(&mut engine::Transaction)) -> Vec<u8> {
    let from = source.log().current_lsn();
    let mut txn = begin(source);
    change(&mut txn);
    commit(txn);
    source.log().wait_durable(source.log().current_lsn()).unwrap();
    source.commit_stream(from).unwrap().next(None).unwrap().unwrap().group.to_vec().unwrap()
}

fn content(engine: &Arc<Engine>, t: &Arc<Table>) -> Vec<Vec<u8>> {
    rows(&mut begin(engine), t, IndexRef::Primary, KeyRange::all()).into_iter().map(|row| row.image).collect()
}

/// Applies a group as the applier does: each part is passed on when it has come, while more of the
/// group comes.
fn apply_by_parts(engine: &Arc<Engine>, group: &[u8]) -> Result<Box<engine::Transaction>, EngineError> {
    let format = support_apply::format();
    let mut txn = engine.begin_apply();
    for event in support_apply::events(group) {
        txn = support_apply::change_rows(txn, &format, event)?;
        txn.receive(event)?;
    }
    Ok(txn)
}

fn position(pos: u64) -> PositionUpdate<'static> {
    PositionUpdate {
        channel: "",
        source_log_file: "binlog.000001",
        source_log_pos: pos,
        relay_log_file: "relay.000001",
        relay_log_pos: pos,
        change: Default::default(),
    }
}

#[test]
fn what_a_source_sent_spills_and_a_cut_leaves_all_of_it_with_its_position_or_nothing() {
    const ROWS: i64 = 800;
    let seed = os::random::test_seed("power cuts in large received commits");
    let mut rng = os::random::Rng::new(seed);
    let (mut before, mut after) = (0, 0);
    for round in 0..18 {
        let image = *rng.pick(&[RowImage::Full, RowImage::Minimal, RowImage::Noblob]);
        let source_disk = SimDisk::new(seed);
        let with_binlog = EngineConfig { log_bin: true, ..config(&source_disk) };
        let source = Engine::open(with_binlog).unwrap();
        ddl("CREATE SCHEMA test", |context| {
            source.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
        })
        .unwrap();
        let from = create(&source, keyed("t"));
        let (disk, engine, t) = world(seed.wrapping_add(round));
        for (engine, t) in [(&source, &from), (&engine, &t)] {
            let mut txn = begin(engine);
            fill(&mut txn, t, 0..ROWS, "base");
            commit(txn);
        }
        let old = content(&source, &from);
        let group = group_of(&source, |txn| change_much(txn, &from, image, ROWS));
        let new = content(&source, &from);
        let next = group_of(&source, |txn| insert(txn, &from, 1 << 20, 0, "").unwrap());
        let files = spill_files(&disk);
        let txn = apply_by_parts(&engine, &group).unwrap();
        assert_eq!(spill_files(&disk), files + 2, "the group and images that are not in it");
        disk.cut_power_after(rng.between(1, 300));
        let checkpointer =
            {
                let (engine, disk) = (engine.clone(), disk.clone());
                os::thread::spawn("checkpointer", move || {
                    while !disk.is_off() && engine.sharp_checkpoint().is_ok() {}
                })
            };
        let commit = |txn: Box<engine::Transaction>, pos| {
            let (gtid, position) = (GtidNext::Anonymous, Some(position(pos)));
            txn.commit_received(&[], &CommitOptions { gtid, position, ..CommitOptions::default() })
        };
        let acknowledged = commit(txn, 100).is_ok();
        // This transaction comes after the other one in the channel.
        let next = apply_by_parts(&engine, &next).and_then(|txn| commit(txn, 200));
        disk.cut_power_after(1);
        let _ = engine.sharp_checkpoint();
        checkpointer.join().unwrap();
        drop((t, engine));
        let disk = disk.power_cut();
        let engine = open_spilling(&disk);
        let t = table(&engine, "test", "t");
        let mut found = content(&engine, &t);
        let next_row = row(&t, 1 << 20, 0, "");
        let has_next = found.pop_if(|last| *last == next_row).is_some();
        assert!(has_next || next.is_err(), "round {round}: an acknowledged commit is lost");
        let pos = engine.replica_position("").map_or(0, |at| at.source_log_pos);
        if found == old {
            assert!(!acknowledged && !has_next, "round {round}: an acknowledged commit is lost");
            assert_eq!(pos, 0, "round {round}");
            before += 1;
        } else {
            assert!(found == new, "round {round}: half a commit");
            assert_eq!(pos, if has_next { 200 } else { 100 }, "round {round}");
            after += 1;
        }
        check(&engine, &t);
    }
    assert!(before > 0 && after > 0, "cuts on both sides of the commit: {before} before, {after} after");
}
