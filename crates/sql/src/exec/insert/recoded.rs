//! Values that are text where they come from and bytes in their column, or the other way round.

use crate::expr::{converted, is_stored_otherwise, is_text, text_of};
use crate::plan::QueryPlan;
use crate::variables::Variables;
use engine::Table;
use types::{ColumnType, Value};

/// The values of one column, which come in one character set and are stored in another.
pub(in crate::exec) struct Recoded {
    /// The place of the value in the row that comes.
    place: usize,
    from: ColumnType,
    to: ColumnType,
}

impl Recoded {
    /// Those of a query's rows. `columns` are the columns of the table that its values are for.
    pub fn of_query(plan: &QueryPlan, table: &Table, columns: &[usize]) -> Vec<Recoded> {
        all(plan.columns.iter().map(|column| &column.ty), table, columns)
    }

    /// Those of literals, which are in the connection's character set.
    pub fn of_literals(variables: &Variables, table: &Table, columns: &[usize]) -> Vec<Recoded> {
        let literal = ColumnType::varchar(0, variables.connection_collation);
        all(std::iter::repeat_n(&literal, columns.len()), table, columns)
    }

    /// Sets the value in a row to what its column stores.
    pub fn apply(&self, row: &mut [Value]) {
        let value = &mut row[self.place];
        if !matches!(value, Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. }) {
            return;
        }
        if let Some(stored) = converted(&text_of(value), &self.from, &self.to) {
            *value = Value::Bytes(stored);
        }
    }
}

fn all<'t>(from: impl Iterator<Item = &'t ColumnType>, table: &Table, columns: &[usize]) -> Vec<Recoded> {
    let to = columns.iter().map(|at| &table.def.columns[*at].ty);
    let pairs = from.zip(to).enumerate();
    pairs
        .filter(|(_, (from, to))| is_text(to) && is_stored_otherwise(from, to.collation))
        .map(|(place, (from, to))| Recoded { place, from: from.clone(), to: to.clone() })
        .collect()
}
