//! Checks that a written row belongs to a partition of its table, and to one of the partitions that
//! the statement names with PARTITION (...).

use super::compiled::{Compiled, compile};
use crate::bind::{Binder, Scope};
use crate::ddl::{chosen_condition, condition_of_any};
use crate::error::{Result, SqlError};
use crate::expr::{Context, truth};
use engine::{Partitioning, TableDef};
use types::Value;

/// The conditions that a row meets if it belongs to a permitted partition.
pub(super) struct Placement {
    /// The condition that some partition takes the row. `None` means that every row has a
    /// partition.
    any: Option<Compiled>,
    /// The partitioning expression, whose value error 1526 shows. `None` means that the table is
    /// partitioned by columns.
    value: Option<Compiled>,
    /// The condition that the row belongs to one of the partitions that the statement names. `None`
    /// means that it names none.
    chosen: Option<Compiled>,
}

impl Placement {
    /// Compiles the conditions for the rows of a table. Returns `None` when there is nothing to
    /// check.
    pub fn of(
        binder: &mut Binder<'_>,
        scope: &Scope,
        def: &TableDef,
        chosen: &[String],
    ) -> Result<Option<Placement>> {
        let whose = "the table's partitions";
        let chosen = match chosen {
            [] => None,
            names => Some(compile(binder, scope, &chosen_condition(def, names)?, whose)),
        };
        let any = def.partitioning.as_ref().and_then(condition_of_any);
        let any = any.map(|text| compile(binder, scope, &text, whose));
        if any.is_none() && chosen.is_none() {
            return Ok(None);
        }
        let expression = |of: &Partitioning| of.by.expression.clone();
        let expression = def.partitioning.as_ref().and_then(expression);
        let value = expression.map(|text| compile(binder, scope, &text, whose));
        Ok(Some(Placement { any, value, chosen }))
    }

    /// Checks that a row may be stored.
    ///
    /// # Errors
    /// Returns 1526 when no partition takes the row, and 1748 when none of the named partitions
    /// does.
    pub fn check(&self, values: &[Value], ctx: &Context<'_>) -> Result<()> {
        let holds = |condition: &Option<Compiled>| match condition {
            None => Ok(true),
            Some(condition) => {
                let value = condition.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?;
                Ok::<bool, SqlError>(truth(&value, ctx) == Some(true))
            }
        };
        if !holds(&self.any)? {
            let shown = match &self.value {
                None => "from column_list".to_owned(),
                Some(value) => {
                    let value = value.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?;
                    let text = value.text_bytes(None).map(|text| String::from_utf8_lossy(&text).into_owned());
                    text.unwrap_or_else(|| "NULL".to_owned())
                }
            };
            return Err(SqlError::new(1526, format!("Table has no partition for value {shown}")));
        }
        match holds(&self.chosen)? {
            true => Ok(()),
            false => Err(SqlError::new(1748, "Found a row not matching the given partition set")),
        }
    }
}
