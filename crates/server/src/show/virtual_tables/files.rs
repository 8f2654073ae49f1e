//! The tables of performance_schema about files, and about the waits for them: `file_instances`,
//! `file_summary_by_*` and `events_waits_summary_*`.
//!
//! Every file is counted by `os::disk`. The waits of a thread are the time that its account has in
//! the states in which it waits for a file or for its client, so that the shortest and the longest
//! wait are not known. Those of connections' threads are summed up by account, user and host.

use super::columns::{Kind, columns};
use super::performance::{background_threads, thread_of};
use super::statements::reading::{read, sessions};
use crate::client::connection_host::ConnectionHost;
use crate::server::file_kinds::{DATA, KINDS, LOG};
use crate::show::processlist::visible_processes;
use crate::show::result_table::text_or_null;
use os::account::{State, StateTime};
use os::disk::uses::{self, Sums, Times, UsedFile};
use sql::measured::{Level, Measured, MeasuredSession, StateSums};
use sql::{ColumnMeta, ComputedRows, ComputedTable};
use std::collections::BTreeMap;
use std::sync::Arc;
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
const USER: (&str, Kind) = ("USER", Kind::UserOrNull);
const HOST: (&str, Kind) = ("HOST", Kind::HostOrNull);
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
        let idle = threads.iter().filter_map(|thread| waits_of_thread(&thread.states).remove(IDLE));
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

/// Waits by event.
type Waits = BTreeMap<&'static str, Times>;

/// Returns the waits by event of states with how often they were entered and the time in them.
fn waits_of(states: impl Iterator<Item = (State, u64, u64)>) -> Waits {
    let mut waits = Waits::new();
    for (state, count, sum_ns) in states {
        if let Some(event) = event_of(state) {
            waits.entry(event).or_default().add(&Times { count, sum_ns, ..Times::default() });
        }
    }
    waits
}

fn waits_of_thread(states: &[StateTime]) -> Waits {
    waits_of(states.iter().map(|time| (time.state, time.entered, time.wall_ns)))
}

fn waits_of_sums(sums: &StateSums) -> Waits {
    waits_of(sums.all().map(|(state, sum)| (state, sum.entered, sum.wall_ns)))
}

fn put_waits(rows: &mut dyn ComputedRows, keys: &[Value], waits: &Waits) -> sql::Result<()> {
    waits.iter().try_for_each(|(event, of)| {
        let keys = keys.iter().cloned().chain([Value::text(event)]);
        rows.put(keys.chain(times(of)).collect::<Vec<_>>())
    })
}

/// `events_waits_summary_by_thread_by_event_name`: the events for which the thread has waited.
pub fn waits_by_thread(host: &ConnectionHost) -> ComputedTable<'_> {
    let thread = ("THREAD_ID", Kind::Number);
    ComputedTable::new(of_waits(&[thread, EVENT]), move |rows| {
        if host.server().measured.is_none() {
            return Ok(());
        }
        for (number, thread) in (1..).zip(background_threads()) {
            put_waits(rows, &[Value::UInt(number)], &waits_of_thread(&thread.states))?;
        }
        let visible: Vec<u64> = visible_processes(host).iter().map(|line| thread_of(line.id)).collect();
        let of_sessions = sessions(host).into_iter().filter(|(number, _)| visible.contains(number));
        of_sessions.into_iter().try_for_each(|(number, session)| {
            put_waits(rows, &[Value::UInt(number)], &waits_of_sums(&session.waits().1))
        })
    })
}

/// `events_waits_summary_by_account_by_event_name`: the events for which the sessions of each
/// account have waited. The threads of the server itself have no account and no row here.
pub fn waits_by_account(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_waits(&[USER, HOST, EVENT]), |rows| {
        read(host, Measured::waits_by_account).iter().try_for_each(|((user, host), sums)| {
            let keys = [user, host].map(|name| text_or_null(name.as_deref()));
            put_waits(rows, &keys, &waits_of_sums(sums))
        })
    })
}

/// `events_waits_summary_by_user_by_event_name`: the same by user.
pub fn waits_by_user(host: &ConnectionHost) -> ComputedTable<'_> {
    of_name(host, USER, Measured::waits_by_user)
}

/// `events_waits_summary_by_host_by_event_name`: the same by host.
pub fn waits_by_host(host: &ConnectionHost) -> ComputedTable<'_> {
    of_name(host, HOST, Measured::waits_by_host)
}

/// Returns the sums of all users, or of all hosts.
type ByPart = fn(&Measured, &[Arc<MeasuredSession>]) -> BTreeMap<Option<String>, StateSums>;

fn of_name<'h>(host: &'h ConnectionHost, name: (&'static str, Kind), all: ByPart) -> ComputedTable<'h> {
    ComputedTable::new(of_waits(&[name, EVENT]), move |rows| {
        let all = read(host, all);
        all.iter().try_for_each(|(name, sums)| {
            put_waits(rows, &[text_or_null(name.as_deref())], &waits_of_sums(sums))
        })
    })
}

/// Returns what emptying a table of sessions' waits empties.
fn level_of(table: &str) -> Option<Level> {
    Some(match table.strip_prefix("events_waits_summary_by_")?.strip_suffix("_by_event_name")? {
        "thread" => Level::Session,
        "account" => Level::Account,
        "user" => Level::User,
        "host" => Level::Host,
        _ => return None,
    })
}

/// Counts from zero again. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    if let Some(level) = level_of(table) {
        read(host, |measured, sessions| measured.clear_waits(sessions, level));
        return true;
    }
    match table {
        "file_summary_by_instance" | "events_waits_summary_by_instance" => uses::clear_files(),
        "file_summary_by_event_name" => uses::clear_kinds(),
        "events_waits_summary_global_by_event_name" => {
            uses::clear_kinds();
            let threads = os::account::snapshot();
            let idle = threads.iter().filter_map(|thread| waits_of_thread(&thread.states).remove(IDLE));
            host.server().setup.set_idle_before(idle.fold(Times::default(), sum));
        }
        _ => return false,
    }
    true
}
