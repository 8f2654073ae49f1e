//! The operation that reads a stored table.

use super::operation::{Operation, operation};
use crate::expr::{Expr, Node};
use crate::plan::{Access, KeyCondition, TableStep};
use engine::{ColumnDef, IndexRef, Table};
use std::borrow::Cow;
use types::Value;

/// Returns an expression in a definition without the quotes around its columns.
pub(super) fn unquoted(expression: &str) -> String {
    expression.replace('`', "")
}

/// Returns the name of a key's column, or the expression that the key is over.
fn shown_name(column: &ColumnDef) -> Cow<'_, str> {
    match &column.generated {
        Some(made) if column.is_indexed_expression() => unquoted(&made.expression).into(),
        _ => column.name.as_str().into(),
    }
}

/// Returns the operation that reads a table by an access. `text` prints an expression.
pub(super) fn accessed(
    step: &TableStep,
    table: &Table,
    access: &Access,
    text: &dyn Fn(&Expr) -> String,
) -> Operation {
    let (alias, columns) = (&step.alias, table.index_columns(access.index));
    let (index, is_unique) = (table.index_name(access.index), table.is_unique(access.index));
    let covering = step.covering.is_some();
    let word = |plain: &str| match covering {
        true => format!("Covering {}{}", plain[..1].to_lowercase(), &plain[1..]),
        false => plain.to_owned(),
    };
    let reverse = if access.direction == engine::Direction::Backward { " (reverse)" } else { "" };
    let is_lookup = |one: &KeyCondition| one.list.is_none() && one.low.is_none() && one.high.is_none();
    let (kind, text) = match &access.alternatives[..] {
        [KeyCondition { search: Some(search), .. }] => {
            let (index, column, against) = searched(search);
            let against = text(against);
            ("index", format!("Full-text index search on {alias} using {index} ({column} = {against})"))
        }
        [KeyCondition { near: Some(_), .. }] => {
            let kept = table.def.kept_index(index).map(|at| &table.def.kept_indexes[at]);
            let column = kept.and_then(|kept| kept.parts.first()).map_or("", |part| &part.text);
            let range = format!("({column} unprintable_geometry_value)");
            ("index", format!("Index range scan on {alias} using {index} over {range}{reverse}"))
        }
        [] if access.index == IndexRef::Primary && !access.ordered => {
            ("table", format!("Table scan on {alias}"))
        }
        [] => ("index", format!("{} on {alias} using {index}{reverse}", word("Index scan"))),
        [one] if is_lookup(one) => {
            let is_single = is_unique && one.fixes(columns.len());
            let lookup = match is_single {
                true => "Single-row index lookup".to_owned(),
                false => word("Index lookup"),
            };
            let of = bounds(table, access, one, text);
            ("index", format!("{lookup} on {alias} using {index} ({of}){reverse}"))
        }
        several => {
            let ranges = several.iter().map(|one| match bounds(table, access, one, text) {
                of_array if of_array.contains(" MEMBER OF ") => of_array,
                of => format!("({of})"),
            });
            let ranges = ranges.collect::<Vec<_>>().join(" OR ");
            ("index", format!("{} on {alias} using {index} over {ranges}{reverse}", word("Index range scan")))
        }
    };
    operation(kind, text, Vec::new())
}

/// Returns the name of the index that a full-text search uses, the index's first column, and what
/// is searched for.
pub(super) fn searched(search: &Expr) -> (&str, &str, &Expr) {
    let Node::Match(searched) = &search.node else { panic!("a search is a MATCH") };
    let index = searched.index.as_ref().expect("a search that reads a table has an index");
    let def = &index.table.def;
    let kept = def.kept_index(&index.name).map(|at| &def.kept_indexes[at]);
    let column = kept.and_then(|kept| kept.parts.first()).map_or("", |part| &part.text);
    let against = searched.operands.last().expect("a search has a text");
    (&index.name, column, against)
}

/// Returns the text of what an index's first columns are compared with.
fn bounds(
    table: &Table,
    access: &Access,
    condition: &KeyCondition,
    text: &dyn Fn(&Expr) -> String,
) -> String {
    let columns = || table.index_columns(access.index).iter().map(|part| &table.def.columns[part.column]);
    let array = columns().position(|column| column.elements.is_some());
    if let (Some(at), true) = (array, condition.list.is_some() || access.alternatives.len() > 1) {
        let columns: Vec<&ColumnDef> = columns().collect();
        let list: Vec<Expr> = match (&condition.list, condition.equals.get(at)) {
            (_, Some((element, _))) => vec![element.clone()],
            (list, None) => list.clone().unwrap_or_default(),
        };
        return elements(&columns, &condition.equals[..at], (columns[at], &list), text);
    }
    let mut columns = columns().map(shown_name);
    let mut parts = Vec::new();
    for (expr, _) in &condition.equals {
        let Some(column) = columns.next() else { break };
        parts.push(format!("{column} = {}", text(expr)));
    }
    if let Some(column) = columns.next() {
        if let Some(list) = &condition.list {
            let list = list.iter().map(text).collect::<Vec<_>>().join(",");
            parts.push(format!("{column} in ({list})"));
        }
        let sign = |inclusive: bool| if inclusive { "<=" } else { "<" };
        let low =
            condition.low.as_ref().map(|(expr, inclusive)| format!("{} {} ", text(expr), sign(*inclusive)));
        let high =
            condition.high.as_ref().map(|(expr, inclusive)| format!(" {} {}", sign(*inclusive), text(expr)));
        if low.is_some() || high.is_some() {
            parts.push(format!("{}{column}{}", low.unwrap_or_default(), high.unwrap_or_default()));
        }
    }
    parts.join(", ")
}

/// Returns the text of ranges of a multi-valued index, one for each element that is looked for. As
/// in MySQL the last one comes first.
fn elements(
    columns: &[&ColumnDef],
    equals: &[(Expr, bool)],
    (array, list): (&ColumnDef, &[Expr]),
    text: &dyn Fn(&Expr) -> String,
) -> String {
    let before = equals.iter().zip(columns);
    let before: Vec<String> =
        before.map(|((expr, _), column)| format!("{} = {} AND ", shown_name(column), text(expr))).collect();
    let shown = shown_name(array);
    let document = shown.strip_prefix("cast(").and_then(|rest| Some(rest.rsplit_once(" as ")?.0));
    let range = |element: &Expr| {
        let element = match &element.node {
            Node::Constant(Value::Json(element)) => {
                let mut text = Vec::new();
                types::json::write_text(element, &mut text);
                let text = String::from_utf8_lossy(&text).into_owned();
                match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                    Some(text) => format!("'{text}'"),
                    None => text,
                }
            }
            _ => text(element),
        };
        format!("({}{element} MEMBER OF ({}))", before.concat(), document.unwrap_or(&shown))
    };
    list.iter().rev().map(range).collect::<Vec<_>>().join(" OR ")
}
