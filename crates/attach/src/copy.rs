//! The way of an attachment: definitions and a position, rounds of copying and applying, the end.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use bench::progress::{Progress, grouped};
use os::clock::{Stopwatch, sleep};
use protocol::client::{Address, ConnectOptions};

use crate::accounts::Accounts;
use crate::chunk::{Chunk, Reader};
use crate::command_line::Plan;
use crate::definitions::{OWN_SCHEMAS, Table};
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::objects::Objects;
use crate::source::{Source, literal};
use crate::state::{self, TableState};

/// So long chunks are copied before the log is applied again.
const ROUND: Duration = Duration::from_secs(3);
/// How often something that is waited for is looked at.
const POLL: Duration = Duration::from_millis(20);
/// A definition that changes all the time is read so often.
const READINGS: usize = 20;

/// The sessions of an attachment, and what it tells.
struct Attachment<'a> {
    plan: &'a Plan,
    at: &'a ConnectOptions,
    source: Source,
    local: Local,
    progress: Progress,
}

/// Copies the source into the server at `local`, which runs in `replica_exec_mode=CONVERGE` and
/// with its replica threads stopped, and has it follow the source. What an interrupted attachment
/// has left there is gone on with.
///
/// # Errors
/// What the source, our server or replication has against it.
pub fn attach(plan: &Plan, local: &ConnectOptions) -> Result<()> {
    let mut attachment = Attachment {
        plan,
        at: local,
        source: Source::connect(&plan.source)?,
        local: Local::connect(local)?,
        progress: Progress::new(),
    };
    if !state::exists(&mut attachment.local)? {
        attachment.check_empty()?;
        attachment.begin()?;
    } else if state::get(&mut attachment.local, "is_begun")?.is_empty() {
        // It was interrupted before anything was copied.
        state::drop(&mut attachment.local)?;
        attachment.begin()?;
    }
    attachment.check_source()?;
    // Rows come as files of a client: ours alone, as long as the copy takes.
    let local_infile = attachment.local.one("SELECT @@GLOBAL.local_infile")?;
    attachment.local.query("SET GLOBAL local_infile = 1")?;
    attachment.copy()?;
    attachment.local.query(&format!("SET GLOBAL local_infile = {local_infile}"))?;
    attachment.end()
}

