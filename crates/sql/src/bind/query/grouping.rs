//! GROUP BY: its keys, and aggregates that the ends of an index answer.

use super::super::place::Aggregates;
use super::super::{Binder, Frame, Place, Scope};
use super::clauses::{Items, position};
use crate::ast;
use crate::error::{Result, SqlError};
use crate::expr::{AggregateKind, Expr, Node};
use crate::plan::{Grouping, IndexEnds, Source, TableStep, is_padded};
use engine::{Direction, IndexRef};

pub(super) fn bind_group_by(
    binder: &mut Binder<'_>,
    select: &ast::Select,
    scope: &Scope,
    items: &Items,
    outer: Option<&Frame<'_>>,
) -> Result<Vec<Expr>> {
    let mut keys = Vec::new();
    for written in &select.group_by {
        let key = match position(written, items.outputs.len())
            .map_err(|_| SqlError::unknown_column("0", "group statement"))?
        {
            Some(at) => binder.copied(&items.outputs[at])?,
            None => {
                // A column of the tables comes before one of the select list with the same name.
                const CLAUSE: &str = "group statement";
                let bound = binder.expr(written, &mut Place::within(outer, scope, CLAUSE));
                match (bound, written) {
                    (Err(error), ast::Expr::Column { table: None, name, .. })
                        if matches!(error.code, 1052 | 1054) =>
                    {
                        binder.copied(items.named(name, CLAUSE)?.ok_or(error)?)?
                    }
                    (bound, _) => bound?,
                }
            }
        };
        keys.push(key);
    }
    Ok(keys)
}

/// Returns error 1056 when a key is an item of the select list, named by its alias or its position,
/// that has an aggregate, whose value is there only after the rows are grouped.
pub(super) fn check_no_aggregates(keys: &[Expr], aggregates: &Aggregates, items: &Items) -> Result<()> {
    let is_aggregated = |key: &&Expr| {
        let mut slots = Vec::new();
        key.slots(&mut slots);
        slots.iter().any(|slot| *slot >= aggregates.first_slot)
    };
    let Some(key) = keys.iter().find(is_aggregated) else { return Ok(()) };
    let named = items.outputs.iter().zip(&items.names).find(|(output, _)| *output == key);
    let name = named.map_or("", |(_, name)| name);
    Err(SqlError::new(1056, format!("Can't group on '{name}'")))
}

/// Returns the ends of indexes that answer a query of MIN and MAX without conditions. `None` unless
/// each argument is the first column of an index.
pub(super) fn index_ends(tables: &[TableStep], grouping: &Grouping) -> Option<IndexEnds> {
    let [TableStep { source: Source::Stored { table, .. }, base, index_use, .. }] = tables else {
        return None;
    };
    let mut ends = Vec::new();
    for aggregate in &grouping.aggregates {
        let direction = match aggregate.kind {
            AggregateKind::Min => Direction::Forward,
            AggregateKind::Max => Direction::Backward,
            _ => return None,
        };
        let Node::Slot(slot) = aggregate.args[0].node else { return None };
        let column = slot.checked_sub(*base)?;
        if index_use.pads_chars && is_padded(table.column_type(column)) {
            return None;
        }
        let starts = |index: IndexRef| {
            let first = table.index_columns(index).first();
            !table.is_multi_valued(index)
                && first.is_some_and(|part| part.column == column && part.prefix.is_none())
        };
        let secondary = (0..table.def.indexes.len()).map(IndexRef::Secondary);
        let index = std::iter::once(IndexRef::Primary).chain(secondary).find(|index| starts(*index))?;
        ends.push((index, column, direction));
    }
    Some(IndexEnds { table: table.clone(), ends })
}
