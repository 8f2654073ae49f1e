//! The tables of the test and their rows.

use engine::{AddedColumn, ColumnDef, IndexColumn, IndexDef, InstantColumns, TableDef};
use os::random::Rng;
use types::json::{self, Node};
use types::{ColumnType, Value};

use crate::state::Values;

pub const SCHEMA: &str = "s";
/// The name of the table with a primary key, the tag, which all workers share.
pub const KEYED: &str = "keyed";
/// The name of the table without a primary key, which all workers share.
pub const KEYLESS: &str = "keyless";

pub const TAG: usize = 0;
pub const OWNER: usize = 1;
pub const K: usize = 2;
pub const U: usize = 3;
pub const PAD: usize = 4;
pub const BIG: usize = 5;
/// The array of a multi-valued index.
pub const ARRAY: usize = 6;
/// The number of columns without `extra`.
pub const COLUMNS: usize = 7;
/// The value of `extra` in the rows that exist when it is added.
pub const VALUE_OF_EXTRA: u64 = 7;

/// The number of the collation utf8mb4_bin.
const BINARY_TEXT: u16 = 46;

pub fn index(name: &str, unique: bool, columns: &[usize]) -> IndexDef {
    IndexDef {
        id: 0,
        name: name.to_owned(),
        unique,
        columns: columns.iter().map(|&column| IndexColumn::whole(column)).collect(),
        comment: String::new(),
        invisible: false,
        generated: false,
        using_btree: false,
    }
}

fn table(name: &str) -> TableDef {
    let mut def = TableDef::new(SCHEMA, name);
    def.columns = vec![
        ColumnDef::new("tag", ColumnType::int(false)).not_null(),
        ColumnDef::new("owner", ColumnType::int(false)).not_null(),
        ColumnDef::new("k", ColumnType::int(false)),
        ColumnDef::new("u", ColumnType::varchar(60, BINARY_TEXT)),
        ColumnDef::new("pad", ColumnType::varbinary(700)),
        ColumnDef::new("big", ColumnType::mediumblob()),
        ColumnDef::new("array", ColumnType::json()),
    ];
    def.columns[ARRAY].elements = Some(ColumnType::bigint(false));
    def
}

pub fn keyed() -> TableDef {
    let mut def = table(KEYED);
    def.primary = Some(vec![IndexColumn::whole(TAG)]);
    def.indexes = vec![index("by_k", false, &[K]), index("by_u", true, &[U]), by_array()];
    def
}

pub fn keyless() -> TableDef {
    let mut def = table(KEYLESS);
    def.indexes = vec![index("by_tag", false, &[TAG]), index("by_owner_k", false, &[OWNER, K])];
    def
}

/// Returns a multi-valued index, whose rows have several entries or none.
fn by_array() -> IndexDef {
    index("by_array", false, &[K, ARRAY])
}

/// Returns the indexes that a worker's own table has or has not.
pub fn own_indexes() -> Vec<IndexDef> {
    vec![index("by_k", false, &[K]), by_array()]
}

/// Returns the definition of a worker's own table.
pub fn own(name: &str, indexed: bool, has_extra: bool) -> TableDef {
    let mut def = table(name);
    def.primary = Some(vec![IndexColumn::whole(TAG)]);
    if indexed {
        def.indexes = own_indexes();
    }
    if has_extra {
        def.columns.push(ColumnDef::new("extra", ColumnType::bigint(true)));
    }
    def
}

/// Returns the columns of an ALTER TABLE that adds or drops `extra`, which has
/// [`VALUE_OF_EXTRA`] in the rows that exist.
pub fn instant_extra(adds: bool) -> InstantColumns {
    let value = Some(VALUE_OF_EXTRA.to_le_bytes().to_vec());
    match adds {
        true => InstantColumns { added: vec![AddedColumn { position: COLUMNS, value }], dropped: vec![] },
        false => InstantColumns { added: vec![], dropped: vec![COLUMNS] },
    }
}

/// Returns random values of a row. The value of column `U` belongs to this row alone, or is NULL.
pub fn row(rng: &mut Rng, tag: i64, owner: i64, has_extra: bool) -> Values {
    let mut values = vec![Value::Null; COLUMNS];
    (values[TAG], values[OWNER]) = (Value::Int(tag), Value::Int(owner));
    for column in [K, U, PAD, BIG, ARRAY] {
        change(rng, &mut values, column);
    }
    if has_extra {
        values.push(Value::UInt(rng.u64()));
    }
    values
}

/// Gives one of the columns from `K` on another value.
pub fn change(rng: &mut Rng, values: &mut Values, column: usize) {
    let is_null = rng.one_in(8);
    values[column] = match column {
        _ if is_null => Value::Null,
        K => Value::Int(rng.below(40) as i64 - 20),
        // The owner and the tag make the value unique among rows, whatever follows.
        U => Value::text(&format!("{:?} {:?} {}", values[OWNER], values[TAG], rng.below(3))),
        PAD => Value::Bytes(bytes(rng, &[0, 20, 100, 600])),
        ARRAY => array(rng),
        BIG => Value::Bytes(bytes(rng, &[0, 0, 0, 30, 30, 900, 5000, 40_000])),
        _ => Value::UInt(rng.u64()),
    };
}

/// Returns an array of a few numbers in order, or an empty one.
fn array(rng: &mut Rng) -> Value {
    let mut numbers: Vec<i64> = (0..rng.below(5)).map(|_| rng.below(12) as i64 - 3).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let array = Node::Array(numbers.into_iter().map(Node::Int).collect());
    Value::Json(json::write_document(&array).expect("a short array"))
}

fn bytes(rng: &mut Rng, lens: &[u64]) -> Vec<u8> {
    let longest = *rng.pick(lens);
    let len = rng.below(longest + 1) as usize;
    rng.bytes(len)
}
