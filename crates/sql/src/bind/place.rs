//! Places of a query: what may be bound in a place, and what a subquery in it sees.

use super::new_row::Inserted;
use super::scope::Scope;
use super::windows::Windows;
use crate::ast;
use crate::expr::{Aggregate, Expr, Node};
use std::cell::{Cell, RefCell};

/// A place of a query, and what may be bound in it.
pub(crate) struct Place<'s> {
    pub scope: &'s Scope,
    /// MySQL's word for the place in error 1054.
    pub clause: &'static str,
    /// The query's aggregates, if the place may have aggregates.
    pub aggregates: Option<&'s Aggregates>,
    /// The query's windows, if the place may have functions over windows.
    pub windows: Option<&'s Windows<'s>>,
    /// The aliases of the select list that may be named, in HAVING and ORDER BY.
    pub aliases: &'s [(String, Expr)],
    /// Whether a column hides the alias of the same name, as inside of an expression of ORDER BY.
    /// In HAVING the alias hides the column.
    pub columns_first: bool,
    /// The aliases that only subqueries may name.
    pub shown: &'s [(String, Expr)],
    /// In HAVING, the slots of the columns that may be named: those of the select list and of the
    /// keys of GROUP BY.
    pub only: Option<&'s [usize]>,
    /// The row that is to be inserted, in ON DUPLICATE KEY UPDATE.
    pub inserted: Option<Inserted<'s>>,
    /// Whether the place is in the arguments of an aggregate of the query.
    pub is_aggregated: bool,
    /// The place of the query in the query around it. `None` if it is no subquery.
    pub outer: Option<&'s Frame<'s>>,
}

/// The aggregates of a query that have been found so far.
pub(crate) struct Aggregates {
    pub found: RefCell<Vec<Aggregate>>,
    /// The slot of the first aggregate's value.
    pub first_slot: usize,
    /// The calls as they are written. A call that is written twice is computed once.
    pub written: RefCell<Vec<ast::FunctionCall>>,
}

impl Aggregates {
    pub fn new(first_slot: usize) -> Aggregates {
        Aggregates { found: RefCell::default(), first_slot, written: RefCell::default() }
    }
}

impl<'s> Place<'s> {
    /// Creates a place in which columns may be named and nothing else is allowed.
    pub fn new(scope: &'s Scope, clause: &'static str) -> Place<'s> {
        Place::within(None, scope, clause)
    }

    /// Creates a place in which columns may be named and nothing else is allowed. Its query may
    /// stand in another one, whose frame is `outer`.
    pub fn within(outer: Option<&'s Frame<'s>>, scope: &'s Scope, clause: &'static str) -> Place<'s> {
        Place {
            scope,
            clause,
            aggregates: None,
            windows: None,
            aliases: &[],
            columns_first: false,
            shown: &[],
            only: None,
            inserted: None,
            is_aggregated: false,
            outer,
        }
    }
}

/// What the rows of a query within another one are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsFor {
    /// The rows are those of a table in FROM.
    Table,
    /// The only row is a value.
    Value,
    /// The rows are searched or compared. How often the same row comes makes no difference.
    Comparison,
}

/// The place of a subquery in the query around it, and the arguments that the subquery gets there.
pub(crate) struct Frame<'s> {
    pub(super) scope: &'s Scope,
    clause: &'static str,
    pub(super) aggregates: Option<&'s Aggregates>,
    /// The aliases of the select list around the subquery that it may name.
    pub(super) aliases: &'s [(String, Expr)],
    pub(super) inserted: Option<Inserted<'s>>,
    /// Whether the subquery stands in the arguments of an aggregate.
    pub(super) is_aggregated: bool,
    pub(super) parent: Option<&'s Frame<'s>>,
    pub(super) args: RefCell<Vec<Expr>>,
    /// The left operand of the IN that the subquery is in. The subquery may search for this value
    /// alone.
    pub(super) needle: Cell<Option<Expr>>,
    rows_for: Cell<RowsFor>,
}

