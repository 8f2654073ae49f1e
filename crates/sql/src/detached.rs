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
use engine::{ConditionCompiler, Engine, EngineOfRows, RowCondition, Table, TableDef};
use parking_lot::Mutex;
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
    let around = Surroundings::new(settings);
    let bound = around.binder(engine).expr(tree, &mut Place::new(&Scope::default(), "partition function"))?;
    let value = bound.eval(&[], &around.context(engine, settings.strict))?.into_owned();
    Ok(value)
}

/// The surroundings in which an expression is bound and computed without a session: MySQL's
/// defaults, and the zone and the time of the settings.
struct Surroundings {
    host: ReplicaHost,
    variables: Variables,
    no_session: NoSession,
}

impl Surroundings {
    fn new(settings: DetachedSettings) -> Surroundings {
        let mut variables = Variables::default();
        variables.zone = settings.zone;
        variables.timestamp_us = Some(settings.now_us);
        let no_session = NoSession::new(ReplicaHost::default().memory(), os::random::u64());
        Surroundings { host: ReplicaHost::default(), variables, no_session }
    }

    fn binder<'s>(&'s self, engine: &'s Arc<Engine>) -> Binder<'s> {
        Binder::new(engine, &self.host, &self.variables, None, None)
    }

    fn context<'s>(&'s self, engine: &'s Arc<Engine>, strict: bool) -> Context<'s> {
        self.no_session.context(engine, &self.host, &self.variables, strict)
    }

    /// Reports whether a condition is true of a row.
    fn holds(&self, engine: &Arc<Engine>, condition: &Expr, values: &[Value], strict: bool) -> Result<bool> {
        let ctx = self.context(engine, strict);
        let value = condition.eval(values, &ctx)?;
        ctx.check_refused()?;
        Ok(crate::expr::truth(&value, &ctx) == Some(true))
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
        let around = Surroundings::new(of_rows);
        let scope = Scope::of(ScopeTable::defined(def));
        let mut binder = around.binder(&self.0);
        binder.meaning.makes_arrays = true;
        let expr = crate::exec::compile(&mut binder, &scope, text, "an index")?;
        Ok(scope.describe(&expr, "").ty)
    }
}

/// A condition over the rows of a table that a definition describes.
pub(crate) struct DetachedCondition {
    engine: Arc<Engine>,
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
        let around = Surroundings::new(settings);
        let condition = compile_condition(&around, engine, def, text)?;
        Ok(DetachedCondition { engine: engine.clone(), around, condition, strict: settings.strict })
    }

    /// Reports whether the condition is true of a row.
    pub fn holds(&self, values: &[Value]) -> Result<bool> {
        self.around.holds(&self.engine, &self.condition, values, self.strict)
    }
}

/// Compiles the text of a condition over the rows of a table's partitions.
///
/// # Errors
/// Returns 1235 where the text calls a function that this server lacks.
fn compile_condition(
    around: &Surroundings,
    engine: &Arc<Engine>,
    def: &TableDef,
    text: &str,
) -> Result<Expr> {
    let scope = Scope::of(ScopeTable::defined(def));
    crate::exec::compile(&mut around.binder(engine), &scope, text, "the table's partitions")
}

/// The compiler of the conditions by which partitions had their rows
/// ([`engine::EngineConfig::conditions`]).
pub struct PartitionConditions;

/// The condition by which a partition had its rows. It does not keep its engine alive, because the
/// engine has it.
struct PartitionCondition {
    engine: EngineOfRows,
    /// One reader at a time computes the condition, which is rarely asked for.
    around: Mutex<Surroundings>,
    condition: Expr,
}

impl ConditionCompiler for PartitionConditions {
    fn compile(
        &self,
        engine: &EngineOfRows,
        def: &TableDef,
        text: &str,
    ) -> std::result::Result<Box<dyn RowCondition>, String> {
        let there = found(engine)?;
        let settings = DetachedSettings { zone: Zone::UTC, now_us: 0, strict: false, replicated: true };
        let around = Surroundings::new(settings);
        let condition = compile_condition(&around, &there, def, text).map_err(|error| error.message)?;
        Ok(Box::new(PartitionCondition { engine: engine.clone(), around: Mutex::new(around), condition }))
    }
}

impl RowCondition for PartitionCondition {
    fn holds(&self, values: &[Value]) -> std::result::Result<bool, String> {
        let (engine, around) = (found(&self.engine)?, self.around.lock());
        around.holds(&engine, &self.condition, values, false).map_err(|error| error.message)
    }
}

/// Returns the engine, which is there as long as somebody reads its rows.
fn found(engine: &EngineOfRows) -> std::result::Result<Arc<Engine>, String> {
    let engine = engine.upgrade().and_then(|engine| engine.downcast().ok());
    engine.ok_or_else(|| "the engine is gone".to_owned())
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
    engine: Arc<Engine>,
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
        let around = Surroundings::new(settings);
        let expressions = RowExpressions::of(&mut around.binder(engine), def)?;
        Ok(expressions.map(|expressions| DetachedRows {
            engine: engine.clone(),
            around,
            expressions,
            def: def.clone(),
            settings,
        }))
    }

    /// Completes a row: the defaults of the columns in `added`, the generated columns and, for rows
    /// that no source has accepted, the constraints. Columns of a source's row that cannot be
    /// computed stay as they are.
    pub fn complete(&self, values: &mut [Value], added: &[usize], row: u64) -> Result<()> {
        let strict = self.settings.strict && !self.settings.replicated;
        let ctx = self.around.context(&self.engine, strict);
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
