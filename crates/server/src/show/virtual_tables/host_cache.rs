//! The table of performance_schema that shows the host cache.

use crate::server::host_cache::{COUNTS, HostCache, HostEntry};
use crate::show::result_table::{count_column, text_column, text_or_null, timestamp_column, timestamp_value};
use sql::ComputedTable;
use std::net::IpAddr;
use types::Value;

pub fn table(hosts: &HostCache) -> ComputedTable<'_> {
    let mut columns = vec![
        text_column("IP", 64),
        text_column("HOST", 255),
        text_column("HOST_VALIDATED", 3),
        count_column("SUM_CONNECT_ERRORS"),
    ];
    columns.extend(COUNTS.map(count_column));
    let times = ["FIRST_SEEN", "LAST_SEEN", "FIRST_ERROR_SEEN", "LAST_ERROR_SEEN"];
    columns.extend(times.map(timestamp_column));
    ComputedTable::of_rows(columns, || hosts.all().into_iter().map(|entry| row(&entry)))
}

fn row((ip, entry): &(IpAddr, HostEntry)) -> Vec<Value> {
    let count = |n: u64| Value::Int(n.min(i64::MAX as u64) as i64);
    let mut row = vec![
        Value::text(&ip.to_string()),
        text_or_null(entry.found.name.as_deref()),
        Value::text(if entry.found.is_validated { "YES" } else { "NO" }),
        count(entry.connect_errors),
    ];
    row.extend(entry.counts.map(count));
    row.extend([entry.first_seen_us, entry.last_seen_us].map(timestamp_value));
    let error_times = [entry.first_error_us, entry.last_error_us];
    row.extend(error_times.map(|at_us| if at_us == 0 { Value::Null } else { timestamp_value(at_us) }));
    row
}