impl Attachment<'_> {
    /// What is here and was not put here by an attachment is not touched.
    fn check_empty(&mut self) -> Result<()> {
        let list = format!(
            "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN {OWN_SCHEMAS}"
        );
        match self.local.one(&list)?.as_str() {
            "0" => Ok(()),
            _ => Err(AttachError::Unfit("the data directory has schemas already, and is left alone".into())),
        }
    }

    /// Makes everything but the rows, and points replication at the moment that it was found at.
    fn begin(&mut self) -> Result<()> {
        state::create(&mut self.local)?;
        self.progress.step("definitions");
        let mut objects = Objects::read(&mut self.source)?;
        for _ in 0..READINGS {
            let position = self.source.executed()?;
            let again = Objects::read(&mut self.source)?;
            if again.is_same(&objects) {
                for refused in objects.make(&mut self.local)? {
                    eprintln!("note: {refused}");
                }
                self.follow(&position)?;
                for table in objects.tables() {
                    let state = TableState::new(&table.schema, &table.name, table.identity());
                    state.store(&mut self.local)?;
                }
                let source = self.source.one("SELECT @@GLOBAL.server_uuid")?;
                state::set(&mut self.local, "source_uuid", &source)?;
                state::set(&mut self.local, "is_begun", "1")?;
                self.progress.done(format!("{} tables", objects.tables().count()));
                return Ok(());
            }
            objects = again;
        }
        Err(AttachError::Unfit("the source's definitions change too often to be read".into()))
    }

    /// Has the receiver begin behind what the definitions and all rows to come have already.
    fn follow(&mut self, position: &str) -> Result<()> {
        let Address::Tcp { host, port } = &self.plan.source.address else {
            return Err(AttachError::Unfit("a source is reached by TCP".into()));
        };
        self.local.query("RESET BINARY LOGS AND GTIDS")?;
        self.local.query(&format!("SET GLOBAL gtid_purged = {}", literal(position)))?;
        let (user, password) =
            (literal_text(&self.plan.source.user), literal_text(&self.plan.source.password));
        let host = literal_text(host);
        let sql = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = {host}, SOURCE_PORT = {port}, SOURCE_USER = {user}, \
             SOURCE_PASSWORD = {password}, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_AUTO_POSITION = 1"
        );
        // The statement is not told in an error: it has the password.
        self.local.query(&sql).map(|_| ()).map_err(|error| match error {
            AttachError::Local(_, error) => AttachError::Local("CHANGE REPLICATION SOURCE".into(), error),
            error => error,
        })
    }

    /// An attachment goes on at the source that it was begun at.
    fn check_source(&mut self) -> Result<()> {
        let (known, now) =
            (state::get(&mut self.local, "source_uuid")?, self.source.one("SELECT @@GLOBAL.server_uuid")?);
        if known == now {
            return Ok(());
        }
        Err(AttachError::Unfit(format!(
            "this attachment was begun at the server {known}, and the source is {now}"
        )))
    }

    /// Copies in rounds until every table that the source has is here.
    fn copy(&mut self) -> Result<()> {
        self.local.query("START REPLICA IO_THREAD")?;
        self.progress.step("rows");
        let copied = Stopwatch::start();
        loop {
            let is_left = self.refresh()?;
            // Our definitions are at least those that the source has just shown.
            let target = self.source.executed()?;
            self.apply(&target)?;
            if !is_left {
                break;
            }
            self.wait_until_visible()?;
            self.round()?;
            let tables = state::tables(&mut self.local)?;
            let (rows, bytes) =
                tables.iter().fold((0, 0), |sum, table| (sum.0 + table.rows, sum.1 + table.bytes));
            let done = tables.iter().filter(|table| table.is_done).count();
            let of = tables.len();
            self.progress.tell(|| {
                let seconds = copied.elapsed().as_secs_f64().max(0.001);
                format!(
                    "{done} of {of} tables, {} rows, {} MB, {:.1} MB/s",
                    grouped(rows),
                    grouped(bytes >> 20),
                    bytes as f64 / f64::from(1 << 20) / seconds
                )
            });
        }
        let tables = state::tables(&mut self.local)?;
        let rows = tables.iter().map(|table| table.rows).sum();
        self.progress.done(format!("{} tables, {} rows", tables.len(), grouped(rows)));
        Ok(())
    }

    /// Compares the tables of the source with those that are known; whether some are to be copied.
    /// A table that is another one, or defined otherwise, than the one that was copied is copied
    /// from its beginning: rows that are here already take their own place.
    fn refresh(&mut self) -> Result<bool> {
        let mut known: BTreeMap<(String, String), TableState> = BTreeMap::new();
        for state in state::tables(&mut self.local)? {
            known.insert((state.schema.clone(), state.name.clone()), state);
        }
        let mut is_left = false;
        for table in Table::all(&mut self.source)? {
            let before = known.remove(&(table.schema.clone(), table.name.clone()));
            match before.filter(|before| before.identity == table.identity()) {
                Some(before) => is_left |= !before.is_done,
                None => {
                    TableState::new(&table.schema, &table.name, table.identity()).store(&mut self.local)?;
                    is_left = true;
                }
            }
        }
        known.into_values().try_for_each(|gone| gone.forget(&mut self.local))?;
        Ok(is_left)
    }

    /// Waits until a SELECT at the source sees everything that has been applied here: the log is
    /// sent before its transactions are visible.
    fn wait_until_visible(&mut self) -> Result<()> {
        let applied = self.local.executed()?;
        let sql = format!("SELECT GTID_SUBSET({}, @@GLOBAL.gtid_executed)", literal(&applied));
        while self.source.one(&sql)? != "1" {
            sleep(POLL);
        }
        Ok(())
    }

    /// Copies chunks for a while, several tables at once.
    fn round(&mut self) -> Result<()> {
        let tables = state::tables(&mut self.local)?.into_iter().rev();
        let left: Vec<TableState> = tables.filter(|table| !table.is_done).collect();
        let workers = self.plan.workers.min(left.len());
        let (left, started) = (Mutex::new(left), Stopwatch::start());
        let job = || work(self.plan, self.at, &left, &started);
        os::thread::run_all("attach copier", vec![job; workers]).into_iter().collect()
    }

    /// Applies the log up to these GTIDs, and stops the applier there.
    fn apply(&mut self, target: &str) -> Result<()> {
        self.local.query("START REPLICA SQL_THREAD")?;
        let reached = format!("SELECT GTID_SUBSET({}, @@GLOBAL.gtid_executed)", literal(target));
        while self.local.one(&reached)? != "1" {
            self.check_replication()?;
            sleep(POLL);
        }
        self.local.query("STOP REPLICA SQL_THREAD").map(|_| ())
    }

    fn check_replication(&mut self) -> Result<()> {
        let status = self.local.replica_status()?;
        match status.error {
            Some(why) if !status.is_applying || !status.is_receiving => Err(AttachError::Stopped(why)),
            _ => Ok(()),
        }
    }

    /// Applies the log up to where it ended when the last row had been read, and goes on as any
    /// replica.
    fn end(&mut self) -> Result<()> {
        self.progress.step("the log");
        let end = self.source.log_end()?;
        self.local.query("START REPLICA SQL_THREAD")?;
        while !self.local.replica_status()?.has_passed(&end) {
            self.check_replication()?;
            sleep(POLL);
        }
        // The transaction at hand may still be applied in the mode of before, which is as good.
        self.local.query("SET GLOBAL replica_exec_mode = STRICT")?;
        state::drop(&mut self.local)?;
        self.progress.done("caught up");
        if !Accounts::read(&mut self.source)?.take_over_root(&mut self.local)? {
            eprintln!("note: root@localhost has no password here, as the source has none for it");
        }
        Ok(())
    }
}

/// Copies chunks of one table after the other until there is none left, or the round is over.
fn work(plan: &Plan, at: &ConnectOptions, left: &Mutex<Vec<TableState>>, started: &Stopwatch) -> Result<()> {
    let (mut source, mut local) = (Source::connect(&plan.source)?, Local::connect(at)?);
    loop {
        let next = left.lock().expect("no holder panics").pop();
        let Some(mut state) = next else { return Ok(()) };
        // A table that is another one by now is looked at again once the log has been applied.
        let table = Table::now(&mut source, &state.schema, &state.name)?;
        let Some(table) = table.filter(|table| table.identity() == state.identity) else { continue };
        let mut reader = Reader::new(&mut source, table)?;
        while let Chunk::Some = reader.copy(&mut source, &mut local, &mut state)? {
            if started.elapsed() >= ROUND {
                return Ok(());
            }
        }
        if started.elapsed() >= ROUND {
            return Ok(());
        }
    }
}

/// A text between quotes, for statements that take no introducer.
fn literal_text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
