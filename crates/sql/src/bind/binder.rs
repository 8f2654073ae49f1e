//! The state of binding one statement.

use super::common_tables::{CommonTables, check_names};
use super::constants::Constants;
use super::locked::{LockedNames, LockedUse};
use super::scope::{Scope, ScopeTable};
use super::state::{Around, Meaning, NextQuery, Noted, Parameters, PlanMemory, WaitingHints, WithinView};
use crate::ast;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, UserVariables};
use crate::host::Host;
use crate::plan::{SubPlan, TableStep};
use crate::temporary::TemporaryUse;
use crate::variables::Variables;
use engine::{Engine, Table};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The bytes charged for one node of an expression. They are twice the node's size, because the
/// list that holds the node may have room for twice as many.
pub(super) const NODE_BYTES: usize = 2 * size_of::<Expr>();

/// The bytes charged for a column of a table of FROM: its place in the scope with its names, and
/// what the plan keeps about it.
const COLUMN_BYTES: usize = 256;

/// The state of binding one statement.
pub(crate) struct Binder<'a> {
    pub engine: &'a Arc<Engine>,
    pub host: &'a dyn Host,
    pub variables: &'a Variables,
    /// The session's user variables, if the statement may read them.
    pub user_variables: Option<&'a UserVariables>,
    /// The current schema.
    pub schema: Option<&'a str>,
    /// The names locked by LOCK TABLES, and those of them that the statement has used.
    pub locked: LockedUse<'a>,
    /// The session's temporary tables, and which of them the statement uses.
    pub temporary: TemporaryUse<'a>,
    pub parameters: Parameters<'a>,
    /// The statement is EXPLAIN. The account that runs it sees the tables of views.
    pub explains: bool,
    /// The constants that the statement compares, and the warnings about them.
    pub constants: Constants,
    /// The plans of the subqueries, by the subqueries' numbers.
    pub subqueries: Vec<SubPlan>,
    /// The WITH clauses whose common tables the current query may name, the innermost last.
    pub(super) common: Vec<CommonTables>,
    pub view: WithinView<'a>,
    pub next: NextQuery,
    pub hints: WaitingHints,
    pub around: Around,
    pub meaning: Meaning,
    pub noted: Noted,
    pub memory: PlanMemory,
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
            variables,
            user_variables: None,
            schema,
            locked: LockedUse::of(locked),
            temporary: TemporaryUse::default(),
            parameters: Parameters::default(),
            explains: false,
            constants: Constants::new(variables.sql_mode.dates(), variables.zone, host.is_of_source()),
            subqueries: Vec::new(),
            common: Vec::new(),
            view: WithinView { rights: host, definer: None, holder: None, levels: 0 },
            next: NextQuery::default(),
            hints: WaitingHints::default(),
            around: Around::nothing(),
            meaning: Meaning {
                literals: variables.literal_collations(),
                of_mariadb: variables.of_mariadb,
                makes_arrays: false,
            },
            noted: Noted::default(),
            memory: PlanMemory::default(),
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
        if self.memory.add(bytes) { self.charge_made() } else { Ok(()) }
    }

    #[cold]
    fn charge_made(&mut self) -> Result<()> {
        self.check_interrupt()?;
        self.memory.settle(self.host)
    }

    /// Asserts that nothing is around the part that was bound last, as at the end of a statement.
    pub fn assert_at_the_end(&self) {
        assert_eq!((self.around.depth, self.around.subquery_levels), (0, 0), "each level has ended");
        assert!(self.next.opening.is_none(), "the query of a view that is opened was bound");
        assert!(
            self.common.iter().all(|common| common.visible == common.with.tables.len()),
            "no common table is being bound"
        );
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
        self.noted.tables.push(table.clone());
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
        self.noted.tables.push(table.clone());
        Ok(table)
    }

    /// Adds a table of FROM to the scope.
    ///
    /// # Errors
    /// Returns 1066 (`ER_NONUNIQ_TABLE`) when another table there has the same alias.
    pub(super) fn add_to_scope(&mut self, scope: &mut Scope, table: ScopeTable) -> Result<()> {
        if scope.tables.iter().any(|other| other.alias == table.alias && other.schema == table.schema) {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", table.alias)));
        }
        assert_eq!(
            table.base,
            scope.slots(),
            "the slots of a table lie behind those of the tables before it"
        );
        self.may_make(size_of::<TableStep>() + table.columns.len() * COLUMN_BYTES)?;
        scope.tables.push(table);
        Ok(())
    }

    /// Makes the common tables of a WITH clause visible. `depth` is the number of frames around the
    /// query or statement that has the clause.
    ///
    /// # Errors
    /// Returns 1066 (`ER_NONUNIQ_TABLE`) when two of them have one name.
    pub fn enter_with(&mut self, with: &Arc<ast::With>, depth: usize) -> Result<()> {
        check_names(with)?;
        self.may_make(CommonTables::bytes(with))?;
        self.common.push(CommonTables::new(with, depth));
        Ok(())
    }

    /// Returns the statement's subqueries. It is called when the whole statement is bound.
    pub fn take_subqueries(&mut self) -> Vec<SubPlan> {
        assert_eq!(self.around.subquery_levels, 0, "the whole statement is bound");
        let mut subqueries = std::mem::take(&mut self.subqueries);
        for subquery in &mut subqueries {
            subquery.plan.forget_derivation();
            subquery.varies |= subquery.reads_variables && self.noted.assigns_variables;
        }
        subqueries
    }
}
