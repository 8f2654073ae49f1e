//! JSON_TABLE: computes its rows for a row of the tables before it.

use super::Run;
use crate::error::{Result, SqlError};
use crate::expr::Context;
use crate::expr::functions::json::stored;
use crate::memory::{Charge, growth};
use crate::plan::{JsonColumn, JsonColumnKind, JsonResponse, JsonRows, JsonTable};
use types::Value;
use types::json::{self, Node};

/// Returns all rows of the table, with the charge for their memory.
pub(super) fn rows(
    run: &mut Run<'_, '_>,
    table: &JsonTable,
    columns: usize,
    row: &[Value],
) -> Result<(Vec<Vec<Value>>, Charge)> {
    let mut found = Found { rows: Vec::new(), charge: run.charge(), ctx: run.ctx };
    let document = table.document.eval(row, run.ctx)?;
    if let Value::Json(bytes) = &*document {
        let node = json::read_document(bytes).ok_or_else(crate::expr::documents::damaged)?;
        found.charge.add(node.heap_bytes())?;
        found.add(&table.rows, &node, &mut vec![Value::Null; columns])?;
    }
    Ok((found.rows, found.charge))
}

struct Found<'c, 'a> {
    rows: Vec<Vec<Value>>,
    charge: Charge,
    ctx: &'c Context<'a>,
}

impl Found<'_, '_> {
    /// Adds the rows that a path finds in a value. `row` has the columns of the paths around it.
    /// Returns whether there were any. The recursion is as deep as the paths are nested.
    fn add(&mut self, rows: &JsonRows, node: &Node, row: &mut Vec<Value>) -> Result<bool> {
        let values = rows.path.find(node);
        for (number, value) in values.iter().enumerate() {
            self.ctx.check_interrupt()?;
            for (at, column) in &rows.columns {
                row[*at] = column_value(column, value, number, self.ctx)?;
            }
            let mut any = false;
            for nested in &rows.nested {
                any |= self.add(nested, value, row)?;
                clear(nested, row);
            }
            if !any {
                self.charge.add_row(row)?;
                growth::push(&mut self.rows, row.clone(), &mut self.charge)?;
            }
        }
        Ok(!values.is_empty())
    }
}

/// Sets the columns of a path to NULL, since of several paths side by side only one has values in a
/// row.
fn clear(rows: &JsonRows, row: &mut [Value]) {
    rows.columns.iter().for_each(|(at, _)| row[*at] = Value::Null);
    rows.nested.iter().for_each(|nested| clear(nested, row));
}

fn column_value(column: &JsonColumn, node: &Node, number: usize, ctx: &Context<'_>) -> Result<Value> {
    let (path, on_empty, on_error) = match &column.kind {
        JsonColumnKind::Ordinality => return Ok(Value::Int(number as i64 + 1)),
        JsonColumnKind::Exists(path) => {
            let exists = Node::Int(i64::from(!path.find(node).is_empty()));
            return stored(&exists, &column.name, &column.ty, ctx.dates());
        }
        JsonColumnKind::Value { path, on_empty, on_error } => (path, on_empty, on_error),
    };
    let found = path.find(node);
    let list;
    let value = match found.as_slice() {
        [] => {
            let text = format!("Missing value for JSON_TABLE column '{}'", column.name);
            return respond(on_empty, SqlError::new(3665, text), ctx);
        }
        [one] if !path.may_mean_several() => *one,
        several => {
            list = Node::Array(several.iter().map(|node| (*node).clone()).collect());
            ctx.charge_if_long(list.heap_bytes())?;
            &list
        }
    };
    if *value == Node::Null {
        return Ok(Value::Null);
    }
    match stored(value, &column.name, &column.ty, ctx.dates()) {
        Ok(value) => Ok(value),
        Err(error) => respond(on_error, error, ctx),
    }
}

fn respond(response: &JsonResponse, error: SqlError, ctx: &Context<'_>) -> Result<Value> {
    match response {
        JsonResponse::Null => Ok(Value::Null),
        JsonResponse::Error => Err(error),
        JsonResponse::Default(value) => ctx.copied(value),
    }
}
