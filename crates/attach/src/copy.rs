//! The course of an attachment: definitions and a position, rounds of copying and applying, and the
//! end.

use std::time::Duration;

use bench::progress::{Progress, grouped};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Address, ConnectOptions};

use crate::accounts::Accounts;
use crate::choice::Choice;
use crate::chunk::Reader;
use crate::command_line::Plan;
use crate::definitions::{OWN_SCHEMAS, Table};
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::moment::Moment;
use crate::objects::Objects;
use crate::source::{Source, literal, literal_text};
use crate::state::{self, TableState};

/// The time for which chunks are copied before the log is applied again.
const ROUND: Duration = Duration::from_secs(3);
/// The longest time for which the definitions of tables are held before their rows are read.
const HELD: Duration = Duration::from_secs(2);
/// The number of tables that are held for one worker.
const HELD_TABLES: usize = 32;
/// The interval at which a condition is checked that is waited for.
const POLL: Duration = Duration::from_millis(20);
/// The number of times that definitions are read while they keep changing.
const READINGS: usize = 20;

/// The sessions of an attachment, and its messages.
struct Attachment<'a> {
    plan: &'a Plan,
    choice: &'a dyn Choice,
    at: &'a ConnectOptions,
    source: Source,
    local: Local,
    progress: Progress,
}

/// Copies the source into the server at `local`, which runs in `replica_exec_mode=CONVERGE` with
/// its replica threads stopped, and makes it follow the source. `choice` is what the filters of
/// that server let pass. An interrupted attachment is continued.
///
/// # Errors
/// Returns an error when the source or this server refuses a statement, when replication stops, or
/// when the source cannot be copied.
pub fn attach(plan: &Plan, choice: &dyn Choice, local: &ConnectOptions) -> Result<()> {
    let mut attachment = Attachment {
        plan,
        choice,
        at: local,
        source: Source::connect(&plan.source)?,
        local: Local::connect(local)?,
        progress: Progress::new(),
    };
    if !state::exists(&mut attachment.local)? {
        if attachment.follows_already()? {
            return attachment.go_on();
        }
        attachment.check_empty()?;
        attachment.begin()?;
    } else if state::get(&mut attachment.local, "is_begun")?.is_empty() {
        // The attachment was interrupted before anything was copied.
        state::drop(&mut attachment.local)?;
        attachment.begin()?;
    }
    attachment.check_source()?;
    // Rows come as files of a client, and only this client sends any while the copy lasts.
    let local_infile = attachment.local.one("SELECT @@GLOBAL.local_infile")?;
    attachment.local.query("SET GLOBAL local_infile = 1")?;
    attachment.copy()?;
    attachment.local.query(&format!("SET GLOBAL local_infile = {local_infile}"))?;
    attachment.end()
}

