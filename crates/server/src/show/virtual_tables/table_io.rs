//! `table_io_waits_summary_by_index_usage` and `_by_table`: how often the rows of tables were read
//! and changed, by index, and how TRUNCATE empties the tables. `objects_summary_global_by_type` and
//! `table_lock_waits_summary_by_table` have a row for the same tables.
//!
//! Each row that a statement reads or changes is counted. How long that took is not measured, so
//! that all times are 0. The locks that statements take on tables are not counted either: the
//! instrument `wait/lock/table/sql/handler` is not there, and all figures of locks are 0, as in a
//! MySQL that has it disabled. The tables of `mysql` are not shown, as `setup_objects` says.

use super::columns::{Kind, columns};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_or_null;
use engine::{IndexRef, Table, Use, Uses};
use sql::ComputedTable;
use std::sync::Arc;
use types::Value;

/// The groups of columns, each of a count and four times, with the uses that a group counts.
const GROUPS: [(&str, &[Use]); 7] = [
    ("", &[Use::Fetch, Use::Insert, Use::Update, Use::Delete]),
    ("READ", &[Use::Fetch]),
    ("WRITE", &[Use::Insert, Use::Update, Use::Delete]),
    ("FETCH", &[Use::Fetch]),
    ("INSERT", &[Use::Insert]),
    ("UPDATE", &[Use::Update]),
    ("DELETE", &[Use::Delete]),
];

fn of_uses(with_index: bool) -> Vec<sql::ColumnMeta> {
    let mut all = of_names();
    if with_index {
        all.extend(columns(&[("INDEX_NAME", Kind::TextOrNull(64))]));
    }
    all.extend(GROUPS.iter().flat_map(|(group, _)| of_times(group)));
    all
}

/// Returns the columns that name a table.
fn of_names() -> Vec<sql::ColumnMeta> {
    columns(&["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME"].map(|name| (name, Kind::TextOrNull(64))))
}

/// The number of columns of [`of_times`].
const OF_TIMES: usize = 5;

/// Returns the columns of the count of a group and of its times. The group without a name is that
/// of everything.
fn of_times(group: &str) -> Vec<sql::ColumnMeta> {
    let (count, time) = if group.is_empty() { ("STAR", "WAIT") } else { (group, group) };
    let mut names = vec![format!("COUNT_{count}")];
    names.extend(["SUM", "MIN", "AVG", "MAX"].map(|of| format!("{of}_TIMER_{time}")));
    assert_eq!(names.len(), OF_TIMES, "a count has four times");
    names.iter().flat_map(|name| columns(&[(name, Kind::Number)])).collect()
}

/// Returns the cells of a row about a table behind its names.
fn counts(uses: &Uses) -> impl Iterator<Item = Value> + '_ {
    GROUPS.iter().flat_map(|(_, of)| {
        let count: u64 = of.iter().map(|what| uses[*what as usize]).sum();
        [Value::UInt(count), Value::UInt(0), Value::UInt(0), Value::UInt(0), Value::UInt(0)]
    })
}

/// Returns the tables that are shown, once all sessions have given what they have counted. There
/// are none with `performance_schema=OFF`.
fn shown(host: &ConnectionHost) -> Vec<Arc<Table>> {
    if host.server().measured.is_none() {
        return Vec::new();
    }
    host.server().sessions.give_uses();
    let mut all = host.server().engine.catalog().all_tables();
    all.retain(|table| !table.def.schema.eq_ignore_ascii_case("mysql"));
    all.sort_by(|one, other| (&one.def.schema, &one.def.name).cmp(&(&other.def.schema, &other.def.name)));
    all
}

/// Returns the indexes of a table that can be used, by name.
fn indexes_of(table: &Table) -> Vec<(&str, IndexRef)> {
    let primary = table.def.primary.as_ref().map(|_| ("PRIMARY", IndexRef::Primary));
    let others = table.def.indexes.iter().enumerate();
    primary.into_iter().chain(others.map(|(at, index)| (&*index.name, IndexRef::Secondary(at)))).collect()
}

