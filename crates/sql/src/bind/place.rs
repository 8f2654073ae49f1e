//! What may be bound in a place of a query, and what a subquery in it sees.

use super::scope::Scope;
use super::windows::Windows;
use crate::ast;
use crate::expr::{Aggregate, Expr, Node};
use engine::Table;
use std::cell::{Cell, RefCell};

/// What may be bound in the place at hand.
pub(crate) struct Place<'s> {
    pub scope: &'s Scope,
    /// MySQL's word for it in error 1054.
    pub clause: &'static str,
    /// Where aggregates are allowed: those of the query.
    pub aggregates: Option<&'s Aggregates>,
    /// Where functions over windows are allowed: those of the query.
    pub windows: Option<&'s Windows<'s>>,
    /// Aliases of the select list, for HAVING and ORDER BY.
    pub aliases: &'s [(String, Expr)],
    /// Aliases that only subqueries may name.
    pub shown: &'s [(String, Expr)],
    /// HAVING: the slots of the columns that may be named, those of the select list and the keys.
    pub only: Option<&'s [usize]>,
    /// What VALUES() is about.
    pub inserted: Option<Inserted<'s>>,
    /// The place of the query in the one around it.
    pub outer: Option<&'s Frame<'s>>,
}

/// The values of a row that is to be inserted.
#[derive(Clone, Copy)]
pub(crate) struct Inserted<'s> {
    pub table: &'s Table,
    /// Slot of the first value.
    pub first_slot: usize,
    /// Of a row that is put through a view: the view's columns, each with the one that it stands
    /// for.
    pub names: Option<&'s [(String, Option<usize>)]>,
}

impl Inserted<'_> {
    /// The column that a name means; `None`: there is none.
    pub fn column(&self, name: &str) -> Option<usize> {
        match self.names {
            None => self.table.def.column(name),
            Some(names) => names.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1,
        }
    }
}

/// The aggregates of a query, as they are found.
pub(crate) struct Aggregates {
    pub found: RefCell<Vec<Aggregate>>,
    /// Slot of the first.
    pub first_slot: usize,
    /// The calls as written, so that the same one is computed once.
    pub written: RefCell<Vec<ast::FunctionCall>>,
}

impl Aggregates {
    pub fn new(first_slot: usize) -> Aggregates {
        Aggregates { found: RefCell::default(), first_slot, written: RefCell::default() }
    }
}

impl<'s> Place<'s> {
    /// A place with columns and nothing else.
    pub fn new(scope: &'s Scope, clause: &'static str) -> Place<'s> {
        Place::within(None, scope, clause)
    }

    /// A place in a query that stands in another one.
    pub fn within(outer: Option<&'s Frame<'s>>, scope: &'s Scope, clause: &'static str) -> Place<'s> {
        Place {
            scope,
            clause,
            aggregates: None,
            windows: None,
            aliases: &[],
            shown: &[],
            only: None,
            inserted: None,
            outer,
        }
    }
}

/// What the rows of a query within another one are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsFor {
    /// They are a table's.
    Table,
    /// Their only one is a value.
    Value,
    /// They are looked for, or compared: how often each of them comes is nothing to anybody.
    Comparison,
}

/// The place of a subquery in the query around it, and the arguments that it gets there.
pub(crate) struct Frame<'s> {
    pub(super) scope: &'s Scope,
    clause: &'static str,
    pub(super) aggregates: Option<&'s Aggregates>,
    /// Aliases of the select list around it that may be named.
    pub(super) aliases: &'s [(String, Expr)],
    pub(super) inserted: Option<Inserted<'s>>,
    pub(super) parent: Option<&'s Frame<'s>>,
    pub(super) args: RefCell<Vec<Expr>>,
    /// What the rows of a subquery behind IN are compared with: it may look for that alone.
    pub(super) needle: Cell<Option<Expr>>,
    rows_for: Cell<RowsFor>,
}

impl<'s> Frame<'s> {
    /// Of a derived table, which sees what the query does that it is a table of: not that query's
    /// own tables, but for those before a LATERAL one.
    pub fn derived(scope: &'s Scope, parent: Option<&'s Frame<'s>>) -> Frame<'s> {
        Frame {
            scope,
            clause: "from clause",
            aggregates: None,
            aliases: &[],
            inserted: None,
            parent,
            args: RefCell::default(),
            needle: Cell::new(None),
            rows_for: Cell::new(RowsFor::Table),
        }
    }

    /// What the rows of the subquery are for.
    pub fn rows_for(&self) -> RowsFor {
        self.rows_for.get()
    }

    /// Says that the rows of the subquery are looked for, or compared.
    pub(super) fn only_compares(&self) {
        self.rows_for.set(RowsFor::Comparison);
    }

    /// The place that the subquery stands in.
    pub(super) fn place(&self) -> Place<'s> {
        Place {
            scope: self.scope,
            clause: self.clause,
            aggregates: self.aggregates,
            windows: None,
            aliases: &[],
            shown: self.aliases,
            only: None,
            inserted: self.inserted,
            outer: self.parent,
        }
    }

    /// A value of the query around as an argument: one that is there already is the same.
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

    /// Whether the subquery depends on a row around it, as far as it is bound.
    pub fn is_correlated(&self) -> bool {
        !self.args.borrow().is_empty()
    }

    /// The arguments, once the subquery is bound.
    pub fn into_args(self) -> Vec<Expr> {
        self.args.into_inner()
    }

    /// How many arguments it and those around it have.
    pub(super) fn marks(&self) -> Vec<usize> {
        let mut marks = self.parent.map_or_else(Vec::new, Frame::marks);
        marks.push(self.args.borrow().len());
        marks
    }

    /// Forgets the arguments that were added since.
    pub(super) fn forget(&self, mut marks: Vec<usize>) {
        self.args.borrow_mut().truncate(marks.pop().unwrap_or(0));
        if let Some(parent) = self.parent {
            parent.forget(marks);
        }
    }
}

impl<'s> Place<'s> {
    /// Whether the query has no tables, nor has any that it stands in.
    pub fn has_no_tables(&self) -> bool {
        self.scope.tables.is_empty() && self.outer.is_none()
    }

    /// What a subquery in this place sees.
    pub fn frame(&self) -> Frame<'s> {
        Frame {
            scope: self.scope,
            clause: self.clause,
            aggregates: self.aggregates,
            aliases: if self.aliases.is_empty() { self.shown } else { self.aliases },
            inserted: self.inserted,
            parent: self.outer,
            args: RefCell::default(),
            needle: Cell::new(None),
            rows_for: Cell::new(RowsFor::Value),
        }
    }
}
