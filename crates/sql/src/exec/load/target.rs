//! The target of a LOAD DATA: its table, the targets of the fields, and SET.

use crate::ast;
use crate::bind::{Binder, Place, Scope};
use crate::error::{Result, SqlError};
use crate::exec::insert::{InsertPlan, Rows, Target, Through, check_columns, target_of};
use crate::exec::row_update::{NewValue, is_computed};
use crate::exec::{RowExpressions, expressions};

/// The target of a field.
#[derive(Debug, Clone)]
pub(super) enum LineTarget {
    Column(usize),
    /// The name of a user variable.
    Variable(String),
}

/// The assignments of SET to columns.
pub(super) type Assignments = Vec<(usize, NewValue)>;

/// Binds the target of a LOAD DATA: the plan of an INSERT that stores the rows, the targets of the
/// fields, and SET.
pub(super) fn bind_target(
    binder: &mut Binder<'_>,
    load: &ast::Load,
) -> Result<(InsertPlan, Vec<LineTarget>, Assignments)> {
    let insert = written_insert(load);
    let schema = binder.schema_of(&load.table)?;
    let target = target_of(binder, &insert, &schema)?;
    let table = target.table.clone();
    let targets = targets_of(load, &target)?;
    if target.by_column {
        // The columns of a view have names of their own, and privileges are about these.
        let mut columns: Vec<String> = match load.targets.is_empty() {
            true => {
                let all = target.scope().tables.remove(0).columns.into_iter();
                all.filter(|column| !column.invisible).map(|column| column.name).collect()
            }
            false => load.targets.iter().filter_map(written_column).collect(),
        };
        columns.extend(load.assignments.iter().map(|set| set.column.clone()));
        let columns = Some(columns);
        check_columns(binder, &ast::Insert { columns, ..insert.clone() }, &target)?;
    }
    let expressions = RowExpressions::within(binder, &table.def, &load.partitions)?;
    let heeds_duplicates = load.on_duplicate != ast::OnDuplicate::Error;
    expressions::check_kept_keys(binder, &table.def, heeds_duplicates, |_| true)?;
    let scope = target.scope();
    // The variables change from row to row, and with them subqueries that read them.
    binder.noted.assigns_variables |= targets.iter().any(|target| matches!(target, LineTarget::Variable(_)));
    let assignments = bind_set(binder, load, &target, &scope)?;
    binder.noted.reads.check_none(&target.changed(), "LOAD")?;
    binder.noted.logging.note_insert(&table, &insert, binder.noted.tables.len() > 1);
    binder.noted.uncacheable = true;
    let columns: Vec<usize> = targets
        .iter()
        .filter_map(|target| match target {
            LineTarget::Column(at) => Some(*at),
            LineTarget::Variable(_) => None,
        })
        .collect();
    let plan = InsertPlan {
        missing: (0..table.columns()).filter(|at| !columns.contains(at)).collect(),
        columns,
        // The rows come one at a time, so the plan has none.
        rows: Rows::Values(Vec::new()),
        recoded: Vec::new(),
        replace: insert.replace,
        ignore: insert.ignore,
        on_duplicate: Vec::new(),
        stamped: Vec::new(),
        expressions,
        reads_row: false,
        through: Through::of(binder, target)?,
        table,
    };
    Ok((plan, targets, assignments))
}

/// Returns the INSERT that needs the same privileges as the LOAD DATA and is logged like it.
fn written_insert(load: &ast::Load) -> ast::Insert {
    ast::Insert {
        table: load.table.clone(),
        partitions: load.partitions.clone(),
        columns: None,
        source: ast::InsertSource::Values(Vec::new()),
        replace: load.on_duplicate == ast::OnDuplicate::Replace,
        // A client that is sending its file cannot be told of an error, so errors become warnings.
        ignore: match load.on_duplicate {
            ast::OnDuplicate::Ignore => true,
            ast::OnDuplicate::Error => load.is_local,
            ast::OnDuplicate::Replace => false,
        },
        row_alias: None,
        on_duplicate: Vec::new(),
    }
}

/// Returns the column that a target names, or `None` for a variable.
fn written_column(target: &ast::LoadTarget) -> Option<String> {
    match target {
        ast::LoadTarget::Column { name, .. } => Some(name.clone()),
        ast::LoadTarget::Variable { .. } => None,
    }
}

fn targets_of(load: &ast::Load, filled: &Target) -> Result<Vec<LineTarget>> {
    let table = &*filled.table;
    if let (true, Some(view)) = (load.targets.is_empty(), &filled.view) {
        return view.names.iter().map(|(name, _)| view.column(name).map(LineTarget::Column)).collect();
    }
    if load.targets.is_empty() {
        let visible = table.def.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
        return Ok(visible.map(|(at, _)| LineTarget::Column(at)).collect());
    }
    load.targets
        .iter()
        .map(|target| match target {
            ast::LoadTarget::Variable { name, .. } => Ok(LineTarget::Variable(name.clone())),
            ast::LoadTarget::Column { schema, table: of, name } => {
                let named = filled.scope();
                let is_ours = of.as_ref().is_none_or(|of| *of == named.tables[0].alias)
                    && schema.as_ref().is_none_or(|schema| *schema == named.tables[0].schema);
                let written = [schema.as_ref(), of.as_ref(), Some(name)];
                let written = written.into_iter().flatten().cloned().collect::<Vec<_>>().join(".");
                column_of(filled, name, is_ours, &written).map(LineTarget::Column)
            }
        })
        .collect()
}

/// Returns the position of the column that a name means. `written` is the name as it is written,
/// for error messages.
fn column_of(filled: &Target, name: &str, is_ours: bool, written: &str) -> Result<usize> {
    let unknown = || SqlError::unknown_column(written, "field list");
    if !is_ours {
        return Err(unknown());
    }
    filled.names().column(name).map_err(|error| if error.code == 1054 { unknown() } else { error })
}

/// Binds SET. As in MySQL, values for generated columns are bound, but not assigned.
fn bind_set(
    binder: &mut Binder<'_>,
    load: &ast::Load,
    filled: &Target,
    scope: &Scope,
) -> Result<Assignments> {
    let table = &*filled.table;
    let mut place = Place::new(scope, "field list");
    let mut bound = Vec::with_capacity(load.assignments.len());
    for set in &load.assignments {
        let is_ours = set.table.as_ref().is_none_or(|of| *of == scope.tables[0].alias);
        let written = || match &set.table {
            Some(of) => format!("{of}.{}", set.column),
            None => set.column.clone(),
        };
        let at = column_of(filled, &set.column, is_ours, &written())?;
        let column = &table.def.columns[at];
        let value = match &set.value {
            ast::Expr::Default => NewValue::Default,
            value => {
                let value = binder.expr(value, &mut place)?.for_column(&column.ty, None);
                NewValue::Expr(filled.names().resolve(binder, value)?)
            }
        };
        if !is_computed(column) {
            bound.push((at, value));
        }
    }
    Ok(bound)
}
