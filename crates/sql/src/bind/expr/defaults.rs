//! `DEFAULT(column)`: the default value of a column of a stored or temporary table.

use super::super::{Binder, Place};
use crate::ast;
use crate::error::{Result, SqlError};
use crate::expr::{Coercibility, Expr, Node};
use engine::{ColumnDef, ColumnDefault};
use types::convert::{self, DateModes};
use types::{ColumnType, TypeCode, Value};

/// Binds `DEFAULT(column)`. A default of CURRENT_TIMESTAMP counts as none, as in MySQL.
///
/// # Errors
/// Returns 1364 for a column without a default, 3773 for one whose default is an expression,
/// and 1235 for a column of a view, of a derived table, or of a query around this one.
#[inline(never)]
pub(super) fn default_of(binder: &mut Binder<'_>, column: &ast::Expr, place: &mut Place<'_>) -> Result<Expr> {
    let not_here = || SqlError::not_supported("DEFAULT() of a column that is not in a table here");
    let ast::Expr::Column { schema, table, name } = column else { return Err(not_here()) };
    let found = place.scope.resolve(schema.as_deref(), table.as_deref(), name, place.clause);
    let found = match found {
        Err(error) if error.code == 1054 && place.outer.is_some() => return Err(not_here()),
        found => found?,
    };
    binder.view.check_readable(&found, place.scope)?;
    let Node::Slot(slot) = found.node else { return Err(not_here()) };
    let (of, at) = place.scope.of_slot(slot).ok_or_else(not_here)?;
    let name = ast::TableName {
        schema: Some(of.schema.clone()).filter(|s| !s.is_empty()),
        name: of.org_table.clone(),
    };
    let is_there = binder.temporary.table(&of.schema, &of.org_table).is_some()
        || binder.engine.catalog().table(&of.schema, &of.org_table).is_some();
    if !is_there {
        return Err(not_here());
    }
    let org_name = of.columns[at].org_name.clone();
    let table = binder.described_table(&name)?;
    let column = table.def.column(&org_name).map(|at| &table.def.columns[at]).ok_or_else(not_here)?;
    let value = default_value(column)?;
    let ty = match column.ty.code {
        // The default is written in the session's time zone.
        TypeCode::Timestamp2 => ColumnType::datetime(column.ty.fsp()),
        _ => column.ty.clone(),
    };
    // The default was checked when the column was defined, so the SQL mode has no say.
    let conversion = convert::Context {
        strict: false,
        zone: binder.variables.zone,
        dates: DateModes::default(),
        of_mariadb: binder.variables.of_mariadb,
    };
    let value = match value {
        Value::Null => value,
        value => convert::assign(&value, &ty, conversion)
            .map(|(value, _)| value)
            .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)))?,
    };
    let nullable = value.is_null();
    Ok(Expr { node: Node::Constant(value), ty, nullable, coercibility: Coercibility::Implicit })
}

/// Returns the default as it is written in the column's definition.
fn default_value(column: &ColumnDef) -> Result<Value> {
    let no_default = || SqlError::new(1364, format!("Field '{}' doesn't have a default value", column.name));
    let is_clock = matches!(column.ty.code, TypeCode::Datetime2 | TypeCode::Timestamp2);
    match &column.default {
        _ if column.generated.is_some() => Err(no_default()),
        _ if column.auto_increment => Ok(Value::Int(0)),
        Some(ColumnDefault::Literal(_)) => Ok(column.default_literal().unwrap_or(Value::Null)),
        Some(ColumnDefault::Expression(_)) => {
            Err(SqlError::new(3773, "DEFAULT function cannot be used with default value expressions"))
        }
        Some(ColumnDefault::CurrentTimestamp) if !column.nullable && is_clock => {
            Ok(Value::DateTime(Default::default()))
        }
        _ if column.nullable => Ok(Value::Null),
        _ => Err(no_default()),
    }
}
