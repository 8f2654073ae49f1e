//! The parts of what a binder knows, each with one subject.

use super::logging::LoggingNeeds;
use super::new_row::WantedColumns;
use super::self_read::SubqueryReads;
use super::table_use::{Opening, TableUse};
use crate::ast::Hint;
use crate::error::Result;
use crate::host::{Host, Rights};
use crate::memory::Charge;
use crate::plan::Holder;
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
