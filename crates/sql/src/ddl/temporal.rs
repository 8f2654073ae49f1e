//! MariaDB's temporal tables: system versioning and periods in definitions.
//!
//! A table with system versioning has two more columns, for the moments at which a row version
//! became current and ceased to be. The end is part of every unique key, so that rows of the past
//! can stand beside those of the present. If the statement does not define these columns, they come
//! last and are hidden.

use crate::ast::{ColumnSpec, CreateTable, KeySpec, PeriodSpec, RowEdge};
use crate::error::{Result, SqlError};
use crate::quoting::quoted;
use engine::{ColumnDef, ColumnRoles, IndexColumn, SystemVersioning, TableDef};
use types::{ColumnType, DateTime, TypeCode, Value, Zone};

/// The names and roles of the columns that a statement does not define.
const IMPLIED: [(&str, ColumnRoles); 2] =
    [("row_start", ColumnRoles::ROW_START), ("row_end", ColumnRoles::ROW_END)];

/// Builds MariaDB's error 4125, which tells what is missing in the definition of a versioned table.
fn missing(def: &TableDef, what: &str) -> SqlError {
    SqlError::new(4125, format!("Wrong parameters for `{}`: missing '{what}'", def.name))
}

/// Builds MariaDB's error 4124, for a table without system versioning.
pub(crate) fn not_versioned(table: &str) -> SqlError {
    SqlError::new(4124, format!("Table `{table}` is not system-versioned"))
}

/// Returns the roles that a column's definition gives it.
pub(super) fn roles_of(spec: &ColumnSpec) -> ColumnRoles {
    let mut roles = ColumnRoles::default();
    match spec.row_edge {
        Some(RowEdge::Start) => roles.add(ColumnRoles::ROW_START),
        Some(RowEdge::End) => roles.add(ColumnRoles::ROW_END),
        None => {}
    }
    if spec.versioned == Some(false) {
        roles.add(ColumnRoles::UNVERSIONED);
    }
    roles
}

/// Applies the versioning and the periods of a CREATE TABLE to a definition that has its columns,
/// but no keys yet.
pub(super) fn begin(def: &mut TableDef, create: &CreateTable) -> Result<()> {
    let by_columns = create.columns.iter().any(|spec| spec.versioned == Some(true));
    if create.options.versioned || by_columns {
        if !create.options.versioned {
            // Only the columns that say so are versioned.
            for column in def.columns.iter_mut().filter(|column| !column.roles.is_of_row()) {
                let mut specs = create.columns.iter();
                if !specs.any(|spec| spec.name == column.name && spec.versioned == Some(true)) {
                    column.roles.add(ColumnRoles::UNVERSIONED);
                }
            }
        }
        add_versioning(def)?;
    } else if def.columns.iter().any(|column| column.roles.is_of_row()) {
        return Err(missing(def, "WITH SYSTEM VERSIONING"));
    }
    create.periods.iter().try_for_each(|period| add_period(def, period))
}

/// Adds system versioning (`WITH SYSTEM VERSIONING`, `ADD SYSTEM VERSIONING`).
pub(super) fn add_versioning(def: &mut TableDef) -> Result<()> {
    if def.temporal.versioning.is_some() {
        return Err(SqlError::new(4135, format!("Table `{}` is already system-versioned", def.name)));
    }
    let edges = IMPLIED.map(|(_, role)| def.column_with(role));
    let implied = match edges {
        [None, None] => true,
        [Some(_), Some(_)] => false,
        [None, Some(_)] => return Err(missing(def, "AS ROW START")),
        [Some(_), None] => return Err(missing(def, "AS ROW END")),
    };
    def.temporal.versioning = Some(SystemVersioning { implied });
    Ok(())
}

/// Adds a period (`PERIOD FOR`).
pub(super) fn add_period(def: &mut TableDef, period: &PeriodSpec) -> Result<()> {
    let Some(name) = &period.name else {
        // The columns of SYSTEM_TIME are marked by their own roles.
        return Ok(());
    };
    if def.temporal.period.is_some() {
        return Err(SqlError::new(4154, "Cannot specify more than one application-time period"));
    }
    for (column, role) in [(&period.start, ColumnRoles::PERIOD_START), (&period.end, ColumnRoles::PERIOD_END)]
    {
        let unknown = || SqlError::new(1054, format!("Unknown column '{column}' in '{}'", def.name));
        let at = def.column(column).ok_or_else(unknown)?;
        let column = &mut def.columns[at];
        column.roles.add(role);
        column.nullable = false;
        column.default = column.default.take().filter(|default| *default != engine::ColumnDefault::Null);
    }
    def.temporal.period = Some(name.clone());
    Ok(())
}

