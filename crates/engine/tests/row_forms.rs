//! Columns that are added and dropped without writing the rows anew: rows of every age read as if
//! all of them had been written anew. Random changes, several ALTER TABLEs, old snapshots and
//! crashes are compared with a model.

mod support;

use engine::{
    AddedColumn, ColumnDef, Direction, Engine, Found, IndexRef, InstantColumns, KeyRange, LockMode,
    MAX_ROW_VERSIONS, StatementContext, Table, TableDef, Transaction,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::BTreeMap;
use std::sync::Arc;
use support::*;
use types::{ColumnType, Value};

/// The values of each row, in the order of the columns, by the id.
type Rows = BTreeMap<i64, Vec<Value>>;

const IDS: u64 = 60;

struct World {
    rng: Rng,
    disk: SimDisk,
    engine: Arc<Engine>,
    rows: Rows,
    /// An open transaction whose snapshot is older than what follows, and the rows that it sees.
    reader: Option<(Transaction, Rows)>,
    /// The number of columns that were ever added, for their names.
    named: usize,
    /// How many rows were read that had an older form.
    versions_seen: usize,
}

/// Returns a value for a column. Long values are moved off page.
fn value(rng: &mut Rng, column: &ColumnDef) -> Value {
    if column.nullable && rng.one_in(5) {
        return Value::Null;
    }
    match &column.ty {
        ty if ty.is_integer() => Value::Int(rng.below(50) as i64),
        ty if ty.is_blob() => {
            let longest = *rng.pick(&[0, 20, 900, 9000]);
            let len = rng.below(longest + 1) as usize;
            Value::Bytes(rng.bytes(len))
        }
        _ => Value::text(&"x".repeat(rng.below(40) as usize)),
    }
}

fn packed(column: &ColumnDef, value: &Value) -> Option<Vec<u8>> {
    let mut packed = Vec::new();
    match value {
        Value::Null => None,
        value => {
            types::packed::encode(&column.ty, value, &mut packed).expect("it is of the column's type");
            Some(packed)
        }
    }
}

fn read_lent(txn: &mut Transaction, table: &Arc<Table>) -> Vec<Vec<u8>> {
    let all = KeyRange::all();
    let mut scan = txn.scan(table, IndexRef::Primary, all, Direction::Forward, LockMode::Snapshot).unwrap();
    let mut images = Vec::new();
    while let Some(found) = scan.next_lent(txn, false).unwrap() {
        images.push(match found {
            Found::Lent => scan.image().to_vec(),
            Found::Row(row) => row.image,
            Found::Entry => panic!("nobody asked for entries"),
        });
    }
    images
}

impl World {
    fn new(seed: u64) -> World {
        let (disk, engine) = fresh(seed);
        let mut def = keyed("t");
        def.columns.push(ColumnDef::new("big", ColumnType::mediumblob()));
        create(&engine, def);
        let (rng, rows) = (Rng::new(seed), Rows::new());
        World { rng, disk, engine, rows, reader: None, named: 0, versions_seen: 0 }
    }

    fn table(&self) -> Arc<Table> {
        table(&self.engine, "test", "t")
    }

    /// Changes some rows in one transaction, which may be rolled back.
    fn change_rows(&mut self) {
        let (table, mut rows) = (self.table(), self.rows.clone());
        let id_at = table.def.column("id").expect("it stays");
        let key_of = |id| table.encode_key(IndexRef::Primary, &[Value::Int(id)]).unwrap();
        let mut txn = begin(&self.engine);
        for _ in 0..1 + self.rng.below(8) {
            let id = self.rng.below(IDS) as i64;
            txn.begin_statement(StatementContext::default());
            let mut values: Vec<Value> = match rows.get(&id) {
                Some(values) => values.clone(),
                None => table.def.columns.iter().map(|column| value(&mut self.rng, column)).collect(),
            };
            values[id_at] = Value::Int(id);
            let is_there = rows.contains_key(&id);
            if is_there {
                let old = txn.get(&table, &key_of(id), LockMode::Update).unwrap().expect("it is there");
                assert_eq!(old.image, image(&table, &values), "the row {id} under a lock");
                if self.rng.one_in(4) {
                    txn.delete(&table, &old).unwrap();
                    rows.remove(&id);
                } else {
                    let at = self.rng.below(values.len() as u64) as usize;
                    if at != id_at {
                        values[at] = value(&mut self.rng, &table.def.columns[at]);
                    }
                    txn.update(&table, &old, &image(&table, &values)).unwrap();
                    rows.insert(id, values);
                }
            } else {
                txn.insert(&table, &image(&table, &values)).unwrap();
                rows.insert(id, values);
            }
            txn.end_statement();
        }
        if self.rng.one_in(6) {
            drop(txn);
        } else {
            commit(txn);
            self.rows = rows;
        }
    }

    /// Adds and drops columns. Every row, also of older snapshots, has the new columns at once.
    fn alter(&mut self) {
        let old = self.table();
        if old.row_versions() == MAX_ROW_VERSIONS {
            return;
        }
        let stays = |column: &ColumnDef| ["id", "k"].contains(&column.name.as_str());
        let mut instant = InstantColumns::default();
        for (at, column) in old.def.columns.iter().enumerate() {
            if !stays(column) && self.rng.one_in(5) {
                instant.dropped.push(at);
            }
        }
        let mut def = old.def.clone();
        let mut columns: Vec<(ColumnDef, Option<usize>)> = Vec::new();
        for (at, column) in old.def.columns.iter().enumerate() {
            if !instant.dropped.contains(&at) {
                columns.push((column.clone(), Some(at)));
            }
        }
        for _ in 0..self.rng.below(3) {
            self.named += 1;
            let ty = match self.rng.below(3) {
                0 => ColumnType::int(false),
                1 => ColumnType::varchar(60, 46),
                _ => ColumnType::mediumblob(),
            };
            let mut column = ColumnDef::new(&format!("added_{}", self.named), ty);
            if self.rng.one_in(2) {
                column = column.not_null();
            }
            let at = self.rng.below(columns.len() as u64 + 1) as usize;
            columns.insert(at, (column, None));
        }
        let mut new_values = Vec::new();
        for (position, (column, source)) in columns.iter().enumerate() {
            if source.is_none() {
                let mut value = value(&mut self.rng, column);
                if column.ty.is_blob() && !value.is_null() {
                    value = Value::Bytes(Vec::new());
                }
                instant.added.push(AddedColumn { position, value: packed(column, &value) });
                new_values.push((position, value));
            }
        }
        if instant.is_empty() {
            return;
        }
        def.columns = columns.iter().map(|(column, _)| column.clone()).collect();
        // An index goes with its column.
        def.indexes.retain(|index| index.columns.iter().all(|part| !instant.dropped.contains(&part.column)));
        let place = |at: usize| columns.iter().position(|(_, source)| *source == Some(at)).expect("kept");
        for part in
            def.primary.iter_mut().flatten().chain(def.indexes.iter_mut().flat_map(|i| &mut i.columns))
        {
            part.column = place(part.column);
        }
        let altered = |values: &Vec<Value>| -> Vec<Value> {
            let value = |(position, (_, source)): (usize, &(ColumnDef, Option<usize>))| match source {
                Some(at) => values[*at].clone(),
                None => new_values.iter().find(|(at, _)| *at == position).expect("added").1.clone(),
            };
            columns.iter().enumerate().map(value).collect()
        };
        self.alter_to(def, instant);
        assert_eq!(self.table().id, old.id, "the table stays");
        self.rows.values_mut().for_each(|values| *values = altered(values));
        if let Some((_, rows)) = &mut self.reader {
            rows.values_mut().for_each(|values| *values = altered(values));
        }
    }

    fn alter_to(&self, def: TableDef, instant: InstantColumns) {
        ddl("ALTER TABLE t", |context| {
            let context = engine::DdlContext { instant, ..context.clone() };
            self.engine.alter_table("test", "t", def, &mut |_| panic!("no row is converted"), &context)
        })
        .unwrap();
    }

    /// Adds an index on a column that was added, or drops it again.
    fn change_index(&mut self) {
        let mut def = self.table().def.clone();
        if let Some(at) = def.index("later") {
            def.indexes.remove(at);
        } else {
            let is_added = |column: &ColumnDef| column.name.starts_with("added") && !column.ty.is_blob();
            let Some(at) = def.columns.iter().position(is_added) else { return };
            def.indexes.push(index("later", false, &[at]));
        }
        self.alter_to(def, InstantColumns::default());
    }

    /// Compares what every kind of read finds with the model.
    fn compare(&mut self) {
        let table = self.table();
        self.versions_seen += table.row_versions();
        let expected =
            |rows: &Rows| -> Vec<Vec<u8>> { rows.values().map(|row| image(&table, row)).collect() };
        let wanted = expected(&self.rows);
        let mut txn = begin(&self.engine);
        let images =
            |rows: Vec<engine::Row>| -> Vec<Vec<u8>> { rows.into_iter().map(|row| row.image).collect() };
        assert_eq!(images(rows(&mut txn, &table, IndexRef::Primary, KeyRange::all())), wanted);
        assert_eq!(read_lent(&mut txn, &table), wanted, "lent rows");
        for at in 0..table.def.indexes.len() {
            let mut found = images(rows(&mut txn, &table, IndexRef::Secondary(at), KeyRange::all()));
            found.sort_unstable();
            let mut wanted = wanted.clone();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "by index {at}");
        }
        drop(txn);
        check(&self.engine, &table);
        if let Some((reader, seen)) = &mut self.reader {
            let wanted = expected(seen);
            assert_eq!(read_lent(reader, &table), wanted, "lent rows of an older snapshot");
        }
    }

    fn end_reader(&mut self) {
        self.reader = None;
    }
}

