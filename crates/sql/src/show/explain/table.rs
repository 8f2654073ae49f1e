//! EXPLAIN as a table.

use super::access::searched;
use super::blocks::{Line, Part, Step, What, lines};
use crate::ast::SetOperator;
use crate::expr::{Expr, Node};
use crate::plan::{Access, KeyCondition, NestKind, Source, SubPlan, TableStep, Wish, accesses};
use engine::{Engine, IndexColumn, IndexRef, Table};
use types::{TypeCode, Value};

/// Returns the rows of EXPLAIN: one for each table, and one for the temporary table of each set
/// operation.
/// `partitions` finds the partitions that a table has rows in, and `filled` are those that an
/// INSERT puts rows into.
pub(crate) fn explain_rows(
    engine: &Engine,
    parts: &[Part<'_>],
    subqueries: &[SubPlan],
    (partitions, filled): (&PartitionsOf<'_>, Option<UsedPartitions>),
) -> Vec<Vec<Value>> {
    let mut filled = filled;
    lines(parts, subqueries).iter().map(|line| row(engine, line, partitions, &mut filled)).collect()
}

/// Finds the partitions of a step's table that the step reads. `None` means that it has none. The
/// second argument says that no row has NULL in place of the table's.
pub(crate) type PartitionsOf<'p> = dyn Fn(&TableStep, bool) -> Option<UsedPartitions> + 'p;

/// The partitions that a step of a plan reads.
pub(crate) struct UsedPartitions {
    /// Their names, with those of subpartitions.
    pub names: Vec<String>,
    /// Whether MySQL finds out before it plans the query that there are none.
    pub is_impossible: bool,
}

/// The values of the columns behind `select_type`.
struct Shown {
    table: Value,
    ty: Value,
    possible_keys: Value,
    key: Value,
    key_len: Value,
    compared: Value,
    rows: Value,
    filtered: Value,
}

impl Default for Shown {
    fn default() -> Shown {
        let null = || Value::Null;
        Shown {
            table: null(),
            ty: null(),
            possible_keys: null(),
            key: null(),
            key_len: null(),
            compared: null(),
            rows: null(),
            filtered: null(),
        }
    }
}

impl Shown {
    /// Returns the values for reading all rows of a computed table.
    fn all_of(table: &str) -> Shown {
        Shown { table: Value::text(table), ty: Value::text("ALL"), ..Shown::default() }
    }
}

fn row(
    engine: &Engine,
    line: &Line<'_>,
    partitions: &PartitionsOf<'_>,
    filled: &mut Option<UsedPartitions>,
) -> Vec<Value> {
    let used = match &line.what {
        What::Step(step) => partitions(step.step, step.block.iter().all(|step| step.nests.is_empty())),
        What::Filled(_) => filled.take(),
        _ => None,
    };
    let is_impossible = used.as_ref().is_some_and(|used| used.is_impossible);
    let (shown, notes) = match &line.what {
        What::Step(step) if is_impossible && step.block.len() == 1 => {
            (Shown::default(), vec![why_nothing(line.kind)])
        }
        What::Step(step) => (of_step(engine, step), notes_of(step)),
        What::Filled(table) => (Shown::all_of(&table.def.name), Vec::new()),
        What::Nothing(why) => (Shown::default(), vec![*why]),
        What::Result { operator, blocks, sorted } => {
            let word = match operator {
                SetOperator::Union => "union",
                SetOperator::Intersect => "intersect",
                SetOperator::Except => "except",
            };
            let blocks: Vec<String> = blocks.iter().map(u32::to_string).collect();
            let mut notes = vec!["Using temporary"];
            notes.extend(sorted.then_some("Using filesort"));
            (Shown::all_of(&format!("<{word}{}>", blocks.join(","))), notes)
        }
    };
    let extra = if notes.is_empty() { Value::Null } else { Value::text(&notes.join("; ")) };
    let Shown { table, ty, possible_keys, key, key_len, compared, rows, filtered } = shown;
    let names = used.map(|used| used.names.join(",")).filter(|names| !names.is_empty());
    let partitions = names.map_or(Value::Null, |names| Value::text(&names));
    let (id, kind) = (Value::UInt(line.id.into()), Value::text(line.kind));
    vec![id, kind, table, partitions, ty, possible_keys, key, key_len, compared, rows, filtered, extra]
}

/// Returns what MySQL says of a statement for which no partition has rows.
fn why_nothing(kind: &str) -> &'static str {
    match kind {
        "UPDATE" | "DELETE" => "No matching rows after partition pruning",
        _ => "no matching row in const table",
    }
}

fn of_step(engine: &Engine, step: &Step<'_>) -> Shown {
    let Step { step, block, computed_by, .. } = step;
    let mut shown = Shown::all_of(&step.alias);
    let mut rows = None;
    match &step.source {
        Source::Stored { table, access } => {
            let (ty, rough) = access_type(engine, table, access);
            shown.ty = Value::text(ty);
            shown.possible_keys = possible_keys(table, step, access);
            if ty != "ALL" {
                shown.key = Value::text(used_name(table, access));
                shown.key_len = Value::text(&used_key_bytes(table, access).to_string());
            }
            if ty == "fulltext" {
                shown.compared = Value::text("const");
            }
            if matches!(ty, "const" | "eq_ref" | "ref") {
                shown.compared = Value::text(&compared_with(access, block));
            }
            rows = Some(rough);
        }
        Source::Derived(_) | Source::Subquery(_) => {
            if let Some(id) = computed_by {
                shown.table = Value::text(&format!("<derived{id}>"));
            }
        }
        Source::Virtual { .. } | Source::JsonTable(_) => {}
    }
    let (rows, filtered) = match step.estimate {
        Some(estimate) => (Some(estimate.read.round().max(1.0) as u64), estimate.taken_percent),
        None => (rows, 100.0),
    };
    shown.rows = rows.map_or(Value::Null, Value::UInt);
    shown.filtered = Value::Double((filtered * 100.0).round() / 100.0);
    shown
}

/// Returns the notes of a table, in MySQL's order.
fn notes_of(step: &Step<'_>) -> Vec<&'static str> {
    let Step { step, is_recursive, notes, .. } = step;
    let is_json_table = matches!(step.source, Source::JsonTable(_));
    let has_nest = |kind| step.nests.iter().any(|nest| nest.kind == kind);
    let own = [
        (is_json_table, "Table function: json_table; Using temporary"),
        (*is_recursive, "Recursive"),
        (step.all_conditions().next().is_some(), "Using where"),
        (has_nest(NestKind::Anti), "Not exists"),
        (step.covering.is_some(), "Using index"),
    ];
    let behind =
        [(has_nest(NestKind::Semi), "FirstMatch"), (step.hash.is_some(), "Using join buffer (hash join)")];
    let held = |list: &[(bool, &'static str)]| -> Vec<&'static str> {
        list.iter().filter(|(holds, _)| *holds).map(|(_, note)| *note).collect()
    };
    [held(&own), notes.clone(), held(&behind)].concat()
}

/// Returns the indexes that the conditions on the table could use.
fn possible_keys(table: &Table, step: &TableStep, access: &Access) -> Value {
    let conditions: Vec<Expr> = step.all_conditions().cloned().collect();
    let own = step.base..step.base + step.columns;
    let is_known = |slot: usize| !own.contains(&slot);
    let uses = step.index_use.with_ranges();
    let all = accesses(table, step.base, &conditions, &is_known, &uses, &Wish::default()).unwrap_or_default();
    let mut indexes: Vec<IndexRef> = all
        .iter()
        .chain([access])
        .filter(|access| !access.alternatives.is_empty() && search_of(access).is_none())
        .map(|a| a.index)
        .collect();
    indexes.sort_by_key(|index| match index {
        IndexRef::Primary => 0,
        IndexRef::Secondary(at) => at + 1,
    });
    indexes.dedup();
    let searches = all.iter().filter_map(search_of).map(|search| searched(search).0);
    let names = indexes.iter().map(|index| table.index_name(*index)).chain(searches);
    let names = names.collect::<Vec<_>>().join(",");
    if names.is_empty() { Value::Null } else { Value::text(&names) }
}

/// Returns the full-text search that finds the rows of an access.
fn search_of(access: &Access) -> Option<&Expr> {
    access.alternatives.iter().find_map(|condition| condition.search.as_ref())
}

/// Returns the name of the index that an access uses.
fn used_name<'a>(table: &'a Table, access: &'a Access) -> &'a str {
    search_of(access).map_or_else(|| table.index_name(access.index), |search| searched(search).0)
}

/// Returns the length of the used index parts in bytes, as MySQL counts it: with one byte more for
/// a nullable column and two for the length of a variable-length string.
fn used_key_bytes(table: &Table, access: &Access) -> u64 {
    let parts = table.index_columns(access.index);
    let used = |condition: &KeyCondition| {
        let has_range = condition.list.is_some() || condition.low.is_some() || condition.high.is_some();
        condition.equals.len() + usize::from(has_range)
    };
    let used = match search_of(access) {
        Some(_) => 0,
        None => access.alternatives.iter().map(used).max().unwrap_or(parts.len()),
    };
    parts.iter().take(used).map(|part| key_part_bytes(table, part)).sum()
}

fn key_part_bytes(table: &Table, part: &IndexColumn) -> u64 {
    const LENGTH_BYTES: u64 = 2;
    let column = &table.def.columns[part.column];
    let ty = column.elements.as_ref().unwrap_or(&column.ty);
    let has_length = ty.is_blob() || ty.code == TypeCode::Varchar;
    let per_char = u64::from(types::collation::max_bytes_per_char(ty.collation));
    let bytes = part.prefix.map_or(ty.max_bytes(), |chars| u64::from(chars) * per_char);
    let nullable = u64::from(table.def.columns[part.column].nullable);
    bytes + nullable + if has_length { LENGTH_BYTES } else { 0 }
}

/// Returns what the index parts are compared with: constants, columns of the tables before, or
/// something else.
fn compared_with(access: &Access, tables: &[TableStep]) -> String {
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

/// Returns the column of a slot, qualified with its schema and table.
fn column_of(slot: usize, tables: &[TableStep]) -> String {
    let owner = tables.iter().find(|step| (step.base..step.base + step.columns).contains(&slot));
    match owner.map(|step| (step, &step.source, slot - step.base)) {
        Some((step, Source::Stored { table, .. }, at)) => {
            format!("{}.{}.{}", table.def.schema, step.alias, table.def.columns[at].name)
        }
        _ => "func".to_owned(),
    }
}

/// Returns MySQL's word for an access, and a rough number of rows.
fn access_type(engine: &Engine, table: &Table, access: &Access) -> (&'static str, u64) {
    let all = engine.table_figures(table).rows;
    match &access.alternatives[..] {
        [] if access.index == IndexRef::Primary => ("ALL", all),
        [] => ("index", all),
        _ if search_of(access).is_some() => ("fulltext", 1),
        _ if access.is_point => (point_type(access), 1),
        [one] if one.list.is_none() && one.low.is_none() && one.high.is_none() && one.near.is_none() => {
            if table.is_unique(access.index) && one.equals.len() == table.index_columns(access.index).len() {
                (point_type(access), 1)
            } else {
                ("ref", (all / 10).max(1))
            }
        }
        _ => ("range", (all / 3).max(1)),
    }
}

/// Returns the word for an access that finds at most one row: once, or for each row of the tables
/// before.
fn point_type(access: &Access) -> &'static str {
    let mut slots = Vec::new();
    let compared = access.alternatives.iter().flat_map(|condition| &condition.equals);
    compared.for_each(|(expr, _)| expr.slots(&mut slots));
    if slots.is_empty() { "const" } else { "eq_ref" }
}
