//! The series of mysqld_exporter: status, variables, replication channels, connections and the
//! binary log. Their names, labels and values are those that the exporter makes of this server's
//! answers over SQL (`testkit/tests/metrics.rs` compares them).

use super::exposition::{Exposition, Kind, name_of};
use crate::server::Server;
use crate::server::sessions::activity_name;
use crate::show::processlist::state_of;
use crate::show::status;
use crate::variables;
use replica::status::{Cell, ReplicaStatus};
use sql::VariableScope;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

const STATUS: &str = "A status variable, as SHOW GLOBAL STATUS shows it.";
const VARIABLE: (Kind, &str) = (Kind::Gauge, "A system variable, as SHOW GLOBAL VARIABLES shows it.");
const CHANNEL: (Kind, &str) = (Kind::Untyped, "A column of SHOW REPLICA STATUS or SHOW SLAVE STATUS.");

/// Adds all series.
pub fn add(server: &Server, channels: &[ReplicaStatus], all: &mut Exposition) {
    all.add("mysql_up", (Kind::Gauge, "1, because the server answers."), &[], 1);
    let entry = server.sessions.detached();
    for (name, value) in status::of_session(server, &entry, VariableScope::Global) {
        if let Some(number) = number_in(&value) {
            add_status(all, &name.to_ascii_lowercase(), &number);
        }
    }
    // The exporter reads the moment as seconds of Unix time.
    let used_most_s = (server.status.max_used_connections_us.get() / 1_000_000).to_string();
    add_status(all, "max_used_connections_time", &used_most_s);
    add_variables(server, all);
    channels.iter().for_each(|channel| add_channel(all, channel));
    add_connections(server, all);
    add_binary_log(server, all);
    add_compressed_pages(server, all);
}

/// Adds the counts of information_schema.INNODB_CMP and INNODB_CMPMEM. No page is compressed.
fn add_compressed_pages(server: &Server, all: &mut Exposition) {
    let about = (Kind::Counter, "A count of compressed pages of this size. There are none.");
    for bytes in sql::compressed_page_sizes(&server.engine) {
        let bytes = bytes.to_string();
        for count in [
            "compress_ops",
            "compress_ops_ok",
            "compress_time_seconds",
            "uncompress_ops",
            "uncompress_time_seconds",
        ] {
            let name = format!("mysql_info_schema_innodb_cmp_{count}_total");
            all.add(name, about, &[("page_size", &bytes)], 0);
        }
        for count in ["pages_free", "pages_used", "relocation_ops", "relocation_time_seconds"] {
            let name = format!("mysql_info_schema_innodb_cmpmem_{count}_total");
            all.add(name, about, &[("buffer_pool", "0"), ("page_size", &bytes)], 0);
        }
    }
}

/// Returns the number that the exporter reads in a text. `None` means that the text is none.
fn number_in(text: &str) -> Option<Cow<'_, str>> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" => Some("1".into()),
        // A receiver that is connecting does not receive yet.
        "no" | "off" | "disabled" | "connecting" => Some("0".into()),
        _ => text.parse::<f64>().is_ok_and(f64::is_finite).then(|| text.into()),
    }
}

/// The groups of status variables that are one family each: what the names begin with, the family,
/// and the label for the rest of the name.
const GROUPS: [(&str, &str, &str); 5] = [
    ("com_", "mysql_global_status_commands_total", "command"),
    ("handler_", "mysql_global_status_handlers_total", "handler"),
    ("connection_errors_", "mysql_global_status_connection_errors_total", "error"),
    ("innodb_rows_", "mysql_global_status_innodb_row_ops_total", "operation"),
    ("performance_schema_", "mysql_global_status_performance_schema_lost_total", "instrumentation"),
];

fn add_status(all: &mut Exposition, name: &str, number: &str) {
    if let Some(pages) = name.strip_prefix("innodb_buffer_pool_pages_") {
        return add_pages(all, pages, number);
    }
    let group = GROUPS.iter().find_map(|(prefix, family, label)| {
        name.strip_prefix(prefix).map(|rest| (*family, [(*label, rest)]))
    });
    match group {
        Some((family, labels)) => all.add(family, (Kind::Counter, STATUS), &labels, number),
        None => {
            all.add(format!("mysql_global_status_{}", name_of(name)), (Kind::Untyped, STATUS), &[], number)
        }
    }
}

/// Adds a variable that counts pages of the buffer pool. The sum of all states is left out, as it
/// would be counted twice where a query adds them up.
fn add_pages(all: &mut Exposition, pages: &str, number: &str) {
    match pages {
        "data" | "free" | "misc" | "old" => {
            let state = [("state", pages)];
            all.add("mysql_global_status_buffer_pool_pages", (Kind::Gauge, STATUS), &state, number);
        }
        "dirty" => {
            all.add("mysql_global_status_buffer_pool_dirty_pages", (Kind::Gauge, STATUS), &[], number);
        }
        "total" => {}
        operation => {
            let family = "mysql_global_status_buffer_pool_page_changes_total";
            all.add(family, (Kind::Counter, STATUS), &[("operation", operation)], number);
        }
    }
}

