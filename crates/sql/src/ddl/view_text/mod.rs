//! Prints a view's query as MySQL and MariaDB show it: with `*` expanded, with all names in full,
//! and with operations in their form.
//!
//! The view keeps this text, so that columns that its tables get later are not the view's. A query
//! that names what is not there cannot be printed; it stays as it was written, which is also what
//! the binary log has.

mod expr;
mod from;
mod function;
mod literal;
mod names;
mod negation;
mod predicate;
mod printed;
mod query;
mod scope;
mod set_operation;
mod window;

use crate::ast::{Query, QueryBody, SelectItem, ViewDetails};
use crate::host::Host;
use engine::Catalog;
use scope::Around;
use std::cell::Cell;

pub(super) use names::check_column_names;
pub(super) use scope::same;

/// A query as it is shown, and the names of its columns.
pub(super) struct ViewText {
    pub query: String,
    pub columns: Vec<String>,
}

/// The context in which a view's names are looked up.
#[derive(Clone)]
pub(super) struct ViewNames<'a> {
    pub catalog: &'a Catalog,
    /// The computed tables.
    pub host: Option<&'a dyn Host>,
    /// The schema of the view, which the text does not repeat.
    pub schema: &'a str,
    /// The schema of names without one.
    pub current: Option<&'a str>,
    /// The character set of the connection, which CAST AS CHAR has if it names none.
    pub charset: &'a str,
    /// The collation of the connection, which the texts of JSON_TABLE have.
    pub collation: &'a str,
    pub of_mariadb: bool,
    /// The number of columns that `*` may still stand for, in all of the text.
    pub stars: Cell<usize>,
}

/// The greatest number of columns that the stars of a query may stand for. With more, a short
/// statement would make a text that fills the memory.
pub(super) const MOST_STARRED_COLUMNS: usize = 1_000_000;

/// The use of a query, on which it depends how its columns are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The columns have names: a view, a derived or a common table.
    Table,
    /// The columns have no names: a subquery in an expression.
    Value,
    /// Only the rows matter.
    Exists,
}

impl ViewNames<'_> {
    /// Prints the query of a view. Returns `None` if a name in it is unknown or ambiguous, or
    /// if its stars stand for too many columns.
    pub fn print(&self, query: &Query) -> Option<ViewText> {
        let named = names::with_unique_names(query);
        let term = self.query(named.as_ref().unwrap_or(query), Use::Table, &Around::default())?;
        Some(ViewText { query: term.text(), columns: term.columns })
    }

    /// Prints the query of a view with a list of column names, so that the query's columns have
    /// these names.
    pub fn print_as(&self, view: &ViewDetails) -> Option<String> {
        let mut query = view.query.as_deref()?.clone();
        let QueryBody::Select(select) = &mut query.body else { return None };
        let mut names = view.columns.iter();
        for item in &mut select.items {
            let SelectItem::Expr { alias, .. } = item else { return None };
            *alias = Some(names.next()?.clone());
        }
        self.print(&query).filter(|_| names.next().is_none()).map(|printed| printed.query)
    }
}
