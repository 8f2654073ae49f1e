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

impl ReadTable {
    fn is_of(&self, table: &Table) -> bool {
        self.schema == table.def.schema && self.name == table.def.name
    }
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
        match self.tables.iter().find(|read| read.is_of(changed.table)) {
            Some(read) => Err(refused(read, changed, statement)),
            None => Ok(()),
        }
    }

    /// As [`SubqueryReads::check_none`], of an INSERT: as in MySQL its subqueries may read the
    /// table under another name, and see the rows that the statement has put there before.
    ///
    /// # Errors
    /// As those of [`SubqueryReads::check_none`].
    pub fn check_none_inserted(&self, changed: &Changed<'_>, statement: &str) -> Result<()> {
        let is_refused = |read: &&ReadTable| {
            read.is_of(changed.table) && (read.view.is_some() || read.alias == changed.table.def.name)
        };
        match self.tables.iter().find(is_refused) {
            Some(read) => Err(refused(read, changed, statement)),
            None => Ok(()),
        }
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
        let is_it = |read: &ReadTable| read.is_of(table) && read.alias == shown;
        match self.tables.iter().skip(read_before).any(is_it) {
            false => Ok(()),
            true => Err(SqlError::new(
                1093,
                format!("You can't specify target table '{shown}' for update in FROM clause"),
            )),
        }
    }
}

/// Error 1093 or 1443: a statement changes a table that it reads so.
fn refused(read: &ReadTable, changed: &Changed<'_>, statement: &str) -> SqlError {
    let shown = changed.shown;
    let prevents = match (&read.view, changed.view) {
        (None, None) => None,
        (Some(read), Some(view)) if (&*read.schema, &*read.name) == view => None,
        (Some(read), _) => Some(&*read.alias),
        (None, Some(_)) => Some(shown),
    };
    match prevents {
        None => {
            SqlError::new(1093, format!("You can't specify target table '{shown}' for update in FROM clause"))
        }
        Some(view) => SqlError::new(
            1443,
            format!("The definition of table '{view}' prevents operation {statement} on table '{shown}'."),
        ),
    }
}
