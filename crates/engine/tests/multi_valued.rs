//! Tests of multi-valued indexes: each of the elements of a row's array leads to the row, in every
//! snapshot, while rows change, transactions roll back and indexes are built, and after a crash.

mod support;

use engine::{
    ColumnDef, CommitOptions, DdlContext, Direction, Engine, EngineError, IndexColumn, IndexDef, IndexRef,
    KeyRange, LockMode, SessionContext, StatementContext, Table, TableDef, Transaction,
};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use support::{INT, begin, check, create, ddl, fresh, image, index, open, table};
use types::json::{self, Node};
use types::{ColumnType, Value};

/// The row of an id: its number and its array. `None` stands for NULL.
type Model = BTreeMap<i64, (i64, Option<BTreeSet<i64>>)>;

const ELEMENTS: u64 = 9;

/// Returns `(id INT PRIMARY KEY, n INT, a BIGINT ARRAY, KEY by_array (a), KEY both (n, a, id))`.
fn definition(indexes: Vec<IndexDef>) -> TableDef {
    let mut def = TableDef::new("test", "t");
    def.columns.push(ColumnDef::new("id", INT()).not_null());
    def.columns.push(ColumnDef::new("n", INT()));
    def.columns.push(ColumnDef::new("a", ColumnType::json()));
    def.columns[2].elements = Some(ColumnType::bigint(false));
    def.primary = Some(vec![IndexColumn::whole(0)]);
    def.indexes = indexes;
    def
}

fn both() -> Vec<IndexDef> {
    vec![index("by_array", false, &[2]), index("both", false, &[1, 2, 0])]
}

fn values(id: i64, (n, array): &(i64, Option<BTreeSet<i64>>)) -> Vec<Value> {
    let array = array.as_ref().map_or(Value::Null, |array| {
        let array = Node::Array(array.iter().map(|element| Node::Int(*element)).collect());
        Value::Json(json::write_document(&array).unwrap())
    });
    vec![Value::Int(id), Value::Int(*n), array]
}

fn random_row(rng: &mut Rng) -> (i64, Option<BTreeSet<i64>>) {
    let array = (!rng.one_in(8)).then(|| (0..rng.below(5)).map(|_| rng.below(ELEMENTS) as i64).collect());
    (rng.below(4) as i64, array)
}

/// Returns the ids of the rows that an index finds by its first columns.
fn found(txn: &mut Transaction, table: &Arc<Table>, at: usize, columns: &[Value]) -> Vec<i64> {
    let index = IndexRef::Secondary(at);
    let range = KeyRange::prefix(&table.encode_key(index, columns).unwrap());
    let mut scan = txn.scan(table, index, range, Direction::Forward, LockMode::Snapshot).unwrap();
    let mut ids = Vec::new();
    while let Some(row) = scan.next(txn).unwrap() {
        match table.layout.decode(&row.image, 0).unwrap() {
            Value::Int(id) => ids.push(id),
            other => panic!("{other:?}"),
        }
    }
    ids
}

/// Compares what the indexes find with the model.
fn compare(txn: &mut Transaction, table: &Arc<Table>, model: &Model) {
    let has = |element: Option<i64>, array: &Option<BTreeSet<i64>>| match (element, array) {
        (Some(element), Some(array)) => array.contains(&element),
        (None, array) => array.is_none(),
        (Some(_), None) => false,
    };
    for element in (0..ELEMENTS as i64).map(Some).chain([None]) {
        let value = element.map_or(Value::Null, Value::Int);
        let wanted = |n: Option<i64>| -> Vec<i64> {
            let is_it = |(_, row): &(&i64, &(i64, Option<BTreeSet<i64>>))| {
                n.is_none_or(|n| n == row.0) && has(element, &row.1)
            };
            model.iter().filter(is_it).map(|(id, _)| *id).collect()
        };
        if let Some(at) = table.def.index("by_array") {
            assert_eq!(found(txn, table, at, std::slice::from_ref(&value)), wanted(None), "{element:?}");
        }
        if let Some(at) = table.def.index("both") {
            for n in 0..4 {
                let columns = [Value::Int(n), value.clone()];
                assert_eq!(found(txn, table, at, &columns), wanted(Some(n)), "{n} {element:?}");
            }
        }
    }
}

/// Makes a random change of a row, as the model then has it.
fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>, model: &mut Model) {
    let id = rng.below(30) as i64;
    let key = table.encode_key(IndexRef::Primary, &[Value::Int(id)]).unwrap();
    let old = txn.get(table, &key, LockMode::Update).unwrap();
    assert_eq!(old.is_some(), model.contains_key(&id));
    let mut new = random_row(rng);
    match old {
        None => {
            txn.insert(table, &image(table, &values(id, &new))).unwrap();
            model.insert(id, new);
        }
        Some(old) if rng.one_in(4) => {
            txn.delete(table, &old).unwrap();
            model.remove(&id);
        }
        Some(old) => {
            let free = rng.below(30) as i64;
            let to = if rng.one_in(4) && !model.contains_key(&free) { free } else { id };
            if rng.one_in(2) {
                // Only one element comes, or goes.
                new = model[&id].clone();
                if let Some(array) = &mut new.1 {
                    let element = rng.below(ELEMENTS) as i64;
                    if !array.remove(&element) {
                        array.insert(element);
                    }
                }
            }
            txn.update(table, &old, &image(table, &values(to, &new))).unwrap();
            model.remove(&id);
            model.insert(to, new);
        }
    }
}

