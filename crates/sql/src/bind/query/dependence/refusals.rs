//! The errors for expressions that may have several values in a group.

use super::bound::Bound;
use super::known::Known;
use crate::bind::Scope;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Node, TEXT_ORDER};
use crate::plan::Derivation;
use std::sync::Arc;

/// The checks of one query.
pub(super) struct Refusals<'r, 'b, 'q> {
    pub bound: &'r Bound<'b, 'q>,
    /// The query's ORDER BY matters.
    pub is_ordered: bool,
}

/// Calls `f` for each slot that must have one value in each group, until it returns false. Parts
/// that `is_right` accepts as a whole are skipped.
fn all_slots(expr: &Expr, is_right: &dyn Fn(&Expr) -> bool, f: &mut dyn FnMut(usize) -> bool) -> bool {
    match &expr.node {
        _ if is_right(expr) => true,
        Node::Slot(slot) => f(*slot),
        Node::Call { function, .. } if matches!(function.name, "any_value" | "grouping") => true,
        _ => {
            let mut children = Vec::new();
            expr.children(&mut children);
            children.into_iter().all(|child| all_slots(child, is_right, f))
        }
    }
}

/// Returns a sort key as it was written.
fn written(expr: &Expr) -> &Expr {
    match &expr.node {
        Node::Call { function, args } if **function == TEXT_ORDER && args.len() == 1 => &args[0],
        _ => expr,
    }
}

/// Returns the name of a column in a message.
fn name_of(scope: &Scope, slot: usize) -> String {
    let Some((table, column)) = scope.of_slot(slot) else { return String::new() };
    let name = &table.columns[column].name;
    match table.schema.is_empty() {
        true => format!("{}.{name}", table.alias),
        false => format!("{}.{}.{name}", table.schema, table.alias),
    }
}

