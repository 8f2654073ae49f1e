//! EXPLAIN as a table.

use crate::expr::Node;
use crate::plan::{Access, KeyCondition, NestKind, Source, TableStep};
use engine::{Engine, IndexColumn, IndexRef, Table};
use types::{TypeCode, Value};

/// One row a table.
pub(crate) fn explain_rows(engine: &Engine, steps: &[(&'static str, &TableStep)]) -> Vec<Vec<Value>> {
    if steps.is_empty() {
        let mut row = vec![Value::UInt(1), Value::text("SIMPLE")];
        row.resize(11, Value::Null);
        row.push(Value::text("No tables used"));
        return vec![row];
    }
    let tables: Vec<&TableStep> = steps.iter().map(|(_, step)| *step).collect();
    steps.iter().enumerate().map(|(at, (kind, step))| row(engine, at, kind, step, &tables)).collect()
}

fn row(engine: &Engine, at: usize, kind: &str, step: &TableStep, tables: &[&TableStep]) -> Vec<Value> {
    let (mut key_len, mut compared) = (Value::Null, Value::Null);
    let (name, ty, key, rows) = match &step.source {
        Source::Stored { table, access } => {
            let (ty, rows) = access_type(engine, table, access);
            let key = if ty == "ALL" { Value::Null } else { Value::text(index_name(table, access.index)) };
            if ty != "ALL" {
                key_len = Value::text(&used_key_bytes(table, access).to_string());
            }
            if matches!(ty, "const" | "eq_ref" | "ref") {
                compared = Value::text(&compared_with(access, tables));
            }
            (step.alias.clone(), ty, key, rows)
        }
        Source::Virtual { .. } | Source::JsonTable(_) => (step.alias.clone(), "ALL", Value::Null, 0),
        Source::Derived(_) | Source::Subquery(_) => (format!("<derived{}>", at + 2), "ALL", Value::Null, 0),
    };
    let notes = [
        (step.all_conditions().next().is_some(), "Using where"),
        (step.covering.is_some(), "Using index"),
        (step.nests.iter().any(|nest| nest.kind == NestKind::Semi), "FirstMatch"),
        (step.nests.iter().any(|nest| nest.kind == NestKind::Anti), "Not exists"),
        (step.hash.is_some(), "Using join buffer (hash join)"),
    ];
    let notes: Vec<&str> = notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note).collect();
    let extra = if notes.is_empty() { Value::Null } else { Value::text(&notes.join("; ")) };
    let (rows, filtered) = match step.estimate {
        Some(estimate) => (estimate.read.round().max(1.0) as u64, estimate.taken_percent),
        None => (rows, 100.0),
    };
    vec![
        Value::UInt(1),
        Value::text(kind),
        Value::text(&name),
        Value::Null,
        Value::text(ty),
        key.clone(),
        key,
        key_len,
        compared,
        Value::UInt(rows),
        Value::Double((filtered * 100.0).round() / 100.0),
        extra,
    ]
}

fn index_name(table: &Table, index: IndexRef) -> &str {
    match index {
        IndexRef::Primary => "PRIMARY",
        IndexRef::Secondary(at) => &table.def.indexes[at].name,
    }
}

/// The bytes of those parts of the index that are used, as MySQL counts a key: with a byte for
/// NULL, and two for the length of a string that has one.
fn used_key_bytes(table: &Table, access: &Access) -> u64 {
    let parts = table.index_columns(access.index);
    let used = |condition: &KeyCondition| {
        let has_range = condition.list.is_some() || condition.low.is_some() || condition.high.is_some();
        condition.equals.len() + usize::from(has_range)
    };
    let used = access.alternatives.iter().map(used).max().unwrap_or(parts.len());
    parts.iter().take(used).map(|part| key_part_bytes(table, part)).sum()
}

fn key_part_bytes(table: &Table, part: &IndexColumn) -> u64 {
    const LENGTH_BYTES: u64 = 2;
    let ty = table.column_type(part.column);
    let has_length = ty.is_blob() || ty.code == TypeCode::Varchar;
    let per_char = u64::from(types::collation::max_bytes_per_char(ty.collation));
    let bytes = part.prefix.map_or(ty.max_bytes(), |chars| u64::from(chars) * per_char);
    let nullable = u64::from(table.def.columns[part.column].nullable);
    bytes + nullable + if has_length { LENGTH_BYTES } else { 0 }
}

/// What the parts of the index are compared with: constants, columns of tables before, or anything
/// else.
fn compared_with(access: &Access, tables: &[&TableStep]) -> String {
    let mut shown = Vec::new();
    for (expr, _) in access.alternatives.iter().flat_map(|condition| &condition.equals) {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        shown.push(match (slots.is_empty(), &expr.node) {
            (true, _) => "const".to_owned(),
            (false, Node::Slot(slot)) => column_of(*slot, tables),
            (false, _) => "func".to_owned(),
        });
    }
    shown.join(",")
}

/// The column of a slot with its schema and table.
fn column_of(slot: usize, tables: &[&TableStep]) -> String {
    let owner = tables.iter().find(|step| (step.base..step.base + step.columns).contains(&slot));
    match owner.map(|step| (step, &step.source, slot - step.base)) {
        Some((step, Source::Stored { table, .. }, at)) => {
            format!("{}.{}.{}", table.def.schema, step.alias, table.def.columns[at].name)
        }
        _ => "func".to_owned(),
    }
}

/// MySQL's word for the access, and a rough number of rows.
fn access_type(engine: &Engine, table: &Table, access: &Access) -> (&'static str, u64) {
    let all = engine.table_figures(table).rows;
    match &access.alternatives[..] {
        [] if access.index == IndexRef::Primary => ("ALL", all),
        [] => ("index", all),
        _ if access.is_point => (point_type(access), 1),
        [one] if one.list.is_none() && one.low.is_none() && one.high.is_none() => {
            let is_unique = match access.index {
                IndexRef::Primary => true,
                IndexRef::Secondary(at) => table.def.indexes[at].unique,
            };
            if is_unique && one.equals.len() == table.index_columns(access.index).len() {
                (point_type(access), 1)
            } else {
                ("ref", (all / 10).max(1))
            }
        }
        _ => ("range", (all / 3).max(1)),
    }
}

/// One row at most: found once, or for each row of the tables before.
fn point_type(access: &Access) -> &'static str {
    let mut slots = Vec::new();
    let compared = access.alternatives.iter().flat_map(|condition| &condition.equals);
    compared.for_each(|(expr, _)| expr.slots(&mut slots));
    if slots.is_empty() { "const" } else { "eq_ref" }
}
