//! Whether a row that a client writes belongs to some partition of its table, and to those that the
//! statement chose.

use super::compiled::{Compiled, compile};
use crate::bind::{Binder, Scope};
use crate::ddl::{chosen_condition, condition_of_any};
use crate::error::{Result, SqlError};
use crate::expr::{Context, truth};
use engine::{Partitioning, TableDef};
use types::Value;

/// The conditions that a row's partition must meet.
pub(super) struct Placement {
    /// That the row belongs to some partition; `None`: each row does.
    any: Option<Compiled>,
    /// The partitioning expression, for the words of an error; `None`: it is over columns.
    value: Option<Compiled>,
    /// That it belongs to the partitions that were chosen; `None`: none were.
    chosen: Option<Compiled>,
}

impl Placement {
    /// Of a partitioned table's rows; `None` where nothing is asked of them.
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

    /// Error 1526 where the row belongs to no partition, 1748 where to none that was chosen.
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
