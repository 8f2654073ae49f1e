//! The tables INNODB_* of information_schema about tables, columns, indexes and files.
//!
//! The numbers of tables are the engine's. A table that is created anew under the same name has
//! another number. The number of an index is made from its table's and its own.

use super::definition::{Definition, Dictionary, Rows};
use crate::error::{Result, SqlError};
use crate::host::{Privilege, VariableScope};
use engine::{ForeignKeyDef, IndexRef, KeptIndex, KeptKind, ReferentialAction, Table, TableFile};
use std::sync::Arc;
use types::Value;
use types::words::STOP_WORDS;

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "INNODB_TABLES", fill: tables },
    Definition { name: "INNODB_TABLESTATS", fill: table_statistics },
    Definition { name: "INNODB_INDEXES", fill: indexes },
    Definition { name: "INNODB_FIELDS", fill: fields },
    Definition { name: "INNODB_FOREIGN", fill: foreign_keys },
    Definition { name: "INNODB_FOREIGN_COLS", fill: foreign_key_columns },
    Definition { name: "INNODB_TABLESPACES", fill: tablespaces },
    Definition { name: "INNODB_TABLESPACES_BRIEF", fill: tablespaces_brief },
    Definition { name: "INNODB_DATAFILES", fill: data_files },
    Definition { name: "FILES", fill: files },
    Definition {
        name: "INNODB_FT_DEFAULT_STOPWORD",
        fill: |_, rows| rows.extend(STOP_WORDS.split_whitespace().map(|word| vec![text(word)])),
    },
];

/// The value of `FLAG` for a table in the row format DYNAMIC in a file of its own.
const TABLE_FLAGS: u64 = 33;
/// The value of `FLAG` for the file of such a table.
const SPACE_FLAGS: u64 = 16_417;
/// The columns that InnoDB adds to each table: the row id, the transaction and the roll pointer.
const HIDDEN_COLUMNS: usize = 3;
/// The percentage of a page below which InnoDB merges it with a neighbour, where no comment says
/// another one.
const MERGE_THRESHOLD: u64 = 50;
/// The size in bytes by which InnoDB counts the parts of a file (an extent).
const EXTENT_BYTES: u64 = 1 << 20;

fn text(text: &str) -> Value {
    Value::text(text)
}

fn number(number: usize) -> Value {
    Value::UInt(number as u64)
}

/// Checks that the account may read the tables of this kind at all.
///
/// # Errors
/// Returns 1227 without the PROCESS privilege.
pub(super) fn check_process(dictionary: &Dictionary<'_>) -> Result<()> {
    match dictionary.host.check_privilege(Privilege::Process, None, None) {
        Ok(()) => Ok(()),
        Err(_) => {
            let text =
                "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation";
            Err(SqlError::new(1227, text))
        }
    }
}

/// Returns all tables, after the check of the account's privilege.
pub(super) fn all_tables(dictionary: &Dictionary<'_>) -> Result<Vec<Arc<Table>>> {
    check_process(dictionary)?;
    Ok(dictionary.engine.catalog().all_tables())
}

/// Returns the name of a table as InnoDB writes it.
fn name_of(table: &Table) -> String {
    format!("{}/{}", table.def.schema, table.def.name)
}

/// Returns all tables with their files. A table that is dropped meanwhile has none and is left out.
pub(super) fn all_files(dictionary: &Dictionary<'_>) -> Result<Vec<(Arc<Table>, TableFile)>> {
    let tables = all_tables(dictionary)?.into_iter();
    Ok(tables.filter_map(|table| Some((table.clone(), dictionary.engine.table_file(&table)?))).collect())
}

/// Returns the path of a file as InnoDB shows it: from the data directory, with a dot before it.
fn path_of(file: &TableFile) -> Value {
    let dot = if file.path.is_relative() { "./" } else { "" };
    text(&format!("{dot}{}", file.path.display()))
}

/// Returns the number of columns whose values are in the rows, as InnoDB counts them.
fn stored_columns(table: &Table) -> usize {
    table.def.columns.iter().filter(|column| !column.is_virtual()).count()
}

fn tables(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for (table, file) in all_files(dictionary)? {
        rows.push(vec![
            Value::UInt(table.id),
            text(&name_of(&table)),
            Value::UInt(TABLE_FLAGS),
            number(stored_columns(&table) + HIDDEN_COLUMNS),
            Value::UInt(u64::from(file.space)),
            text("Dynamic"),
            Value::UInt(0),
            text("Single"),
            Value::UInt(0),
            number(table.row_versions()),
        ])?;
    }
    Ok(())
}

