//! The tables of performance_schema about variables, status and threads.

use crate::client::connection_host::{ConnectionHost, without_port};
use crate::server::sessions::ProcessLine;
use crate::show::processlist::{values, visible_processes};
use crate::show::result_table::{number_column, text_column, text_or_null};
use crate::show::status;
use sql::measured::ThreadSettings;
use sql::{ComputedTable, VariableScope};
use std::collections::HashMap;
use types::Value;

fn pairs<'h>(pairs: impl FnOnce() -> Vec<(String, String)> + 'h) -> ComputedTable<'h> {
    let columns = vec![text_column("VARIABLE_NAME", 64), text_column("VARIABLE_VALUE", 1024)];
    let row = |(name, value): (String, String)| vec![Value::text(&name), Value::text(&value)];
    ComputedTable::of_rows(columns, move || pairs().into_iter().map(row))
}

pub fn global_status(host: &ConnectionHost) -> ComputedTable<'_> {
    pairs(|| status::of_session(host.server(), host.entry(), VariableScope::Global))
}

pub fn session_status(host: &ConnectionHost) -> ComputedTable<'_> {
    pairs(|| status::of_session(host.server(), host.entry(), VariableScope::Session))
}

pub fn global_variables(host: &ConnectionHost) -> ComputedTable<'_> {
    pairs(|| host.session_variables().list(host.server(), VariableScope::Global))
}

pub fn session_variables(host: &ConnectionHost) -> ComputedTable<'_> {
    pairs(|| host.session_variables().list(host.server(), VariableScope::Session))
}

/// Returns the global values that SET PERSIST keeps for later starts.
pub fn persisted_variables(host: &ConnectionHost) -> ComputedTable<'_> {
    pairs(|| {
        let values = host.server().persisted.values();
        values.into_iter().map(|(name, kept)| (name, kept.value)).collect()
    })
}

/// Returns the time accounts of all threads, with a row for each thread and state. The table is
/// this server's own.
pub fn thread_times(_host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = vec![
        text_column("THREAD_NAME", 128),
        number_column("THREAD_OS_ID"),
        text_column("STATE", 64),
        number_column("COUNT_ENTERED"),
        number_column("WALL_NS"),
        number_column("CPU_NS"),
    ];
    ComputedTable::new(columns, |rows| {
        for thread in os::account::snapshot() {
            let os_id = thread.tid.map_or(Value::Null, |tid| Value::UInt(tid as u64));
            for state in thread.states {
                rows.put(vec![
                    Value::text(&thread.name),
                    os_id.clone(),
                    Value::text(state.state.name()),
                    Value::UInt(state.entered),
                    Value::UInt(state.wall_ns),
                    Value::UInt(state.cpu_ns),
                ])?;
            }
        }
        Ok(())
    })
}

/// Returns the running threads that serve no connection, in the order in which [`threads`] numbers
/// them.
pub fn background_threads() -> Vec<os::account::ThreadTime> {
    os::account::snapshot().into_iter().filter(|t| t.name != "connection" && t.tid.is_some()).collect()
}

/// The number that comes before those of connections' threads. There are never so many background
/// threads.
const BEFORE_CONNECTIONS: u64 = 1 << 16;

/// Returns the number that [`threads`] gives to the thread of a connection, as long as it lives.
pub fn thread_of(connection_id: u32) -> u64 {
    BEFORE_CONNECTIONS + u64::from(connection_id)
}

/// Returns the numbers that [`threads`] gives to the connections that the session may see, by
/// connection id.
pub fn thread_ids(host: &ConnectionHost) -> HashMap<u32, u64> {
    visible_processes(host).iter().map(|line| (line.id, thread_of(line.id))).collect()
}

/// Returns the table of threads: background threads first, then the connections.
pub fn threads(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = vec![
        number_column("THREAD_ID"),
        text_column("NAME", 128),
        text_column("TYPE", 10),
        number_column("PROCESSLIST_ID"),
        text_column("PROCESSLIST_USER", 32),
        text_column("PROCESSLIST_HOST", 255),
        text_column("PROCESSLIST_DB", 64),
        text_column("PROCESSLIST_COMMAND", 16),
        number_column("PROCESSLIST_TIME"),
        text_column("PROCESSLIST_STATE", 64),
        text_column("PROCESSLIST_INFO", 65_535),
        number_column("THREAD_OS_ID"),
        text_column("INSTRUMENTED", 3),
        text_column("HISTORY", 3),
    ];
    ComputedTable::new(columns, |rows| {
        let background = background_threads();
        for (thread, number) in background.into_iter().zip(1..) {
            let settings = host.server().setup.of_thread(&thread.name, thread.tid);
            let mut row = vec![Value::Null; 12];
            row[0] = Value::UInt(number);
            row[1] = Value::text(&thread.name);
            row[2] = Value::text("BACKGROUND");
            row[9] = text_or_null(thread.current.map(|state| state.name()));
            row[11] = thread.tid.map_or(Value::Null, |tid| Value::UInt(tid as u64));
            row.extend(settings_cells(settings));
            rows.put(row)?;
        }
        let measured = host.server().sessions.with_measured(|sessions| {
            sessions.iter().map(|(id, session)| (*id, session.settings())).collect::<HashMap<_, _>>()
        });
        visible_processes(host).iter().try_for_each(|line| {
            let nothing = ThreadSettings { is_instrumented: false, has_history: false };
            let settings = measured.get(&line.id).copied().unwrap_or(nothing);
            rows.put(connection(line, thread_of(line.id), settings))
        })
    })
}

fn settings_cells(settings: ThreadSettings) -> [Value; 2] {
    [settings.is_instrumented, settings.has_history]
        .map(|is_on| Value::text(if is_on { "YES" } else { "NO" }))
}

/// Returns a connection's row in [`threads`].
fn connection(line: &ProcessLine, number: u64, settings: ThreadSettings) -> Vec<Value> {
    let name = ["thread/sql/one_connection", "FOREGROUND"].map(Value::text);
    let mut line = line.clone();
    // This table has the host without the port.
    line.shown.host = without_port(&line.shown.host).to_owned();
    let mut row = vec![Value::UInt(number)];
    let os_id = line.os_id.map_or(Value::Null, |tid| Value::UInt(tid as u64));
    row.extend(name.into_iter().chain(values(&line)).chain([os_id]).chain(settings_cells(settings)));
    row
}