fn names(table: &Table) -> Vec<Value> {
    ["TABLE", &table.def.schema, &table.def.name].map(Value::text).into()
}

/// Returns what was done with the rows of a table by way of none of its indexes. A table without a
/// primary key is read in the order of hidden row ids, which is no index either.
fn without_index(table: &Table) -> Uses {
    let mut uses = table.usage(None).sums();
    if table.def.primary.is_none() {
        add(&mut uses, &table.usage(Some(IndexRef::Primary)).sums());
    }
    uses
}

fn add(uses: &mut Uses, more: &Uses) {
    uses.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// `table_io_waits_summary_by_index_usage`: a row for each index, and one for what used none.
pub fn by_index(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_uses(true), |rows| {
        for table in shown(host) {
            let mut row = |index: Option<&str>, uses: &Uses| {
                let mut cells = names(&table);
                cells.push(text_or_null(index));
                cells.extend(counts(uses));
                rows.put(cells)
            };
            for (name, index) in indexes_of(&table) {
                row(Some(name), &table.usage(Some(index)).sums())?;
            }
            let uses = without_index(&table);
            if uses != Uses::default() {
                row(None, &uses)?;
            }
        }
        Ok(())
    })
}

/// `table_io_waits_summary_by_table`: a row for each table.
pub fn by_table(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_uses(false), |rows| {
        for table in shown(host) {
            let mut cells = names(&table);
            cells.extend(counts(&all_uses(&table)));
            rows.put(cells)?;
        }
        Ok(())
    })
}

/// Returns the uses of a table's rows by whatever index.
fn all_uses(table: &Table) -> Uses {
    let mut uses = without_index(table);
    for (_, index) in indexes_of(table) {
        add(&mut uses, &table.usage(Some(index)).sums());
    }
    uses
}

/// `objects_summary_global_by_type`: a row for each table, with the uses of its rows.
pub fn objects(host: &ConnectionHost) -> ComputedTable<'_> {
    let mut all = of_names();
    all.extend(of_times(""));
    ComputedTable::new(all, |rows| {
        shown(host).iter().try_for_each(|table| {
            let mut cells = names(table);
            cells.extend(counts(&all_uses(table)).take(OF_TIMES));
            rows.put(cells)
        })
    })
}

/// The kinds of locks on tables.
const LOCKS: [&str; 13] = [
    "",
    "READ",
    "WRITE",
    "READ_NORMAL",
    "READ_WITH_SHARED_LOCKS",
    "READ_HIGH_PRIORITY",
    "READ_NO_INSERT",
    "READ_EXTERNAL",
    "WRITE_ALLOW_WRITE",
    "WRITE_CONCURRENT_INSERT",
    "WRITE_LOW_PRIORITY",
    "WRITE_NORMAL",
    "WRITE_EXTERNAL",
];

/// `table_lock_waits_summary_by_table`: a row for each table.
pub fn locks(host: &ConnectionHost) -> ComputedTable<'_> {
    let mut all = of_names();
    all.extend(LOCKS.iter().flat_map(|lock| of_times(lock)));
    let figures = LOCKS.len() * OF_TIMES;
    ComputedTable::new(all, move |rows| {
        shown(host).iter().try_for_each(|table| {
            let mut cells = names(table);
            cells.extend((0..figures).map(|_| Value::UInt(0)));
            rows.put(cells)
        })
    })
}

/// Empties the tables, which count the same. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    let counted = [
        "table_io_waits_summary_by_index_usage",
        "table_io_waits_summary_by_table",
        "objects_summary_global_by_type",
    ];
    if !counted.contains(&table) {
        return false;
    }
    for table in shown(host) {
        let secondary = (0..table.def.indexes.len()).map(IndexRef::Secondary);
        let all = [None, Some(IndexRef::Primary)].into_iter().chain(secondary.map(Some));
        all.for_each(|index| table.usage(index).clear());
    }
    true
}