impl Refusals<'_, '_, '_> {
    fn is_key(&self, slot: usize) -> bool {
        let keys = self.bound.keys.into_iter().flatten();
        keys.into_iter().any(|key| key.node == Node::Slot(slot))
    }

    /// Reports whether the query names only expressions by which it is grouped. Most queries do.
    pub fn are_all_keys(&self) -> bool {
        self.first_refused(&mut |slot| self.is_key(slot)).is_ok()
    }

    /// Returns error 1055 or 1140 for the first expression that may have several values in a group.
    pub fn check_groups(&self, derivation: &Arc<Derivation>) -> Result<()> {
        let mut known = None;
        self.first_refused(&mut |slot| {
            self.is_key(slot) || {
                let known = known.get_or_insert_with(|| Known::of_groups(derivation));
                if self.bound.rollup { known.stands_for_constant(slot) } else { known.depends(slot) }
            }
        })
        .map_err(|(place, number, slot)| self.refused(&place, number, slot))
    }

    /// Finds the first expression with a column that is not right. The error holds the name of the
    /// place, the expression's number in it counted from 1, and the slot of the column.
    fn first_refused(
        &self,
        is_right: &mut dyn FnMut(usize) -> bool,
    ) -> std::result::Result<(), (String, usize, usize)> {
        let bound = self.bound;
        let list = |place: &str| place.to_owned();
        for (at, output) in bound.items.outputs.iter().enumerate() {
            self.check(output, is_right).map_err(|slot| (list("SELECT list"), at + 1, slot))?;
        }
        let order = bound.order.iter().filter(|_| self.is_ordered).enumerate();
        for (at, key) in order {
            self.check_unlisted(written(&key.expr), is_right)
                .map_err(|slot| (list("ORDER BY clause"), at + 1, slot))?;
        }
        if let Some(having) = bound.having {
            self.check_unlisted(having, is_right).map_err(|slot| (list("HAVING clause"), 1, slot))?;
        }
        let mut result = Ok(());
        bound.windows.each_definition(&mut |name, at, expr| {
            if result.is_ok() {
                let place = || format!("PARTITION BY or ORDER BY clause of window '{name}'");
                result = self.check_unlisted(written(expr), is_right).map_err(|slot| (place(), at + 1, slot));
            }
        });
        result
    }

    /// Does what `check` does for an expression that is always allowed if the select list contains
    /// it.
    fn check_unlisted(
        &self,
        expr: &Expr,
        is_right: &mut dyn FnMut(usize) -> bool,
    ) -> std::result::Result<(), usize> {
        match self.bound.items.outputs.iter().any(|output| output.node == expr.node) {
            true => Ok(()),
            false => self.check_parts(expr, &|part| self.is_alias_of_key(part), is_right),
        }
    }

    /// Reports whether an expression is both what an alias stands for and an expression by which
    /// the query is grouped.
    fn is_alias_of_key(&self, expr: &Expr) -> bool {
        let is_it = |known: &Expr| known.node == expr.node;
        self.bound.items.aliases.iter().any(|(_, aliased)| is_it(aliased))
            && self.bound.keys.into_iter().flatten().any(is_it)
    }

    fn check(&self, expr: &Expr, is_right: &mut dyn FnMut(usize) -> bool) -> std::result::Result<(), usize> {
        self.check_parts(expr, &|_| false, is_right)
    }

    /// Finds the first column of an expression that is not right. The expression is allowed if the
    /// query is grouped by the whole of it. Parts that `is_right_part` accepts are skipped.
    fn check_parts(
        &self,
        expr: &Expr,
        is_right_part: &dyn Fn(&Expr) -> bool,
        is_right: &mut dyn FnMut(usize) -> bool,
    ) -> std::result::Result<(), usize> {
        let bound = self.bound;
        if bound.keys.into_iter().flatten().any(|key| key.node == expr.node) {
            return Ok(());
        }
        let mut refused = None;
        let mut ask = |slot: usize| {
            let is_column = slot < bound.scope.slots();
            let is_right = !is_column || is_right(slot);
            if !is_right {
                refused = Some(slot);
            }
            is_right
        };
        all_slots(expr, is_right_part, &mut |slot| {
            let args = bound.windows.args_of(slot);
            match args {
                Some(args) => args.iter().all(|arg| all_slots(arg, is_right_part, &mut ask)),
                None => ask(slot),
            }
        });
        refused.map_or(Ok(()), Err)
    }

    fn refused(&self, place: &str, number: usize, slot: usize) -> SqlError {
        let name = name_of(self.bound.scope, slot);
        match self.bound.keys {
            Some([]) => SqlError::new(
                1140,
                format!(
                    "In aggregated query without GROUP BY, expression #{number} of {place} contains nonaggregated \
                     column '{name}'; this is incompatible with sql_mode=only_full_group_by"
                ),
            ),
            _ => SqlError::new(
                1055,
                format!(
                    "Expression #{number} of {place} is not in GROUP BY clause and contains nonaggregated column \
                     '{name}' which is not functionally dependent on columns in GROUP BY clause; this is \
                     incompatible with sql_mode=only_full_group_by"
                ),
            ),
        }
    }

    /// Returns error 3065 or 3066 for an order that uses what DISTINCT has dropped. DISTINCT drops
    /// nothing if the select list contains everything by which the query is grouped.
    pub fn check_distinct(&self, is_grouped: bool) -> Result<()> {
        let bound = self.bound;
        let outputs = &bound.items.outputs;
        let is_output = |node: &Node| outputs.iter().any(|output| output.node == *node);
        let keys = bound.keys.filter(|_| is_grouped);
        let drops_nothing =
            !bound.rollup && keys.is_some_and(|keys| keys.iter().all(|key| is_output(&key.node)));
        if !bound.distinct || !self.is_ordered || drops_nothing {
            return Ok(());
        }
        for (at, key) in bound.order.iter().enumerate() {
            let expr = written(&key.expr);
            if is_output(&expr.node) {
                continue;
            }
            let mut refused = None;
            let is_alias =
                |part: &Expr| bound.items.aliases.iter().any(|(_, aliased)| aliased.node == part.node);
            all_slots(expr, &is_alias, &mut |slot| {
                let is_right = !(slot < bound.scope.slots() || bound.aggregates.contains(&slot))
                    || slot < bound.scope.slots() && is_output(&Node::Slot(slot));
                if !is_right {
                    refused = Some(slot);
                }
                is_right
            });
            let Some(slot) = refused else { continue };
            let number = at + 1;
            return Err(match bound.aggregates.contains(&slot) {
                true => SqlError::new(
                    3066,
                    format!(
                        "Expression #{number} of ORDER BY clause is not in SELECT list, contains aggregate function; \
                         this is incompatible with DISTINCT"
                    ),
                ),
                false => SqlError::new(
                    3065,
                    format!(
                        "Expression #{number} of ORDER BY clause is not in SELECT list, references column '{}' which \
                         is not in SELECT list; this is incompatible with DISTINCT",
                        name_of(bound.scope, slot)
                    ),
                ),
            });
        }
        Ok(())
    }
}

/// Returns error 3029 when the order of a query without groups contains an aggregate. The slots
/// from `first` on belong to aggregates that appear in the order only.
pub(in crate::bind::query) fn check_order_of_plain<'e>(
    order: impl Iterator<Item = &'e Expr>,
    first: usize,
) -> Result<()> {
    for (at, expr) in order.enumerate() {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        if slots.iter().any(|slot| *slot >= first) {
            let text = format!(
                "Expression #{} of ORDER BY contains aggregate function and applies to the result of a non-aggregated \
                 query",
                at + 1
            );
            return Err(SqlError::new(3029, text));
        }
    }
    Ok(())
}
