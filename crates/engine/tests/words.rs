//! Tests of the entries of FULLTEXT indexes: each word of a row's texts leads to the row, in every
//! snapshot, while rows change, transactions roll back and indexes are built, and after a crash.

mod support;

use engine::{
    ColumnDef, DdlContext, Direction, Engine, EntryRule, IndexColumn, IndexRef, KeptEntries, KeptIndex,
    KeptKind, KeptPart, LockMode, SessionContext, Table, TableDef, Transaction, word_range,
};
use os::random::{Rng, test_seed};
use std::collections::BTreeMap;
use std::sync::Arc;
use support::{INT, begin, check, create, fresh, image, open, table};
use types::words::{Rules, WordSizes};
use types::{ColumnType, Value, collation};

/// The texts of the row of an id. `None` stands for NULL.
type Model = BTreeMap<i64, (String, Option<String>)>;

const WORDS: [&str; 12] =
    ["apple", "apples", "apply", "banana", "band", "cherry", "date", "elder", "grape", "Gräpe", "the", "to"];
const COLLATION: u16 = collation::UTF8MB4_0900_AI_CI;

fn kept(name: &str, columns: &[&str]) -> KeptIndex {
    let part = |name: &&str| KeptPart {
        text: (*name).to_owned(),
        is_expression: false,
        prefix: None,
        descending: false,
    };
    let rule = EntryRule::Words { is_ngram: false, sizes: WordSizes::default() };
    KeptIndex {
        name: name.to_owned(),
        kind: KeptKind::FullText(None),
        unique: false,
        parts: columns.iter().map(part).collect(),
        comment: String::new(),
        invisible: false,
        entries: Some(KeptEntries { id: 0, rule }),
    }
}

/// Returns `(id INT PRIMARY KEY, t VARCHAR(200), b LONGTEXT)` with these FULLTEXT indexes.
fn definition(indexes: Vec<KeptIndex>) -> TableDef {
    let mut def = TableDef::new("test", "t");
    def.columns.push(ColumnDef::new("id", INT()).not_null());
    def.columns.push(ColumnDef::new("t", ColumnType::varchar(200, COLLATION)));
    def.columns.push(ColumnDef::new("b", ColumnType::text(COLLATION)));
    def.primary = Some(vec![IndexColumn::whole(0)]);
    def.kept_indexes = indexes;
    def
}

fn both() -> Vec<KeptIndex> {
    vec![kept("of_t", &["t"]), kept("of_both", &["t", "b"])]
}

fn values(id: i64, (t, b): &(String, Option<String>)) -> Vec<Value> {
    vec![Value::Int(id), Value::text(t), b.as_deref().map_or(Value::Null, Value::text)]
}

fn random_text(rng: &mut Rng, most: u64) -> String {
    let words = (0..rng.below(most)).map(|_| WORDS[rng.below(WORDS.len() as u64) as usize]);
    words.collect::<Vec<_>>().join(" ")
}

/// Some rows have a text that does not fit on their page.
fn random_row(rng: &mut Rng) -> (String, Option<String>) {
    let mut long = random_text(rng, 6);
    if rng.one_in(6) {
        long += &" ".repeat(20_000);
        long += &random_text(rng, 3);
    }
    (random_text(rng, 4), (!rng.one_in(4)).then_some(long))
}

