//! The target of an INSERT: its table or view, the columns that are filled, and the account's
//! privileges on them.

use super::super::expressions::value_not_allowed;
use crate::ast;
use crate::bind::{
    Binder, Changed, ChangedView, Names, Opening, Scope, ScopeTable, TableUse, ViewCheck, Wanted,
    no_delete_from_join, view_plan,
};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::host::Privilege;
use engine::{ObjectDef, ObjectKind, Table};
use std::sync::Arc;

/// The table that rows are inserted into, and the account's privileges on it.
pub(in crate::exec) struct Target {
    pub table: Arc<Table>,
    /// Whether the account has only privileges on columns, so that the columns have to be checked.
    pub by_column: bool,
    pub readable: bool,
    /// The view that the rows are inserted through.
    pub view: Option<ChangedView>,
}

impl Target {
    /// Returns the names that the statement may use for the columns.
    pub fn names(&self) -> Names<'_> {
        Names { table: &self.table, view: self.view.as_ref() }
    }

    /// Returns a scope with the columns that the statement may name.
    pub fn scope(&self) -> Scope {
        let table = match &self.view {
            Some(view) => view.named().clone(),
            None => ScopeTable::stored(&self.table, &self.table.def.name, 0),
        };
        Scope::of(ScopeTable { readable: self.readable, ..table })
    }

    /// Returns what the statement fills, by the name that it uses.
    pub fn changed(&self) -> Changed<'_> {
        let view = self.view.as_ref().map(ChangedView::named);
        let shown = view.map_or(&self.table.def.name, |view| &view.alias);
        Changed { table: &self.table, shown, view: view.map(|view| (&*view.schema, &*view.org_table)) }
    }
}

/// The view that rows are inserted through.
pub(in crate::exec) struct Through {
    /// The schema and the name, with a dot between.
    pub(super) name: String,
    pub(super) check: Option<ViewCheck>,
    /// The conditions of the rows that the view shows. REPLACE may delete no other rows.
    pub(super) filter: Vec<Expr>,
    /// Whether the view shows the AUTO_INCREMENT column. If not, LAST_INSERT_ID() does not tell the
    /// generated value.
    pub(super) shows_generated: bool,
}

impl Through {
    /// Returns the view of a bound target, or `None` if the target is a table.
    pub fn of(binder: &mut Binder<'_>, target: Target) -> Result<Option<Through>> {
        let Some(view) = target.view else { return Ok(None) };
        let generated = target.table.def.auto_increment_column();
        let shows_generated = view.names.iter().any(|(_, at)| at.is_some() && *at == generated);
        let name = format!("{}.{}", view.named().schema, view.named().org_table);
        let check = view.check(binder)?;
        Ok(Some(Through { name, check, filter: view.into_filter(), shows_generated }))
    }
}

/// Finds the table of an INSERT: a temporary table of the session, a view's table, or a stored
/// table.
pub(in crate::exec) fn target_of(
    binder: &mut Binder<'_>,
    insert: &ast::Insert,
    schema: &str,
) -> Result<Target> {
    let name = &insert.table.name;
    if let Some(table) = binder.temporary.table_to_fill(schema, name) {
        binder.use_temporary(&table, name)?;
        return Ok(Target { table, by_column: false, readable: true, view: None });
    }
    let by_column = is_by_column(binder, insert, schema)?;
    let readable = binder.host.check_table(&[Privilege::Select], schema, name).is_ok();
    if let Some(view) = binder.engine.catalog().object(schema, ObjectKind::View, name) {
        let view = opened(binder, &view.def, insert)?;
        return Ok(Target { table: view.table.clone(), by_column, readable, view: Some(view) });
    }
    binder.locked.use_name(schema, name, name, true)?;
    Ok(Target { table: binder.stored_table(&insert.table)?, by_column, readable, view: None })
}

