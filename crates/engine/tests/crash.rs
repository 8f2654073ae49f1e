//! Random work against a model, through power cuts, kills and orderly restarts.

mod support;

use engine::{
    CommitOptions, Engine, EngineError, IndexRef, KeyRange, LockMode, Table, TableDef, Transaction,
};
use os::random::Rng;
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use support::*;
use types::{ColumnType, Value};

/// For each table its rows: (k, c) by id. The test itself keeps ids unique in tables without a key.
type Model = BTreeMap<String, BTreeMap<i64, (i64, Vec<u8>)>>;

struct World {
    disk: SimDisk,
    /// `EngineConfig::spill_bytes`. It is small in every other world, where all but the smallest
    /// transactions go through spill files.
    spill_bytes: usize,
    engine: Arc<Engine>,
    rng: Rng,
    model: Model,
    next_table: u32,
}

fn definition(name: &str, kind: u64) -> TableDef {
    let mut def = keyed(name);
    def.columns[2].ty = ColumnType::longblob();
    match kind {
        0 => {}
        1 => def.primary = None,
        2 => def.indexes.push(index("u", true, &[0])),
        _ => def.indexes.clear(),
    }
    def
}

fn open_spilling(disk: &SimDisk, spill_bytes: usize) -> Arc<Engine> {
    Engine::open(engine::EngineConfig { spill_bytes, ..config(disk) }).unwrap()
}

fn blob_row(table: &Table, id: i64, k: i64, c: &[u8]) -> Vec<u8> {
    image(table, &[Value::Int(id), Value::Int(k), Value::Bytes(c.to_vec())])
}

