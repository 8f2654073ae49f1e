//! The indexes that full-text searches of a query use.

use crate::ast::BinaryOp;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Match, Node, SearchedIndex, no_index};
use crate::plan::{JoinTree, Leaf, Source};
use engine::{KeptKind, Table};

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
        Some(Source::Stored { table, .. }) => {
            let is_ngram = parser_of(table, &columns).ok_or_else(no_index)?;
            Ok(SearchedIndex { table: table.clone(), columns, is_ngram })
        }
        _ => Err(SqlError::new(1214, "The used table type doesn't support FULLTEXT indexes")),
    }
}

/// Whether the index over just these columns, in any order, has the ngram parser; `None`: there is
/// no such index.
fn parser_of(table: &Table, columns: &[usize]) -> Option<bool> {
    let mut wanted = columns.to_vec();
    wanted.sort_unstable();
    table.def.kept_indexes.iter().find_map(|index| {
        let KeptKind::FullText(parser) = &index.kind else { return None };
        let mut parts: Vec<usize> = index
            .parts
            .iter()
            .filter_map(|part| {
                let name = part.text.trim_matches('`').replace("``", "`");
                table.def.columns.iter().position(|column| column.name.eq_ignore_ascii_case(&name))
            })
            .collect();
        parts.sort_unstable();
        (parts == wanted)
            .then(|| parser.as_deref().is_some_and(|parser| parser.eq_ignore_ascii_case("ngram")))
    })
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
