//! The state of binding one statement.

use super::common_tables::CommonTables;
use super::constants::Constants;
use super::locked::{LockedNames, LockedUse};
use super::logging::LoggingNeeds;
use super::new_row::WantedColumns;
use super::self_read::SubqueryReads;
use super::table_use::{Opening, TableUse};
use crate::ast::{self, Hint};
use crate::error::{Result, SqlError};
use crate::expr::{Expr, UserVariables};
use crate::host::{Host, Rights};
use crate::memory::Charge;
use crate::plan::{Holder, SubPlan};
use crate::temporary::TemporaryUse;
use crate::variables::Variables;
use engine::{Engine, Table};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The bytes charged for one node of an expression. They are twice the node's size, because the
/// list that holds the node may have room for twice as many.
pub(super) const NODE_BYTES: usize = 2 * size_of::<Expr>();

/// The bytes that a plan may take before any of them are charged.
const LITTLE_BYTES: usize = 8 * 1024;

/// The state of binding one statement.
pub(crate) struct Binder<'a> {
    pub engine: &'a Arc<Engine>,
    pub host: &'a dyn Host,
    /// The rights by which the statement, or the query of a view within it, may read tables.
    pub rights: &'a dyn Rights,
    /// The account whose rights `rights` are, within a view that reads with the rights of its
    /// definer.
    pub(super) definer: Option<String>,
    /// The definer's user and host. They are kept with the view's tables, because a change of the
    /// tables' rows is made with the definer's rights.
    pub(super) holder: Option<Arc<Holder>>,
    /// Set when the query that is bound next is the query of a view that is opened.
    pub(super) opening: Option<Opening>,
    /// The columns that ON DUPLICATE KEY UPDATE wants from the query of INSERT ... SELECT, which is
    /// bound next.
    pub wanted: Option<WantedColumns>,
    /// The hints of the statement's first block that stand behind INSERT, UPDATE or DELETE.
    pub statement_hints: Vec<Hint>,
    /// The hints of query blocks that have been bound about other blocks.
    pub far_hints: Vec<Hint>,
    /// The statement is EXPLAIN. The account that runs it sees the tables of views.
    pub explains: bool,
    pub variables: &'a Variables,
    /// The session's user variables, if the statement may read them.
    pub user_variables: Option<&'a UserVariables>,
    /// The current schema.
    pub schema: Option<&'a str>,
    /// The plans of the subqueries, by the subqueries' numbers.
    pub subqueries: Vec<SubPlan>,
    /// The statement assigns user variables.
    pub assigns_variables: bool,
    /// The WITH clauses whose common tables the current query may name, the innermost last.
    pub(super) common: Vec<CommonTables>,
    /// The number of subqueries around the current query.
    pub(super) subquery_levels: usize,
    /// The stored tables that subqueries read, except those that derived tables within subqueries
    /// read.
    pub reads: SubqueryReads,
    /// The statement uses something that must not be kept in a cache of plans: rows of virtual
    /// tables, or settings of the session.
    pub uncacheable: bool,
    /// The stored tables that were bound. The plan is valid as long as none of them changes.
    pub tables: Vec<Arc<Table>>,
    /// What has to be known to write the statement's text to the binary log.
    pub logging: LoggingNeeds,
    /// The constants that the statement compares, and the warnings about them.
    pub constants: Constants,
    /// The names locked by LOCK TABLES, and those of them that the statement has used.
    pub locked: LockedUse<'a>,
    /// The session's temporary tables, and which of them the statement uses.
    pub temporary: TemporaryUse<'a>,
    /// The types of the parameters that are known. Parameters beyond the end of the list count as
    /// text.
    pub parameter_types: &'a [types::ColumnType],
    /// The parameters are the variables of a stored program.
    pub of_program: bool,
    /// The statement calls a stored function.
    pub calls_functions: bool,
    /// The memory of the plan, which is charged before the plan is made and released with it.
    /// `None` as long as the plan is small.
    pub charge: Option<Charge>,
    /// The bytes that are not in `charge` yet.
    uncharged_bytes: usize,
    /// The number of expressions around the current one.
    pub(super) depth: usize,
    /// The number of views around the current query.
    pub(super) view_levels: usize,
    /// The tables are read in the order in which they are written, because their rows are locked in
    /// that order: the statement changes rows, or the current query locks them.
    pub keeps_order: bool,
    /// What the tables of the current FROM are used for.
    pub(super) table_use: TableUse,
    /// The account holds the privilege to change rows on columns only, not on the table, so each
    /// column that is changed has to be checked.
    pub changes_by_column: bool,
    /// The current expression has MariaDB's meaning: it is from the statement of a MariaDB source,
    /// or from a constraint that only MariaDB creates.
    pub of_mariadb: bool,
    /// The expression is the part of a key, which may be an array.
    pub makes_arrays: bool,
}

