//! Checks of tables that are made for clients' statements alone, because a source has made its own.

use super::expression::columns_of;
use super::settings::DdlSettings;
use crate::ast::{ColumnSpec, Expr, KeyKind, KeySpec, Literal};
use crate::error::{Result, SqlError};
use engine::{CheckDef, ColumnDefault, ForeignKeyDef, ReferentialAction, TableDef};
use types::TypeCode;

/// Checks the columns that a statement has written, in the definition that it makes.
///
/// # Errors
/// Returns 1171 (`ER_PRIMARY_CANT_HAVE_NULL`) for a column of the primary key that is written as
/// NULL, and 3767 for a default that depends on a default behind it.
pub(super) fn check_written_columns<'s>(
    def: &TableDef,
    specs: impl Iterator<Item = &'s ColumnSpec>,
    settings: &DdlSettings,
) -> Result<()> {
    if settings.replicated {
        return Ok(());
    }
    for spec in specs {
        let Some(at) = def.column(&spec.name) else { continue };
        let is_null = matches!(spec.default, Some(Expr::Literal(Literal::Null)));
        let is_key = def.primary.iter().flatten().any(|part| part.column == at);
        if is_key && (spec.nullable == Some(true) || is_null) {
            let text =
                "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
            return Err(SqlError::new(1171, text));
        }
        check_default(def, at)?;
    }
    Ok(())
}

/// Checks that a column's default depends on no AUTO_INCREMENT column, and on no generated value
/// behind it.
///
/// # Errors
/// Returns 3768 and 3767.
pub(super) fn check_default(def: &TableDef, at: usize) -> Result<()> {
    let Some(ColumnDefault::Expression(text)) = &def.columns[at].default else { return Ok(()) };
    let is_computed = |other: usize| {
        let other = &def.columns[other];
        other.generated.is_some() || matches!(other.default, Some(ColumnDefault::Expression(_)))
    };
    let name = &def.columns[at].name;
    // The column that the expression names first decides.
    for other in columns_of(def, text).unwrap_or_default() {
        if def.columns[other].auto_increment {
            let text = format!(
                "Default value expression of column '{name}' cannot refer to an auto-increment column."
            );
            return Err(SqlError::new(3768, text));
        }
        if other >= at && is_computed(other) {
            let text = format!(
                "Default value expression of column '{name}' cannot refer to a column defined after it if that column \
                 is a generated column or has an expression as default value."
            );
            return Err(SqlError::new(3767, text));
        }
    }
    Ok(())
}

/// Checks a key that a statement adds.
///
/// # Errors
/// Returns 1687 (`ER_SPATIAL_MUST_HAVE_GEOM_COL`) for an RTREE over other columns than geometries,
/// and 1167 (`ER_WRONG_KEY_COLUMN`) for a column whose values are all empty.
pub(super) fn check_key(def: &TableDef, key: &KeySpec, settings: &DdlSettings) -> Result<()> {
    if settings.replicated {
        return Ok(());
    }
    if key.is_rtree && key.kind != KeyKind::Spatial {
        return Err(SqlError::new(1687, "A SPATIAL index may only contain a geometrical type column"));
    }
    for part in key.parts.iter().filter(|part| part.expression.is_none()) {
        let Some(at) = def.column(&part.column) else { continue };
        let ty = &def.columns[at].ty;
        if matches!(ty.code, TypeCode::Varchar | TypeCode::String) && ty.max_bytes() == 0 {
            let text = format!("The used storage engine can't index column '{}'", part.column);
            return Err(SqlError::new(1167, text));
        }
    }
    Ok(())
}

/// Checks that no action of a foreign key changes a column that a CHECK constraint names.
///
/// # Errors
/// Returns 3823 (`ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN`).
pub(super) fn check_actions(def: &TableDef, check: &CheckDef, foreign_key: &ForeignKeyDef) -> Result<()> {
    use ReferentialAction::{Cascade, SetDefault, SetNull};
    let changes = matches!(foreign_key.on_update, Cascade | SetNull | SetDefault)
        || matches!(foreign_key.on_delete, SetNull | SetDefault);
    if !changes {
        return Ok(());
    }
    let named = columns_of(def, &check.expression).unwrap_or_default();
    match foreign_key.columns.iter().find(|column| named.contains(column)) {
        Some(&column) => {
            let text = format!(
                "Column '{}' cannot be used in a check constraint '{}': needed in a foreign key constraint '{}' \
                 referential action.",
                def.columns[column].name, check.name, foreign_key.name
            );
            Err(SqlError::new(3823, text))
        }
        None => Ok(()),
    }
}
