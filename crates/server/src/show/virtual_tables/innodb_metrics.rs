//! `information_schema.INNODB_METRICS`: MySQL's counters of the storage engine, by MySQL's names.
//!
//! The list beside this file has a line for each counter: its name, its subsystem, its type, and
//! the status variable that has its count here. A counter without such a variable is not counted:
//! its STATUS is `disabled`, as that of a counter of MySQL's which nobody has turned on. Nothing
//! can be turned on, off or reset, so that everything counts since the start of the server. Maxima
//! and minima of present values are not kept, and are NULL.

use crate::client::connection_host::ConnectionHost;
use crate::server::Server;
use crate::show::result_table::{column, text_or_null};
use crate::show::status;
use sql::{ColumnMeta, ComputedTable, SqlError, column_flag};
use std::collections::HashMap;
use types::collation::UTF8MB3_GENERAL_CI;
use types::{ColumnType, DateTime, Value, Zone};

const LIST: &str = include_str!("innodb_metrics.txt");

/// The columns with their types, `null` behind those that may be NULL.
const COLUMNS: [(&str, &str); 17] = [
    ("NAME", "text"),
    ("SUBSYSTEM", "text"),
    ("COUNT", "number"),
    ("MAX_COUNT", "number null"),
    ("MIN_COUNT", "number null"),
    ("AVG_COUNT", "average null"),
    ("COUNT_RESET", "number"),
    ("MAX_COUNT_RESET", "number null"),
    ("MIN_COUNT_RESET", "number null"),
    ("AVG_COUNT_RESET", "average null"),
    ("TIME_ENABLED", "time null"),
    ("TIME_DISABLED", "time null"),
    ("TIME_ELAPSED", "number null"),
    ("TIME_RESET", "time null"),
    ("STATUS", "text"),
    ("TYPE", "text"),
    ("COMMENT", "text"),
];

fn columns() -> Vec<ColumnMeta> {
    let of = |(name, kind): (&str, &str)| {
        let (kind, nullable) = kind.split_once(' ').map_or((kind, false), |(kind, _)| (kind, true));
        let ty = match kind {
            "number" => ColumnType::bigint(false),
            "average" => ColumnType::double(),
            "time" => ColumnType::datetime(0),
            _ => ColumnType::varchar(193, UTF8MB3_GENERAL_CI),
        };
        column(name, ty, if nullable { 0 } else { column_flag::NOT_NULL })
    };
    COLUMNS.map(of).into()
}

/// A counter of the list.
struct Metric {
    name: &'static str,
    subsystem: &'static str,
    kind: &'static str,
    /// The status variable, or the system variable, that has the count.
    figure: Option<&'static str>,
}

impl Metric {
    fn read(line: &'static str) -> Option<Metric> {
        let mut words = line.split(' ');
        Some(Metric {
            name: words.next()?,
            subsystem: words.next()?,
            kind: words.next()?,
            figure: words.next(),
        })
    }

    /// Returns the row of the counter, which has this count if it is counted.
    fn row(&self, count: Option<i64>, since: &Since, zone: Zone) -> Vec<Value> {
        let number = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        // MySQL knows the largest value of a counter that only grows, and none of other counters.
        let most = number(count.filter(|_| self.kind == "status_counter"));
        let average = count.filter(|_| self.kind.ends_with("counter") && since.elapsed_s > 0);
        let average =
            average.map_or(Value::Null, |count| Value::Double(count as f64 / since.elapsed_s as f64));
        let enabled = DateTime::from_unix(since.started_s, 0, zone);
        let comment = match self.figure {
            Some(figure) => format!("What {figure} shows"),
            None => "Not counted".to_owned(),
        };
        let total = Value::Int(count.unwrap_or(0));
        vec![
            Value::text(self.name),
            Value::text(self.subsystem),
            total.clone(),
            most.clone(),
            Value::Null,
            average,
            total,
            most,
            Value::Null,
            Value::Null,
            count.map_or(Value::Null, |_| Value::DateTime(enabled)),
            Value::Null,
            number(count.map(|_| since.elapsed_s)),
            Value::Null,
            Value::text(if count.is_some() { "enabled" } else { "disabled" }),
            Value::text(self.kind),
            text_or_null(Some(&comment)),
        ]
    }
}

/// Since when everything is counted.
struct Since {
    started_s: i64,
    elapsed_s: i64,
}

/// Returns what the server counts, by the names in the list.
fn figures(server: &Server) -> HashMap<String, i64> {
    let all = status::list(server).into_iter();
    let mut figures: HashMap<String, i64> =
        all.filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect();
    let pool_bytes = server.globals.named("innodb_buffer_pool_size").uint();
    figures.insert("innodb_buffer_pool_size".to_owned(), pool_bytes.try_into().unwrap_or(i64::MAX));
    figures
}

/// Returns the table. Reading it needs PROCESS; without it the error is 1227.
pub fn table(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(columns(), |rows| {
        if !host.has_static("PROCESS") {
            let text =
                "Access denied; you need (at least one of) the PROCESS privilege(s) for this operation";
            return Err(SqlError::new(1227, text));
        }
        let server = host.server();
        let figures = figures(server);
        let started_us = server.status.started_us;
        let elapsed_us = os::clock::now_us().saturating_sub(started_us);
        let since =
            Since { started_s: (started_us / 1_000_000) as i64, elapsed_s: (elapsed_us / 1_000_000) as i64 };
        LIST.lines().filter_map(Metric::read).try_for_each(|metric| {
            let count = metric.figure.and_then(|figure| figures.get(figure).copied());
            rows.put(metric.row(count, &since, Zone::UTC))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_list_names_each_counter_once() {
        let all: Vec<Metric> = LIST.lines().filter_map(Metric::read).collect();
        let names: HashSet<&str> = all.iter().map(|metric| metric.name).collect();
        assert_eq!((all.len(), names.len()), (314, 314));
        assert!(all.iter().filter(|metric| metric.figure.is_some()).count() > 40);
    }
}
