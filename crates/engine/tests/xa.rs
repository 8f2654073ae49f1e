//! XA transactions: prepared ones outlive sessions, restarts, power cuts and checkpoints, with
//! their locks.

mod support;

use binlog::Xid;
use engine::{
    CommitOptions, CommitOutcome, Engine, EngineConfig, EngineError, IndexRef, KeyRange, LockMode,
    StatementContext, Table, TableDef, Transaction, XaFinish,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use support::*;
use types::Value;

const SPILL_BYTES: usize = 64 << 10;

fn reopen(disk: &SimDisk) -> Arc<Engine> {
    Engine::open(EngineConfig { spill_bytes: SPILL_BYTES, log_bin: true, ..config(disk) }).unwrap()
}

fn xid(number: u64) -> Xid {
    Xid::new(format!("g{number}").as_bytes(), b"b", 1).expect("short enough")
}

/// Returns the definition of `test.u`, which is [`keyed`] without a primary key.
fn keyless() -> TableDef {
    TableDef { primary: None, ..keyed("u") }
}

fn world(seed: u64) -> (SimDisk, Arc<Engine>) {
    let (disk, engine) = fresh(seed);
    let mut def = keyed("t");
    def.indexes[0].unique = true;
    create(&engine, def);
    create(&engine, keyless());
    drop(engine);
    (disk.clone(), reopen(&disk))
}

fn prepare(engine: &Arc<Engine>, number: u64, txn: Transaction) -> Result<CommitOutcome, EngineError> {
    txn.prepare_xa(engine.begin_xa(xid(number))?, false, &CommitOptions::default())
}

fn begin_branch(engine: &Arc<Engine>, number: u64) -> Transaction {
    let mut txn = begin(engine);
    txn.set_xid(xid(number));
    txn
}

fn finish(engine: &Arc<Engine>, number: u64, commit: bool) -> Result<CommitOutcome, EngineError> {
    let finish = XaFinish { commit, by_its_session: false, events: None };
    engine.finish_xa(&xid(number), &finish, &CommitOptions::default())
}

/// Returns the kinds of the events that the binary log gets, one line for each group. Statements
/// are shown by their words.
fn logged(engine: &Arc<Engine>) -> Vec<String> {
    let mut stream = engine.commit_stream(engine.recovery_start_lsn()).unwrap();
    let mut groups = Vec::new();
    while let Some(group) = stream.next(None).unwrap() {
        let bytes = group.group.to_vec().unwrap();
        let events = binlog::group::walk(&bytes).map(|event| {
            let event = event.unwrap();
            match binlog::decode(event.bytes, &binlog::Format::new(binlog::Checksum::None)).unwrap().1 {
                binlog::Event::Query(query) => String::from_utf8_lossy(query.statement).into_owned(),
                binlog::Event::XaPrepare(event) if event.one_phase => "ONE PHASE".to_string(),
                binlog::Event::XaPrepare(_) => "PREPARE".to_string(),
                other => format!("{other:?}").split(['(', ' ']).next().unwrap().to_string(),
            }
        });
        groups.push(events.collect::<Vec<_>>().join("; "));
    }
    groups
}

fn is_locked(engine: &Arc<Engine>, table: &Arc<Table>, id: i64) -> bool {
    let mut txn = begin(engine);
    txn.set_row_lock_timeout_ms(1);
    match txn.get(table, &key(table, id), LockMode::Update) {
        Ok(_) => false,
        Err(EngineError::LockWaitTimeout) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_prepared_transaction_outlives_the_server_and_keeps_its_rows() {
    for passes_checkpoint in [false, true] {
        let (mut disk, mut engine) = world(1);
        let t = table(&engine, "test", "t");
        let mut txn = begin(&engine);
        (1..5).for_each(|id| insert(&mut txn, &t, id, id, "old").unwrap());
        commit(txn);
        let mut txn = begin_branch(&engine, 7);
        insert(&mut txn, &t, 10, 10, "new").unwrap();
        update(&mut txn, &t, 1, 100, "changed").unwrap();
        delete(&mut txn, &t, 2).unwrap();
        // The row takes the unique key that the transaction itself has freed.
        insert(&mut txn, &t, 20, 2, "new").unwrap();
        prepare(&engine, 7, txn).unwrap();
        for _ in 0..3 {
            let t = table(&engine, "test", "t");
            assert_eq!(engine.prepared_xids(), [xid(7)]);
            assert_eq!(ids(&engine, &t), [1, 2, 3, 4], "it is not committed");
            for (id, locked) in [(1, true), (2, true), (3, false), (10, true), (20, true)] {
                assert_eq!(is_locked(&engine, &t, id), locked, "row {id}");
            }
            assert!(matches!(engine.begin_xa(xid(7)), Err(EngineError::XidExists)));
            if passes_checkpoint {
                engine.sharp_checkpoint().unwrap();
            }
            drop(engine);
            disk = disk.power_cut();
            engine = reopen(&disk);
        }
        assert!(matches!(finish(&engine, 8, true), Err(EngineError::UnknownXid)));
        finish(&engine, 7, true).unwrap();
        assert!(engine.prepared_xids().is_empty());
        for _ in 0..2 {
            let t = table(&engine, "test", "t");
            let mut txn = begin(&engine);
            let found = rows(&mut txn, &t, IndexRef::Primary, KeyRange::all());
            assert_eq!(
                (ints(&t, &found, 0), ints(&t, &found, 1)),
                (vec![1, 3, 4, 10, 20], vec![100, 3, 4, 10, 2])
            );
            drop(txn);
            assert!(!is_locked(&engine, &t, 1));
            check(&engine, &t);
            drop(engine);
            disk = disk.power_cut();
            engine = reopen(&disk);
            assert!(engine.prepared_xids().is_empty());
        }
    }
}

#[test]
fn the_binary_log_has_a_group_for_each_phase() {
    let (disk, engine) = world(2);
    let t = table(&engine, "test", "t");
    for (number, commit) in [(1, true), (2, false)] {
        let mut txn = begin_branch(&engine, number);
        insert(&mut txn, &t, number as i64, number as i64, "c").unwrap();
        prepare(&engine, number, txn).unwrap();
        finish(&engine, number, commit).unwrap();
    }
    let mut txn = begin_branch(&engine, 3);
    insert(&mut txn, &t, 3, 3, "c").unwrap();
    commit(txn);
    // A transaction without changes is prepared, and the log says nothing of it.
    prepare(&engine, 4, begin_branch(&engine, 4)).unwrap();
    finish(&engine, 4, true).unwrap();
    let expected =
        |number: u64, end: &str| format!("XA START {0}; TableMap; Rows; XA END {0}; {end}", xid(number));
    let groups = [
        expected(1, "PREPARE"),
        format!("XA COMMIT {}", xid(1)),
        expected(2, "PREPARE"),
        format!("XA ROLLBACK {}", xid(2)),
        expected(3, "ONE PHASE"),
    ];
    assert_eq!(logged(&engine), groups);
    assert_eq!(ids(&engine, &t), [1, 3]);
    drop(engine);
    // The log gives the same groups after recovery.
    let engine = reopen(&disk.power_cut());
    assert!(logged(&engine).ends_with(&groups));
}

#[test]
fn large_ones_go_through_files() {
    let c = "x".repeat(1500);
    for (commit, restarts) in [(true, false), (true, true), (false, true)] {
        let (mut disk, mut engine) = world(3);
        let t = table(&engine, "test", "t");
        let mut txn = begin_branch(&engine, 1);
        txn.begin_statement(StatementContext::default());
        (0..200).for_each(|id| txn.insert(&t, &row(&t, id, id, &c)).unwrap());
        txn.end_statement();
        prepare(&engine, 1, txn).unwrap();
        if restarts {
            drop(engine);
            disk = disk.power_cut();
            engine = reopen(&disk);
            assert_eq!(engine.prepared_xids(), [xid(1)]);
            engine.sharp_checkpoint().unwrap();
            drop(engine);
            disk = disk.power_cut();
            engine = reopen(&disk);
        }
        finish(&engine, 1, commit).unwrap();
        let groups = logged(&engine);
        assert!(
            groups.last().unwrap().starts_with(if commit { "XA COMMIT" } else { "XA ROLLBACK" }),
            "{groups:?}"
        );
        drop(engine);
        disk = disk.power_cut();
        engine = reopen(&disk);
        let t = table(&engine, "test", "t");
        assert_eq!(ids(&engine, &t).len(), if commit { 200 } else { 0 });
        assert!(engine.prepared_xids().is_empty());
        check(&engine, &t);
    }
}

#[test]
fn one_that_cannot_be_committed_stays_prepared() {
    let (disk, engine) = world(4);
    let t = table(&engine, "test", "t");
    let c = "x".repeat(1900);
    let mut txn = begin_branch(&engine, 1);
    (0..30).for_each(|id| insert(&mut txn, &t, id, id, &c).unwrap());
    prepare(&engine, 1, txn).unwrap();
    disk.limit_space(Some(0));
    let refused = finish(&engine, 1, true);
    assert!(matches!(refused, Err(EngineError::TableFull(_))), "{refused:?}");
    assert_eq!(engine.prepared_xids(), [xid(1)]);
    assert!(is_locked(&engine, &t, 3));
    disk.limit_space(None);
    finish(&engine, 1, true).unwrap();
    assert_eq!(ids(&engine, &t).len(), 30);
    check(&engine, &t);
}

/// The content that the tables must have: rows of `t` by id, and how often each id is in `u`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    keyed: BTreeMap<i64, (i64, String)>,
    keyless: BTreeMap<i64, u64>,
}

fn content(engine: &Arc<Engine>) -> Model {
    let mut model = Model::default();
    let mut txn = begin(engine);
    for name in ["t", "u"] {
        let table = table(engine, "test", name);
        for row in rows(&mut txn, &table, IndexRef::Primary, KeyRange::all()) {
            let values = table.layout.decode_all(&row.image).unwrap();
            let [Value::Int(id), Value::Int(k), Value::Bytes(c)] = &values[..] else { panic!("{values:?}") };
            match name {
                "t" => drop(model.keyed.insert(*id, (*k, String::from_utf8(c.clone()).unwrap()))),
                _ => *model.keyless.entry(*id).or_default() += 1,
            }
        }
    }
    model
}

/// Changes rows of these ids at random. Nobody else has a row of these ids, and unique keys are
/// those of the ids.
fn change(rng: &mut Rng, txn: &mut Transaction, engine: &Arc<Engine>, own: &[i64], model: &mut Model) {
    let (t, u) = (table(engine, "test", "t"), table(engine, "test", "u"));
    if rng.one_in(2) {
        txn.set_row_image(engine::RowImage::Minimal);
    }
    for _ in 0..rng.between(1, 5) {
        let id = *rng.pick(own);
        let longest = if rng.one_in(8) { 1900 } else { 200 };
        let c = "z".repeat(rng.between(1, longest) as usize);
        match (model.keyed.contains_key(&id), rng.below(4)) {
            (_, 0) => {
                insert(txn, &u, id, id, "same").unwrap();
                *model.keyless.entry(id).or_default() += 1;
            }
            (false, _) => {
                insert(txn, &t, id, id, &c).unwrap();
                model.keyed.insert(id, (id, c));
            }
            (true, 1) => {
                delete(txn, &t, id).unwrap();
                model.keyed.remove(&id);
            }
            (true, _) => {
                let k = if rng.one_in(2) { id } else { id + 10_000 };
                update(txn, &t, id, k, &c).unwrap();
                model.keyed.insert(id, (k, c));
            }
        }
    }
    // Of the equal rows without a key, one that nobody has locked is deleted.
    let id = *rng.pick(own);
    if model.keyless.get(&id).is_some_and(|&count| count > 0) {
        let found = rows(txn, &u, IndexRef::Primary, KeyRange::all());
        let at = ints(&u, &found, 0).iter().position(|found| *found == id).unwrap();
        txn.begin_statement(StatementContext::default());
        txn.delete(&u, &found[at]).unwrap();
        txn.end_statement();
        *model.keyless.get_mut(&id).unwrap() -= 1;
        model.keyless.retain(|_, count| *count > 0);
    }
}

/// A prepared branch: its ids, and the state that it gives the committed rows of these ids.
struct Pending {
    own: Vec<i64>,
    after: Model,
}

fn take_over(model: &mut Model, pending: &Pending) {
    for id in &pending.own {
        model.keyed.remove(id);
        model.keyless.remove(id);
        model.keyed.extend(pending.after.keyed.get_key_value(id).map(|(id, row)| (*id, row.clone())));
        model.keyless.extend(pending.after.keyless.get_key_value(id));
    }
}

/// Runs branches that are prepared, finished, passed by checkpoints and cut off anywhere.
/// Everything that was acknowledged must be there.
fn lives(seed: u64) {
    const GROUPS: u64 = 12;
    let mut rng = Rng::new(seed);
    let (mut disk, mut engine) = world(seed);
    let (mut model, mut pending) = (Model::default(), BTreeMap::<u64, Pending>::new());
    for number in 1..150 {
        let group = rng.below(GROUPS);
        let own: Vec<i64> = (0..4).map(|at| (group * 4 + at) as i64).collect();
        let is_free = pending.values().all(|pending| pending.own != own);
        if rng.one_in(8) {
            disk.cut_power_after(rng.below(12));
        }
        // The state that the step would leave if it was done: the model and the branches.
        let (mut next, mut ended, mut begun) = (model.clone(), None, None);
        let done = match rng.below(10) {
            0 => engine.sharp_checkpoint().map(drop),
            1 => engine.checkpoint().map(drop),
            2..5 if !pending.is_empty() => {
                let which = *rng.pick(&pending.keys().copied().collect::<Vec<_>>());
                let commits = rng.one_in(2);
                if commits {
                    take_over(&mut next, &pending[&which]);
                }
                ended = Some(which);
                finish(&engine, which, commits).map(drop)
            }
            kind if is_free => {
                let mut txn = begin_branch(&engine, number);
                let mut after = model.clone();
                change(&mut rng, &mut txn, &engine, &own, &mut after);
                if !txn.has_changes() {
                    // The log does not know a branch without changes, so no cut leaves it.
                    continue;
                }
                if kind == 9 {
                    next = after;
                    txn.commit(&CommitOptions::default()).map(drop)
                } else {
                    begun = Some((number, Pending { own, after }));
                    prepare(&engine, number, txn).map(drop)
                }
            }
            _ => continue,
        };
        let is_cut = disk.is_off() || rng.one_in(10);
        assert!(done.is_ok() || is_cut, "seed {seed} step {number}: {done:?}");
        let mut was_done = done.is_ok();
        if is_cut {
            drop(engine);
            disk = if rng.one_in(3) { disk.kill() } else { disk.power_cut() };
            engine = reopen(&disk);
            if !was_done {
                // The record may be in the log although the step failed.
                was_done = match (&ended, &begun) {
                    (Some(which), _) => !engine.prepared_xids().contains(&xid(*which)),
                    (_, Some((which, _))) => engine.prepared_xids().contains(&xid(*which)),
                    _ => content(&engine) == next,
                };
            }
        }
        if was_done {
            model = next;
            ended.map(|which| pending.remove(&which));
            pending.extend(begun);
        }
        if is_cut {
            assert_eq!(content(&engine), model, "seed {seed} step {number}");
            let expected: BTreeSet<Xid> = pending.keys().map(|number| xid(*number)).collect();
            let found: BTreeSet<Xid> = engine.prepared_xids().into_iter().collect();
            assert_eq!(found, expected, "seed {seed} step {number}");
        }
    }
    drop(engine);
    engine = reopen(&disk.power_cut());
    for (number, pending) in &pending {
        take_over(&mut model, pending);
        finish(&engine, *number, true).unwrap();
    }
    assert_eq!(content(&engine), model, "seed {seed}");
    for name in ["t", "u"] {
        check(&engine, &table(&engine, "test", name));
    }
}

#[test]
fn prepared_transactions_survive_power_cuts_anywhere() {
    let seed = test_seed("prepared_transactions_survive_power_cuts_anywhere");
    (0..20).for_each(|life| lives(seed.wrapping_add(life)));
}
