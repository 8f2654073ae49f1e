//! The definition of a table of information_schema that is computed from the dictionary: the
//! function that fills it with rows. `declared` has its columns.

use super::declared::Declared;
use crate::computed_table::ComputedRows;
use crate::error::Result;
use crate::expr::Context;
use crate::host::{Host, Sight};
use crate::memory::{Charge, growth};
use crate::sink::ColumnMeta;
use engine::{Engine, ObjectDef, Table};
use std::sync::Arc;
use types::Value;

/// A table that is computed by this crate.
pub(super) struct Definition {
    /// The name in upper case, as MySQL shows it.
    pub(super) name: &'static str,
    pub(super) fill: Fill,
}

/// Adds the rows of a table.
pub(super) type Fill = fn(&Dictionary<'_>, &mut Rows<'_>) -> Result<()>;

/// The rows of a computed table. Each is charged when it is added, after a check whether the
/// statement was interrupted, since there can be as many rows as tables, columns and indexes
/// together.
pub(super) struct Rows<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) charge: Charge,
    /// The declaration of a table that this crate computes.
    pub(super) declared: Option<&'static Declared>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl ComputedRows for Rows<'_> {
    fn put(&mut self, row: Vec<Value>) -> Result<()> {
        self.ctx.check_interrupt()?;
        self.charge.add_row(&row)?;
        growth::push(&mut self.rows, row, &mut self.charge)
    }

    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.charge.add(bytes)
    }
}

impl Rows<'_> {
    /// Adds a row that has a value for each column of the table, and gives it the columns' types.
    pub(super) fn push(&mut self, row: Vec<Value>) -> Result<()> {
        let declared = self.declared.expect("the tables of this crate are declared");
        self.put(declared.typed(row))
    }

    pub(super) fn extend(&mut self, rows: impl IntoIterator<Item = Vec<Value>>) -> Result<()> {
        rows.into_iter().try_for_each(|row| self.push(row))
    }
}

/// The source of the rows: the dictionary, as far as the session's account may see it.
pub(super) struct Dictionary<'a> {
    pub(super) engine: &'a Engine,
    pub(super) host: &'a dyn Host,
    pub(super) asked: Asked<'a>,
    pub(super) computed: ComputedTables,
}

/// How to ask for the tables that are computed when they are read, which this module is a part of.
pub(super) struct ComputedTables {
    /// Returns the names of the tables of a schema.
    pub(super) names: fn(&dyn Host, &str) -> Vec<String>,
    /// Returns the columns of a table.
    pub(super) columns: fn(&dyn Host, &str, &str) -> Option<Vec<ColumnMeta>>,
}

/// Returns the columns of a view, which are found by binding its query. It returns 1356 if the
/// query cannot be bound.
pub(crate) type ColumnsOfView<'a> = &'a dyn Fn(&ObjectDef) -> Result<Vec<ColumnMeta>>;

/// What the statement that reads a computed table asks for, and how it finds the columns of views.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) columns_of_view: ColumnsOfView<'a>,
    /// Reports whether the statement may want rows about the table with this schema and name. It
    /// saves work; rows that are not wanted do no harm.
    pub(crate) wanted: &'a dyn Fn(&str, &str) -> Result<bool>,
    /// Returns the share of a table's rows that each partition or subpartition has. `None` means
    /// that it is not known.
    pub(crate) partition_shares: &'a dyn Fn(&Table) -> Option<Vec<f64>>,
}

impl Dictionary<'_> {
    /// Returns the tables that the account may see.
    pub(super) fn tables(&self) -> Vec<Arc<Table>> {
        let mut tables = self.engine.catalog().all_tables();
        tables.retain(|table| self.sees(Sight::Table(&table.def.schema, &table.def.name)));
        tables
    }

    /// Returns the schemas and names of the tables that are computed when they are read, as far as
    /// the account may see them.
    pub(super) fn computed_tables(&self) -> Vec<(&'static str, String)> {
        let mut tables = Vec::new();
        for schema in ["information_schema", "performance_schema"] {
            let names = (self.computed.names)(self.host, schema).into_iter();
            let seen = names.filter(|name| self.sees(Sight::Table(schema, name)));
            tables.extend(seen.map(|name| (schema, name)));
        }
        tables
    }

    pub(super) fn sees_column(&self, table: &Table, column: &str) -> bool {
        self.sees(Sight::Column(&table.def.schema, &table.def.name, column))
    }

    pub(super) fn sees(&self, sight: Sight<'_>) -> bool {
        self.host.check_sight(sight).is_ok()
    }
}
