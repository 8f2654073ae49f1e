//! A new replica that `slipstream attach` makes.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use bench::instance::{Flavor, Port};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Client, ClientError, ConnectOptions};
use testkit::Server;
use testkit::server::SOON;

/// A new replica that `slipstream attach` makes and runs. Its directory is removed when this value
/// is dropped.
pub struct Attaching {
    directory: PathBuf,
    address: String,
    /// Further words of the command line.
    words: Vec<String>,
    port: Port,
    process: Option<Child>,
}

impl Attaching {
    pub fn new(source: &Server) -> Attaching {
        let (of_routines, scheme) = match source.flavor() {
            Flavor::MariaDb => ("", "mariadb"),
            _ => (", SHOW_ROUTINE", "mysql"),
        };
        source.run("CREATE USER IF NOT EXISTS repl IDENTIFIED BY 'se''cret\\\\'");
        source.run(&format!(
            "GRANT SELECT, RELOAD, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT, SHOW VIEW, TRIGGER, EVENT{of_routines} \
             ON *.* TO repl"
        ));
        let directory = std::env::temp_dir().join(format!("slipstream-attach-{:016x}", os::random::u64()));
        std::fs::create_dir(&directory).expect("a directory can be made");
        Attaching {
            directory,
            address: format!("{scheme}://repl:se'cret%5C@127.0.0.1:{}/", source.port()),
            words: Vec::new(),
            port: Port::reserve().unwrap_or_else(|error| panic!("{error}")),
            process: None,
        }
    }

    /// Sets further words of the command line.
    pub fn set_words(&mut self, words: &[&str]) {
        self.words = words.iter().map(|word| (*word).to_owned()).collect();
    }

    fn command(&self) -> Command {
        let mut command = Command::new(testkit::binary::slipstream());
        command.arg("attach").arg(&self.address).arg("--datadir").arg(self.directory.join("data"));
        command.stdout(Stdio::null());
        command
    }

    /// Runs only the checks, some of which must fail, and returns what they report.
    pub fn dry_run(&self) -> String {
        let mut command = self.command();
        let done = command.arg("--dry-run").args(&self.words).output().expect("the binary runs");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{told}");
        assert!(!self.directory.join("data").exists(), "a dry run makes nothing");
        told
    }

