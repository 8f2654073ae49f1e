//! Runs the program sysbench 1.0 against a server under test.

use bench::instance::USER;

use crate::program;
use crate::server::Server;

/// How sysbench connects to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Over TCP, to a port on 127.0.0.1.
    Tcp,
    /// Over the Unix socket.
    Socket,
}

/// One of sysbench's own scripts, with its options.
pub struct Script<'a> {
    /// The server to run it against.
    pub server: &'a Server,
    /// The name of the script, for instance `oltp_read_write`.
    pub name: &'a str,
    /// How sysbench connects.
    pub way: Way,
    /// The number of clients.
    pub threads: u32,
    /// Further options, for instance `--tables=2`.
    pub options: Vec<String>,
}

impl Script<'_> {
    /// Runs `prepare`, `run` or `cleanup`, which must succeed, and returns sysbench's output.
    pub fn command(&self, command: &str, limits: &[&str]) -> String {
        let mut words = vec![self.name.to_string(), "--db-driver=mysql".into(), "--mysql-db=sbtest".into()];
        words.extend([format!("--mysql-user={USER}"), format!("--mysql-password={USER}")]);
        words.push(format!("--threads={}", self.threads));
        match self.way {
            Way::Tcp => {
                words.extend([
                    "--mysql-host=127.0.0.1".into(),
                    format!("--mysql-port={}", self.server.port()),
                ]);
            }
            Way::Socket => words.push(format!("--mysql-socket={}", self.server.socket().display())),
        }
        words.extend(self.options.iter().cloned());
        words.extend(limits.iter().map(|word| word.to_string()));
        words.push(command.to_string());
        program::succeed("sysbench", &words)
    }

    /// Runs `prepare`, `run` for this many events, and `cleanup`, after which no table may be left.
    /// It returns the report of `run`.
    pub fn whole(&self, events: u64) -> String {
        self.server.run("CREATE DATABASE IF NOT EXISTS sbtest");
        self.command("prepare", &[]);
        let events = format!("--events={events}");
        let report = self.command("run", &[&events, "--time=0"]);
        self.command("cleanup", &[]);
        let left = self.server.rows("SHOW TABLES FROM sbtest");
        assert!(left.is_empty(), "cleanup left {left:?}");
        report
    }
}

/// Returns the number after `name` in sysbench's report, for instance after `total number of
/// events:`.
pub fn figure(report: &str, name: &str) -> u64 {
    let line = report.lines().find(|line| line.trim_start().starts_with(name));
    let number = line.and_then(|line| line.split_once(':')?.1.split_whitespace().next()?.parse().ok());
    number.unwrap_or_else(|| panic!("no {name} in sysbench's report:\n{report}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_report() {
        let report =
            "SQL statistics:\n    transactions:      100    (9.9 per sec.)\n    ignored errors:  3 (0.1)\n";
        assert_eq!(figure(report, "transactions"), 100);
        assert_eq!(figure(report, "ignored errors"), 3);
    }
}
