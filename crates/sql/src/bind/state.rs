//! The parts of what a binder knows, each with one subject.

use super::logging::LoggingNeeds;
use super::new_row::WantedColumns;
use super::scope::Scope;
use super::self_read::SubqueryReads;
use super::table_use::{Opening, TableUse};
use crate::ast::Hint;
use crate::error::Result;
use crate::expr::{Expr, Node};
use crate::host::{Host, Privilege, Rights};
use crate::memory::Charge;
use crate::plan::Holder;
use crate::variables::LiteralCollations;
use engine::Table;
use std::sync::Arc;

/// The bytes that a plan may take before any of them are charged.
const LITTLE_BYTES: usize = 8 * 1024;

/// The view whose query is bound, and the rights by which that query may read. Outside of views
/// they are the account's own.
pub(crate) struct WithinView<'a> {
    /// The rights by which the statement, or the query of a view within it, may read tables.
    pub rights: &'a dyn Rights,
    /// The account whose rights `rights` are, within a view that reads with the rights of its
    /// definer.
    pub definer: Option<String>,
    /// The definer's user and host. They are kept with the view's tables, because a change of the
    /// tables' rows is made with the definer's rights.
    pub holder: Option<Arc<Holder>>,
    /// The number of views around the current query.
    pub levels: usize,
}

impl WithinView<'_> {
    /// Returns error 1143 (`ER_COLUMNACCESS_DENIED_ERROR`) for a column of this scope that the
    /// account may not read, if the account may not read the whole table.
    pub fn check_readable(&self, column: &Expr, scope: &Scope) -> Result<()> {
        let Node::Slot(slot) = column.node else { return Ok(()) };
        match scope.of_slot(slot) {
            Some((table, at)) if !table.readable => {
                let column = &table.columns[at].org_name;
                self.rights.check_column(Privilege::Select, &table.schema, &table.org_table, column)
            }
            _ => Ok(()),
        }
    }

    /// Reports whether a privilege is held on some of a table's columns and not on the table. Each
    /// column is then checked where it is used.
    ///
    /// # Errors
    /// Returns 1142 (`ER_TABLEACCESS_DENIED_ERROR`) when the privilege is held on neither.
    pub fn holds_on_columns_alone(&self, privilege: Privilege, schema: &str, table: &str) -> Result<bool> {
        match self.rights.check_table(&[privilege], schema, table) {
            Ok(()) => Ok(false),
            Err(_) if self.rights.has_column_privilege(privilege, schema, table) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Reports whether all columns of a table that a statement may change may be read without
    /// further checks. The account needs no SELECT on the table if it has one of the privileges
    /// `changes`.
    pub fn may_join(&self, schema: &str, table: &str, changes: &[Privilege]) -> Result<bool> {
        let may_change = changes.iter().any(|privilege| {
            self.rights.check_table(&[*privilege], schema, table).is_ok()
                || self.rights.has_column_privilege(*privilege, schema, table)
        });
        match self.holds_on_columns_alone(Privilege::Select, schema, table) {
            Ok(on_columns) => Ok(!on_columns),
            Err(_) if may_change => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// What the query is for that is bound next. It is taken when that query begins.
#[derive(Default)]
pub(crate) struct NextQuery {
    /// Set when it is the query of a view that is opened.
    pub opening: Option<Opening>,
    /// The columns that ON DUPLICATE KEY UPDATE wants from the query of INSERT ... SELECT.
    pub wanted: Option<WantedColumns>,
}

/// The optimizer hints that are waiting for their query blocks.
#[derive(Default)]
pub(crate) struct WaitingHints {
    /// The hints of the statement's first block that stand behind INSERT, UPDATE or DELETE.
    pub of_statement: Vec<Hint>,
    /// The hints of query blocks that have been bound about other blocks.
    pub of_other_blocks: Vec<Hint>,
}

/// What is around the part of the statement that is bound now.
pub(crate) struct Around {
    /// The number of subqueries around the current query.
    pub subquery_levels: usize,
    /// The number of expressions around the current one.
    pub depth: usize,
    /// The tables are read in the order in which they are written, because their rows are locked in
    /// that order: the statement changes rows, or the current query locks them.
    pub keeps_order: bool,
    /// What the tables of the current FROM are used for.
    pub table_use: TableUse,
    /// The account holds the privilege to change rows on columns only, not on the table, so each
    /// column that is changed has to be checked.
    pub changes_by_column: bool,
}

impl Around {
    /// Describes the beginning of a statement.
    pub fn nothing() -> Around {
        Around {
            subquery_levels: 0,
            depth: 0,
            keeps_order: false,
            table_use: TableUse::Read,
            changes_by_column: false,
        }
    }
}

/// The meaning of expressions that are written alike and are not the same everywhere.
pub(crate) struct Meaning {
    /// The collations of literals: those of the session, or those of the session that made the
    /// view whose query is bound.
    pub literals: LiteralCollations,
    /// The current expression has MariaDB's meaning: it is from the statement of a MariaDB source,
    /// or from a constraint that only MariaDB creates.
    pub of_mariadb: bool,
    /// The expression is the part of a key, which may be an array.
    pub makes_arrays: bool,
}

/// The parameters of the statement.
#[derive(Default)]
pub(crate) struct Parameters<'a> {
    /// The types that are known. Parameters beyond the end of the list count as text.
    pub types: &'a [types::ColumnType],
    /// The parameters are the variables of a stored program.
    pub of_program: bool,
}

/// What binding has found out about the whole statement so far.
#[derive(Default)]
pub(crate) struct Noted {
    /// The stored tables that were bound. The plan is valid as long as none of them changes.
    pub tables: Vec<Arc<Table>>,
    /// The stored tables that subqueries read, except those that derived tables within subqueries
    /// read.
    pub reads: SubqueryReads,
    /// What has to be known to write the statement's text to the binary log.
    pub logging: LoggingNeeds,
    /// The statement assigns user variables.
    pub assigns_variables: bool,
    /// The statement calls a stored function.
    pub calls_functions: bool,
    /// The statement uses something that must not be kept in a cache of plans: rows of virtual
    /// tables, or settings of the session.
    pub uncacheable: bool,
}

/// The memory of the plan, which is charged before the plan is made and released with it.
#[derive(Default)]
pub(crate) struct PlanMemory {
    /// `None` as long as the plan is small.
    charge: Option<Charge>,
    /// The bytes that are not in `charge` yet.
    uncharged_bytes: usize,
}

impl PlanMemory {
    /// Adds the bytes of a part of the plan that is about to be made. Returns true when the sum is
    /// large enough to be charged by [`PlanMemory::settle`].
    #[inline]
    pub fn add(&mut self, bytes: usize) -> bool {
        self.uncharged_bytes = self.uncharged_bytes.saturating_add(bytes);
        self.uncharged_bytes >= LITTLE_BYTES
    }

    /// Charges what has been added.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn settle(&mut self, host: &dyn Host) -> Result<()> {
        let charge = self.charge.get_or_insert_with(|| Charge::new(&host.memory()));
        charge.add(std::mem::take(&mut self.uncharged_bytes))
    }

    /// Returns the charge, which has to live as long as the plan.
    pub fn into_charge(self) -> Option<Charge> {
        self.charge
    }
}