fn transact(rng: &mut Rng, engine: &Arc<Engine>, table: &Arc<Table>, model: &mut Model, rounds: u64) {
    let compare = |txn: &mut Transaction, model: &Model| compare(txn, table, model);
    let change = |rng: &mut Rng, txn: &mut Transaction, model: &mut Model| change(rng, txn, table, model);
    support::transact(rng, engine, model, rounds, compare, change);
}

#[test]
fn elements_lead_to_rows_whatever_happens() {
    let mut rng = Rng::new(test_seed("elements_lead_to_rows_whatever_happens"));
    for round in 0..6 {
        let (disk, mut engine) = fresh(round);
        let mut t = create(&engine, definition(both()));
        let mut model = Model::new();
        for _ in 0..4 {
            transact(&mut rng, &engine, &t, &mut model, 15);
            check(&engine, &t);
            if rng.one_in(2) {
                engine.checkpoint().unwrap();
            }
            drop((t, engine));
            engine = open(&disk);
            t = table(&engine, "test", "t");
            compare(&mut begin(&engine), &t, &model);
            check(&engine, &t);
        }
    }
}

#[test]
fn an_index_that_is_built_has_the_elements() {
    let mut rng = Rng::new(test_seed("an_index_that_is_built_has_the_elements"));
    let (_, engine) = fresh(1);
    let t = create(&engine, definition(Vec::new()));
    let mut model = Model::new();
    transact(&mut rng, &engine, &t, &mut model, 40);
    let mut def = t.def.clone();
    def.indexes = both();
    let session = SessionContext::default();
    let context = DdlContext::new("ALTER TABLE t", "test", &session);
    engine.alter_table("test", "t", def, &mut |image| Ok(Some(image.to_vec())), &context).unwrap();
    let t = table(&engine, "test", "t");
    compare(&mut begin(&engine), &t, &model);
    transact(&mut rng, &engine, &t, &mut model, 10);
    check(&engine, &t);
}

fn try_insert(
    engine: &Arc<Engine>,
    table: &Arc<Table>,
    id: i64,
    array: Option<&[i64]>,
) -> Result<(), EngineError> {
    let row = (0, array.map(|array| array.iter().copied().collect()));
    let mut txn = begin(engine);
    txn.begin_statement(StatementContext::default());
    txn.insert(table, &image(table, &values(id, &row)))?;
    txn.end_statement();
    txn.commit(&CommitOptions::default()).map(|_| ())
}

#[test]
fn an_element_of_a_unique_index_belongs_to_one_row() {
    let (_, engine) = fresh(1);
    let t = create(&engine, definition(vec![index("by_array", true, &[2])]));
    try_insert(&engine, &t, 1, Some(&[1, 2, 3])).unwrap();
    for (id, array) in [(2, Some(&[][..])), (3, Some(&[])), (4, None), (5, None), (6, Some(&[4]))] {
        try_insert(&engine, &t, id, array).unwrap();
    }
    match try_insert(&engine, &t, 7, Some(&[7, 3])) {
        Err(EngineError::Duplicate { index, key, .. }) => {
            assert_eq!((index.as_str(), key.as_str()), ("by_array", "[3, 7]"));
        }
        other => panic!("{other:?}"),
    }
    try_insert(&engine, &t, 7, Some(&[7])).unwrap();
    check(&engine, &t);
    // A row keeps its own elements.
    let mut txn = begin(&engine);
    let key = t.encode_key(IndexRef::Primary, &[Value::Int(1)]).unwrap();
    let old = txn.get(&t, &key, LockMode::Update).unwrap().unwrap();
    txn.begin_statement(StatementContext::default());
    let row = |elements: &[i64]| image(&t, &values(1, &(0, Some(elements.iter().copied().collect()))));
    assert!(matches!(txn.update(&t, &old, &row(&[2, 4])), Err(EngineError::Duplicate { .. })));
    txn.update(&t, &old, &row(&[2, 8])).unwrap();
    txn.end_statement();
    txn.commit(&CommitOptions::default()).unwrap();
    try_insert(&engine, &t, 8, Some(&[1, 3])).unwrap();
    check(&engine, &t);
}

/// A definition of a table with an array comes back from the disk with the type of the elements.
#[test]
fn the_elements_are_in_the_dictionary() {
    let disk = SimDisk::new(5);
    let engine = open(&disk);
    ddl("CREATE SCHEMA test", |context| {
        engine.create_schema(engine::SchemaDef { name: "test".into(), collation: 255 }, context)
    })
    .unwrap();
    create(&engine, definition(both()));
    drop(engine);
    let engine = open(&disk);
    let elements = table(&engine, "test", "t").def.columns[2].elements.clone();
    assert_eq!(elements, Some(ColumnType::bigint(false)));
}