impl<'s> Frame<'s> {
    /// Returns the number of frames around a query, of which `outer` is the innermost.
    pub(super) fn depth(outer: Option<&Frame<'_>>) -> usize {
        std::iter::successors(outer, |frame| frame.parent).count()
    }

    /// Creates the frame of a derived table. The derived table sees what is around the query in
    /// whose FROM it stands. Of that query's own tables it sees none, unless it is LATERAL: then it
    /// sees those before it.
    pub fn derived(scope: &'s Scope, parent: Option<&'s Frame<'s>>) -> Frame<'s> {
        Frame {
            scope,
            clause: "from clause",
            aggregates: None,
            aliases: &[],
            inserted: None,
            is_aggregated: false,
            parent,
            args: RefCell::default(),
            needle: Cell::new(None),
            rows_for: Cell::new(RowsFor::Table),
        }
    }

    /// Reports whether the subquery stands in HAVING.
    pub(super) fn is_of_having(&self) -> bool {
        self.clause == "having clause"
    }

    /// Returns what the rows of the subquery are used for.
    pub fn rows_for(&self) -> RowsFor {
        self.rows_for.get()
    }

    /// Notes that the rows of the subquery are only searched or compared.
    pub(super) fn only_compares(&self) {
        self.rows_for.set(RowsFor::Comparison);
    }

    /// Returns the place in which the subquery stands.
    pub(super) fn place(&self) -> Place<'s> {
        Place {
            scope: self.scope,
            clause: self.clause,
            aggregates: self.aggregates,
            windows: None,
            aliases: &[],
            columns_first: false,
            shown: self.aliases,
            only: None,
            inserted: self.inserted,
            is_aggregated: self.is_aggregated,
            outer: self.parent,
        }
    }

    /// Makes a value of the query around the subquery an argument of the subquery. A value that is
    /// an argument already is not added again.
    pub fn argument(&self, value: Expr) -> Expr {
        let mut args = self.args.borrow_mut();
        let (ty, nullable, coercibility) = (value.ty.clone(), value.nullable, value.coercibility);
        let known = args.iter().position(|arg| *arg == value);
        let at = known.unwrap_or_else(|| {
            args.push(value);
            args.len() - 1
        });
        Expr { node: Node::Outer(at), ty, nullable, coercibility }
    }

    /// Reports whether the part of the subquery that is bound so far depends on a row of a query
    /// around it.
    pub fn is_correlated(&self) -> bool {
        !self.args.borrow().is_empty()
    }

    /// Returns the arguments, once the subquery is bound.
    pub fn into_args(self) -> Vec<Expr> {
        self.args.into_inner()
    }

    /// Returns the numbers of arguments of the subqueries around this one, outermost first, and of
    /// this one.
    pub(super) fn marks(&self) -> Vec<usize> {
        let mut marks = self.parent.map_or_else(Vec::new, Frame::marks);
        marks.push(self.args.borrow().len());
        marks
    }

    /// Removes the arguments that were added since [`Frame::marks`] returned `marks`.
    pub(super) fn forget(&self, mut marks: Vec<usize>) {
        let left = marks.pop().unwrap_or(0);
        assert!(left <= self.args.borrow().len(), "arguments are only added between marks");
        self.args.borrow_mut().truncate(left);
        if let Some(parent) = self.parent {
            parent.forget(marks);
        }
    }
}

impl<'s> Place<'s> {
    /// Reports whether neither the query nor any query around it has tables.
    pub fn has_no_tables(&self) -> bool {
        self.scope.tables.is_empty() && self.outer.is_none()
    }

    /// Returns the frame of a subquery in this place.
    pub fn frame(&self) -> Frame<'s> {
        Frame {
            scope: self.scope,
            clause: self.clause,
            aggregates: self.aggregates,
            aliases: if self.aliases.is_empty() { self.shown } else { self.aliases },
            inserted: self.inserted,
            is_aggregated: self.is_aggregated,
            parent: self.outer,
            args: RefCell::default(),
            needle: Cell::new(None),
            rows_for: Cell::new(RowsFor::Value),
        }
    }
}
