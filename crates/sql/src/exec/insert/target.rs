//! Which table rows are inserted into, which of its columns, and whether the account may.

use super::super::expressions::value_not_allowed;
use crate::ast;
use crate::bind::Binder;
use crate::error::{Result, SqlError};
use crate::host::Privilege;
use engine::Table;
use std::sync::Arc;

/// The table that rows are inserted into, and what the account may do with it.
pub(in crate::exec) struct Target {
    pub table: Arc<Table>,
    /// Its columns are to be checked.
    pub by_column: bool,
    pub readable: bool,
}

/// Finds the table of an INSERT: a temporary one of the session, or a stored one.
pub(in crate::exec) fn target_of(
    binder: &mut Binder<'_>,
    insert: &ast::Insert,
    schema: &str,
) -> Result<Target> {
    let name = &insert.table.name;
    if let Some(table) = binder.temporary.table_to_fill(schema, name) {
        binder.use_temporary(&table, name)?;
        return Ok(Target { table, by_column: false, readable: true });
    }
    let by_column = is_by_column(binder, insert, schema)?;
    let readable = binder.host.check_table(&[Privilege::Select], schema, name).is_ok();
    binder.locked.use_name(schema, name, name, true)?;
    Ok(Target { table: binder.stored_table(&insert.table)?, by_column, readable })
}

/// REPLACE deletes the rows in its way, ON DUPLICATE KEY UPDATE updates them.
fn privileges(insert: &ast::Insert) -> &'static [Privilege] {
    match (insert.replace, insert.on_duplicate.is_empty()) {
        (true, _) => &[Privilege::Insert, Privilege::Delete],
        (false, false) => &[Privilege::Insert, Privilege::Update],
        (false, true) => &[Privilege::Insert],
    }
}

/// Whether what the statement needs holds on columns of the table alone: those that it names are
/// then to be checked.
///
/// # Errors
/// 1142 where it holds on neither.
fn is_by_column(binder: &Binder<'_>, insert: &ast::Insert, schema: &str) -> Result<bool> {
    let (host, table) = (binder.host, &insert.table.name);
    let Err(error) = host.check_table(privileges(insert), schema, table) else { return Ok(false) };
    let holds = |privilege: &Privilege| {
        host.check_table(&[*privilege], schema, table).is_ok()
            || host.has_column_privilege(*privilege, schema, table)
    };
    if privileges(insert).iter().all(holds) { Ok(true) } else { Err(error) }
}

/// The error of a column that is written without the privilege. A statement that names none writes
/// all of them.
pub(in crate::exec) fn check_columns(
    binder: &Binder<'_>,
    insert: &ast::Insert,
    stored: &Table,
) -> Result<()> {
    let (host, schema, table) = (binder.host, stored.def.schema.as_str(), insert.table.name.as_str());
    if insert.columns.as_ref().is_none_or(|names| names.is_empty()) {
        let visible = stored.def.columns.iter().filter(|column| !column.invisible);
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

/// The column of each value.
pub(super) fn target_columns(table: &Table, insert: &ast::Insert) -> Result<Vec<usize>> {
    let Some(names) = &insert.columns else {
        let visible = table.def.columns.iter().enumerate().filter(|(_, column)| !column.invisible);
        return Ok(visible.map(|(at, _)| at).collect());
    };
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let at = table.def.column(name).ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        if columns.contains(&at) {
            return Err(SqlError::new(1110, format!("Column '{name}' specified twice")));
        }
        columns.push(at);
    }
    Ok(columns)
}

/// Refuses values for generated columns; DEFAULT is none.
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
