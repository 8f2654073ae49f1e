//! The parts of SHOW CREATE TABLE for MariaDB's temporal tables, in MariaDB's syntax.

use crate::quoting::quoted;
use engine::{ColumnDef, ColumnRoles, IndexColumn, TableDef};

/// Returns the line `PERIOD FOR name (start, end)` behind the columns.
pub(super) fn application_period(def: &TableDef) -> Option<String> {
    let name = def.temporal.period.as_ref()?;
    period(def, &quoted(name), [ColumnRoles::PERIOD_START, ColumnRoles::PERIOD_END])
}

/// Returns the line `PERIOD FOR SYSTEM_TIME (start, end)` behind the keys, if the statement defined
/// the columns.
pub(super) fn system_period(def: &TableDef) -> Option<String> {
    let is_written = def.temporal.versioning.is_some_and(|versioning| !versioning.implied);
    if !is_written {
        return None;
    }
    period(def, "SYSTEM_TIME", [ColumnRoles::ROW_START, ColumnRoles::ROW_END])
}

fn period(def: &TableDef, name: &str, edges: [ColumnRoles; 2]) -> Option<String> {
    let [start, end] = edges.map(|role| Some(quoted(&def.columns[def.column_with(role)?].name)));
    Some(format!("  PERIOD FOR {name} ({}, {})", start?, end?))
}

/// Returns what a ROW START or ROW END column has behind its type.
pub(super) fn row_edge(column: &ColumnDef) -> Option<String> {
    let edge = match () {
        _ if column.roles.has(ColumnRoles::ROW_START) => "START",
        _ if column.roles.has(ColumnRoles::ROW_END) => "END",
        _ => return None,
    };
    let invisible = if column.invisible { " INVISIBLE" } else { "" };
    Some(format!(" GENERATED ALWAYS AS ROW {edge}{invisible}"))
}

/// Returns the parts of a key. Hidden parts are left out, and those that WITHOUT OVERLAPS has added
/// are shown as the period.
pub(super) fn key_parts(def: &TableDef, name: &str, parts: &[IndexColumn]) -> String {
    let has_overlaps = !def.temporal.without_overlaps.iter().any(|known| known == name);
    let written = if has_overlaps { parts.len() } else { parts.len().saturating_sub(2) };
    let shown = parts[..written].iter().filter(|part| !def.is_implied(&def.columns[part.column]));
    let mut texts: Vec<String> = shown
        .map(|part| {
            let column = &def.columns[part.column];
            let name = match &column.generated {
                Some(made) if column.is_indexed_expression() => format!("({})", made.expression),
                _ => quoted(&column.name),
            };
            let prefix = part.prefix.map_or(String::new(), |prefix| format!("({prefix})"));
            format!("{name}{prefix}{}", if part.descending { " DESC" } else { "" })
        })
        .collect();
    if let (false, Some(period)) = (has_overlaps, &def.temporal.period) {
        texts.push(format!("{} WITHOUT OVERLAPS", quoted(period)));
    }
    texts.join(",")
}
