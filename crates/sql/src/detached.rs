//! Computes the expressions of a definition without a client: for rows that DDL converts, and for
//! the columns that a source's row image leaves out.

use crate::ast;
use crate::bind::{Binder, Place, Scope, ScopeTable};
use crate::ddl::{DdlSettings, ExpressionTypes};
use crate::error::Result;
use crate::exec::{RowExpressions, Strictness};
use crate::expr::{Context, Expr, NoSession};
use crate::host::Host;
use crate::replica_host::ReplicaHost;
use crate::variables::Variables;
use engine::{Engine, Table, TableDef};
use std::sync::Arc;
use types::{ColumnType, Value, Zone};

/// The settings that a definition's expressions are computed with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DetachedSettings {
    pub zone: Zone,
    pub now_us: u64,
    pub strict: bool,
    /// Whether a source has already accepted the rows, so that nothing about them is an error.
    pub replicated: bool,
}

/// Computes an expression that names no column.
///
/// # Errors
/// Returns the errors of its evaluation, and 1054 where it names a column.
pub(crate) fn constant(engine: &Arc<Engine>, tree: &ast::Expr, settings: DetachedSettings) -> Result<Value> {
    let around = Surroundings::new(engine, settings);
    let bound = around.binder().expr(tree, &mut Place::new(&Scope::default(), "partition function"))?;
    let value = bound.eval(&[], &around.context(settings.strict))?.into_owned();
    Ok(value)
}

/// The surroundings in which an expression is bound and computed without a session: MySQL's
/// defaults, and the zone and the time of the settings.
struct Surroundings {
    engine: Arc<Engine>,
    host: ReplicaHost,
    variables: Variables,
    no_session: NoSession,
}

impl Surroundings {
    fn new(engine: &Arc<Engine>, settings: DetachedSettings) -> Surroundings {
        let mut variables = Variables::default();
        variables.zone = settings.zone;
        variables.timestamp_us = Some(settings.now_us);
        let no_session = NoSession::new(ReplicaHost::default().memory(), os::random::u64());
        Surroundings { engine: engine.clone(), host: ReplicaHost::default(), variables, no_session }
    }

    fn binder(&self) -> Binder<'_> {
        Binder::new(&self.engine, &self.host, &self.variables, None, None)
    }

    fn context(&self, strict: bool) -> Context<'_> {
        self.no_session.context(&self.engine, &self.host, &self.variables, strict)
    }
}

/// Finds the types that indexed expressions have, by binding them.
#[derive(Clone)]
pub(crate) struct BoundTypes(Arc<Engine>);

impl std::fmt::Debug for BoundTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BoundTypes")
    }
}

impl BoundTypes {
    pub fn new(engine: &Arc<Engine>) -> Arc<BoundTypes> {
        Arc::new(BoundTypes(engine.clone()))
    }
}

impl ExpressionTypes for BoundTypes {
    fn of(&self, def: &TableDef, text: &str, settings: &DdlSettings) -> Result<ColumnType> {
        let of_rows = DetachedSettings {
            zone: settings.zone,
            now_us: settings.now_us,
            strict: settings.strict,
            replicated: settings.replicated,
        };
        let around = Surroundings::new(&self.0, of_rows);
        let scope = Scope::of(ScopeTable::defined(def));
        let mut binder = around.binder();
        binder.meaning.makes_arrays = true;
        let expr = crate::exec::compile(&mut binder, &scope, text, "an index")?;
        Ok(scope.describe(&expr, "").ty)
    }
}

/// A condition over the rows of a table that a definition describes.
pub(crate) struct DetachedCondition {
    around: Surroundings,
    condition: Expr,
    strict: bool,
}

impl DetachedCondition {
    /// Compiles the text of a condition.
    ///
    /// # Errors
    /// Returns 1235 where the text calls a function that this server lacks.
    pub fn of(
        engine: &Arc<Engine>,
        def: &TableDef,
        text: &str,
        settings: DetachedSettings,
    ) -> Result<DetachedCondition> {
        let around = Surroundings::new(engine, settings);
        let scope = Scope::of(ScopeTable::defined(def));
        let condition = crate::exec::compile(&mut around.binder(), &scope, text, "the table's partitions")?;
        Ok(DetachedCondition { around, condition, strict: settings.strict })
    }