#[test]
fn rows_of_every_age_read_as_if_they_were_written_anew() {
    let seed = test_seed("rows_of_every_age_read_as_if_they_were_written_anew");
    let mut world = World::new(seed);
    for _ in 0..700 {
        match world.rng.below(20) {
            0..=10 => world.change_rows(),
            11 | 12 => {
                // A reader that has read the table keeps its definition from changing.
                world.end_reader();
                world.alter();
            }
            13 if world.reader.is_none() => {
                let mut txn = begin(&world.engine);
                txn.open_snapshot().unwrap();
                world.reader = Some((txn, world.rows.clone()));
                world.change_rows();
                world.alter();
                world.change_rows();
                world.compare();
                world.end_reader();
            }
            14 => {
                world.end_reader();
                world.change_index();
            }
            15 => drop(world.engine.checkpoint().unwrap()),
            16 => drop(world.engine.purge().unwrap()),
            17 => {
                world.end_reader();
                world.disk = if world.rng.one_in(2) { world.disk.kill() } else { world.disk.power_cut() };
                world.engine = open(&world.disk);
                world.compare();
            }
            _ => world.compare(),
        }
    }
    world.compare();
    assert!(world.versions_seen > 0, "some rows had an older form");
    println!("the last table has {} forms", world.table().row_versions() + 1);
}

#[test]
fn a_rebuild_writes_all_rows_anew() {
    let seed = test_seed("a_rebuild_writes_all_rows_anew");
    let mut world = World::new(seed);
    for _ in 0..20 {
        world.change_rows();
        world.alter();
    }
    assert!(world.table().row_versions() > 0);
    let def = world.table().def.clone();
    ddl("ALTER TABLE t FORCE", |context| {
        world.engine.rebuild_table("test", "t", def, &mut |row| Ok(Some(row.to_vec())), context)
    })
    .unwrap();
    assert_eq!(world.table().row_versions(), 0);
    world.compare();
    world.engine = open(&world.disk.kill());
    world.compare();
}