/// Drops a period (`DROP PERIOD FOR`).
pub(super) fn drop_period(def: &mut TableDef, name: Option<&str>, if_exists: bool) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    let is_there = def.temporal.period.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(name));
    if is_there {
        def.temporal.period = None;
        for column in &mut def.columns {
            column.roles.remove(ColumnRoles::PERIOD_START);
            column.roles.remove(ColumnRoles::PERIOD_END);
        }
    } else if !if_exists {
        let text = format!("Can't DROP PERIOD {}; check that it exists", quoted(name));
        return Err(SqlError::new(1091, text));
    }
    Ok(())
}

/// Returns the parts that WITHOUT OVERLAPS adds behind those of a key: the period's columns, the
/// end first.
pub(super) fn parts_of_period(def: &TableDef, key: &KeySpec) -> Result<Vec<IndexColumn>> {
    let Some(name) = &key.without_overlaps else { return Ok(Vec::new()) };
    let is_known = def.temporal.period.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(name));
    let edges = [ColumnRoles::PERIOD_END, ColumnRoles::PERIOD_START].map(|role| def.column_with(role));
    match edges {
        [Some(end), Some(start)] if is_known => Ok(vec![IndexColumn::whole(end), IndexColumn::whole(start)]),
        _ => Err(SqlError::new(4156, format!("Period {} is not found in table", quoted(name)))),
    }
}

/// Keeps the role of a redefined column in the table's period.
pub(super) fn keep_period(old: &ColumnDef, new: &mut ColumnDef) {
    for role in [ColumnRoles::PERIOD_START, ColumnRoles::PERIOD_END] {
        if old.roles.has(role) {
            new.roles.add(role);
            new.nullable = false;
        }
    }
}

/// Notes that an index has WITHOUT OVERLAPS.
pub(super) fn note_overlaps(def: &mut TableDef, key: &KeySpec, name: &str) {
    if key.without_overlaps.is_some() {
        def.temporal.without_overlaps.push(name.to_owned());
    }
}

/// Removes the note about WITHOUT OVERLAPS of an index that is dropped.
pub(super) fn forget_overlaps(def: &mut TableDef, name: &str) {
    def.temporal.without_overlaps.retain(|known| !known.eq_ignore_ascii_case(name));
}

/// Takes the last columns from keys WITHOUT OVERLAPS that have lost all others: MariaDB drops such
/// keys with the last column beside the period's.
pub(super) fn empty_keys_of_period(def: &mut TableDef) {
    const EDGES: usize = 2;
    let overlapping = std::mem::take(&mut def.temporal.without_overlaps);
    for (name, parts) in unique_keys(def) {
        if overlapping.iter().any(|known| known.eq_ignore_ascii_case(name)) && parts.len() <= EDGES {
            parts.clear();
        }
    }
    let left: Vec<&str> =
        unique_keys(def).filter(|(_, parts)| !parts.is_empty()).map(|(name, _)| name).collect();
    let is_left = |name: &String| left.iter().any(|known| known.eq_ignore_ascii_case(name));
    let overlapping = overlapping.into_iter().filter(is_left).collect();
    def.temporal.without_overlaps = overlapping;
}

/// Moves the note about WITHOUT OVERLAPS to the new name of an index.
pub(super) fn rename_overlaps(def: &mut TableDef, from: &str, to: &str) {
    for name in def.temporal.without_overlaps.iter_mut().filter(|name| name.eq_ignore_ascii_case(from)) {
        to.clone_into(name);
    }
}

fn unique_keys(def: &mut TableDef) -> impl Iterator<Item = (&str, &mut Vec<IndexColumn>)> {
    let secondary = def.indexes.iter_mut().filter(|index| index.unique);
    let secondary = secondary.map(|index| (index.name.as_str(), &mut index.columns));
    def.primary.iter_mut().map(|parts| ("PRIMARY", parts)).chain(secondary)
}

/// Removes what [`finish`] adds, so that alterations see what the statements have defined.
pub(super) fn strip(def: &mut TableDef, sources: &mut Vec<Option<usize>>) {
    let (Some((_, end)), Some(versioning)) = (def.row_period(), def.temporal.versioning) else { return };
    let overlapping = def.temporal.without_overlaps.clone();
    for (name, parts) in unique_keys(def) {
        let behind = if overlapping.iter().any(|known| known == name) { 2 } else { 0 };
        let place = parts.len().checked_sub(behind + 1);
        if place.is_some_and(|at| at > 0 && parts[at].column == end) {
            parts.remove(parts.len() - behind - 1);
        }
    }
    if versioning.implied {
        def.columns.truncate(def.columns.len() - IMPLIED.len());
        sources.truncate(def.columns.len());
    }
}