fn table_statistics(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let page_bytes = dictionary.engine.pool().page_size() as u64;
    for table in all_tables(dictionary)? {
        let figures = dictionary.engine.table_figures(&table);
        rows.push(vec![
            Value::UInt(table.id),
            text(&name_of(&table)),
            text("Initialized"),
            Value::UInt(figures.rows),
            Value::UInt(figures.data_bytes / page_bytes),
            Value::UInt(figures.index_bytes / page_bytes),
            Value::UInt(0),
            Value::UInt(figures.next_auto_increment),
            // The dictionary holds the table, and so does the one that counts here.
            number(Arc::strong_count(&table) - 1),
        ])?;
    }
    Ok(())
}

/// The bits of an index's `TYPE`.
mod index_type {
    pub const CLUSTERED: u64 = 1;
    pub const UNIQUE: u64 = 2;
    pub const FULL_TEXT: u64 = 32;
    pub const SPATIAL: u64 = 64;
    pub const OF_VIRTUAL_COLUMN: u64 = 128;
    pub const MULTI_VALUED: u64 = 512;
}

/// An index with what InnoDB's tables show of it.
struct ShownIndex {
    id: u64,
    name: String,
    kind: u64,
    fields: usize,
    /// `None` for an index without a tree of its own.
    root: Option<u32>,
    columns: Vec<String>,
}

/// Returns the indexes of a table: first the clustered one, then the others in order.
fn indexes_of(table: &Table) -> Vec<ShownIndex> {
    let column = |at: usize| table.def.columns[at].name.clone();
    let primary = table.index_columns(IndexRef::Primary);
    let has_primary = table.has_primary_key();
    let in_rows = stored_columns(table) + HIDDEN_COLUMNS;
    let mut shown = vec![ShownIndex {
        id: table.id << 32,
        name: if has_primary { "PRIMARY" } else { "GEN_CLUST_INDEX" }.to_owned(),
        kind: index_type::CLUSTERED | if has_primary { index_type::UNIQUE } else { 0 },
        // With a primary key there is no hidden row id.
        fields: in_rows - usize::from(has_primary),
        root: Some(table.root_page(IndexRef::Primary)),
        columns: primary.iter().map(|part| column(part.column)).collect(),
    }];
    for (at, index) in table.def.indexes.iter().enumerate() {
        let is_in = |key: &&engine::IndexColumn| index.columns.iter().any(|part| part.column == key.column);
        let key = if has_primary { primary.iter().filter(|key| !is_in(key)).count() } else { 1 };
        let is_virtual = |part: &engine::IndexColumn| table.def.columns[part.column].is_virtual();
        let mut kind = if index.unique { index_type::UNIQUE } else { 0 };
        if index.columns.iter().any(is_virtual) {
            kind |= index_type::OF_VIRTUAL_COLUMN;
        }
        if table.is_multi_valued(IndexRef::Secondary(at)) {
            kind |= index_type::MULTI_VALUED;
        }
        shown.push(ShownIndex {
            id: table.id << 32 | u64::from(index.id),
            name: index.name.clone(),
            kind,
            fields: index.columns.len() + key,
            root: Some(table.root_page(IndexRef::Secondary(at))),
            columns: index.columns.iter().map(|part| column(part.column)).collect(),
        });
    }
    // Kept indexes have no number of their own. They get those that no index of the engine has.
    for (at, index) in table.def.kept_indexes.iter().enumerate() {
        shown.push(kept(index, table.id << 32 | u64::from(u32::MAX - at as u32)));
    }
    shown
}

fn kept(index: &KeptIndex, id: u64) -> ShownIndex {
    let kind = match index.kind {
        KeptKind::FullText(_) => index_type::FULL_TEXT,
        KeptKind::Spatial { .. } => index_type::SPATIAL,
        KeptKind::Functional | KeptKind::Vector(_) => index_type::OF_VIRTUAL_COLUMN,
    };
    let columns: Vec<String> = index.parts.iter().map(|part| part.text.clone()).collect();
    ShownIndex { id, name: index.name.clone(), kind, fields: columns.len(), root: None, columns }
}

