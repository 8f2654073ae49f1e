//! The expressions of a table's definition, compiled: what a row that a client writes gets from
//! them, and what it has to satisfy.
//!
//! An expression that cannot be compiled here (a function that is missing) is an error of the
//! statement that needs its value, and of no other.

use super::assign::{Strictness, to_column};
use super::compiled::{Compiled, compile};
use super::placement::Placement;
use crate::bind::{Binder, Scope, ScopeTable};
use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr};
use engine::{ColumnDef, ColumnDefault, TableDef};
use types::Value;

/// What the rows of one table depend on.
pub(crate) struct RowExpressions {
    /// Columns with the expressions of their defaults.
    defaults: Vec<(usize, Compiled)>,
    /// Generated columns, in order: each may name those before it.
    generated: Vec<(usize, Compiled)>,
    /// The constraints that are enforced, by name.
    checks: Vec<(String, Compiled)>,
    /// Of a partitioned table.
    placement: Option<Box<Placement>>,
}

impl RowExpressions {
    /// The expressions of a definition; `None` where it has none.
    pub fn of(binder: &mut Binder<'_>, def: &TableDef) -> Result<Option<RowExpressions>> {
        RowExpressions::within(binder, def, &[])
    }

    /// As [`RowExpressions::of`], for rows that must belong to the partitions that were `chosen`;
    /// none were: to any.
    pub fn within(
        binder: &mut Binder<'_>,
        def: &TableDef,
        chosen: &[String],
    ) -> Result<Option<RowExpressions>> {
        if !def.asks_for_expressions() && chosen.is_empty() {
            return Ok(None);
        }
        let scope = Scope::of(ScopeTable::defined(def));
        let (mut defaults, mut generated, mut checks) = (Vec::new(), Vec::new(), Vec::new());
        for (at, column) in def.columns.iter().enumerate() {
            let whose = format!("column '{}'", column.name);
            if let Some(ColumnDefault::Expression(text)) = &column.default {
                defaults.push((at, compile(binder, &scope, text, &whose)));
            }
            if let Some(made) = &column.generated {
                let compiled = compile(binder, &scope, &made.expression, &whose);
                generated.push((at, compiled.map(|expr| expr.for_column(&column.ty))));
            }
        }
        for check in def.checks.iter().filter(|check| check.enforced) {
            let whose = format!("the CHECK constraint '{}'", check.name);
            // Only MariaDB has constraints of columns.
            let of_mariadb = binder.of_mariadb;
            binder.of_mariadb |= check.of_column;
            let compiled = compile(binder, &scope, &check.expression, &whose);
            binder.of_mariadb = of_mariadb;
            checks.push((check.name.clone(), compiled.map(Expr::numeric)));
        }
        let placement = Placement::of(binder, &scope, def, chosen)?.map(Box::new);
        Ok(Some(RowExpressions { defaults, generated, checks, placement }))
    }

    /// The defaults of these columns, which are expressions.
    pub fn fill_defaults(
        &self,
        def: &TableDef,
        columns: &[usize],
        values: &mut [Value],
        row: u64,
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<()> {
        for (at, expr) in self.defaults.iter().filter(|(at, _)| columns.contains(at)) {
            let value = expr.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?.into_owned();
            values[*at] = to_column(&value, &def.columns[*at], row, strictness, ctx)?;
        }
        Ok(())
    }

    /// Computes the generated columns of a row that has everything else.
    pub fn generate(
        &self,
        def: &TableDef,
        values: &mut [Value],
        row: u64,
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<()> {
        for (at, expr) in &self.generated {
            let value = expr.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?.into_owned();
            values[*at] = to_column(&value, &def.columns[*at], row, strictness, ctx)?;
        }
        Ok(())
    }

    /// Error 3819 where the row violates a constraint: what is not known is no violation; 1526 and
    /// 1748 where it belongs to no partition that it may belong to.
    pub fn check(&self, values: &[Value], ctx: &Context<'_>) -> Result<()> {
        for (name, expr) in &self.checks {
            let value = expr.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?;
            if crate::expr::truth(&value, ctx) == Some(false) {
                return Err(SqlError::new(3819, format!("Check constraint '{name}' is violated.")));
            }
        }
        match &self.placement {
            Some(placement) => placement.check(values, ctx),
            None => Ok(()),
        }
    }

    /// As [`RowExpressions::generate`], for rows that are there already: what cannot be computed
    /// here stays as it is.
    pub fn generate_known(
        &self,
        def: &TableDef,
        values: &mut [Value],
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<()> {
        for (at, expr) in &self.generated {
            let Ok(expr) = expr else { continue };
            let value = expr.eval(values, ctx)?.into_owned();
            values[*at] = to_column(&value, &def.columns[*at], 1, strictness, ctx)?;
        }
        Ok(())
    }
}

/// Whether a row that IGNORE leaves out was refused with this number.
pub(super) fn is_left_out(code: u16) -> bool {
    matches!(code, 3819 | 1526 | 1748 | 1369)
}

/// Error 3105: a value for a generated column.
pub(super) fn value_not_allowed(column: &ColumnDef, table: &TableDef) -> SqlError {
    let (column, table) = (&column.name, &table.name);
    let text =
        format!("The value specified for generated column '{column}' in table '{table}' is not allowed.");
    SqlError::new(3105, text)
}

/// Refuses a change that a unique key which is not kept up would have to be asked about; `changes`
/// says of a column whether it may change.
pub(super) fn check_kept_keys(def: &TableDef, changes: impl Fn(usize) -> bool) -> Result<()> {
    for index in def.kept_indexes.iter().filter(|index| index.unique) {
        let concerns = |part: &engine::KeptPart| match part.is_expression {
            true => crate::ddl::columns_of(def, &part.text)
                .is_none_or(|columns| columns.into_iter().any(&changes)),
            false => def.column(&part.text).is_some_and(&changes),
        };
        if index.parts.iter().any(concerns) {
            let what = format!("changing columns of the unique functional index '{}'", index.name);
            return Err(SqlError::not_supported(what));
        }
    }
    Ok(())
}