fn add_variables(server: &Server, all: &mut Exposition) {
    let listed: HashMap<String, String> = variables::list_global(server).into_iter().collect();
    for (name, value) in &listed {
        if let Some(number) = number_in(value) {
            all.add(format!("mysql_global_variables_{}", name_of(name)), VARIABLE, &[], number);
        }
    }
    let of = |name: &str| listed.get(name).map_or("", String::as_str);
    let labels = ["innodb_version", "version", "version_comment"].map(|name| (name, of(name)));
    all.add("mysql_version_info", (Kind::Gauge, "The server's version, in the labels."), &labels, 1);
    let level = [("level", of("transaction_isolation"))];
    let about = (Kind::Gauge, "The isolation level of new sessions, in the label.");
    all.add("mysql_transaction_isolation", about, &level, 1);
}

/// Adds the columns of a channel under the names of SHOW SLAVE STATUS, and under those of SHOW
/// REPLICA STATUS, which newer exporters read.
fn add_channel(all: &mut Exposition, channel: &ReplicaStatus) {
    let labels = [
        ("channel_name", channel.channel.as_str()),
        ("connection_name", ""),
        ("master_host", channel.config.host.as_str()),
        ("master_uuid", channel.source_uuid.as_str()),
    ];
    for (name, cell) in [true, false].into_iter().flat_map(|old_names| channel.columns(old_names)) {
        let number = match &cell {
            Cell::Null => None,
            Cell::Number(number) => Some(number.to_string().into()),
            Cell::Text(text) => number_in(text),
        };
        if let Some(number) = number {
            all.add(format!("mysql_slave_status_{}", name_of(name)), CHANNEL, &labels, number);
        }
    }
}

/// Adds the connections by what they do.
fn add_connections(server: &Server, all: &mut Exposition) {
    let mut doing: BTreeMap<[String; 2], (u64, u64)> = BTreeMap::new();
    for line in server.sessions.all().iter().map(|entry| entry.line()) {
        let state = match state_of(&line) {
            "" => "unknown",
            state => state,
        };
        let count = doing.entry([activity_name(line.activity), state].map(name_of)).or_default();
        *count = (count.0 + 1, count.1 + line.time_s);
    }
    for ([command, state], (threads, seconds)) in doing {
        let labels = [("command", command.as_str()), ("state", state.as_str())];
        let about = (Kind::Gauge, "The number of connections in a state of SHOW PROCESSLIST.");
        all.add("mysql_info_schema_processlist_threads", about, &labels, threads);
        let about = (Kind::Gauge, "The seconds for which connections have been in a state, added up.");
        all.add("mysql_info_schema_processlist_seconds", about, &labels, seconds);
    }
}

/// Adds the size of the binary log as it is in its files now.
fn add_binary_log(server: &Server, all: &mut Exposition) {
    let Some(binlog) = server.open_binlog() else { return };
    let files = binlog.list_written();
    let bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
    all.add("mysql_binlog_files", (Kind::Gauge, "The number of binary log files."), &[], files.len());
    all.add("mysql_binlog_size_bytes", (Kind::Gauge, "The bytes in all binary log files."), &[], bytes);
    let number = files.last().and_then(|file| file.name.rsplit_once('.')?.1.parse::<u64>().ok());
    if let Some(number) = number {
        let about = (Kind::Gauge, "The number in the name of the newest binary log file.");
        all.add("mysql_binlog_file_number", about, &[], number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers_where_the_exporter_takes_them_for_numbers() {
        let read = |text: &str| number_in(text).map(|number| number.into_owned());
        let same = |text: &str| Some(text.to_owned());
        assert_eq!([read("ON"), read("Yes")], [same("1"), same("1")]);
        assert_eq!(
            [read("OFF"), read("No"), read("DISABLED"), read("Connecting")],
            [(); 4].map(|()| same("0"))
        );
        assert_eq!(
            [read("18446744073709551615"), read("-1.5")],
            [same("18446744073709551615"), same("-1.5")]
        );
        assert_eq!(
            [read(""), read("9.7.0"), read("binlog.000001"), read("nan"), read("inf")],
            [(); 5].map(|()| None)
        );
    }

    #[test]
    fn status_variables_of_a_group_become_labels() {
        let mut all = Exposition::default();
        for name in [
            "com_select",
            "innodb_buffer_pool_pages_free",
            "innodb_buffer_pool_pages_total",
            "innodb_buffer_pool_pages_flushed",
            "innodb_buffer_pool_reads",
            "uptime",
        ] {
            add_status(&mut all, name, "7");
        }
        let text = all.text();
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            "mysql_global_status_buffer_pool_page_changes_total{operation=\"flushed\"} 7",
            "mysql_global_status_buffer_pool_pages{state=\"free\"} 7",
            "mysql_global_status_commands_total{command=\"select\"} 7",
            "mysql_global_status_innodb_buffer_pool_reads 7",
            "mysql_global_status_uptime 7",
        ];
        assert_eq!(samples, expected);
    }
}
