//! FROM and WHERE of a SELECT before its tables are joined with those of the queries in it.

use super::rows::asked;
use crate::bind::query::joined_tables::From;
use crate::bind::{Binder, NODE_BYTES};
use crate::error::Result;
use crate::expr::{Expr, Node, SubqueryUse};
use crate::plan::{Derivation, JoinTree, Leaf, Made, Origin, QueryBody, QueryPlan, Source};
use std::sync::Arc;

/// FROM and WHERE as they are written.
pub(in crate::bind::query) struct Written {
    tables: Vec<Origin>,
    tree: Option<JoinTree>,
    filter: Vec<Expr>,
    asked: Vec<(usize, Arc<Derivation>)>,
    constants: Vec<usize>,
}

/// Reports whether a query's tables may be joined with those of the queries in it, which changes
/// FROM and WHERE.
pub(in crate::bind::query) fn has_queries(from: &From, filter: &[Expr]) -> bool {
    let is_query = |leaf: &Leaf| matches!(leaf.source, Source::Derived(_) | Source::Subquery(_));
    let mut found = from.tables.iter().any(is_query);
    filter.iter().for_each(|condition| {
        condition.visit(&mut |part| {
            found |= matches!(part.node, Node::Subquery { .. } | Node::Quantified(_) | Node::RowSubquery(_));
        });
    });
    found
}

impl Written {
    /// Copies FROM and WHERE of the SELECT that is being bound.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub fn of(binder: &mut Binder<'_>, from: &mut From, filter: &[Expr]) -> Result<Written> {
        let mut bytes = from.tables.len() * size_of::<Origin>();
        let mut charge = |expr: &Expr| {
            expr.visit(&mut |part| bytes += NODE_BYTES + part.constant_bytes());
        };
        filter.iter().for_each(&mut charge);
        from.tree.iter().for_each(|tree| each_condition(tree, &mut charge));
        binder.may_make(bytes)?;
        let tables = from.tables.iter_mut().map(|leaf| origin(binder, leaf)).collect();
        let mut written = Written {
            tables,
            tree: from.tree.clone(),
            filter: filter.to_vec(),
            asked: Vec::new(),
            constants: Vec::new(),
        };
        filter.iter().for_each(|condition| written.note_subqueries(binder, condition));
        if let Some(tree) = &from.tree {
            each_condition(tree, &mut |condition| written.note_subqueries(binder, condition));
        }
        Ok(written)
    }

    /// Notes what is known of the subqueries in a condition.
    fn note_subqueries(&mut self, binder: &mut Binder<'_>, condition: &Expr) {
        if let Some((call, _)) = asked(condition, false)
            && let Some(derivation) = taken(&mut binder.subqueries[call.number].plan)
        {
            self.asked.push((call.number, derivation));
        }
        condition.visit(&mut |part| {
            if let Node::Subquery { call, what: SubqueryUse::Scalar } = &part.node {
                let subquery = &binder.subqueries[call.number];
                if !subquery.plan.reads_tables()
                    && !subquery.varies
                    && !subquery.reads_variables
                    && call.args.is_empty()
                {
                    self.constants.push(call.number);
                }
            }
        });
    }

    /// Adds FROM and WHERE to the rest of a description of a SELECT.
    pub fn derivation(self, rest: Derivation) -> Derivation {
        let Written { tables, tree, filter, asked, constants } = self;
        let leaves = |query: &Derivation| query.leaves;
        let of_tables = tables.iter().map(|origin| match &origin.made {
            Made::Query(query, _) if query.merges => leaves(query),
            _ => 1,
        });
        let of_asked = asked.iter().map(|(_, query)| leaves(query));
        let leaves = of_tables.chain(of_asked).fold(0, usize::saturating_add);
        Derivation { tables, tree, filter, asked, constants, leaves, ..rest }
    }
}

/// Returns the description of how a query produces its rows from the query's plan.
fn taken(plan: &mut QueryPlan) -> Option<Arc<Derivation>> {
    match &mut plan.body {
        QueryBody::Select(select) => select.derivation.clone(),
        _ => None,
    }
}

fn origin(binder: &mut Binder<'_>, leaf: &mut Leaf) -> Origin {
    let of = |derivation: Option<Arc<Derivation>>, args: &[Expr]| match derivation {
        Some(derivation) => Made::Query(derivation, args.to_vec()),
        None => Made::Unknown,
    };
    let made = match &mut leaf.source {
        Source::Stored { table, .. } => Made::Stored(table.clone()),
        Source::Derived(plan) => {
            let derivation = taken(plan);
            plan.forget_derivation();
            of(derivation, &[])
        }
        Source::Subquery(call) => of(taken(&mut binder.subqueries[call.number].plan), &call.args),
        Source::Virtual { .. } | Source::JsonTable(_) => Made::Unknown,
    };
    Origin { base: leaf.base, columns: leaf.columns, made }
}

fn each_condition(tree: &JoinTree, f: &mut dyn FnMut(&Expr)) {
    if let JoinTree::Join { left, right, on, .. } = tree {
        on.iter().for_each(&mut *f);
        each_condition(left, f);
        each_condition(right, f);
    }
}
