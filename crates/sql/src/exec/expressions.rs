//! The compiled expressions of a table's definition: default values, generated columns and
//! constraints, for the rows that clients write.
//!
//! An expression that cannot be compiled here (it may use a missing function) is an error only of
//! the statements that need its value.

use super::assign::{Strictness, to_column};
use super::compiled::{Compiled, compile};
use super::placement::Placement;
use crate::bind::{Binder, Scope, ScopeTable};
use crate::error::{Result, SqlError};
use crate::expr::{Context, Expr, Warning};
use crate::quoting::quoted;
use engine::{ColumnDef, ColumnDefault, ColumnRoles, TableDef};
use types::Value;

/// MySQL's number of the error for a violated CHECK constraint.
const OF_MYSQL: u16 = 3819;
/// MariaDB's number of the same error.
const OF_MARIADB: u16 = 4025;

/// The expressions of one table's definition.
pub(crate) struct RowExpressions {
    /// The columns whose defaults are expressions, with these.
    defaults: Vec<(usize, Compiled)>,
    /// The generated columns, in the order of the table. The expression of each may use those
    /// before it.
    generated: Vec<Generated>,
    /// The enforced CHECK constraints, with their names.
    checks: Vec<(String, Compiled)>,
    /// The partition check. `None` for a table without partitions.
    placement: Option<Box<Placement>>,
}

/// A generated column.
struct Generated {
    /// The column's position in the table.
    at: usize,
    expr: Compiled,
    /// The columns that the expression names. `None` if it cannot be compiled.
    named: Option<Vec<usize>>,
}

impl RowExpressions {
    /// Compiles the expressions of a definition. Returns `None` when there are none.
    pub fn of(binder: &mut Binder<'_>, def: &TableDef) -> Result<Option<RowExpressions>> {
        RowExpressions::within(binder, def, &[])
    }

    /// As [`RowExpressions::of`], for rows that must belong to one of the partitions in `chosen`.
    /// If `chosen` is empty, any partition will do.
    pub fn within(
        binder: &mut Binder<'_>,
        def: &TableDef,
        chosen: &[String],
    ) -> Result<Option<RowExpressions>> {
        if !def.asks_for_expressions() && chosen.is_empty() && def.temporal.period.is_none() {
            return Ok(None);
        }
        let scope = Scope::of(ScopeTable::defined(def));
        let (mut defaults, mut generated, mut checks) = (Vec::new(), Vec::new(), Vec::new());
        for (at, column) in def.columns.iter().enumerate() {
            let whose = format!("column '{}'", column.name);
            if let Some(ColumnDefault::Expression(text)) = &column.default {
                let compiled = compile(binder, &scope, text, &whose);
                defaults.push((at, compiled.map(|expr| expr.for_column(&column.ty, None))));
            }
            if let Some(made) = &column.generated {
                binder.meaning.makes_arrays = column.elements.is_some();
                let compiled = compile(binder, &scope, &made.expression, &whose);
                binder.meaning.makes_arrays = false;
                let expr = compiled.map(|expr| expr.for_column(&column.ty, None));
                let named = expr.as_ref().ok().map(|expr| {
                    let mut named = Vec::new();
                    expr.slots(&mut named);
                    named
                });
                generated.push(Generated { at, expr, named });
            }
        }
        // MySQL computes the hidden columns in the order of the names of their indexes, and names
        // the first that a value does not fit.
        let hidden = generated.partition_point(|made: &Generated| made.at < def.named_columns());
        generated[hidden..].sort_by(|a, b| def.columns[a.at].name.cmp(&def.columns[b.at].name));
        for check in def.checks.iter().filter(|check| check.enforced) {
            let whose = format!("the CHECK constraint '{}'", check.name);
            // Only MariaDB has constraints of single columns.
            let of_mariadb = binder.meaning.of_mariadb;
            binder.meaning.of_mariadb |= check.of_column;
            let compiled = compile(binder, &scope, &check.expression, &whose);
            binder.meaning.of_mariadb = of_mariadb;
            checks.push((check.name.clone(), compiled.map(Expr::numeric)));
        }
        if let Some((name, ordered)) = period_in_order(def) {
            let whose = format!("the period '{name}'");
            checks.push((name, compile(binder, &scope, &ordered, &whose).map(Expr::numeric)));
        }
        let placement = Placement::of(binder, &scope, def, chosen)?.map(Box::new);
        Ok(Some(RowExpressions { defaults, generated, checks, placement }))
    }