/// Opens the view that rows are inserted through, and checks the rights that it needs.
///
/// # Errors
/// Returns the errors of [`ChangedView::to_fill`], 1395 for REPLACE into a view of several tables,
/// and 1356 when a table of the view is missing or its definer may not change that table.
fn opened(binder: &mut Binder<'_>, def: &ObjectDef, insert: &ast::Insert) -> Result<ChangedView> {
    binder.locked.use_view(&def.schema, &def.name, 0)?;
    let plan = view_plan(binder, def, Opening::of(def, TableUse::Within))?;
    let named = ScopeTable::computed(&def.schema, &def.name, &def.name, &plan.columns, 0);
    let view = ChangedView::to_fill(plan, &named, insert.columns.as_deref())?;
    if insert.replace && view.is_join {
        return Err(no_delete_from_join(&def.schema, &def.name));
    }
    binder.locked.use_within_view(&view.table.def.schema, &view.table.def.name, true)?;
    let listed = view.names.iter().filter(|(name, _)| match &insert.columns {
        Some(listed) => listed.iter().any(|set| set.eq_ignore_ascii_case(name)),
        None => true,
    });
    let columns: Vec<usize> = listed.filter_map(|(_, at)| *at).collect();
    view.check_rights(binder, &Wanted { privilege: Privilege::Insert, columns: Some(&columns) })?;
    if insert.replace {
        view.check_rights(binder, &Wanted { privilege: Privilege::Delete, columns: None })?;
    }
    let updated: Result<Vec<usize>> = insert.on_duplicate.iter().map(|(name, _)| view.column(name)).collect();
    view.check_rights(binder, &Wanted { privilege: Privilege::Update, columns: Some(&updated?) })?;
    Ok(view)
}

/// Returns the privileges that the statement needs. REPLACE also deletes rows, and ON DUPLICATE KEY
/// UPDATE also updates them.
fn privileges(insert: &ast::Insert) -> &'static [Privilege] {
    match (insert.replace, insert.on_duplicate.is_empty()) {
        (true, _) => &[Privilege::Insert, Privilege::Delete],
        (false, false) => &[Privilege::Insert, Privilege::Update],
        (false, true) => &[Privilege::Insert],
    }
}

/// Reports whether the account has the needed privileges on columns of the table only, so that the
/// columns which the statement names have to be checked.
///
/// # Errors
/// Returns 1142 when the account has a needed privilege neither on the table nor on any column.
fn is_by_column(binder: &Binder<'_>, insert: &ast::Insert, schema: &str) -> Result<bool> {
    let (host, table) = (binder.host, &insert.table.name);
    let Err(error) = host.check_table(privileges(insert), schema, table) else { return Ok(false) };
    let holds = |privilege: &Privilege| {
        host.check_table(&[*privilege], schema, table).is_ok()
            || host.has_column_privilege(*privilege, schema, table)
    };
    if privileges(insert).iter().all(holds) { Ok(true) } else { Err(error) }
}

/// Checks the privileges on each column that the statement writes. A statement without a column
/// list writes all visible columns.
///
/// # Errors
/// Returns the error of the first column that may not be written.
pub(in crate::exec) fn check_columns(
    binder: &Binder<'_>,
    insert: &ast::Insert,
    filled: &Target,
) -> Result<()> {
    let scope = filled.scope();
    let named = &scope.tables[0];
    let (host, schema, table) = (binder.host, named.schema.as_str(), insert.table.name.as_str());
    if insert.columns.as_ref().is_none_or(|names| names.is_empty()) {
        let visible = named.columns.iter().filter(|column| !column.invisible);
        let mut names = visible.map(|column| column.name.as_str());
        host.check_all_columns(Privilege::Insert, schema, table, &mut names)?;
    }
    for column in insert.columns.iter().flatten() {
        host.check_column(Privilege::Insert, schema, table, column)?;
    }
    for (column, _) in &insert.on_duplicate {
        host.check_column(Privilege::Update, schema, table, column)?;
    }
    Ok(())
}

/// Returns the table's column for each value.
pub(super) fn target_columns(filled: &Target, insert: &ast::Insert) -> Result<Vec<usize>> {
    let Some(names) = &insert.columns else {
        if let Some(view) = &filled.view {
            return view.names.iter().map(|(name, _)| view.column(name)).collect();
        }
        let table = &filled.table;
        let visible = table.def.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
        return Ok(visible.map(|(at, _)| at).collect());
    };
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let at = filled.names().column(name)?;
        // As in MySQL, a column of a view may be named twice.
        if columns.contains(&at) && filled.view.is_none() {
            return Err(SqlError::new(1110, format!("Column '{name}' specified twice")));
        }
        columns.push(at);
    }
    Ok(columns)
}

/// Refuses values for generated columns. DEFAULT is allowed for them.
pub(super) fn check_generated(table: &Table, insert: &ast::Insert, columns: &[usize]) -> Result<()> {
    for (place, at) in columns.iter().enumerate() {
        let column = &table.def.columns[*at];
        let is_default =
            |row: &Vec<ast::Expr>| row.get(place).is_none_or(|value| *value == ast::Expr::Default);
        let is_right = column.generated.is_none()
            || matches!(&insert.source, ast::InsertSource::Values(rows) if rows.iter().all(is_default));
        if !is_right {
            return Err(value_not_allowed(column, &table.def));
        }
    }
    Ok(())
}
