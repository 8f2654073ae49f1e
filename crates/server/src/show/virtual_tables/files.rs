//! The tables of performance_schema about files, and about the waits for them: `file_instances`,
//! `file_summary_by_*` and `events_waits_summary_*`.
//!
//! Every file is counted by `os::disk`. The waits of a thread are the time that its account has in
//! the states in which it waits for a file, so that the shortest and the longest wait are not
//! known.

use super::columns::{Kind, columns};
use super::performance::{background_threads, thread_of};
use crate::client::connection_host::ConnectionHost;
use crate::server::file_kinds::{DATA, KINDS, LOG};
use crate::show::processlist::visible_processes;
use os::account::{State, StateTime, ThreadTime};
use os::disk::uses::{self, Sums, Times, UsedFile};
use sql::{ColumnMeta, ComputedTable};
use std::collections::BTreeMap;
use types::Value;

/// The event of a connection's thread that waits for its client's next command.
const IDLE: &str = "idle";

/// The event to which the time in a state belongs.
fn event_of(state: State) -> Option<&'static str> {
    Some(match state {
        State::PageRead | State::PageWrite | State::PageSync => DATA,
        State::LogWrite | State::LogFlush => LOG,
        State::BinlogWrite | State::BinlogSync => "wait/io/file/sql/binlog",
        State::RelayLogWrite => "wait/io/file/sql/relaylog",
        State::SortFile => "wait/io/file/sql/io_cache",
        State::ClientWait => IDLE,
        _ => return None,
    })
}

const NAME: (&str, Kind) = ("FILE_NAME", Kind::Text(512));
const EVENT: (&str, Kind) = ("EVENT_NAME", Kind::Text(128));
const INSTANCE: (&str, Kind) = ("OBJECT_INSTANCE_BEGIN", Kind::Number);

/// Returns the columns of the times of an operation.
fn of_times(count: &str, time: &str) -> Vec<ColumnMeta> {
    let mut names = vec![format!("COUNT_{count}")];
    names.extend(["SUM", "MIN", "AVG", "MAX"].map(|of| format!("{of}_TIMER_{time}")));
    names.iter().flat_map(|name| columns(&[(name, Kind::Number)])).collect()
}

/// Returns the columns of a summary of files.
fn of_files(keys: &[(&str, Kind)]) -> Vec<ColumnMeta> {
    let mut all = columns(keys);
    all.extend(of_times("STAR", "WAIT"));
    for group in ["READ", "WRITE"] {
        all.extend(of_times(group, group));
        all.extend(columns(&[(&format!("SUM_NUMBER_OF_BYTES_{group}"), Kind::Count)]));
    }
    all.extend(of_times("MISC", "MISC"));
    all
}

fn of_waits(keys: &[(&str, Kind)]) -> Vec<ColumnMeta> {
    let mut all = columns(keys);
    all.extend(of_times("STAR", "WAIT"));
    all
}

/// Returns the cells of [`of_times`], in picoseconds.
fn times(times: &Times) -> [Value; 5] {
    let ps = |ns: u64| ns.saturating_mul(1000);
    let average_ps = (u128::from(times.sum_ns) * 1000).checked_div(u128::from(times.count)).unwrap_or(0);
    [times.count, ps(times.sum_ns), ps(times.min_ns), average_ps as u64, ps(times.max_ns)].map(Value::UInt)
}

/// Returns the cells of [`of_files`] behind the keys.
fn cells(sums: &Sums) -> impl Iterator<Item = Value> {
    let bytes = |times: &Times| Value::Int(i64::try_from(times.bytes).unwrap_or(i64::MAX));
    let mut all: Vec<Value> = times(&sums.all()).into();
    for of in [&sums.read, &sums.write] {
        all.extend(times(of));
        all.push(bytes(of));
    }
    all.extend(times(&sums.misc));
    all.into_iter()
}

/// Returns all files. There are none with `performance_schema=OFF`.
fn files(host: &ConnectionHost) -> Vec<UsedFile> {
    if host.server().measured.is_some() { uses::files() } else { Vec::new() }
}

/// Returns the sums of all files of each kind. There are no kinds with `performance_schema=OFF`.
fn kinds(host: &ConnectionHost) -> Vec<(&'static str, Sums)> {
    if host.server().measured.is_none() {
        return Vec::new();
    }
    let found = uses::kinds();
    KINDS.iter().map(|kind| (*kind, found.get(kind).copied().unwrap_or_default())).collect()
}

fn name(file: &UsedFile) -> Value {
    Value::text(&file.path.to_string_lossy())
}

/// `file_instances`: the files that were opened, and how many handles of each are open.
pub fn instances(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = columns(&[NAME, EVENT, ("OPEN_COUNT", Kind::SmallNumber)]);
    let row = |file: UsedFile| vec![name(&file), Value::text(file.kind), Value::UInt(file.sums.handles)];
    ComputedTable::of_rows(columns, move || files(host).into_iter().map(row))
}