    /// Computes the defaults of those among `columns` whose defaults are expressions.
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

    /// Computes the generated columns of a row whose other columns are complete.
    pub fn generate(
        &self,
        def: &TableDef,
        values: &mut [Value],
        row: u64,
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<()> {
        self.generated.iter().try_for_each(|made| {
            values[made.at] = made.value(def, values, row, strictness, ctx)?;
            Ok(())
        })
    }

    /// Reports whether the table has generated columns.
    pub fn has_generated(&self) -> bool {
        !self.generated.is_empty()
    }

    /// Computes those generated columns of a changed row that depend on one of the `written`
    /// columns. As in MySQL the others keep their values, also those that would not fit today.
    pub fn generate_anew(
        &self,
        def: &TableDef,
        (values, written): (&mut [Value], &[usize]),
        row: u64,
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<()> {
        let mut is_written = vec![false; values.len()];
        written.iter().for_each(|at| is_written[*at] = true);
        for made in &self.generated {
            if made.named.as_ref().is_none_or(|named| named.iter().any(|at| is_written[*at])) {
                values[made.at] = made.value(def, values, row, strictness, ctx)?;
                is_written[made.at] = true;
            }
        }
        Ok(())
    }

    /// Checks the constraints, unless a session of MariaDB has turned them off, and the partition
    /// of a row. A constraint whose value is NULL is not violated.
    ///
    /// # Errors
    /// Returns 3819 (`ER_CHECK_CONSTRAINT_VIOLATED`; 4025 in a statement of MariaDB's) for a
    /// violated constraint, and 1526 and 1748 when the row belongs to no permitted partition.
    pub fn check(&self, values: &[Value], ctx: &Context<'_>) -> Result<()> {
        let checks = if ctx.variables.check_constraint_checks { &self.checks[..] } else { &[] };
        for (name, expr) in checks {
            let value = expr.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?;
            if crate::expr::truth(&value, ctx) == Some(false) {
                let code = if ctx.variables.of_mariadb { OF_MARIADB } else { OF_MYSQL };
                return Err(SqlError::new(code, format!("Check constraint '{name}' is violated.")));
            }
        }
        self.check_place(values, ctx)
    }

    /// Checks the partition of a row alone.
    ///
    /// # Errors
    /// Returns 1526 and 1748 when the row belongs to no permitted partition.
    pub fn check_place(&self, values: &[Value], ctx: &Context<'_>) -> Result<()> {
        match &self.placement {
            Some(placement) => placement.check(values, ctx),
            None => Ok(()),
        }
    }

    /// As [`RowExpressions::generate`], for rows that are stored already. A column whose expression
    /// cannot be compiled here keeps its value.
    pub fn generate_known(
        &self,
        def: &TableDef,
        values: &mut [Value],
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<()> {
        for Generated { at, expr, .. } in &self.generated {
            let Ok(expr) = expr else { continue };
            let value = match expr.eval(values, ctx) {
                // The source has accepted the row all the same.
                Err(_) if def.columns[*at].elements.is_some() => Value::Null,
                value => value?.into_owned(),
            };
            values[*at] = to_column(&value, &def.columns[*at], 1, strictness, ctx)?;
        }
        Ok(())
    }
}

impl Generated {
    /// Computes the column of a row whose earlier columns are complete.
    fn value(
        &self,
        def: &TableDef,
        values: &[Value],
        row: u64,
        strictness: Strictness,
        ctx: &Context<'_>,
    ) -> Result<Value> {
        let column = &def.columns[self.at];
        // MariaDB computes a virtual column when it is read, so that INSERT does not refuse a value
        // that does not fit it.
        let strict = strictness.strict && !ctx.variables.of_mariadb;
        let strictness = Strictness { strict, ..strictness };
        let computed = || {
            let value = self.expr.as_ref().map_err(SqlError::clone)?.eval(values, ctx)?.into_owned();
            to_column(&value, column, row, strictness, ctx)
        };
        match column.is_indexed_expression() {
            false => computed(),
            true => {
                let index = def.index_of_expression(self.at).map_or("", |index| index.name.as_str());
                of_index((index, column.elements.is_some()), row, ctx, computed)
            }
        }
    }
}

/// Returns the name of an application's period, and the condition that the period begins before it
/// ends, which is a constraint of each row at MariaDB.
fn period_in_order(def: &TableDef) -> Option<(String, String)> {
    let name = def.temporal.period.clone()?;
    let edge = |role| def.column_with(role).map(|at| quoted(&def.columns[at].name));
    let (start, end) = (edge(ColumnRoles::PERIOD_START)?, edge(ColumnRoles::PERIOD_END)?);
    Some((name, format!("{start} < {end}")))
}

/// Computes a value for a functional index. What is lost of the value is told as something that
/// happened to the index, because nobody knows its hidden column.
fn of_index(
    (index, of_array): (&str, bool),
    row: u64,
    ctx: &Context<'_>,
    compute: impl FnOnce() -> Result<Value>,
) -> Result<Value> {
    let told = |code: u16| match code {
        3155 => Some((3904, format!("Out of range JSON value for CAST for functional index '{index}'."))),
        3156 => Some((3903, format!("Invalid JSON value for CAST for functional index '{index}'."))),
        3666 => {
            let text =
                format!("Cannot store an array or an object in a scalar key part of the index '{index}'.");
            Some((3908, text))
        }
        1406 if of_array => Some((3907, format!("Data too long for functional index '{index}'."))),
        1265 | 1292 | 1406 => {
            Some((3751, format!("Data truncated for functional index '{index}' at row {row}")))
        }
        1264 => Some((3752, format!("Value is out of range for functional index '{index}' at row {row}"))),
        _ => None,
    };
    let retold = |error: SqlError| match told(error.code) {
        Some((code, message)) => SqlError { code, state: state_of(code, of_array), message },
        None if matches!(error.code, 3905 | 3906) => {
            SqlError { message: error.message.replacen("''", &format!("'{index}'"), 1), ..error }
        }
        None => error,
    };
    let (before, was_refused) = {
        let diagnostics = ctx.diagnostics.borrow();
        (diagnostics.warnings.len(), diagnostics.refused.is_some())
    };
    let value = compute();
    let mut diagnostics = ctx.diagnostics.borrow_mut();
    for warning in diagnostics.warnings.iter_mut().skip(before) {
        if let Some((code, message)) = told(warning.code) {
            *warning = Warning::new(warning.level, code, message);
        }
    }
    if !was_refused {
        diagnostics.refused = diagnostics.refused.take().map(retold);
    }
    value.map_err(retold)
}

/// Returns the SQLSTATE of an error about an index's value.
fn state_of(code: u16, of_array: bool) -> [u8; 5] {
    match code {
        3903 => *b"22018",
        3904 => *b"22003",
        3752 if of_array => *b"22003",
        3907 => *b"22001",
        3908 => *b"HY000",
        _ => *b"01000",
    }
}

/// Reports whether a row that is refused with this error is left out under IGNORE.
pub(super) fn is_left_out(code: u16) -> bool {
    is_check_violated(code) || matches!(code, 1526 | 1748 | 1369)
}

/// Reports whether the error is that of a violated CHECK constraint.
pub(super) fn is_check_violated(code: u16) -> bool {
    code == OF_MYSQL || code == OF_MARIADB
}

/// Builds error 3105, which tells that a generated column cannot be given a value.
pub(super) fn value_not_allowed(column: &ColumnDef, table: &TableDef) -> SqlError {
    let (column, table) = (&column.name, &table.name);
    let text =
        format!("The value specified for generated column '{column}' in table '{table}' is not allowed.");
    SqlError::new(3105, text)
}

/// Refuses a change to a column of a unique index that is recorded but not maintained, since the
/// index could not detect duplicates. A source has detected them; only where it passes over them
/// or replaces their rows (`heeds_duplicates`), the changes depend on what it has found. `changes`
/// says whether a column may change.
pub(super) fn check_kept_keys(
    binder: &Binder<'_>,
    def: &TableDef,
    heeds_duplicates: bool,
    changes: impl Fn(usize) -> bool,
) -> Result<()> {
    if binder.host.is_of_source() && !heeds_duplicates {
        return Ok(());
    }
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
