//! information_schema, and the other schemas whose tables are computed when they are read.
//!
//! Tables about the dictionary are computed here. The host computes the others.

mod buffer_pool;
mod columns;
mod constraints;
mod declared;
mod default_text;
mod definition;
mod extensions;
mod fixed;
mod innodb;
mod innodb_columns;
mod objects;
mod partitions;
pub(crate) mod stored;
pub(crate) mod view_columns;
mod view_usage;

pub use buffer_pool::compressed_page_sizes;
pub(crate) use columns::{extra_of, index_rows, key_of};
pub(crate) use declared::{Declared, DeclaredColumn, find as declared};
pub(crate) use default_text::default_of;
pub(crate) use objects::{character_sets, collations, engine_row, status_of, status_of_view, table_type};

use crate::error::Result;
use crate::expr::Context;
use crate::host::Host;
use crate::memory::Charge;
use crate::sink::ColumnMeta;
use declared::Arranged;
pub(crate) use definition::Asked;
use definition::{ComputedTables, Definition, Dictionary, Rows};
use types::Value;

const TABLES: &[&[Definition]] = &[
    buffer_pool::TABLES,
    columns::TABLES,
    constraints::TABLES,
    extensions::TABLES,
    fixed::TABLES,
    innodb::TABLES,
    innodb_columns::TABLES,
    objects::TABLES,
    partitions::TABLES,
    stored::TABLES,
    view_usage::TABLES,
];

/// Reports whether a schema is one in which users have no stored tables.
pub(crate) fn is_virtual_schema(schema: &str) -> bool {
    ["information_schema", "performance_schema"].iter().any(|name| schema.eq_ignore_ascii_case(name))
}

fn find(schema: &str, table: &str) -> Option<&'static Definition> {
    if !schema.eq_ignore_ascii_case("information_schema") {
        return None;
    }
    TABLES.iter().flat_map(|tables| tables.iter()).find(|known| known.name.eq_ignore_ascii_case(table))
}

/// Reports whether a table of `information_schema` is a view in MySQL.
pub(crate) fn is_view_in_mysql(schema: &str, table: &str) -> bool {
    declared(schema, table).is_some_and(|declared| declared.is_view)
}

/// Returns the names of the columns of a table that MySQL declares. `None` if there is no such
/// table.
pub(crate) fn declared_columns_of(schema: &str, table: &str) -> Option<Vec<String>> {
    declared(schema, table).map(|table| table.columns.iter().map(|column| column.name.to_owned()).collect())
}

/// Reports whether MySQL lets TRUNCATE TABLE empty this table of `performance_schema`. `None` means
/// that MySQL has no such table.
pub fn can_be_truncated(schema: &str, table: &str) -> Option<bool> {
    declared(schema, table).map(|declared| declared.can_be_truncated)
}

/// Returns the columns of a computed table. `None` if there is no such table.
pub(crate) fn columns_of(host: &dyn Host, schema: &str, table: &str) -> Option<Vec<ColumnMeta>> {
    if let Some(declared) = declared(schema, table) {
        return Some(declared.metas());
    }
    host.virtual_table(&schema.to_lowercase(), &table.to_lowercase()).map(|table| table.columns)
}

/// Returns the rows of a computed table, with the charge for their memory.
pub(crate) fn read(
    ctx: &Context<'_>,
    asked: Asked<'_>,
    charge: Charge,
    schema: &str,
    table: &str,
) -> Result<(Vec<Vec<Value>>, Charge)> {
    let computed = ComputedTables { names, columns: columns_of };
    let dictionary = Dictionary { engine: ctx.engine, host: ctx.host, asked, computed };
    let declared = declared(schema, table);
    let mut rows = Rows { ctx, charge, declared, rows: Vec::new() };
    if let Some(definition) = find(schema, table) {
        (definition.fill)(&dictionary, &mut rows)?;
    } else {
        match (ctx.host.virtual_table(schema, table), declared) {
            (Some(computed), Some(declared)) => {
                let columns = computed.columns.clone();
                computed.fill(&mut Arranged::new(declared, &columns, &mut rows))?;
            }
            (Some(computed), None) => computed.fill(&mut rows)?,
            (None, Some(_)) => {}
            (None, None) => return Err(crate::SqlError::no_such_table(schema, table)),
        }
    }
    Ok((rows.rows, rows.charge))
}

/// Returns the names of a schema's computed tables, as SHOW TABLES lists them.
pub(crate) fn names(host: &dyn Host, schema: &str) -> Vec<String> {
    let mut names = host.virtual_tables(&schema.to_lowercase());
    names.extend(declared::names(schema));
    if schema.eq_ignore_ascii_case("information_schema") {
        names.iter_mut().for_each(|name| name.make_ascii_uppercase());
    }
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_computed_here_are_declared_and_defined_once() {
        let mut names: Vec<&str> =
            TABLES.iter().flat_map(|tables| tables.iter()).map(|known| known.name).collect();
        for name in &names {
            assert!(declared("information_schema", name).is_some(), "{name}");
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