    /// Compares the replica, which runs, with its source. Returns the exit code and what is told.
    pub fn verify(&self, words: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(testkit::binary::slipstream());
        let replica = format!("mysql://admin:admin@127.0.0.1:{}/", self.port.number());
        command.arg("attach").arg(&self.address).args(["--verify", "--replica", &replica]).args(words);
        let done = command.output().expect("the binary runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    /// Runs a command line that must be refused as such, and returns what is said about it.
    pub fn refused(&self) -> String {
        let done = self.command().args(&self.words).output().expect("the binary runs");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{told}");
        told
    }

    /// Connects with an account that was copied from the source.
    pub fn log_in(&self, user: &str, password: &str) -> Result<Client, ClientError> {
        Client::connect(&ConnectOptions::tcp("127.0.0.1", self.port.number()).user(user, password))
    }

    pub fn start(&mut self) {
        let mut command = self.command();
        command.args(["--workers", "3"]).args(&self.words);
        if !self.words.iter().any(|word| word == "--") {
            command.arg("--");
        }
        command.arg(format!("--port={}", self.port.number()));
        command.arg(format!("--socket={}", self.directory.join("s.sock").display()));
        command.arg(format!("--log-error={}", self.directory.join("error.log").display()));
        #[expect(clippy::disallowed_methods, reason = "a child's standard error has to be a file")]
        let told = std::fs::File::create(self.directory.join("told")).expect("a file can be made");
        self.process = Some(command.stderr(told).spawn().expect("the binary runs"));
    }

    /// Makes the data directory, runs statements in it, and ends that server with a kill, as if an
    /// attachment had come so far.
    pub fn leave_behind(&mut self, statements: &[&str]) {
        let data = format!("--datadir={}", self.directory.join("data").display());
        let serve = |word: String| {
            let mut command = Command::new(testkit::binary::slipstream());
            command.arg("serve").args([&data, &word]).arg(format!("--port={}", self.port.number()));
            command.arg(format!("--log-error={}", self.directory.join("error.log").display()));
            command
        };
        let made = serve("--initialize-insecure".into()).status().expect("the binary runs");
        assert!(made.success(), "a data directory can be made: {}", self.log());
        let socket = format!("--socket={}", self.directory.join("s.sock").display());
        self.process = Some(serve(socket).spawn().expect("the binary runs"));
        let waited = Stopwatch::start();
        let mut session = loop {
            if let Some(session) = self.connect() {
                break session;
            }
            assert!(waited.elapsed() < SOON, "it does not start: {}", self.log());
            sleep(Duration::from_millis(20));
        };
        for sql in statements {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        self.kill();
    }

    /// Waits until the program has told something, and returns all that it has told.
    pub fn wait_until_told(&self, what: &str) -> String {
        let waited = Stopwatch::start();
        loop {
            let told = self.told();
            if told.contains(what) {
                return told;
            }
            assert!(waited.elapsed() < SOON, "{what} is not told: {told}");
            sleep(Duration::from_millis(20));
        }
    }

    /// Returns what the program has told since it was started.
    pub fn told(&self) -> String {
        let told = os::disk::real().read(&self.directory.join("told")).expect("it can be read");
        String::from_utf8_lossy(&told).into_owned()
    }

    pub fn kill(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.kill().expect("it can be killed");
        process.wait().expect("it ends");
    }

    fn connect(&self) -> Option<Client> {
        Client::connect(&ConnectOptions::unix(self.directory.join("s.sock"))).ok()
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&os::disk::real().read(&self.directory.join("error.log")).unwrap_or_default())
            .into_owned()
    }

    /// Waits until the copy is complete, and returns a client of the new replica.
    pub fn wait(&mut self) -> Client {
        self.copied_or_ended()
            .unwrap_or_else(|status| panic!("slipstream attach ended, {status}: {}", self.log()))
    }

    /// Waits until the copy is complete, and returns a client of the new replica. If the program
    /// ends before, its exit status is returned, and it can be started again.
    pub fn copied_or_ended(&mut self) -> Result<Client, ExitStatus> {
        let waited = Stopwatch::start();
        loop {
            if let Some(mut client) = self.connect() {
                let mode =
                    client.query("SELECT @@GLOBAL.replica_exec_mode").ok().and_then(|mode| mode.cell(0, 0));
                if mode.as_deref() == Some("STRICT") {
                    return Ok(client);
                }
            }
            if let Some(status) = self.ended() {
                return Err(status);
            }
            assert!(
                waited.elapsed() < 3 * SOON,
                "the copy does not end: {}\nit told: {}",
                self.log(),
                self.told()
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// Returns the exit status of the program if it has ended. Then it can be started again.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let process = self.process.as_mut().expect("it runs");
        let status = process.try_wait().expect("it is our process")?;
        self.process = None;
        Some(status)
    }
}

impl Drop for Attaching {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.kill();
        }
        // The directory is below the one for temporary files, so that it may stay if this fails.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Returns the cells of a query's result as text.
pub fn shown(client: &mut Client, sql: &str) -> Vec<Vec<String>> {
    let cell = |cell: Option<Vec<u8>>| {
        cell.map_or("NULL".into(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    };
    let rows = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
    rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect()
}

/// Waits until the new replica has everything that the source has now.
pub fn catch_up(source: &Server, client: &mut Client) {
    if source.flavor() == Flavor::MySql && source.rows("SELECT @@GLOBAL.gtid_mode")[0] == "OFF" {
        return catch_up_by_position(source, client);
    }
    let is_mariadb = source.flavor() == Flavor::MariaDb;
    let position =
        if is_mariadb { "SELECT @@GLOBAL.gtid_binlog_pos" } else { "SELECT @@GLOBAL.gtid_executed" };
    let executed = source.rows(position)[0].clone();
    let reached = format!("SELECT GTID_SUBSET('{executed}', @@GLOBAL.gtid_executed)");
    let waited = Stopwatch::start();
    loop {
        let status = client.query("SHOW REPLICA STATUS").expect("it answers");
        let is_there = match is_mariadb {
            true => status.text(0, "Gtid_Slave_Pos").as_ref() == Some(&executed),
            false => client.query(&reached).expect("it answers").cell(0, 0).as_deref() == Some("1"),
        };
        if is_there {
            return;
        }
        let error = status.text(0, "Last_SQL_Error");
        assert!(waited.elapsed() < SOON, "the replica does not catch up: {error:?}");
        sleep(Duration::from_millis(20));
    }
}

/// Waits like [`catch_up`], by file and position.
fn catch_up_by_position(source: &Server, client: &mut Client) {
    let end = source.run("SHOW BINARY LOG STATUS");
    let (file, position) = (end.text(0, "File").unwrap_or_default(), end.text(0, "Position"));
    let position: u64 = position.and_then(|text| text.parse().ok()).expect("the log has an end");
    let waited = Stopwatch::start();
    loop {
        let status = client.query("SHOW REPLICA STATUS").expect("it answers");
        let applied = status.text(0, "Exec_Source_Log_Pos").and_then(|text| text.parse().ok()).unwrap_or(0);
        if status.text(0, "Relay_Source_Log_File").unwrap_or_default() == file && applied >= position {
            return;
        }
        let error = status.text(0, "Last_SQL_Error");
        assert!(waited.elapsed() < SOON, "the replica does not catch up: {error:?}");
        sleep(Duration::from_millis(20));
    }
}