/// Completes a definition: adds the hidden columns, and the row's end to unique keys. `old` is the
/// definition that is altered.
pub(super) fn finish(
    def: &mut TableDef,
    sources: &mut Vec<Option<usize>>,
    old: Option<&TableDef>,
) -> Result<()> {
    let there: Vec<String> = def.indexes.iter().map(|index| index.name.clone()).collect();
    let has_primary = def.primary.is_some();
    def.temporal.without_overlaps.retain(|name| there.contains(name) || has_primary && name == "PRIMARY");
    let Some(versioning) = def.temporal.versioning else {
        return match def.columns.iter().find(|column| column.roles.is_of_row()) {
            Some(column) => Err(missing(def, &format!("DROP COLUMN `{}`", column.name))),
            None => Ok(()),
        };
    };
    if versioning.implied {
        let had = old.filter(|old| old.temporal.versioning.is_some_and(|versioning| versioning.implied));
        for (name, role) in IMPLIED {
            if def.column(name).is_some() {
                return Err(SqlError::new(1060, format!("Duplicate column name '{name}'")));
            }
            let mut column = ColumnDef::new(name, ColumnType::timestamp(6)).not_null();
            column.invisible = true;
            column.roles.add(role);
            def.columns.push(column);
            sources.push(had.and_then(|old| old.column_with(role)));
        }
    }
    let Some((_, end)) = def.row_period() else { return Err(missing(def, "AS ROW START")) };
    let overlapping = def.temporal.without_overlaps.clone();
    for (name, parts) in unique_keys(def) {
        if parts.iter().all(|part| part.column != end) {
            let behind = if overlapping.iter().any(|known| known == name) { 2 } else { 0 };
            parts.insert(parts.len() - behind, IndexColumn::whole(end));
        }
    }
    let is_versioned =
        |column: &ColumnDef| !column.roles.is_of_row() && !column.roles.has(ColumnRoles::UNVERSIONED);
    match def.columns.iter().any(is_versioned) {
        true => Ok(()),
        false => {
            Err(SqlError::new(4123, format!("Table `{}` must have at least one versioned column", def.name)))
        }
    }
}

/// Returns the text of how history is partitioned, with the start of the first partition if the
/// statement does not give it: the beginning of the current minute, hour or day.
pub(super) fn with_start(text: &str, now_us: u64, zone: Zone) -> String {
    let Some(interval) = text.strip_prefix("INTERVAL ").filter(|text| !text.contains(" STARTS ")) else {
        return text.to_owned();
    };
    let (interval, auto) = match interval.strip_suffix(" AUTO") {
        Some(interval) => (interval, " AUTO"),
        None => (interval, ""),
    };
    let unit = interval.rsplit(' ').next().unwrap_or_default();
    let whole_s: i64 = match unit.rsplit('_').next().unwrap_or_default() {
        "MICROSECOND" | "SECOND" => 1,
        "MINUTE" => 60,
        "HOUR" => 3600,
        _ => 86_400,
    };
    let now_s = (now_us / 1_000_000) as i64;
    let local_s = now_s + i64::from(zone.offset_s(now_s));
    let start = DateTime::from_unix(local_s - local_s.rem_euclid(whole_s), 0, Zone::UTC);
    let start = Value::DateTime(start).text_bytes(None).unwrap_or_default();
    format!("INTERVAL {interval} STARTS TIMESTAMP'{}'{auto}", String::from_utf8_lossy(&start))
}

/// Returns the condition of the rows that are no longer current, in the time zone of the statement.
pub(super) fn history(def: &TableDef, zone: Zone) -> Option<String> {
    let (_, end) = def.row_period()?;
    let name = quoted(&def.columns[end].name);
    if def.is_versioned_by_transactions() {
        return Some(format!("({name} < {})", u64::MAX));
    }
    let last = DateTime::from_unix(i64::from(i32::MAX), 0, zone);
    let text = Value::DateTime(last).text_bytes(None).unwrap_or_default();
    Some(format!("({name} < TIMESTAMP'{}')", String::from_utf8_lossy(&text)))
}

/// Returns the value of a ROW START or ROW END column in a row that becomes current at `now_us`,
/// which is in microseconds of Unix time. Returns `None` for another column.
pub(crate) fn row_edge_value(column: &ColumnDef, now_us: u64) -> Option<Value> {
    if !column.roles.is_of_row() {
        return None;
    }
    let is_start = column.roles.has(ColumnRoles::ROW_START);
    Some(match (column.ty.code == TypeCode::LongLong, is_start) {
        (true, true) => Value::UInt(now_us),
        (true, false) => Value::UInt(u64::MAX),
        (false, true) => moment(now_us),
        (false, false) => Value::Timestamp { seconds: i64::from(i32::MAX), micros: 999_999 },
    })
}

/// Returns a moment in microseconds of Unix time as a TIMESTAMP(6).
pub(crate) fn moment(now_us: u64) -> Value {
    Value::Timestamp { seconds: (now_us / 1_000_000) as i64, micros: (now_us % 1_000_000) as u32 }
}
