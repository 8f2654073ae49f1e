//! Errors 1093 and 1443: a statement that changes a table does not read it in its subqueries, but
//! for derived tables, which are computed first.

use crate::error::{Result, SqlError};
use crate::plan::{QueryBody, QueryPlan};
use engine::Table;

/// A stored table that a subquery reads.
#[derive(Debug)]
pub(super) struct ReadTable {
    pub schema: String,
    pub name: String,
    /// The name that it has there.
    pub alias: String,
    /// The view through which it is read.
    pub view: Option<ReadView>,
}

/// A view through which subqueries read.
#[derive(Debug, Clone)]
pub(super) struct ReadView {
    /// The name that it has there.
    pub alias: String,
    pub schema: String,
    pub name: String,
}

/// What a statement changes, as it names it.
pub(crate) struct Changed<'c> {
    pub table: &'c Table,
    pub shown: &'c str,
    /// The schema and name of the view through which it is changed.
    pub view: Option<(&'c str, &'c str)>,
}

/// The stored tables that a statement's subqueries read.
#[derive(Default)]
pub(crate) struct SubqueryReads {
    tables: Vec<ReadTable>,
}

impl SubqueryReads {
    /// Notes that a subquery reads a table.
    pub(super) fn note(&mut self, table: ReadTable) {
        self.tables.push(table);
    }

    /// The reads of a part of the statement are its own.
    pub(super) fn append(&mut self, part: SubqueryReads) {
        self.tables.extend(part.tables);
    }

    /// Notes that a derived table is bound: what it reads is read before anything is changed.
    pub(super) fn note_derived(&mut self, read_before: usize) {
        self.tables.truncate(read_before);
    }

    /// Notes that a view is bound: MySQL makes it part of the query around it where it can, and
    /// else computes it as a whole.
    pub(super) fn note_view(&mut self, view: &ReadView, plan: &QueryPlan, read_before: usize) {
        match &plan.body {
            QueryBody::Select(select) if select.is_merged() => {
                let read = self.tables.iter_mut().skip(read_before);
                read.for_each(|table| table.view = Some(view.clone()));
            }
            _ => self.tables.truncate(read_before),
        }
    }

    /// Refuses a statement that changes a table which its subqueries read.
    ///
    /// # Errors
    /// 1093; 1443 where one of them reads or changes it through a view, unless both do it through
    /// the same one.
    pub fn check_none(&self, changed: &Changed<'_>, statement: &str) -> Result<()> {
        let (table, shown) = (changed.table, changed.shown);
        let is_it = |read: &&ReadTable| read.schema == table.def.schema && read.name == table.def.name;
        let Some(read) = self.tables.iter().find(is_it) else { return Ok(()) };
        let prevents = match (&read.view, changed.view) {
            (None, None) => None,
            (Some(read), Some(view)) if (&*read.schema, &*read.name) == view => None,
            (Some(read), _) => Some(&*read.alias),
            (None, Some(_)) => Some(shown),
        };
        Err(match prevents {
            None => SqlError::new(
                1093,
                format!("You can't specify target table '{shown}' for update in FROM clause"),
            ),
            Some(view) => SqlError::new(
                1443,
                format!(
                    "The definition of table '{view}' prevents operation {statement} on table '{shown}'."
                ),
            ),
        })
    }

    /// How many tables have been found so far.
    pub fn count(&self) -> usize {
        self.tables.len()
    }

    /// Refuses ON DUPLICATE KEY UPDATE whose subqueries read the table that is changed by its own
    /// name; as in MySQL they may read it under another one. The subqueries are those that were
    /// bound when so many tables had been found.
    ///
    /// # Errors
    /// 1093.
    pub fn check_none_by_name(&self, read_before: usize, table: &Table, shown: &str) -> Result<()> {
        let is_it = |read: &ReadTable| {
            read.schema == table.def.schema && read.name == table.def.name && read.alias == shown
        };
        match self.tables.iter().skip(read_before).any(is_it) {
            false => Ok(()),
            true => Err(SqlError::new(
                1093,
                format!("You can't specify target table '{shown}' for update in FROM clause"),
            )),
        }
    }
}
