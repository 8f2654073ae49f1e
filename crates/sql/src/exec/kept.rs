//! Rows of a query as a derived table or a subquery keeps them: each value is one of its column's
//! type. What goes to a client may have other decimals, and a YEAR that an expression made is a
//! number there.

use crate::error::Result;
use crate::expr::{Context, conform};
use crate::plan::QueryPlan;
use std::borrow::Cow;
use types::{ColumnType, TypeCode, Value};

/// Brings the rows of one query to the types of its columns.
pub(super) struct Kept<'p> {
    /// The columns whose values may be of another form than their type says.
    columns: Vec<(usize, &'p ColumnType)>,
    row: Vec<Value>,
}

impl<'p> Kept<'p> {
    pub fn new(plan: &'p QueryPlan) -> Kept<'p> {
        let types = plan.columns.iter().map(|column| &column.ty).enumerate();
        let may_differ = |ty: &ColumnType| matches!(ty.code, TypeCode::NewDecimal | TypeCode::Year);
        Kept { columns: types.filter(|(_, ty)| may_differ(ty)).collect(), row: Vec::new() }
    }

    /// Returns the row with values of the columns' types.
    ///
    /// # Errors
    /// Returns the errors of [`Context::copied`] where a row has to be copied.
    pub fn row<'r>(&'r mut self, row: &'r [Value], ctx: &Context<'_>) -> Result<&'r [Value]> {
        if self.columns.iter().all(|(at, ty)| is_kept(&row[*at], ty)) {
            return Ok(row);
        }
        self.row.clear();
        for value in row {
            self.row.push(ctx.copied(value)?);
        }
        for (at, ty) in &self.columns {
            self.row[*at] = match &self.row[*at] {
                Value::UInt(year) if ty.code == TypeCode::Year && ty.form.is_none() => {
                    u16::try_from(*year).map_or(Value::Null, Value::Year)
                }
                value => conform(Cow::Borrowed(value), ty, ctx)?.into_owned(),
            };
        }
        Ok(&self.row)
    }
}

fn is_kept(value: &Value, ty: &ColumnType) -> bool {
    match (value, ty.code) {
        (Value::Decimal(number), TypeCode::NewDecimal) => number.scale() == ty.scale(),
        (Value::UInt(_), TypeCode::Year) => ty.form.is_some(),
        _ => true,
    }
}