/// Finds the row with this id, by a scan if the table has no key.
fn find(txn: &mut Transaction, table: &Arc<Table>, id: i64) -> Result<Option<engine::Row>, EngineError> {
    if table.def.primary.is_some() {
        return txn.get(table, &key(table, id), LockMode::Update);
    }
    let mut scan =
        txn.scan(table, IndexRef::Primary, KeyRange::all(), engine::Direction::Forward, LockMode::Update)?;
    while let Some(row) = scan.next(txn)? {
        if table.layout.decode(&row.image, 0)? == Value::Int(id) {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

impl World {
    fn new(seed: u64) -> World {
        let (disk, engine) = fresh(seed);
        let spill_bytes = if seed.is_multiple_of(2) { 500 } else { 8 << 20 };
        drop(engine);
        let engine = open_spilling(&disk, spill_bytes);
        World { disk, spill_bytes, engine, rng: Rng::new(seed), model: Model::new(), next_table: 0 }
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = match self.rng.below(10) {
            0 => self.rng.between(2000, 20_000),
            1 | 2 => self.rng.between(500, 1900),
            _ => self.rng.below(60),
        };
        self.rng.bytes(len as usize)
    }

    /// Makes one random change of a row in `txn`, and in `after`, the model after the commit.
    fn change_row(&mut self, txn: &mut Transaction, after: &mut Model) -> Result<(), EngineError> {
        if after.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = after.keys().cloned().collect();
        let name = self.rng.pick(&names).clone();
        let t = txn.open_table("test", &name)?;
        let (id, k, c) = (self.rng.below(60) as i64, self.rng.below(8) as i64, self.bytes());
        let rows = after.get_mut(&name).expect("picked from it");
        let std::collections::btree_map::Entry::Occupied(_) = rows.entry(id) else {
            txn.insert(&t, &blob_row(&t, id, k, &c))?;
            rows.insert(id, (k, c));
            return Ok(());
        };
        let old = find(txn, &t, id)?.expect("the model has it");
        match self.rng.below(6) {
            0 | 1 => {
                txn.delete(&t, &old)?;
                rows.remove(&id);
            }
            2 => {
                let new_id = self.rng.below(60) as i64;
                if rows.contains_key(&new_id) {
                    return Ok(());
                }
                let c = rows.remove(&id).expect("it is there").1;
                txn.update(&t, &old, &blob_row(&t, new_id, k, &c))?;
                rows.insert(new_id, (k, c));
            }
            3 => {
                let c = rows[&id].1.clone();
                txn.update(&t, &old, &blob_row(&t, id, k, &c))?;
                rows.insert(id, (k, c));
            }
            _ => {
                txn.update(&t, &old, &blob_row(&t, id, k, &c))?;
                rows.insert(id, (k, c));
            }
        }
        Ok(())
    }

    /// Runs one random transaction. Returns the model as it is if the transaction commits.
    fn transaction(&mut self) -> Result<Model, (Model, EngineError)> {
        let mut after = self.model.clone();
        let mut txn = begin(&self.engine);
        if self.rng.one_in(2) {
            txn.set_row_image(engine::RowImage::Minimal);
        }
        for _ in 0..self.rng.between(1, 12) {
            let (savepoint, saved) = (txn.savepoint(), after.clone());
            if let Err(error) = self.change_row(&mut txn, &mut after) {
                return Err((self.model.clone(), error));
            }
            if self.rng.one_in(8) {
                txn.rollback_to(savepoint);
                after = saved;
            }
        }
        if self.rng.one_in(10) {
            txn.rollback();
            return Ok(self.model.clone());
        }
        match txn.commit(&CommitOptions::default()) {
            Ok(_) => Ok(after),
            Err(error) => Err((after, error)),
        }
    }

    fn statement(&mut self) -> Result<Model, (Model, EngineError)> {
        let mut after = self.model.clone();
        let names: Vec<String> = after.keys().cloned().collect();
        let engine = self.engine.clone();
        let kind = self.rng.below(7);
        let result = if names.len() < 2 || (kind == 0 && names.len() < 5) {
            self.next_table += 1;
            let name = format!("t{}", self.next_table);
            after.insert(name.clone(), BTreeMap::new());
            let def = definition(&name, self.rng.below(4));
            ddl("CREATE TABLE", |context| engine.create_table(def, context))
        } else {
            let name = self.rng.pick(&names).clone();
            let t = table(&engine, "test", &name);
            let mut def = t.def.clone();
            match kind {
                1 => {
                    after.remove(&name);
                    ddl("DROP TABLE", |context| engine.drop_table("test", &name, context))
                }
                2 => {
                    after.insert(name.clone(), BTreeMap::new());
                    ddl("TRUNCATE TABLE", |context| engine.truncate_table("test", &name, context))
                }
                3 => {
                    self.next_table += 1;
                    let to = format!("r{}", self.next_table);
                    let rows = after.remove(&name).expect("picked from it");
                    after.insert(to.clone(), rows);
                    let renames = [(("test", name.as_str()), ("test", to.as_str()))];
                    ddl("RENAME TABLE", |context| engine.rename_tables(&renames, Vec::new(), context))
                }
                4 if !def.indexes.is_empty() => {
                    def.indexes.pop();
                    ddl("ALTER TABLE", |context| {
                        engine.alter_table("test", &name, def, &mut |row| Ok(Some(row.to_vec())), context)
                    })
                }
                4 | 5 => {
                    self.next_table += 1;
                    def.indexes.push(index(&format!("i{}", self.next_table), false, &[1, 0]));
                    ddl("ALTER TABLE", |context| {
                        engine.alter_table("test", &name, def, &mut |row| Ok(Some(row.to_vec())), context)
                    })
                }
                _ => {
                    def.columns[1].ty = ColumnType::bigint(t.column_type(1) == &ColumnType::bigint(false));
                    let new = types::row::RowLayout::new(
                        &def.columns.iter().map(|column| column.ty.clone()).collect::<Vec<_>>(),
                    );
                    ddl("ALTER TABLE", |context| {
                        let mut convert = |row: &[u8]| {
                            let mut values = t.layout.decode_all(row)?;
                            if let Value::Int(k) = values[1]
                                && new.types()[1].unsigned
                            {
                                values[1] = Value::UInt(k as u64);
                            } else if let Value::UInt(k) = values[1]
                                && !new.types()[1].unsigned
                            {
                                values[1] = Value::Int(k as i64);
                            }
                            let mut image = Vec::new();
                            new.encode(&values, &mut image)?;
                            Ok(Some(image))
                        };
                        engine.alter_table("test", &name, def, &mut convert, context)
                    })
                }
            }
        };
        match result {
            Ok(_) => Ok(after),
            Err(error) => Err((after, error)),
        }
    }

    /// Returns the present content of the engine.
    fn content(&self) -> Model {
        let mut content = Model::new();
        for t in self.engine.catalog().tables("test") {
            check(&self.engine, &t);
            let mut txn = begin(&self.engine);
            let mut found = BTreeMap::new();
            for row in rows(&mut txn, &t, IndexRef::Primary, KeyRange::all()) {
                let values = t.layout.decode_all(&row.image).unwrap();
                let number = |value: &Value| match value {
                    Value::Int(value) => *value,
                    Value::UInt(value) => *value as i64,
                    other => panic!("{other:?}"),
                };
                let Value::Bytes(c) = &values[2] else { panic!("{:?}", values[2]) };
                let twice = found.insert(number(&values[0]), (number(&values[1]), c.clone()));
                assert!(twice.is_none());
            }
            content.insert(t.def.name.clone(), found);
        }
        content
    }

    /// Works until something fails or `steps` are done. Returns another model, besides the world's,
    /// that may be found afterwards.
    fn work(&mut self, steps: u64) -> Option<Model> {
        for _ in 0..steps {
            let result = match self.rng.below(20) {
                0 | 1 => self.statement(),
                2 => {
                    self.engine.checkpoint().map(|_| self.model.clone()).map_err(|e| (self.model.clone(), e))
                }
                3 => self.engine.purge().map(|_| self.model.clone()).map_err(|e| (self.model.clone(), e)),
                4 if self.rng.one_in(4) => self
                    .engine
                    .sharp_checkpoint()
                    .map(|_| self.model.clone())
                    .map_err(|e| (self.model.clone(), e)),
                _ => self.transaction(),
            };
            match result {
                Ok(after) => self.model = after,
                Err((after, error)) => {
                    assert!(self.disk.is_off(), "nothing fails but the disk: {error}");
                    return Some(after);
                }
            }
        }
        None
    }

    fn reopen(&mut self, disk: SimDisk, maybe: Option<Model>) {
        self.disk = disk;
        self.engine = open_spilling(&self.disk, self.spill_bytes);
        let content = self.content();
        if content != self.model {
            // The models are too long for assert_eq.
            let differs = |other: &Model| -> Vec<String> {
                let names: std::collections::BTreeSet<&String> = content.keys().chain(other.keys()).collect();
                let of = |model: &Model, name: &String| -> Vec<String> {
                    let rows = model.get(name).map(|rows| rows.iter());
                    rows.into_iter()
                        .flatten()
                        .map(|(id, (k, c))| format!("{id}:{k}:{}:{:?}", c.len(), c.first()))
                        .collect()
                };
                let differing = names.into_iter().filter(|name| content.get(*name) != other.get(*name));
                differing
                    .map(|name| {
                        format!("{name}: has {:?}, expected {:?}", of(&content, name), of(other, name))
                    })
                    .collect()
            };
            let next = maybe.as_ref().map(differs);
            assert!(
                next.as_ref().is_some_and(Vec::is_empty),
                "neither the last acknowledged state:\n{:#?}\nnor the next:\n{next:#?}",
                differs(&self.model)
            );
            self.model = content;
        }
    }
}

#[test]
fn the_engine_agrees_with_the_model_through_power_cuts() {
    let seed = os::random::test_seed("engine power cuts");
    for round in 0..12 {
        let mut world = World::new(seed.wrapping_add(round));
        for _ in 0..6 {
            if world.rng.one_in(3) {
                let maybe = world.work(30);
                assert!(maybe.is_none());
                world.engine.close().unwrap();
                let disk = world.disk.kill();
                world.reopen(disk, None);
            } else if world.rng.one_in(2) {
                let changes = world.rng.between(1, 400);
                world.disk.cut_power_after(changes);
                let maybe = world.work(60);
                let disk = world.disk.power_cut();
                world.reopen(disk, maybe);
            } else {
                let maybe = world.work(40);
                let disk = if world.rng.one_in(2) { world.disk.kill() } else { world.disk.power_cut() };
                world.reopen(disk, maybe);
            }
        }
    }
}

#[test]
fn a_power_cut_in_recovery_is_recovered_from() {
    let seed = os::random::test_seed("engine power cuts in recovery");
    for round in 0..10 {
        let mut world = World::new(seed.wrapping_add(round));
        assert!(world.work(80).is_none());
        let mut disk = world.disk.power_cut();
        for _ in 0..4 {
            disk.cut_power_after(world.rng.between(1, 120));
            let opened = Engine::open(config(&disk));
            let next = disk.power_cut();
            drop(opened);
            disk = next;
        }
        world.reopen(disk, None);
        assert!(world.work(20).is_none());
        assert!(world.content() == world.model);
    }
}