/// Returns the ids of the rows that the entries of a word lead to, or those of all words that begin
/// with it.
fn found(txn: &mut Transaction, table: &Arc<Table>, kept: usize, (word, begins): (&str, bool)) -> Vec<i64> {
    let index = table.def.entries_of(kept).expect("the index has entries");
    let entry = Rules::new(COLLATION, false, WordSizes::default()).entry(word);
    assert!(entry.is_open || !begins);
    let range = word_range(&entry.key, begins);
    let mut scan = txn.scan(table, index, range, Direction::Forward, LockMode::Snapshot).unwrap();
    let mut ids = Vec::new();
    while let Some(row) = scan.next(txn).unwrap() {
        match table.layout.decode(&row.image, 0).unwrap() {
            Value::Int(id) => ids.push(id),
            other => panic!("{other:?}"),
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Compares what the indexes find with the model.
fn compare(txn: &mut Transaction, table: &Arc<Table>, model: &Model) {
    const ASKED: [(&str, bool); 9] = [
        ("apple", false),
        ("APP", true),
        ("grape", false),
        ("banana", false),
        ("ban", true),
        ("the", false),
        ("to", true),
        ("date", false),
        ("none", false),
    ];
    let is_one = |text: &str, (asked, begins): (&str, bool)| {
        text.split_whitespace().any(|word| {
            let word = word.to_lowercase().replace('ä', "a");
            let asked = asked.to_lowercase();
            let is_it = if begins { word.starts_with(&asked) } else { word == asked };
            is_it && word.len() > 2 && word != "the"
        })
    };
    for (at, kept) in table.def.kept_indexes.iter().enumerate() {
        for asked in ASKED {
            let has = |(t, b): &(String, Option<String>)| {
                is_one(t, asked) || kept.parts.len() == 2 && b.as_ref().is_some_and(|b| is_one(b, asked))
            };
            let wanted: Vec<i64> = model.iter().filter(|(_, row)| has(row)).map(|(id, _)| *id).collect();
            assert_eq!(found(txn, table, at, asked), wanted, "{} {asked:?}", kept.name);
        }
    }
}

/// Makes a random change of a row, as the model then has it.
fn change(rng: &mut Rng, txn: &mut Transaction, table: &Arc<Table>, model: &mut Model) {
    let id = rng.below(20) as i64;
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
            let free = rng.below(20) as i64;
            let to = if rng.one_in(4) && !model.contains_key(&free) { free } else { id };
            if rng.one_in(2) {
                // The long text stays.
                new.1.clone_from(&model[&id].1);
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
fn words_lead_to_rows_whatever_happens() {
    let mut rng = Rng::new(test_seed("words_lead_to_rows_whatever_happens"));
    for round in 0..3 {
        let (disk, mut engine) = fresh(round);
        let mut t = create(&engine, definition(both()));
        let mut model = Model::new();
        for _ in 0..4 {
            transact(&mut rng, &engine, &t, &mut model, 10);
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
fn an_index_that_is_built_has_the_words() {
    let mut rng = Rng::new(test_seed("an_index_that_is_built_has_the_words"));
    let (disk, engine) = fresh(1);
    let t = create(&engine, definition(Vec::new()));
    let mut model = Model::new();
    transact(&mut rng, &engine, &t, &mut model, 30);
    let alter = |def: TableDef| {
        let session = SessionContext::default();
        let context = DdlContext::new("ALTER TABLE t", "test", &session);
        engine.alter_table("test", "t", def, &mut |image| Ok(Some(image.to_vec())), &context).unwrap();
        table(&engine, "test", "t")
    };
    let t = alter(TableDef { kept_indexes: both(), ..t.def.clone() });
    compare(&mut begin(&engine), &t, &model);
    transact(&mut rng, &engine, &t, &mut model, 5);
    check(&engine, &t);
    // One index goes, and the other one keeps its tree.
    let mut def = t.def.clone();
    let gone = def.kept_indexes.remove(0);
    assert_eq!(gone.name, "of_t");
    let id = def.kept_indexes[0].entries.as_ref().unwrap().id;
    let t = alter(def);
    assert_eq!(t.def.kept_indexes[0].entries.as_ref().unwrap().id, id);
    transact(&mut rng, &engine, &t, &mut model, 5);
    drop((t, engine));
    let engine = open(&disk);
    let t = table(&engine, "test", "t");
    compare(&mut begin(&engine), &t, &model);
    check(&engine, &t);
}