impl<'a> Binder<'a> {
    pub fn new(
        engine: &'a Arc<Engine>,
        host: &'a dyn Host,
        variables: &'a Variables,
        schema: Option<&'a str>,
        locked: Option<&'a LockedNames>,
    ) -> Binder<'a> {
        Binder {
            engine,
            host,
            rights: host,
            definer: None,
            holder: None,
            opening: None,
            wanted: None,
            statement_hints: Vec::new(),
            far_hints: Vec::new(),
            explains: false,
            variables,
            user_variables: None,
            schema,
            subqueries: Vec::new(),
            assigns_variables: false,
            common: Vec::new(),
            subquery_levels: 0,
            reads: SubqueryReads::default(),
            uncacheable: false,
            tables: Vec::new(),
            logging: LoggingNeeds::default(),
            constants: Constants::new(variables.sql_mode.dates(), variables.zone, host.is_of_source()),
            locked: LockedUse::of(locked),
            temporary: TemporaryUse::default(),
            parameter_types: &[],
            of_program: false,
            calls_functions: false,
            charge: None,
            uncharged_bytes: 0,
            depth: 0,
            view_levels: 0,
            keeps_order: false,
            table_use: TableUse::Read,
            changes_by_column: false,
            of_mariadb: variables.of_mariadb,
            makes_arrays: false,
        }
    }

    /// Charges the bytes of a part of the plan that is about to be made, and checks from time to
    /// time whether the statement was killed. A short statement pays for one addition only.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1317 (`ER_QUERY_INTERRUPTED`) when the statement
    /// was killed.
    #[inline]
    pub fn may_make(&mut self, bytes: usize) -> Result<()> {
        self.uncharged_bytes = self.uncharged_bytes.saturating_add(bytes);
        if self.uncharged_bytes < LITTLE_BYTES { Ok(()) } else { self.charge_made() }
    }

    #[cold]
    fn charge_made(&mut self) -> Result<()> {
        self.check_interrupt()?;
        let charge = self.charge.get_or_insert_with(|| Charge::new(&self.host.memory()));
        charge.add(std::mem::take(&mut self.uncharged_bytes))
    }

    /// Returns error 1317 (`ER_QUERY_INTERRUPTED`) when the statement was killed.
    pub fn check_interrupt(&self) -> Result<()> {
        match self.host.interrupt_flag() {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(SqlError::interrupted()),
            _ => Ok(()),
        }
    }

    /// Copies an expression and charges the copy, because an expression with a name may be named
    /// any number of times.
    ///
    /// # Errors
    /// Returns the errors of [`Binder::may_make`].
    pub fn copied(&mut self, expr: &Expr) -> Result<Expr> {
        let mut bytes = 0;
        expr.visit(&mut |expr| bytes += NODE_BYTES + expr.constant_bytes());
        self.may_make(bytes)?;
        Ok(expr.clone())
    }

    /// Returns the schema of a name: the one that is written, or else the current schema.
    pub fn schema_of(&self, name: &ast::TableName) -> Result<String> {
        match (&name.schema, self.schema) {
            (Some(schema), _) => Ok(schema.clone()),
            (None, Some(schema)) => Ok(schema.to_owned()),
            (None, None) => Err(SqlError::no_schema_selected()),
        }
    }

    /// Notes that the statement uses a temporary table under the name `shown`.
    ///
    /// # Errors
    /// Returns 1137 (`ER_CANT_REOPEN_TABLE`) when this statement or one around it uses the table
    /// already.
    pub fn use_temporary(&mut self, table: &Arc<Table>, shown: &str) -> Result<()> {
        self.temporary.note(table, shown)?;
        self.tables.push(table.clone());
        Ok(())
    }

    /// Returns a stored table, or a temporary table of the session, that a statement describes.
    pub fn described_table(&mut self, name: &ast::TableName) -> Result<Arc<Table>> {
        match self.temporary.table(&self.schema_of(name)?, &name.name) {
            Some(table) => Ok(table),
            None => self.stored_table(name),
        }
    }

    /// Returns the stored table with this name, and notes that the plan depends on it.
    pub fn stored_table(&mut self, name: &ast::TableName) -> Result<Arc<Table>> {
        let schema = self.schema_of(name)?;
        let catalog = self.engine.catalog();
        let Some(table) = catalog.table(&schema, &name.name) else {
            if schema.eq_ignore_ascii_case("information_schema") {
                return Err(SqlError::unknown_information(&name.name));
            }
            if catalog.schema(&schema).is_none() && !crate::schema_tables::is_virtual_schema(&schema) {
                return Err(SqlError::unknown_schema(&schema));
            }
            if let Some(view) = catalog.object(&schema, engine::ObjectKind::View, &name.name) {
                return Err(SqlError::not_supported(format!(
                    "this use of the view {}",
                    crate::quoting::qualified(&view.def)
                )));
            }
            return Err(SqlError::no_such_table(&schema, &name.name));
        };
        self.tables.push(table.clone());
        Ok(table)
    }
}
