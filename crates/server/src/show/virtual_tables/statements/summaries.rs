//! The tables of sums by kind of statement, and those of connections by account.

use super::super::columns::{Kind, columns};
use super::reading::{read, sessions, sum_cells, sum_columns};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_or_null;
use sql::measured::{AccountRow, ByName, Measured};
use sql::{ColumnMeta, ComputedRows, ComputedTable};
use types::Value;

const USER: (&str, Kind) = ("USER", Kind::UserOrNull);
const HOST: (&str, Kind) = ("HOST", Kind::HostOrNull);

/// Returns the columns of a table whose rows begin with these.
fn of_sums(keys: &[(&str, Kind)]) -> Vec<ColumnMeta> {
    let (times, sums) = sum_columns();
    let mut all = keys.to_vec();
    all.push(("EVENT_NAME", Kind::Text(128)));
    all.extend(times.iter().chain(&sums).map(|(name, kind)| (name.as_str(), *kind)));
    columns(&all)
}

/// Puts a row for each kind of statement.
fn put(rows: &mut dyn ComputedRows, keys: &[Value], by_name: &ByName) -> sql::Result<()> {
    by_name.all().try_for_each(|(name, figures)| {
        let mut cells = keys.to_vec();
        cells.push(Value::text(&name.shown()));
        cells.extend(sum_cells(&figures));
        rows.put(cells)
    })
}

/// `events_statements_summary_global_by_event_name`
pub fn global(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_sums(&[]), |rows| {
        // Without performance_schema there are no instruments.
        match host.server().measured {
            Some(_) => put(rows, &[], &read(host, Measured::by_name)),
            None => Ok(()),
        }
    })
}

/// `events_statements_summary_by_thread_by_event_name`
pub fn by_thread(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_sums(&[("THREAD_ID", Kind::Number)]), |rows| {
        let mut all = sessions(host).into_iter();
        all.try_for_each(|(thread, session)| put(rows, &[Value::UInt(thread)], &session.by_name().1))
    })
}

/// `events_statements_summary_by_account_by_event_name`
pub fn by_account(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_sums(&[USER, HOST]), |rows| {
        read(host, Measured::by_account).iter().try_for_each(|((user, host), row)| {
            put(rows, &[user, host].map(|name| text_or_null(name.as_deref())), &row.by_name)
        })
    })
}

/// `events_statements_summary_by_user_by_event_name`
pub fn by_user(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_sums(&[USER]), |rows| {
        let all = read(host, Measured::by_user);
        all.iter().try_for_each(|(name, row)| put(rows, &[text_or_null(name.as_deref())], &row.by_name))
    })
}

/// `events_statements_summary_by_host_by_event_name`
pub fn by_host(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_sums(&[HOST]), |rows| {
        let all = read(host, Measured::by_host);
        all.iter().try_for_each(|(name, row)| put(rows, &[text_or_null(name.as_deref())], &row.by_name))
    })
}

/// The columns of connections, which follow on the name. What sessions keep in memory is not
/// measured.
const OF_CONNECTIONS: [(&str, Kind); 4] = [
    ("CURRENT_CONNECTIONS", Kind::Count),
    ("TOTAL_CONNECTIONS", Kind::Count),
    ("MAX_SESSION_CONTROLLED_MEMORY", Kind::Number),
    ("MAX_SESSION_TOTAL_MEMORY", Kind::Number),
];

fn of_connections(keys: &[(&str, Kind)]) -> Vec<ColumnMeta> {
    columns(&[keys, &OF_CONNECTIONS].concat())
}

fn connections(names: &[&Option<String>], row: &AccountRow) -> Vec<Value> {
    let mut cells: Vec<Value> = names.iter().map(|name| text_or_null(name.as_deref())).collect();
    cells.extend([row.current, row.current.max(row.connections)].map(|count| Value::Int(count as i64)));
    cells.extend([0; 2].map(Value::UInt));
    cells
}

/// `accounts`: the connections of each user and host.
pub fn accounts(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_connections(&[USER, HOST]), |rows| {
        let all = read(host, Measured::by_account);
        all.iter().try_for_each(|((user, host), row)| rows.put(connections(&[user, host], row)))
    })
}

/// `users`: the connections of each user.
pub fn users(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_connections(&[USER]), |rows| {
        let all = read(host, Measured::by_user);
        all.iter().try_for_each(|(name, row)| rows.put(connections(&[name], row)))
    })
}

/// `hosts`: the connections from each host.
pub fn hosts(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_connections(&[HOST]), |rows| {
        let all = read(host, Measured::by_host);
        all.iter().try_for_each(|(name, row)| rows.put(connections(&[name], row)))
    })
}
