//! The rows of EXPLAIN.

use crate::plan::{Access, Source, TableStep};
use engine::{Engine, IndexRef, Table};
use types::Value;

/// One row a table.
pub(crate) fn explain_rows(engine: &Engine, steps: &[(&'static str, &TableStep)]) -> Vec<Vec<Value>> {
    if steps.is_empty() {
        let mut row = vec![Value::UInt(1), Value::text("SIMPLE")];
        row.resize(11, Value::Null);
        row.push(Value::text("No tables used"));
        return vec![row];
    }
    steps.iter().enumerate().map(|(at, (kind, step))| row(engine, at, kind, step)).collect()
}

fn row(engine: &Engine, at: usize, kind: &str, step: &TableStep) -> Vec<Value> {
    let (name, ty, key, rows) = match &step.source {
        Source::Stored { table, access } => {
            let (ty, rows) = access_type(engine, table, access);
            let key = if ty == "ALL" { Value::Null } else { Value::text(index_name(table, access.index)) };
            (table.def.name.clone(), ty, key, rows)
        }
        Source::Virtual { name, .. } => (name.clone(), "ALL", Value::Null, 0),
        Source::Derived(_) => (format!("<derived{}>", at + 2), "ALL", Value::Null, 0),
    };
    let extra = match (step.conditions.is_empty(), step.covering.is_some()) {
        (true, false) => Value::Null,
        (false, false) => Value::text("Using where"),
        (true, true) => Value::text("Using index"),
        (false, true) => Value::text("Using where; Using index"),
    };
    vec![
        Value::UInt(1),
        Value::text(kind),
        Value::text(&name),
        Value::Null,
        Value::text(ty),
        key.clone(),
        key,
        Value::Null,
        Value::Null,
        Value::UInt(rows),
        Value::Double(100.0),
        extra,
    ]
}

fn index_name(table: &Table, index: IndexRef) -> &str {
    match index {
        IndexRef::Primary => "PRIMARY",
        IndexRef::Secondary(at) => &table.def.indexes[at].name,
    }
}

/// MySQL's word for the access, and a rough number of rows.
fn access_type(engine: &Engine, table: &Table, access: &Access) -> (&'static str, u64) {
    let all = engine.table_figures(table).rows;
    match &access.alternatives[..] {
        [] if access.index == IndexRef::Primary => ("ALL", all),
        [] => ("index", all),
        _ if access.is_point => ("const", 1),
        [one] if one.list.is_none() && one.low.is_none() && one.high.is_none() => {
            let is_unique = match access.index {
                IndexRef::Primary => true,
                IndexRef::Secondary(at) => table.def.indexes[at].unique,
            };
            if is_unique && one.equals.len() == table.index_columns(access.index).len() {
                ("const", 1)
            } else {
                ("ref", (all / 10).max(1))
            }
        }
        _ => ("range", (all / 3).max(1)),
    }
}
