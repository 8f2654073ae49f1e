//! GROUP BY: its keys, what may stand beside them, and groups that an index answers.

use super::super::{Binder, Frame, Place, Scope};
use super::clauses::{Items, position};
use crate::ast;
use crate::bind::windows::Windows;
use crate::error::{Result, SqlError};
use crate::expr::{AggregateKind, Expr, Node};
use crate::plan::{Grouping, IndexEnds, Source, TableStep};
use engine::{Direction, IndexRef};
use std::collections::HashSet;

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
                // A column of the tables before an alias.
                let bound = binder.expr(written, &mut Place::within(outer, scope, "group statement"));
                match (bound, written) {
                    (Err(error), ast::Expr::Column { table: None, name, .. }) if error.code == 1054 => {
                        let alias = items.aliases.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
                        binder.copied(alias.map(|(_, expr)| expr).ok_or(error)?)?
                    }
                    (bound, _) => bound?,
                }
            }
        };
        keys.push(key);
    }
    Ok(keys)
}

/// ONLY_FULL_GROUP_BY: a column in the select list is a key, or depends on keys that are a table's
/// whole primary key.
pub(super) fn check_full_group_by(
    binder: &Binder<'_>,
    grouping: &Grouping,
    items: &Items,
    scope: &Scope,
    windows: &Windows<'_>,
) -> Result<()> {
    if !binder.variables.sql_mode.only_full_group_by() {
        return Ok(());
    }
    let key_slots: HashSet<usize> = grouping
        .keys
        .iter()
        .filter_map(|key| match key.node {
            Node::Slot(slot) => Some(slot),
            _ => None,
        })
        .collect();
    let determined = |slot: usize| {
        scope.of_slot(slot).is_some_and(|(table, _)| {
            let primary = |flags: u16| flags & crate::sink::column_flag::PRI_KEY != 0;
            let mut parts =
                table.columns.iter().enumerate().filter(|(_, column)| primary(column.flags)).peekable();
            parts.peek().is_some() && parts.all(|(at, _)| key_slots.contains(&(table.base + at)))
        })
    };
    let is_key = |expr: &Expr| grouping.keys.iter().any(|key| key.node == expr.node);
    for (at, expr) in items.outputs.iter().enumerate() {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        let mut behind = Vec::new();
        slots.iter().for_each(|slot| windows.behind_slot(*slot, &mut behind));
        slots.append(&mut behind);
        slots.retain(|slot| *slot < scope.slots() && !key_slots.contains(slot) && !determined(*slot));
        let Some(slot) = slots.first() else { continue };
        binder.check_interrupt()?;
        if is_key(expr) || matches!(&expr.node, Node::Call { function, .. } if function.name == "any_value") {
            continue;
        }
        let (table, column) = match scope.of_slot(*slot) {
            Some(found) => found,
            None => continue,
        };
        let name = format!("{}.{}.{}", table.schema, table.org_table, table.columns[column].org_name);
        let number = at + 1;
        return Err(if grouping.keys.is_empty() {
            SqlError::new(
                1140,
                format!(
                    "In aggregated query without GROUP BY, expression #{number} of SELECT list contains nonaggregated \
                     column '{name}'; this is incompatible with sql_mode=only_full_group_by"
                ),
            )
        } else {
            SqlError::new(
                1055,
                format!(
                    "Expression #{number} of SELECT list is not in GROUP BY clause and contains nonaggregated column \
                     '{name}' which is not functionally dependent on columns in GROUP BY clause; this is \
                     incompatible with sql_mode=only_full_group_by"
                ),
            )
        });
    }
    Ok(())
}

/// MIN and MAX without conditions, of columns that indexes start with.
pub(super) fn index_ends(tables: &[TableStep], grouping: &Grouping) -> Option<IndexEnds> {
    let [TableStep { source: Source::Stored { table, .. }, base, .. }] = tables else { return None };
    let mut ends = Vec::new();
    for aggregate in &grouping.aggregates {
        let direction = match aggregate.kind {
            AggregateKind::Min => Direction::Forward,
            AggregateKind::Max => Direction::Backward,
            _ => return None,
        };
        let Node::Slot(slot) = aggregate.args[0].node else { return None };
        let column = slot.checked_sub(*base)?;
        let starts = |index: IndexRef| {
            table
                .index_columns(index)
                .first()
                .is_some_and(|part| part.column == column && part.prefix.is_none())
        };
        let secondary = (0..table.def.indexes.len()).map(IndexRef::Secondary);
        let index = std::iter::once(IndexRef::Primary).chain(secondary).find(|index| starts(*index))?;
        ends.push((index, column, direction));
    }
    Some(IndexEnds { table: table.clone(), ends })
}