    /// Reports whether the condition is true of a row.
    pub fn holds(&self, values: &[Value]) -> Result<bool> {
        let ctx = self.around.context(self.strict);
        let value = self.condition.eval(values, &ctx)?;
        ctx.check_refused()?;
        Ok(crate::expr::truth(&value, &ctx) == Some(true))
    }
}

/// Computes the generated columns of rows whose images leave them out.
pub struct VirtualColumns {
    engine: Arc<Engine>,
    /// The table that was asked for last, and its expressions if it has any that can be compiled.
    last: Option<(Arc<Table>, Option<DetachedRows>)>,
}

impl VirtualColumns {
    /// Makes a `VirtualColumns` for the tables of this engine.
    pub fn new(engine: Arc<Engine>) -> VirtualColumns {
        VirtualColumns { engine, last: None }
    }

    /// Returns the row with its generated columns. Columns that cannot be computed stay as they are
    /// in the image.
    pub fn complete(&mut self, table: &Arc<Table>, image: &[u8]) -> Vec<u8> {
        let is_last = self.last.as_ref().is_some_and(|(last, _)| Arc::ptr_eq(last, table));
        if !is_last {
            let settings = DetachedSettings {
                zone: Zone::UTC,
                now_us: os::clock::now_us(),
                strict: false,
                replicated: true,
            };
            let rows = DetachedRows::of(&self.engine, &table.def, settings);
            let rows = rows.inspect_err(|error| log::warn!("{}: {}", table.qualified_name(), error.message));
            self.last = Some((table.clone(), rows.ok().flatten()));
        }
        let Some((_, Some(rows))) = &self.last else { return image.to_vec() };
        let completed = || {
            let mut values = table.layout.decode_all(image).ok()?;
            rows.complete(&mut values, &[], 1).ok()?;
            let mut out = Vec::with_capacity(image.len());
            table.layout.encode(&values, &mut out).ok()?;
            Some(out)
        };
        completed().unwrap_or_else(|| image.to_vec())
    }
}

/// The expressions of one definition, and the surroundings in which they are computed.
pub(crate) struct DetachedRows {
    around: Surroundings,
    expressions: RowExpressions,
    def: TableDef,
    settings: DetachedSettings,
}

impl DetachedRows {
    /// Compiles the expressions for rows of this definition. `None` means that it has no
    /// expressions.
    pub fn of(
        engine: &Arc<Engine>,
        def: &TableDef,
        settings: DetachedSettings,
    ) -> Result<Option<DetachedRows>> {
        if !def.asks_for_expressions() {
            return Ok(None);
        }
        let around = Surroundings::new(engine, settings);
        let expressions = RowExpressions::of(&mut around.binder(), def)?;
        Ok(expressions.map(|expressions| DetachedRows { around, expressions, def: def.clone(), settings }))
    }

    /// Completes a row: the defaults of the columns in `added`, the generated columns and, for rows
    /// that no source has accepted, the constraints. Columns of a source's row that cannot be
    /// computed stay as they are.
    pub fn complete(&self, values: &mut [Value], added: &[usize], row: u64) -> Result<()> {
        let strict = self.settings.strict && !self.settings.replicated;
        let ctx = self.around.context(strict);
        let strictness = Strictness { strict, null_becomes_zero: self.settings.replicated };
        if self.settings.replicated {
            let filled = self.expressions.fill_defaults(&self.def, added, values, row, strictness, &ctx);
            let computed = self.expressions.generate_known(&self.def, values, strictness, &ctx);
            if let Err(error) = filled.and(computed) {
                log::warn!("{}: {}", self.def.qualified_name(), error.message);
            }
            return Ok(());
        }
        self.expressions.fill_defaults(&self.def, added, values, row, strictness, &ctx)?;
        self.expressions.generate(&self.def, values, row, strictness, &ctx)?;
        self.expressions.check(values, &ctx)?;
        ctx.check_refused()
    }
}
