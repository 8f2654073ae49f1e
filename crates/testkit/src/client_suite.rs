//! The test suites of clients: what comes of each of their tests at a server.
//! `crates/testkit/clients` says how they are run, `scripts/peers.sh` installs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bench::instance::{USER, peers_dir};

use crate::server::Server;

/// What came of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has found what it wants.
    Passed,
    /// It has not.
    Failed,
    /// It was not run: the suite says that it is not about this server.
    Skipped,
}

/// The outcomes of a suite's tests, by their names.
pub type Outcomes = BTreeMap<String, Outcome>;

/// A client's test suite.
pub struct ClientSuite {
    /// Its name, as tests and messages call it.
    pub name: &'static str,
    program: PathBuf,
    /// Words before those that say where the server is.
    words: Vec<String>,
    /// Words after them: which parts are run.
    parts: Vec<String>,
    /// The databases that it wants to find, empty.
    databases: &'static [&'static str],
}

fn installed(place: &str) -> PathBuf {
    peers_dir().join("clients").join(place)
}

impl ClientSuite {
    /// One of Python; of its tests those parts are run that are named, or all where none is.
    pub fn of_python(name: &'static str, databases: &'static [&'static str], parts: &[&str]) -> ClientSuite {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/suites.py");
        let sources = installed("python/sources");
        let words = [script.as_path(), Path::new(name), sources.as_path()];
        ClientSuite {
            name,
            program: installed("python/bin/python"),
            words: words.iter().map(|word| word.display().to_string()).collect(),
            parts: parts.iter().map(|part| (*part).to_string()).collect(),
            databases,
        }
    }

    /// The tests of go-sql-driver, but for one that wants to connect to a server elsewhere.
    pub fn of_go() -> ClientSuite {
        let words = ["-test.v", "-test.skip=^TestConnectorReturnsTimeout$"];
        ClientSuite {
            name: "go-sql-driver",
            program: installed("go"),
            words: words.map(str::to_string).to_vec(),
            parts: Vec::new(),
            databases: &["suite"],
        }
    }

    /// Whether it can be run here. If not, the calling test is told as skipped, and should return.
    #[must_use]
    pub fn is_available(&self, test: &str) -> bool {
        crate::reader_available(&format!("{test}: {}", self.name), &self.program)
    }

    /// Runs it at a server.
    pub fn run(&self, server: &Server) -> Outcomes {
        for database in self.databases {
            server.run(&format!("CREATE DATABASE {database} CHARACTER SET utf8mb4"));
        }
        let port = server.port().to_string();
        let mut command = Command::new(&self.program);
        // What stands beside the programs says when they are installed again.
        command.args(&self.words).env("PYTHONDONTWRITEBYTECODE", "1");
        match self.name {
            "go-sql-driver" => command
                .env("MYSQL_TEST_ADDR", format!("127.0.0.1:{port}"))
                .env("MYSQL_TEST_PROT", "tcp")
                .env("MYSQL_TEST_USER", USER)
                .env("MYSQL_TEST_PASS", USER)
                .env("MYSQL_TEST_DBNAME", "suite"),
            _ => command.args([&port, USER, USER]).args(&self.parts),
        };
        let output = command
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        let told = String::from_utf8_lossy(&output.stdout);
        let outcomes: Outcomes = told.lines().filter_map(outcome).collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        let end: String = told.lines().chain(errors.lines()).rev().take(40).collect::<Vec<_>>().join("\n");
        assert!(!outcomes.is_empty(), "{} at {} has told of no test:\n{end}", self.name, server.flavor());
        outcomes
    }
}

/// What a line says of a test, as Go's tests write it: `--- PASS: name (0.1s)`.
fn outcome(line: &str) -> Option<(String, Outcome)> {
    let (word, name) = line.trim_start().strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    let name = match name.rsplit_once(" (") {
        Some((name, time)) if time.ends_with("s)") => name,
        _ => name,
    };
    Some((name.to_string(), outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_gos_tests_write_them() {
        let told = |line: &str| outcome(line).map(|(name, outcome)| format!("{name}: {outcome:?}"));
        assert_eq!(told("    --- PASS: TestA/b_c (0.25s)").as_deref(), Some("TestA/b_c: Passed"));
        assert_eq!(told("--- FAIL: a.b::c[x (1)]").as_deref(), Some("a.b::c[x (1)]: Failed"));
        assert_eq!(told("--- SKIP: a").as_deref(), Some("a: Skipped"));
        assert_eq!(told("=== RUN   TestA"), None);
    }
}
