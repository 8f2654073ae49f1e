//! Errors 1093 and 1443: the subqueries of a statement that changes a table must not read that
//! table. Derived tables may, because they are computed first.

use crate::error::{Result, SqlError};
use crate::plan::{QueryBody, QueryPlan};
use engine::Table;

/// A stored table that a subquery reads.
#[derive(Debug)]
pub(super) struct ReadTable {
    pub schema: String,
    pub name: String,
    /// The name that the table has in the subquery.
    pub alias: String,
    /// The view through which the subquery reads the table.
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
    /// The name that the view has in the subquery.
    pub alias: String,
    pub schema: String,
    pub name: String,
}

/// The table that a statement changes, as the statement names it.
pub(crate) struct Changed<'c> {
    pub table: &'c Table,
    pub shown: &'c str,
    /// The schema and name of the view through which the table is changed.
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

    /// Adds what a part of the statement reads.
    pub(super) fn append(&mut self, part: SubqueryReads) {
        self.tables.extend(part.tables);
    }

    /// Notes that a derived table is bound, and forgets the tables found since there were
    /// `read_before`: the derived table is computed before anything is changed.
    pub(super) fn note_derived(&mut self, read_before: usize) {
        self.tables.truncate(read_before);
    }

    /// Notes that a view is bound. MySQL merges a view into the query around it where it can; then
    /// the view's tables count as read through the view. Otherwise it computes the view as a whole
    /// first, and the tables found since there were `read_before` are forgotten.
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
    /// Returns 1093 (`ER_UPDATE_TABLE_USED`). When the table is read or changed through a view it
    /// returns 1443 (`ER_VIEW_PREVENT_UPDATE`), unless the same view serves both.
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

    /// Returns how many tables have been found so far.
    pub fn count(&self) -> usize {
        self.tables.len()
    }

    /// Refuses an ON DUPLICATE KEY UPDATE whose subqueries read the changed table under the name by
    /// which the statement changes it. As in MySQL, they may read it under another name. The
    /// subqueries in question are those that were bound after `read_before` tables had been found.
    ///
    /// # Errors
    /// Returns 1093 (`ER_UPDATE_TABLE_USED`).
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