fn indexes(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for (table, file) in all_files(dictionary)? {
        for index in indexes_of(&table) {
            rows.push(vec![
                Value::UInt(index.id),
                text(&index.name),
                Value::UInt(table.id),
                Value::UInt(index.kind),
                number(index.fields),
                Value::Int(index.root.map_or(-1, i64::from)),
                Value::UInt(u64::from(file.space)),
                Value::UInt(MERGE_THRESHOLD),
            ])?;
        }
    }
    Ok(())
}

fn fields(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in all_tables(dictionary)? {
        for index in indexes_of(&table) {
            for (at, column) in index.columns.iter().enumerate() {
                rows.push(vec![text(&index.id.to_string()), text(column), number(at)])?;
            }
        }
    }
    Ok(())
}

/// Returns the actions of a foreign key as the bits that InnoDB keeps.
fn actions(key: &ForeignKeyDef) -> u64 {
    let on_delete = match key.on_delete {
        ReferentialAction::Cascade => 1,
        ReferentialAction::SetNull => 2,
        ReferentialAction::NoAction => 16,
        ReferentialAction::Restrict | ReferentialAction::SetDefault => 0,
    };
    let on_update = match key.on_update {
        ReferentialAction::Cascade => 4,
        ReferentialAction::SetNull => 8,
        ReferentialAction::NoAction => 32,
        ReferentialAction::Restrict | ReferentialAction::SetDefault => 0,
    };
    on_delete | on_update
}

fn foreign_keys(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in all_tables(dictionary)? {
        for key in &table.def.foreign_keys {
            rows.push(vec![
                text(&format!("{}/{}", table.def.schema, key.name)),
                text(&name_of(&table)),
                text(&format!("{}/{}", key.parent_schema, key.parent_table)),
                number(key.columns.len()),
                Value::UInt(actions(key)),
            ])?;
        }
    }
    Ok(())
}

fn foreign_key_columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in all_tables(dictionary)? {
        for key in &table.def.foreign_keys {
            for (at, (column, parent)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
                rows.push(vec![
                    text(&format!("{}/{}", table.def.schema, key.name)),
                    text(&table.def.columns[*column].name),
                    text(parent),
                    number(at + 1),
                ])?;
            }
        }
    }
    Ok(())
}

fn tablespaces(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    /// The size of the blocks by which files are written, in bytes.
    const BLOCK_BYTES: u64 = 4096;
    let page_bytes = dictionary.engine.pool().page_size();
    let version = dictionary.host.variable(VariableScope::Global, "version")?.unwrap_or(Value::Null);
    for (table, file) in all_files(dictionary)? {
        rows.push(vec![
            Value::UInt(u64::from(file.space)),
            text(&name_of(&table)),
            Value::UInt(SPACE_FLAGS),
            text("Dynamic"),
            number(page_bytes),
            Value::UInt(0),
            text("Single"),
            Value::UInt(BLOCK_BYTES),
            Value::UInt(file.bytes),
            Value::UInt(file.bytes),
            Value::UInt(0),
            version.clone(),
            Value::UInt(1),
            text("N"),
            text("normal"),
        ])?;
    }
    Ok(())
}

fn tablespaces_brief(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for (table, file) in all_files(dictionary)? {
        rows.push(vec![
            text(&file.space.to_string()),
            text(&name_of(&table)),
            path_of(&file),
            text(&SPACE_FLAGS.to_string()),
            text("Single"),
        ])?;
    }
    Ok(())
}

fn data_files(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for (_, file) in all_files(dictionary)? {
        rows.push(vec![text(&file.space.to_string()), path_of(&file)])?;
    }
    Ok(())
}

fn files(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for (table, file) in all_files(dictionary)? {
        let free_bytes = dictionary.engine.table_figures(&table).free_bytes;
        let mut row = vec![
            Value::UInt(u64::from(file.space)),
            path_of(&file),
            text("TABLESPACE"),
            text(&name_of(&table)),
            text(""),
        ];
        row.extend([const { Value::Null }; 4]);
        row.push(text("InnoDB"));
        row.extend([const { Value::Null }; 3]);
        row.extend(
            [free_bytes / EXTENT_BYTES, file.bytes / EXTENT_BYTES, EXTENT_BYTES, file.bytes].map(Value::UInt),
        );
        row.extend([Value::Null, Value::UInt(EXTENT_BYTES)]);
        row.extend([const { Value::Null }; 12]);
        row.push(Value::UInt(free_bytes));
        row.extend([const { Value::Null }; 4]);
        row.extend([text("NORMAL"), Value::Null]);
        rows.push(row)?;
    }
    Ok(())
}
