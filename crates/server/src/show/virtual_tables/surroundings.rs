//! The tables of performance_schema about what clients say of themselves, the error log, the status
//! of threads and accounts, and clocks.

use super::cells::{Cells, number, table, text};
use super::performance::thread_of;
use crate::client::connection_host::{ConnectionHost, without_port};
use crate::process::error_log;
use crate::server::sessions::SessionEntry;
use crate::show::processlist::visible_processes;
use crate::show::result_table::text_column;
use sql::ComputedTable;
use sql::counters::Counters;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;

/// `error_log`: the last lines of the error log.
pub fn error_log(_host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |entry: &error_log::Entry| -> Cells {
        let logged = Value::Timestamp {
            seconds: (entry.at_us / 1_000_000) as i64,
            micros: (entry.at_us % 1_000_000) as u32,
        };
        vec![
            (text_column("LOGGED", 32), logged),
            number("THREAD_ID", 0),
            text("PRIO", entry.level),
            text("ERROR_CODE", &entry.number),
            text("SUBSYSTEM", entry.system),
            text("DATA", &entry.text),
        ]
    };
    let nothing = error_log::Entry::default();
    table(row(&nothing), move || error_log::recent().iter().map(row).collect::<Vec<_>>())
}

/// `session_connect_attrs`: what the clients of all connections have said of themselves.
pub fn session_connect_attrs(host: &ConnectionHost) -> ComputedTable<'_> {
    attributes(host, |_| true)
}

/// `session_account_connect_attrs`: the same of the connections of the own account.
pub fn session_account_connect_attrs(host: &ConnectionHost) -> ComputedTable<'_> {
    let own = host.account().shown();
    attributes(host, move |account| account == own)
}

fn attributes<'h>(host: &'h ConnectionHost, is_wanted: impl Fn(&str) -> bool + 'h) -> ComputedTable<'h> {
    fn row(id: u32, at: usize, name: &str, value: &str) -> Cells {
        vec![
            number("PROCESSLIST_ID", id.into()),
            text("ATTR_NAME", name),
            text("ATTR_VALUE", value),
            number("ORDINAL_POSITION", at as u64),
        ]
    }
    table(row(0, 0, "", ""), move || {
        let mut rows = Vec::new();
        // Without performance_schema nothing is kept for it, as in MySQL.
        for entry in host.server().sessions.all().iter().filter(|_| host.server().measured.is_some()) {
            if is_wanted(&entry.shown().account) {
                let all = entry.attributes();
                rows.extend(all.iter().enumerate().map(|(at, (name, value))| row(entry.id, at, name, value)));
            }
        }
        rows
    })
}

/// The counters of one or several connections, by their names.
fn counted(counts: &[u64]) -> impl Iterator<Item = (&'static str, u64)> + '_ {
    Counters::NAMES.iter().copied().zip(counts.iter().copied())
}

/// `status_by_thread`: the counters of each connection that the account may see.
pub fn status_by_thread(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(thread: u64, name: &str, value: &str) -> Cells {
        vec![number("THREAD_ID", thread), text("VARIABLE_NAME", name), text("VARIABLE_VALUE", value)]
    }
    table(row(0, "", ""), || {
        let seen: Vec<u32> = visible_processes(host).iter().map(|line| line.id).collect();
        let mut rows = Vec::new();
        for entry in host.server().sessions.all().iter().filter(|entry| seen.contains(&entry.id)) {
            let counts = entry.counters().figures();
            let thread = thread_of(entry.id);
            rows.extend(counted(&counts).map(|(name, count)| row(thread, name, &count.to_string())));
            let (version, cipher) =
                entry.encryption().map_or_else(Default::default, |it| (it.version, it.cipher));
            let tls =
                [("Ssl_cipher", cipher.as_str()), ("Ssl_sessions_reused", "0"), ("Ssl_version", &version)];
            rows.extend(tls.map(|(name, value)| row(thread, name, value)));
        }
        rows
    })
}

/// `status_by_account`: the counters of the present connections of each user and host.
pub fn status_by_account(host: &ConnectionHost) -> ComputedTable<'_> {
    by_key(host, &["USER", "HOST"])
}

/// `status_by_user`: the counters of the present connections of each user.
pub fn status_by_user(host: &ConnectionHost) -> ComputedTable<'_> {
    by_key(host, &["USER"])
}

/// `status_by_host`: the counters of the present connections from each host.
pub fn status_by_host(host: &ConnectionHost) -> ComputedTable<'_> {
    by_key(host, &["HOST"])
}

/// Returns the table of the counters of connections that have the same values in these columns,
/// which are `USER` and `HOST` or one of them.
fn by_key<'h>(host: &'h ConnectionHost, keys: &'static [&'static str]) -> ComputedTable<'h> {
    let row = move |values: &[String], name: &str, count: u64| -> Cells {
        let mut cells: Cells = keys.iter().zip(values).map(|(key, value)| text(key, value)).collect();
        cells.extend([text("VARIABLE_NAME", name), text("VARIABLE_VALUE", &count.to_string())]);
        cells
    };
    let sample = row(&vec![String::new(); keys.len()], "", 0);
    table(sample, move || {
        let mut sums: BTreeMap<Vec<String>, Vec<u64>> = BTreeMap::new();
        for entry in clients(host) {
            let (shown, counts) = (entry.shown(), entry.counters().figures());
            let from = without_port(&shown.host);
            let value = |key: &&str| if *key == "USER" { shown.user.clone() } else { from.to_owned() };
            let sum = sums
                .entry(keys.iter().map(value).collect())
                .or_insert_with(|| vec![0; Counters::NAMES.len()]);
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let rows =
            sums.iter().flat_map(|(values, sum)| counted(sum).map(move |(name, n)| row(values, name, n)));
        rows.collect::<Vec<_>>()
    })
}

/// Returns the connections of clients.
fn clients(host: &ConnectionHost) -> Vec<Arc<SessionEntry>> {
    host.server().sessions.all().into_iter().filter(|entry| entry.is_of_client()).collect()
}

/// `performance_timers`: the clocks by which statements and threads are measured.
pub fn performance_timers(_host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str, per_second: u64) -> Cells {
        vec![text("TIMER_NAME", name), number("TIMER_FREQUENCY", per_second), number("TIMER_RESOLUTION", 1)]
    }
    let clocks = [("NANOSECOND", 1_000_000_000), ("MICROSECOND", 1_000_000), ("THREAD_CPU", 1_000_000_000)];
    table(row("", 0), move || clocks.map(|(name, per_second)| row(name, per_second)))
}