impl Attachment<'_> {
    /// Reports whether this server follows the source already, because an attachment has come to
    /// its end.
    fn follows_already(&mut self) -> Result<bool> {
        let shown = self.local.query("SHOW REPLICA STATUS")?;
        let (host, port) = (shown.text(0, "Source_Host"), shown.text(0, "Source_Port"));
        Ok(match &self.plan.source.address {
            Address::Tcp { host: wanted, port: at } => {
                host.as_ref() == Some(wanted) && port == Some(at.to_string())
            }
            Address::Unix(_) => false,
        })
    }

    /// Starts replication as on any other replica, for a MariaDB source by its GTIDs.
    fn go_on(&mut self) -> Result<()> {
        let status = self.local.query("SHOW REPLICA STATUS")?;
        if self.source.is_mariadb() && status.text(0, "Using_Gtid").as_deref() != Some("Slave_Pos") {
            self.local.query("STOP REPLICA")?;
            self.local.query("CHANGE MASTER TO MASTER_USE_GTID = slave_pos")?;
        }
        // The applier may still apply the present transaction in the previous mode, which is as
        // good.
        self.local.query("SET GLOBAL replica_exec_mode = STRICT")?;
        self.local.query("START REPLICA").map(|_| ())
    }

    /// Checks that there is nothing here that an attachment has not made. An attachment that was
    /// interrupted in its first moment leaves an empty schema.
    fn check_empty(&mut self) -> Result<()> {
        let list = format!(
            "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN {OWN_SCHEMAS} \
             AND SCHEMA_NAME <> '{}'",
            state::SCHEMA
        );
        match self.local.one(&list)?.as_str() {
            "0" => Ok(()),
            _ => Err(AttachError::Unfit("the data directory has schemas already, and is left alone".into())),
        }
    }

    /// Makes everything except the rows, and sets replication to the moment at which it was found.
    fn begin(&mut self) -> Result<()> {
        state::create(&mut self.local)?;
        self.progress.step("definitions");
        let mut objects = Objects::read(&mut self.source, self.choice)?;
        for _ in 0..READINGS {
            let position = Moment::now(&mut self.source)?;
            let again = Objects::read(&mut self.source, self.choice)?;
            if again.is_same(&objects) {
                let dialect = if self.source.is_mariadb() { "MARIADB" } else { "MYSQL" };
                self.local.query(&format!("SET slipstream_dialect = '{dialect}'"))?;
                for refused in objects.make(&mut self.local, self.choice.is_partial())? {
                    eprintln!("note: {refused}");
                }
                self.local.query("SET slipstream_dialect = DEFAULT")?;
                self.follow(&position)?;
                let source = self.source.identity()?;
                state::set(&mut self.local, "source", &source)?;
                state::set(&mut self.local, "choice", &self.choice.text())?;
                state::set(&mut self.local, "is_begun", "1")?;
                self.progress.done(format!("{} tables", objects.tables().count()));
                return Ok(());
            }
            objects = again;
        }
        Err(AttachError::Unfit("the source's definitions change too often to be read".into()))
    }

    /// Sets the receiver to begin behind the transactions that the definitions and all rows to come
    /// contain.
    fn follow(&mut self, position: &Moment) -> Result<()> {
        let Address::Tcp { host, port } = &self.plan.source.address else {
            return Err(AttachError::Unfit("a source is reached by TCP".into()));
        };
        self.local.query("RESET BINARY LOGS AND GTIDS")?;
        let from = match position {
            Moment::Gtids(gtids) => {
                self.local.query(&format!("SET GLOBAL gtid_purged = {}", literal(gtids)))?;
                "SOURCE_AUTO_POSITION = 1"
            }
            Moment::Place(place) => {
                let file = literal_text(&place.file);
                let gtids = format!("SELECT BINLOG_GTID_POS({file}, {})", place.position);
                let gtids = self.source.one(&gtids)?;
                self.local.query(&format!("SET GLOBAL gtid_slave_pos = {}", literal(&gtids)))?;
                // By GTIDs, the replica would not report that it stands at a position behind which
                // nothing comes.
                &format!("SOURCE_LOG_FILE = {file}, SOURCE_LOG_POS = {}", place.position)
            }
        };
        let (user, password) =
            (literal_text(&self.plan.source.user), literal_text(&self.plan.source.password));
        let host = literal_text(host);
        let encryption = self.plan.encryption.of_channel(self.source.is_encrypted());
        let sql = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = {host}, SOURCE_PORT = {port}, SOURCE_USER = {user}, \
             SOURCE_PASSWORD = {password}, GET_SOURCE_PUBLIC_KEY = 1{encryption}, {from}"
        );
        // The error does not show the statement, because that has the password.
        self.local.query(&sql).map(|_| ()).map_err(|error| match error {
            AttachError::Local(_, error) => AttachError::Local("CHANGE REPLICATION SOURCE".into(), error),
            error => error,
        })
    }

    /// Checks that an attachment goes on at the source where it began, with the same filters.
    fn check_source(&mut self) -> Result<()> {
        let (known, now) = (state::get(&mut self.local, "source")?, self.source.identity()?);
        if known != now {
            let what = format!("this attachment was begun at the server {known}, and the source is {now}");
            return Err(AttachError::Unfit(what));
        }
        let (known, now) = (state::get(&mut self.local, "choice")?, self.choice.text());
        if known != now {
            let what = format!("this attachment was begun with the filters '{known}', and they are '{now}'");
            return Err(AttachError::Unfit(what));
        }
        Ok(())
    }

    /// Copies in rounds until every table of the source is here.
    fn copy(&mut self) -> Result<()> {
        self.local.query("START REPLICA IO_THREAD")?;
        self.progress.step("rows");
        let copied = Stopwatch::start();
        loop {
            let tables = Table::all(&mut self.source, self.choice)?;
            let target = Moment::now(&mut self.source)?;
            self.apply(&target, None)?;
            let left = self.left(&tables)?;
            if left.is_empty() {
                break;
            }
            self.round(left)?;
            self.tell(tables.len(), &copied)?;
        }
        let states = state::tables(&mut self.local)?;
        let rows = states.values().map(|table| table.rows).sum();
        self.progress.done(format!("{} tables, {} rows", states.len(), grouped(rows)));
        Ok(())
    }

    fn tell(&mut self, tables: usize, copied: &Stopwatch) -> Result<()> {
        let states = state::tables(&mut self.local)?;
        let (rows, bytes) =
            states.values().fold((0, 0), |sum, table| (sum.0 + table.rows, sum.1 + table.bytes));
        let done = states.values().filter(|table| table.is_done).count();
        self.progress.tell(|| {
            let rate = bytes as f64 / f64::from(1 << 20) / copied.elapsed().as_secs_f64().max(0.001);
            let (rows, bytes) = (grouped(rows), grouped(bytes >> 20));
            format!("{done} of {tables} tables, {rows} rows, {bytes} MB, {rate:.1} MB/s")
        });
        Ok(())
    }

    /// Returns the tables of the source that are not completely here. A table that is not here
    /// under its name has been dropped or renamed since it was listed.
    fn left(&mut self, tables: &[Table]) -> Result<Vec<Table>> {
        let (here, states) = (self.local.table_ids()?, state::tables(&mut self.local)?);
        let is_here = |table: &&Table| {
            let id = here.get(&table.path());
            id.and_then(|id| states.get(id)).is_some_and(|state| state.is_done)
        };
        Ok(tables.iter().filter(|table| !is_here(table)).cloned().collect())
    }

    /// Waits until a SELECT at the source sees everything that has been applied here, because the
    /// log is sent before its transactions are visible.
    fn wait_until_visible(&mut self) -> Result<()> {
        let applied = Moment::applied(&mut self.local, self.source.is_mariadb())?;
        while !applied.is_visible(&mut self.source)? {
            sleep(POLL);
        }
        Ok(())
    }

    /// Copies chunks for a while, from several tables at the same time.
    ///
    /// A table at the source and the table of the same name here are the same only as long as no
    /// table is renamed. So the definitions are held at the source, the log is applied up to a
    /// moment after that, and then the tables are looked up here. The definitions are held only as
    /// long as the round takes.
    fn round(&mut self, left: Vec<Table>) -> Result<()> {
        let mut holders = Vec::new();
        let mut left = left.into_iter().peekable();
        while holders.len() < self.plan.workers && left.peek().is_some() {
            let mut source = Source::connect(&self.plan.source)?;
            source.query("START TRANSACTION READ ONLY")?;
            let mut held = Vec::new();
            for table in left.by_ref().take(HELD_TABLES) {
                if table.hold(&mut source)? {
                    held.push(table);
                }
            }
            holders.push((source, held));
        }
        let target = Moment::now(&mut self.source)?;
        if !self.apply(&target, Some(HELD))? {
            // The definitions are let go, so that the source does not wait for a replica that is
            // behind.
            return Ok(());
        }
        self.wait_until_visible()?;
        let (here, mut states) = (self.local.table_ids()?, state::tables(&mut self.local)?);
        let started = Stopwatch::start();
        let mut jobs = Vec::new();
        for (mut source, held) in holders {
            let mut work = Vec::new();
            for table in held {
                let Some(id) = here.get(&table.path()) else { continue };
                let state = states.remove(id).unwrap_or_else(|| TableState::new(id));
                if !state.is_done {
                    work.push((table, state));
                }
            }
            let (at, started) = (self.at, &started);
            jobs.push(move || {
                let copied = copy_tables(&mut source, at, work, started);
                source.query("COMMIT").and(copied)
            });
        }
        os::thread::run_all("attach copier", jobs).into_iter().collect()
    }

    /// Applies the log up to a moment, and stops the applier there. Returns false when that took
    /// longer than `within`.
    fn apply(&mut self, target: &Moment, within: Option<Duration>) -> Result<bool> {
        self.local.query("START REPLICA SQL_THREAD")?;
        let waited = Stopwatch::start();
        let mut is_reached = false;
        while !is_reached && within.is_none_or(|within| waited.elapsed() < within) {
            is_reached = target.is_applied(&mut self.local)?;
            if !is_reached {
                self.check_replication()?;
                sleep(POLL);
            }
        }
        self.local.query("STOP REPLICA SQL_THREAD").map(|_| is_reached)
    }

    fn check_replication(&mut self) -> Result<()> {
        let status = self.local.replica_status()?;
        match status.error {
            Some(why) if !status.is_applying || !status.is_receiving => Err(AttachError::Stopped(why)),
            _ => Ok(()),
        }
    }

    /// Applies the log up to the end that it had when the last row had been read, and then goes on
    /// as any replica.
    fn end(&mut self) -> Result<()> {
        self.progress.step("the log");
        let end = self.source.log_end()?;
        self.local.query("START REPLICA SQL_THREAD")?;
        while !self.local.replica_status()?.applied.is_at_or_behind(&end) {
            self.check_replication()?;
            sleep(POLL);
        }
        state::drop(&mut self.local)?;
        self.go_on()?;
        self.progress.done("caught up");
        if self.choice.is_partial() {
            eprintln!("note: filters last as long as a server runs; start the next one with them too");
        }
        if !self.choice.takes_accounts() {
            eprintln!(
                "note: the filters leave accounts out, which are in mysql.*; root@localhost has no password here"
            );
            return Ok(());
        }
        if !Accounts::read(&mut self.source)?.take_over_root(&mut self.local)? {
            eprintln!("note: root@localhost has no password here, as the source has none for it");
        }
        Ok(())
    }
}

/// Copies chunks of one table after the other until no table is left, or the round is over.
fn copy_tables(
    source: &mut Source,
    at: &ConnectOptions,
    tables: Vec<(Table, TableState)>,
    started: &Stopwatch,
) -> Result<()> {
    let mut local = Local::connect(at)?;
    for (table, mut state) in tables {
        let mut reader = Reader::new(source, table)?;
        while !state.is_done {
            if started.elapsed() >= ROUND {
                return Ok(());
            }
            reader.copy(source, &mut local, &mut state)?;
        }
    }
    Ok(())
}
