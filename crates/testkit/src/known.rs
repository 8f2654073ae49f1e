//! A server whose rows after each transaction are known, its backups, and what restores of them
//! have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use bench::instance::{Flavor, Settings};
use os::random::Rng;

use crate::server::Server;

/// The rows of the table: v by id.
pub type Rows = BTreeMap<u64, String>;

/// A server whose state after each transaction is known.
pub struct Known {
    /// The server.
    pub source: Server,
    /// The randomness of the changes.
    pub rng: Rng,
    /// The rows after the transaction with each number.
    pub states: BTreeMap<u64, Rows>,
    /// The rows now.
    pub rows: Rows,
    has_column: bool,
}

impl Known {
    /// Starts a server with the empty table `d.t`.
    pub fn start(seed: u64, settings: &Settings) -> Known {
        let source = Server::start(Flavor::Slipstream, settings);
        source.run("CREATE DATABASE d");
        source.run("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(200), KEY v (v))");
        let (states, rows) = (BTreeMap::new(), Rows::new());
        Known { source, rng: Rng::new(seed), states, rows, has_column: false }
    }

    /// Returns the number of the last transaction.
    pub fn last(&self) -> u64 {
        let set = self.source.rows("SELECT @@GLOBAL.gtid_executed").remove(0);
        set.rsplit([':', '-']).next().and_then(|number| number.parse().ok()).expect("a set of one server")
    }

    /// Makes some changes at random.
    pub fn change(&mut self, transactions: u64) {
        for _ in 0..transactions {
            let mut session = self.source.connect();
            match self.rng.below(12) {
                0 => {
                    let word = if self.has_column { "DROP COLUMN w" } else { "ADD COLUMN w INT DEFAULT 7" };
                    session.query(&format!("ALTER TABLE d.t {word}")).expect("altered");
                    self.has_column = !self.has_column;
                }
                1 => drop(session.query("FLUSH BINARY LOGS").expect("flushed")),
                2 => drop(session.query("ALTER TABLE d.t ENGINE=InnoDB").expect("rebuilt")),
                _ => {
                    session.query("BEGIN").expect("begun");
                    for _ in 0..self.rng.between(1, 20) {
                        let (id, number) = (self.rng.below(60), self.rng.below(1_000_000));
                        let sql = if self.rng.below(4) == 0 {
                            self.rows.remove(&id);
                            format!("DELETE FROM d.t WHERE id = {id}")
                        } else {
                            self.rows.insert(id, format!("v{number}"));
                            format!("REPLACE INTO d.t (id, v) VALUES ({id}, 'v{number}')")
                        };
                        session.query(&sql).expect("changed");
                    }
                    session.query("COMMIT").expect("committed");
                }
            }
            let number = self.last();
            self.states.insert(number, self.rows.clone());
        }
    }

    /// Returns the server's address, with the password.
    pub fn address(&self) -> String {
        let options = self.source.connect_options();
        format!("mysql://{}:{}@127.0.0.1:{}/", options.user, options.password, self.source.port())
    }

    /// Makes a backup into a directory. The words are further words of the command line.
    pub fn backup(&self, to: &Path, words: &[&str]) {
        let output = self.try_backup(&to.display().to_string(), words, &[]);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs `slipstream backup` into a place, in an environment with these variables.
    pub fn try_backup(&self, to: &str, words: &[&str], environment: &[(&str, String)]) -> Output {
        self.backup_command(to, words, environment).output().expect("it runs")
    }

    /// Returns the command of a backup into a place, in an environment with these variables.
    pub fn backup_command(&self, to: &str, words: &[&str], environment: &[(&str, String)]) -> Command {
        let mut command = Command::new(crate::binary::slipstream());
        command.args(["backup", &self.address(), "--to", to]).args(words);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns a directory of this test's own.
    pub fn place(&self, name: &str) -> PathBuf {
        self.source.datadir().with_file_name(name)
    }
}

/// Runs `slipstream` to its end.
pub fn slipstream(words: &[String]) -> Output {
    Command::new(crate::binary::slipstream()).args(words).output().expect("it runs")
}

/// Restores a backup, and returns what went wrong, with the server's log, or nothing.
pub fn restore(from: &Path, datadir: &Path, words: &[String]) -> Result<(), String> {
    restore_in(&from.display().to_string(), datadir, words, &[])
}

/// Restores as [`restore`] does, in an environment with these variables.
pub fn restore_in(
    from: &str,
    datadir: &Path,
    words: &[String],
    environment: &[(&str, String)],
) -> Result<(), String> {
    let mut command = Command::new(crate::binary::slipstream());
    command.args(["restore", "--from", from, "--datadir"]).arg(datadir).args(words);
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    let output = command.output().expect("it runs");
    match output.status.success() {
        true => Ok(()),
        false => {
            let log = std::fs::read_to_string(datadir.join("#restore/error.log")).unwrap_or_default();
            Err(format!("{}{log}", String::from_utf8_lossy(&output.stderr)))
        }
    }
}

/// Restores into the server's data directory, starts the server and returns its rows.
pub fn restored(server: &mut Server, from: &Path, words: &[String]) -> Rows {
    restored_in(server, &from.display().to_string(), words, &[])
}

/// Restores as [`restored`] does, in an environment with these variables.
pub fn restored_in(
    server: &mut Server,
    from: &str,
    words: &[String],
    environment: &[(&str, String)],
) -> Rows {
    if server.is_running() {
        server.shut_down();
    }
    std::fs::remove_dir_all(server.datadir()).expect("the old data is removed");
    restore_in(from, &server.datadir(), words, environment)
        .unwrap_or_else(|error| panic!("{words:?}: {error}"));
    server.come_back();
    let checked = server.rows("CHECK TABLE d.t");
    assert!(checked.iter().all(|row| row.ends_with("\tOK")), "{checked:?}");
    rows_of(server)
}

/// Returns the rows of the table.
pub fn rows_of(server: &Server) -> Rows {
    let row = |line: String| {
        let (id, v) = line.split_once('\t').expect("two columns");
        (id.parse().expect("a number"), v.to_owned())
    };
    server.rows("SELECT id, v FROM d.t").into_iter().map(row).collect()
}