/// `file_summary_by_instance`: what was done with each file.
pub fn by_file(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |file: UsedFile| {
        let keys = [name(&file), Value::text(file.kind), Value::UInt(file.instance as u64)];
        keys.into_iter().chain(cells(&file.sums)).collect::<Vec<_>>()
    };
    ComputedTable::of_rows(of_files(&[NAME, EVENT, INSTANCE]), move || files(host).into_iter().map(row))
}

/// `file_summary_by_event_name`: what was done with all files of each kind, those that are gone
/// among them.
pub fn by_kind(host: &ConnectionHost) -> ComputedTable<'_> {
    let row =
        |(kind, sums): (&str, Sums)| [Value::text(kind)].into_iter().chain(cells(&sums)).collect::<Vec<_>>();
    ComputedTable::of_rows(of_files(&[EVENT]), move || kinds(host).into_iter().map(row))
}

/// `events_waits_summary_by_instance`: a row for each file. Nothing else that can be waited for has
/// one.
pub fn waits_by_instance(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |file: UsedFile| {
        let keys = [Value::text(file.kind), Value::UInt(file.instance as u64)];
        keys.into_iter().chain(times(&file.sums.all())).collect::<Vec<_>>()
    };
    ComputedTable::of_rows(of_waits(&[EVENT, INSTANCE]), move || files(host).into_iter().map(row))
}

/// `events_waits_summary_global_by_event_name`: the kinds of files, and the waits for clients.
pub fn waits_by_kind(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_waits(&[EVENT]), |rows| {
        let kinds = kinds(host);
        if kinds.is_empty() {
            return Ok(());
        }
        let mut put = |name: &str, of: &Times| {
            rows.put([Value::text(name)].into_iter().chain(times(of)).collect::<Vec<_>>())
        };
        kinds.iter().try_for_each(|(kind, sums)| put(kind, &sums.all()))?;
        let threads = os::account::snapshot();
        let idle = threads.iter().filter_map(|thread| waits_of(&thread.states).remove(IDLE));
        let all = idle.fold(Times::default(), sum);
        put(IDLE, &less(all, &host.server().setup.idle_before()))
    })
}

fn sum(mut all: Times, more: Times) -> Times {
    all.add(&more);
    all
}

/// Returns what is in `all` since `before`.
fn less(all: Times, before: &Times) -> Times {
    Times {
        count: all.count.saturating_sub(before.count),
        sum_ns: all.sum_ns.saturating_sub(before.sum_ns),
        ..all
    }
}

/// Returns the waits of a thread by event.
fn waits_of(states: &[StateTime]) -> BTreeMap<&'static str, Times> {
    let mut waits: BTreeMap<&'static str, Times> = BTreeMap::new();
    for time in states {
        if let Some(event) = event_of(time.state) {
            let times = Times { count: time.entered, sum_ns: time.wall_ns, ..Times::default() };
            waits.entry(event).or_default().add(&times);
        }
    }
    waits
}

/// Returns the threads with the numbers that `threads` gives them.
fn numbered(host: &ConnectionHost) -> Vec<(u64, ThreadTime)> {
    let mut all: Vec<(u64, ThreadTime)> = (1..).zip(background_threads()).collect();
    let mut connections: BTreeMap<i32, ThreadTime> =
        os::account::snapshot().into_iter().filter_map(|thread| Some((thread.tid?, thread))).collect();
    let of = |line: crate::server::sessions::ProcessLine| {
        Some((thread_of(line.id), connections.remove(&line.os_id?)?))
    };
    all.extend(visible_processes(host).into_iter().filter_map(of));
    all
}

/// `events_waits_summary_by_thread_by_event_name`: the events for which the thread has waited.
pub fn waits_by_thread(host: &ConnectionHost) -> ComputedTable<'_> {
    let thread = ("THREAD_ID", Kind::Number);
    ComputedTable::new(of_waits(&[thread, EVENT]), move |rows| {
        if host.server().measured.is_none() {
            return Ok(());
        }
        for (number, thread) in numbered(host) {
            for (event, of) in waits_of(&thread.states) {
                let keys = [Value::UInt(number), Value::text(event)];
                rows.put(keys.into_iter().chain(times(&of)).collect::<Vec<_>>())?;
            }
        }
        Ok(())
    })
}

/// Counts from zero again. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    match table {
        "file_summary_by_instance" | "events_waits_summary_by_instance" => uses::clear_files(),
        "file_summary_by_event_name" => uses::clear_kinds(),
        "events_waits_summary_global_by_event_name" => {
            uses::clear_kinds();
            let threads = os::account::snapshot();
            let idle = threads.iter().filter_map(|thread| waits_of(&thread.states).remove(IDLE));
            host.server().setup.set_idle_before(idle.fold(Times::default(), sum));
        }
        _ => return false,
    }
    true
}
