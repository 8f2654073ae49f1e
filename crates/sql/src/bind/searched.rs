//! The indexes that full-text searches of a query use.

use crate::ast::BinaryOp;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Match, Node, SearchedIndex, no_index};
use crate::plan::{JoinTree, Leaf, Source};
use engine::{EntryRule, KeptKind, Table};
use std::sync::Arc;

/// Finds the index of each search in these expressions among the tables of their query.
///
/// # Errors
/// 1210 for columns of several tables; 1214 for those of a table that is computed; 1191 where there
/// is no index over just these columns.
pub(super) fn resolve<'e>(leaves: &[Leaf], mut exprs: impl Iterator<Item = &'e mut Expr>) -> Result<()> {
    exprs.try_for_each(|expr| {
        let mut result = Ok(());
        expr.change(&mut |expr| {
            if let Node::Match(searched) = &mut expr.node
                && result.is_ok()
            {
                result = index_of(searched, leaves).map(|index| searched.index = Some(index));
            }
        });
        result
    })
}

/// As [`resolve`], of the conditions of joins.
pub(super) fn resolve_joins(leaves: &[Leaf], tree: &mut JoinTree) -> Result<()> {
    match tree {
        JoinTree::Table(_) => Ok(()),
        JoinTree::Join { left, right, on, .. } => {
            resolve_joins(leaves, left)?;
            resolve_joins(leaves, right)?;
            resolve(leaves, on.iter_mut())
        }
    }
}

fn index_of(searched: &Match, leaves: &[Leaf]) -> Result<SearchedIndex> {
    let mut found: Option<&Leaf> = None;
    let mut columns = Vec::with_capacity(searched.columns().len());
    for column in searched.columns() {
        let Node::Slot(slot) = column.node else {
            return Err(SqlError::new(1210, "Incorrect arguments to MATCH"));
        };
        let own = |leaf: &&Leaf| (leaf.base..leaf.base + leaf.columns).contains(&slot);
        let Some(leaf) = leaves.iter().find(own) else { return Err(no_index()) };
        if found.is_some_and(|other| other.base != leaf.base) {
            return Err(SqlError::new(1210, "Incorrect arguments to MATCH"));
        }
        columns.push(slot - leaf.base);
        found = Some(leaf);
    }
    match found.map(|leaf| &leaf.source) {
        Some(Source::Stored { table, .. }) => index_over(table, columns).ok_or_else(no_index),
        _ => Err(SqlError::new(1214, "The used table type doesn't support FULLTEXT indexes")),
    }
}

/// Returns the FULLTEXT index over just these columns, in any order.
fn index_over(table: &Arc<Table>, columns: Vec<usize>) -> Option<SearchedIndex> {
    let mut wanted = columns.clone();
    wanted.sort_unstable();
    let (at, index, parser, parts) = table.def.kept_indexes.iter().enumerate().find_map(|(at, index)| {
        let KeptKind::FullText(parser) = &index.kind else { return None };
        let parts = table.def.kept_columns(index)?;
        let mut sorted = parts.clone();
        sorted.sort_unstable();
        (sorted == wanted).then_some((at, index, parser, parts))
    })?;
    let is_ngram = parser.as_deref().is_some_and(|parser| parser.eq_ignore_ascii_case("ngram"));
    let sizes = index.entries.as_ref().and_then(|entries| match entries.rule {
        EntryRule::Words { sizes, .. } => Some(sizes),
        EntryRule::Cells(_) => None,
    });
    let entries = sizes.zip(table.def.entries_of(at));
    let collation = table.column_type(*parts.first()?).collation;
    let name = index.name.clone();
    Some(SearchedIndex { table: table.clone(), name, columns, collation, is_ngram, entries })
}

/// The search by whose relevance the rows come that a condition leaves, where nothing else orders
/// them: MySQL reads them from the index then.
pub(super) fn order_of(conditions: &[Expr]) -> Option<&Expr> {
    conditions.iter().find_map(|condition| match &condition.node {
        Node::Match(_) => Some(condition),
        Node::Compare { op: BinaryOp::Greater | BinaryOp::GreaterEqual, operands, .. }
            if matches!(operands[0].node, Node::Match(_)) =>
        {
            Some(&operands[0])
        }
        Node::Compare { op: BinaryOp::Less | BinaryOp::LessEqual, operands, .. }
            if matches!(operands[1].node, Node::Match(_)) =>
        {
            Some(&operands[1])
        }
        _ => None,
    })
}
