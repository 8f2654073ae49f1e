//! Runs the program sysbench 1.0, follows its output second by second, and reads its report.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use protocol::client::{Address, ConnectOptions};

use crate::error::MeasureError;
use crate::histogram::Histogram;
use crate::sbtest::{SCHEMA, Size};

/// The names of sysbench's scripts that the kit runs, without `oltp_`.
pub const SCRIPTS: [&str; 6] =
    ["read_only", "point_select", "update_non_index", "update_index", "write_only", "read_write"];

/// Returns the reason why sysbench cannot be run on this machine; `None` means that it can.
pub fn unavailable() -> Option<MeasureError> {
    let version = Command::new("sysbench").arg("--version").stdin(Stdio::null()).output();
    version.err().map(|error| failed(format!("not on this machine: {error}")))
}

/// One run of sysbench.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The name of the script, one of [`SCRIPTS`].
    pub script: &'a str,
    /// The number of tables and of their rows. The tables must exist.
    pub size: Size,
    /// The number of concurrent clients.
    pub clients: u32,
    /// The duration in seconds.
    pub seconds: u64,
    /// The seed of the values.
    pub seed: u64,
}

/// What sysbench prints each second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// The seconds since the run began.
    pub at: u64,
    /// The transactions of the last second.
    pub transactions: f64,
}

/// What sysbench prints at the end.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of transactions in each second.
    pub each_second: Vec<f64>,
    /// The number of transactions committed.
    pub transactions: u64,
    /// The number of statements of these transactions.
    pub queries: u64,
    /// The number of transactions that were given up and started again, after a deadlock or a lock
    /// wait timeout.
    pub retried: u64,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The response times of the transactions.
    pub times: Histogram,
}

impl Report {
    /// Returns the transactions a second.
    pub fn rate(&self) -> f64 {
        self.transactions as f64 / self.seconds
    }
}

fn failed(said: String) -> MeasureError {
    MeasureError::Program("sysbench".into(), said)
}

/// Returns the words after `sysbench` on the command line.
fn words(options: &ConnectOptions, run: &Run<'_>) -> Vec<String> {
    let mut words = vec![
        format!("oltp_{}", run.script),
        "--db-driver=mysql".into(),
        format!("--mysql-db={SCHEMA}"),
        format!("--mysql-user={}", options.user),
        format!("--mysql-password={}", options.password),
        format!("--tables={}", run.size.tables),
        format!("--table-size={}", run.size.rows),
        format!("--threads={}", run.clients),
        format!("--time={}", run.seconds),
        "--events=0".into(),
        "--report-interval=1".into(),
        "--histogram=on".into(),
        format!("--rand-seed={}", run.seed % (1 << 31)),
    ];
    match &options.address {
        Address::Unix(path) => words.push(format!("--mysql-socket={}", path.display())),
        Address::Tcp { host, port } => {
            words.extend([format!("--mysql-host={host}"), format!("--mysql-port={port}")]);
        }
    }
    words.push("run".into());
    words
}

/// Runs sysbench, and passes its process id and the figures of each second to `each_second` as they
/// come.
pub fn run(
    options: &ConnectOptions,
    run: &Run<'_>,
    each_second: &mut dyn FnMut(u32, Second),
) -> Result<Report, MeasureError> {
    let mut child = Command::new("sysbench")
        .args(words(options, run))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let pid = child.id();
    let stdout = child.stdout.take().expect("piped");
    let (mut said, mut seconds) = (String::new(), Vec::new());
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if let Some(second) = second_of(&line) {
            seconds.push(second.transactions);
            each_second(pid, second);
        } else {
            said.push_str(&line);
            said.push('\n');
        }
    }
    let mut complaint = String::new();
    // If the text cannot be read, it is not shown. The exit code tells whether sysbench failed.
    let _ = child.stderr.take().expect("piped").read_to_string(&mut complaint);
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(format!("ended with {status}:\n{complaint}{said}")));
    }
    let report =
        read_report(&said).ok_or_else(|| failed(format!("a report that cannot be read:\n{said}")))?;
    Ok(Report { each_second: seconds, ..report })
}

/// Reads a line such as `[ 3s ] thds: 32 tps: 1234.5 qps: ...`.
fn second_of(line: &str) -> Option<Second> {
    let (at, rest) = line.strip_prefix('[')?.split_once("s ]")?;
    let transactions = rest.split_once("tps:")?.1.split_whitespace().next()?;
    Some(Second { at: at.trim().parse().ok()?, transactions: transactions.parse().ok()? })
}

fn read_report(said: &str) -> Option<Report> {
    let after = |name: &str| {
        said.lines().find_map(|line| line.trim_start().strip_prefix(name)?.split_whitespace().next())
    };
    let mut report = Report {
        transactions: after("transactions:")?.parse().ok()?,
        queries: after("queries:")?.parse().ok()?,
        retried: after("ignored errors:")?.parse().ok()?,
        seconds: after("total time:")?.trim_end_matches('s').parse().ok()?,
        ..Report::default()
    };
    // A line such as `       1.014 |*****                                    5317` has the
    // milliseconds and the number of transactions.
    for line in said.lines() {
        let Some((value, bar)) = line.split_once('|') else { continue };
        let value: Option<f64> = value.trim().parse().ok();
        let count = bar.split_whitespace().next_back().and_then(|count| count.parse().ok());
        if let (Some(ms), Some(count)) = (value, count) {
            report.times.add((ms * 1000.0) as u64, count);
        }
    }
    Some(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.500 |****                                     500
       1.014 |**************************************** 5317
       9.000 |                                         1

SQL statistics:
    queries performed:
        read:                            0
        write:                           5818
        other:                           0
        total:                           5818
    transactions:                        5818   (581.75 per sec.)
    queries:                             11636  (1163.50 per sec.)
    ignored errors:                      3      (0.30 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          10.0009s
    total number of events:              5818
";

    #[test]
    fn reports_are_read() {
        let report = read_report(SAID).expect("a report");
        assert_eq!((report.transactions, report.queries, report.retried), (5818, 11636, 3));
        assert_eq!((report.times.count(), report.rate() as u64), (5818, 581));
        let shown = report.times.percentiles();
        assert!((0.9..1.1).contains(&shown.p50_ms) && shown.max_ms == 9.0, "{shown:?}");
        assert!(read_report("FATAL: unable to connect").is_none());
    }

    #[test]
    fn seconds_are_read() {
        let line = "[ 12s ] thds: 32 tps: 1234.56 qps: 2469.12 (r/w/o: 0.00/2469.12/0.00) lat (ms,95%): 1.5";
        assert_eq!(second_of(line), Some(Second { at: 12, transactions: 1234.56 }));
        assert_eq!(second_of("Threads started!"), None);
    }

    #[test]
    fn a_server_is_reached_by_socket_or_by_port() {
        let size = Size { tables: 2, rows: 10 };
        let run = Run { script: "read_only", size, clients: 4, seconds: 5, seed: 1 };
        let by = |options: ConnectOptions| words(&options.user("kit", "secret"), &run).join(" ");
        assert!(by(ConnectOptions::unix("/tmp/s")).contains("--mysql-socket=/tmp/s"));
        let tcp = by(ConnectOptions::tcp("h", 7));
        assert!(tcp.starts_with("oltp_read_only ") && tcp.contains("--mysql-host=h --mysql-port=7"), "{tcp}");
    }
}
