//! What SHOW CREATE TABLE prints of MariaDB's temporal tables, in MariaDB's words.

use crate::quoting::quoted;
use engine::{ColumnDef, ColumnRoles, IndexColumn, TableDef};

/// `PERIOD FOR name (start, end)`, the line behind the columns.
pub(super) fn application_period(def: &TableDef) -> Option<String> {
    let name = def.temporal.period.as_ref()?;
    period(def, &quoted(name), [ColumnRoles::PERIOD_START, ColumnRoles::PERIOD_END])
}

/// `PERIOD FOR SYSTEM_TIME (start, end)`, the line behind the keys, where the columns are written.
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

/// What a column of ROW START or ROW END has behind its type.
pub(super) fn row_edge(column: &ColumnDef) -> Option<String> {
    let edge = match () {
        _ if column.roles.has(ColumnRoles::ROW_START) => "START",
        _ if column.roles.has(ColumnRoles::ROW_END) => "END",
        _ => return None,
    };
    let invisible = if column.invisible { " INVISIBLE" } else { "" };
    Some(format!(" GENERATED ALWAYS AS ROW {edge}{invisible}"))
}

/// The parts of a key: hidden ones are left out, and those of a period without overlaps are the
/// period.
pub(super) fn key_parts(def: &TableDef, name: &str, parts: &[IndexColumn]) -> String {
    let has_overlaps = !def.temporal.without_overlaps.iter().any(|known| known == name);
    let written = if has_overlaps { parts.len() } else { parts.len().saturating_sub(2) };
    let shown = parts[..written].iter().filter(|part| !def.is_hidden(&def.columns[part.column]));
    let mut texts: Vec<String> = shown
        .map(|part| {
            let name = quoted(&def.columns[part.column].name);
            let prefix = part.prefix.map_or(String::new(), |prefix| format!("({prefix})"));
            format!("{name}{prefix}{}", if part.descending { " DESC" } else { "" })
        })
        .collect();
    if let (false, Some(period)) = (has_overlaps, &def.temporal.period) {
        texts.push(format!("{} WITHOUT OVERLAPS", quoted(period)));
    }
    texts.join(",")
}
