//! information_schema, and the other schemas whose tables are computed when they are read.
//!
//! What the dictionary knows is computed here; the rest is the host's.

mod columns;
mod constraints;
mod objects;

pub(crate) use columns::{default_of, extra_of, index_rows, key_of};
pub(crate) use objects::{character_sets, collations, engine_row, status_of};

use crate::bind::{decimals, type_flags};
use crate::error::Result;
use crate::host::{Host, Sight, VirtualTable};
use crate::sink::{ColumnMeta, column_flag};
use engine::{Engine, Table};
use std::sync::Arc;
use types::{ColumnType, Value, collation};

/// A computed table of this crate.
struct Definition {
    /// In upper case, as MySQL shows it.
    name: &'static str,
    columns: &'static [(&'static str, Kind)],
    rows: fn(&Dictionary<'_>) -> Vec<Vec<Value>>,
}

/// What the tables tell of: the dictionary, as far as the session's account sees it.
struct Dictionary<'a> {
    engine: &'a Engine,
    host: &'a dyn Host,
}

impl Dictionary<'_> {
    /// The tables that the account sees.
    fn tables(&self) -> Vec<Arc<Table>> {
        let mut tables = self.engine.catalog().all_tables();
        tables.retain(|table| self.sees(Sight::Table(&table.def.schema, &table.def.name)));
        tables
    }

    fn sees_column(&self, table: &Table, column: &str) -> bool {
        self.sees(Sight::Column(&table.def.schema, &table.def.name, column))
    }

    fn sees(&self, sight: Sight<'_>) -> bool {
        self.host.check_sight(sight).is_ok()
    }
}

/// The types that the columns have.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Name,
    Long,
    Number,
    Time,
}

impl Kind {
    fn ty(self) -> ColumnType {
        match self {
            Kind::Name => ColumnType::varchar(64, collation::UTF8MB3_GENERAL_CI),
            Kind::Long => ColumnType::longtext(collation::UTF8MB3_GENERAL_CI),
            Kind::Number => ColumnType::bigint(true),
            Kind::Time => ColumnType::datetime(0),
        }
    }
}

const TABLES: &[&[Definition]] = &[objects::TABLES, columns::TABLES, constraints::TABLES];

/// Whether a schema has no stored tables of users.
pub(crate) fn is_virtual_schema(schema: &str) -> bool {
    ["information_schema", "performance_schema", "sys"].iter().any(|name| schema.eq_ignore_ascii_case(name))
}

fn find(schema: &str, table: &str) -> Option<&'static Definition> {
    if !schema.eq_ignore_ascii_case("information_schema") {
        return None;
    }
    TABLES.iter().flat_map(|tables| tables.iter()).find(|known| known.name.eq_ignore_ascii_case(table))
}

/// Whether a table is a view in MySQL. ENGINES is none, nor are those that the host computes.
pub(crate) fn is_view_in_mysql(schema: &str, table: &str) -> bool {
    find(schema, table).is_some_and(|definition| definition.name != "ENGINES")
}

/// A nullable column of a computed result.
pub(crate) fn column_meta(name: &str, ty: ColumnType, nullable: bool) -> ColumnMeta {
    ColumnMeta {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_owned(),
        org_name: name.to_owned(),
        flags: type_flags(&ty) | if nullable { 0 } else { column_flag::NOT_NULL },
        decimals: decimals(&ty),
        ty,
    }
}

fn metas(definition: &Definition) -> Vec<ColumnMeta> {
    definition.columns.iter().map(|(name, kind)| column_meta(name, kind.ty(), true)).collect()
}

/// The columns of a computed table; `None` when there is no such table.
pub(crate) fn columns_of(host: &dyn Host, schema: &str, table: &str) -> Option<Vec<ColumnMeta>> {
    if let Some(definition) = find(schema, table) {
        return Some(metas(definition));
    }
    host.virtual_table(&schema.to_lowercase(), &table.to_lowercase()).map(|table| table.columns)
}

/// The columns and rows of a computed table.
pub(crate) fn read(engine: &Engine, host: &dyn Host, schema: &str, table: &str) -> Result<VirtualTable> {
    if let Some(definition) = find(schema, table) {
        return Ok(VirtualTable {
            columns: metas(definition),
            rows: (definition.rows)(&Dictionary { engine, host }),
        });
    }
    host.virtual_table(schema, table).ok_or_else(|| crate::SqlError::no_such_table(schema, table))
}

/// The names of a schema's computed tables, as SHOW TABLES lists them.
pub(crate) fn names(host: &dyn Host, schema: &str) -> Vec<String> {
    let mut names = host.virtual_tables(&schema.to_lowercase());
    if schema.eq_ignore_ascii_case("information_schema") {
        names.extend(TABLES.iter().flat_map(|tables| tables.iter()).map(|known| known.name.to_owned()));
        names.iter_mut().for_each(|name| name.make_ascii_uppercase());
    }
    names.sort();
    names.dedup();
    names
}
