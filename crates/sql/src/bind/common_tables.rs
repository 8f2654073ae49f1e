//! The state of the common tables of a WITH clause while the query behind it is bound.

use crate::ast::{TableName, With};
use crate::error::{Result, SqlError};
use crate::expr::SubqueryCall;
use crate::sink::ColumnMeta;
use std::sync::Arc;

/// The common tables of one WITH clause, while the query behind it is bound.
pub(super) struct CommonTables {
    pub with: Arc<With>,
    /// The number of common tables, counted from the first, that may be named at present. While one
    /// of them is being bound, those behind it may not be named; the table itself may be named in
    /// WITH RECURSIVE only.
    pub visible: usize,
    /// The number of frames around the query that has the clause.
    pub depth: usize,
    pub states: Vec<State>,
}

impl CommonTables {
    /// Describes the tables of a clause none of which has been named yet. `depth` is the number of
    /// frames around the query that has the clause.
    pub fn new(with: &Arc<With>, depth: usize) -> CommonTables {
        let states = with.tables.iter().map(|_| State::Unbound).collect();
        CommonTables { with: with.clone(), visible: with.tables.len(), depth, states }
    }

    /// Returns the memory that the common tables of a clause take while they are bound.
    pub fn bytes(with: &With) -> usize {
        with.tables.len() * size_of::<State>()
    }
}

/// Checks the names of a clause's common tables.
///
/// # Errors
/// Returns 1066 (`ER_NONUNIQ_TABLE`) when two of them have one name.
pub(super) fn check_names(with: &With) -> Result<()> {
    let mut names = std::collections::HashSet::new();
    match with.tables.iter().find(|table| !names.insert(&table.name)) {
        Some(twice) => Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", twice.name))),
        None => Ok(()),
    }
}

/// Returns the common table that a name stands for: the position of its clause, and its own in the
/// clause. `None` if the name stands for none.
pub(super) fn find_common(common: &[CommonTables], name: &TableName) -> Option<(usize, usize)> {
    if name.schema.is_some() {
        return None;
    }
    common.iter().enumerate().rev().find_map(|(level, common)| {
        let tables = &common.with.tables[..common.visible];
        tables.iter().position(|table| table.name == name.name).map(|at| (level, at))
    })
}

/// The state of one common table.
pub(super) enum State {
    /// No query has named the table yet.
    Unbound,
    /// The table is being bound, and may name itself.
    Recursive(Recursing),
    Bound {
        call: SubqueryCall,
        columns: Vec<ColumnMeta>,
        /// The name of a temporary table that the common table reads. MySQL allows one use of a
        /// temporary table, so the common table may be read in one place only.
        temporary: Option<String>,
    },
}

impl State {
    /// Returns what is known of a common table that is being bound.
    ///
    /// # Panics
    /// Panics when the table is not being bound.
    pub fn recursing(&mut self) -> &mut Recursing {
        match self {
            State::Recursive(recursing) => recursing,
            _ => unreachable!("the common table is being bound"),
        }
    }
}

/// A common table that is being bound, and may name itself.
#[derive(Default)]
pub(super) struct Recursing {
    /// The columns of the rows that the table has so far. `None` until a query block that does not
    /// name the table itself has been bound.
    pub columns: Option<Vec<ColumnMeta>>,
    /// The number of the subquery that stands for the table's own rows.
    pub number: usize,
    /// The table's query is a UNION.
    pub is_union: bool,
    /// The number of frames around its query blocks.
    pub depth: usize,
    /// How often the current query block has named the table.
    pub uses: usize,
    /// The current query block has named the table in a subquery or a derived table.
    pub in_subquery: bool,
}
