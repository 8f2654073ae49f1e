//! The state of binding one statement.

use super::common_tables::CommonTables;
use super::constants::Constants;
use super::locked::{LockedNames, LockedUse};
use super::logging::LoggingNeeds;
use super::self_read::SubqueryReads;
use super::table_use::{Opening, TableUse};
use crate::ast;
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

/// What a node of an expression takes: it lies in a list that has room for twice as many.
pub(super) const NODE_BYTES: usize = 2 * size_of::<Expr>();

/// What a plan may take before it is charged.
const LITTLE_BYTES: usize = 8 * 1024;

/// The state of binding one statement.
pub(crate) struct Binder<'a> {
    pub engine: &'a Arc<Engine>,
    pub host: &'a dyn Host,
    /// What the statement may read, or the query of a view within it.
    pub rights: &'a dyn Rights,
    /// The account that the rights are of, in a view that reads with its definer's.
    pub(super) definer: Option<String>,
    /// The definer's user and host, kept with the view's tables: a change of their rows is made
    /// with the definer's rights.
    pub(super) holder: Option<Arc<Holder>>,
    /// The query that is bound next is that of a view which is opened.
    pub(super) opening: Option<Opening>,
    /// EXPLAIN: who asks is shown the tables of views.
    pub explains: bool,
    pub variables: &'a Variables,
    /// The session's, where the statement may read them.
    pub user_variables: Option<&'a UserVariables>,
    /// The current schema.
    pub schema: Option<&'a str>,
    /// Plans of the subqueries, by their numbers.
    pub subqueries: Vec<SubPlan>,
    /// The statement assigns user variables.
    pub assigns_variables: bool,
    /// The WITH clauses that the query at hand is behind, the innermost last.
    pub(super) common: Vec<CommonTables>,
    /// Subqueries that the query at hand is in.
    pub(super) subquery_levels: usize,
    /// The stored tables that subqueries read, but for those that derived tables in them read.
    pub reads: SubqueryReads,
    /// What cannot be kept in a cache was met: contents of virtual tables, settings taken from the
    /// session.
    pub uncacheable: bool,
    /// A stored table was bound: the plan holds as long as it has not changed.
    pub tables: Vec<Arc<Table>>,
    /// What has to be known to log the statement's text.
    pub logging: LoggingNeeds,
    /// What is told of the constants that it compares.
    pub constants: Constants,
    /// LOCK TABLES.
    pub locked: LockedUse<'a>,
    /// The session's temporary tables, and which of them the statement uses.
    pub temporary: TemporaryUse<'a>,
    /// The types of the parameters, once they are known; those that are not count as text.
    pub parameter_types: &'a [types::ColumnType],
    /// The parameters are the variables of a program.
    pub of_program: bool,
    /// A stored function is called.
    pub calls_functions: bool,
    /// What is made of the statement, charged before it is made; given back with the plan. None as
    /// long as it is little.
    pub charge: Option<Charge>,
    /// Of it, what is not charged yet.
    uncharged_bytes: usize,
    /// Expressions that the one at hand is in.
    pub(super) depth: usize,
    /// How many views the query at hand is in.
    pub(super) view_levels: usize,
    /// Tables are read in the order in which they are written, for rows are locked in that order:
    /// the statement changes rows, or the query at hand locks them.
    pub keeps_order: bool,
    /// What the tables of the FROM that is being bound are for.
    pub(super) table_use: TableUse,
    /// What changes rows holds on columns of the table alone: each column that is changed is to be
    /// checked.
    pub changes_by_column: bool,
    /// The expression at hand is MariaDB's: of a source's statement, or of a constraint that only
    /// MariaDB makes.
    pub of_mariadb: bool,
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
        }
    }

    /// Charges what is about to be made of the statement, and asks now and then whether the
    /// statement is to end. A short statement pays for an addition.
    ///
    /// # Errors
    /// As [`Charge::add`]; 1317 when the statement was killed.
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

    /// Error 1317 when the statement was killed.
    pub fn check_interrupt(&self) -> Result<()> {
        match self.host.interrupt_flag() {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(SqlError::interrupted()),
            _ => Ok(()),
        }
    }

    /// A copy of an expression: what has a name may be named any number of times.
    ///
    /// # Errors
    /// As [`Binder::may_make`].
    pub fn copied(&mut self, expr: &Expr) -> Result<Expr> {
        let mut bytes = 0;
        expr.visit(&mut |expr| bytes += NODE_BYTES + expr.constant_bytes());
        self.may_make(bytes)?;
        Ok(expr.clone())
    }

    /// The schema of a name: its own or the current one.
    pub fn schema_of(&self, name: &ast::TableName) -> Result<String> {
        match (&name.schema, self.schema) {
            (Some(schema), _) => Ok(schema.clone()),
            (None, Some(schema)) => Ok(schema.to_owned()),
            (None, None) => Err(SqlError::no_schema_selected()),
        }
    }

    /// Uses a temporary table under this name.
    ///
    /// # Errors
    /// 1137 where the statement, or one around it, uses the table already.
    pub fn use_temporary(&mut self, table: &Arc<Table>, shown: &str) -> Result<()> {
        self.temporary.note(table, shown)?;
        self.tables.push(table.clone());
        Ok(())
    }

    /// A stored table, or one of the session's own, to be described.
    pub fn described_table(&mut self, name: &ast::TableName) -> Result<Arc<Table>> {
        match self.temporary.table(&self.schema_of(name)?, &name.name) {
            Some(table) => Ok(table),
            None => self.stored_table(name),
        }
    }

    /// A stored table.
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
