//! The course of an attachment: definitions and a position, rounds of copying and applying, and the
//! end.

use std::collections::BTreeMap;

use bench::progress::Progress;
use os::clock::sleep;
use protocol::client::{Address, ConnectOptions};

use crate::accounts::Accounts;
use crate::applying::{POLL, check_replication};
use crate::choice::Choice;
use crate::command_line::Plan;
use crate::definitions::{Listing, OWN_SCHEMAS};
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::moment::Moment;
use crate::objects::Objects;
use crate::rounds::Rounds;
use crate::source::{Source, literal, literal_text, quoted, texts};
use crate::state;
use crate::verify::verify;

/// The number of times that definitions are read while they keep changing.
const READINGS: usize = 20;
/// The time for which a MySQL server without GTIDs may take to get to a standstill, in seconds.
const VISIBLE_WITHIN: u32 = 10;

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
            attachment.go_on()?;
            attachment.verify();
            return Ok(());
        }
        attachment.check_empty()?;
        attachment.begin()?;
    } else if state::get(&mut attachment.local, "is_begun")?.is_empty() {
        attachment.remove_what_was_begun()?;
        attachment.begin()?;
    }
    attachment.check_source()?;
    // Rows come as files of a client, and only this client sends any while the copy lasts.
    let local_infile = attachment.local.one("SELECT @@GLOBAL.local_infile")?;
    attachment.local.query("SET GLOBAL local_infile = 1")?;
    attachment.rounds().run()?;
    attachment.local.query(&format!("SET GLOBAL local_infile = {local_infile}"))?;
    attachment.end()?;
    attachment.verify();
    Ok(())
}

/// Returns the end of a query for the schemas here that are neither the server's own nor the one
/// with the attachment's progress.
fn from_made_schemas() -> String {
    format!(
        "FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN {OWN_SCHEMAS} AND SCHEMA_NAME <> '{}'",
        state::SCHEMA
    )
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
        match self.local.one(&format!("SELECT COUNT(*) {}", from_made_schemas()))?.as_str() {
            "0" => Ok(()),
            _ => Err(AttachError::Unfit("the data directory has schemas already, and is left alone".into())),
        }
    }

    /// Drops the schemas of an attachment that was interrupted before any row was copied. The
    /// source may have dropped some of them since then. The progress stays, because without it
    /// nothing would tell that an attachment has made these schemas.
    fn remove_what_was_begun(&mut self) -> Result<()> {
        let made = self.local.query(&format!("SELECT SCHEMA_NAME {}", from_made_schemas()))?;
        for row in texts(&made) {
            self.local.query(&format!("DROP DATABASE {}", quoted(&row[0])))?;
        }
        Ok(())
    }

    /// Makes everything except the rows, and sets replication to the moment at which it was found.
    fn begin(&mut self) -> Result<()> {
        state::create(&mut self.local)?;
        self.progress.step("definitions");
        let mut objects = Objects::read(&mut self.source, self.choice)?;
        for _ in 0..READINGS {
            let holder = self.hold(&objects)?;
            let Some(position) = Moment::visible(&mut self.source, VISIBLE_WITHIN)? else { continue };
            let tables = Listing::read(&mut self.source, self.choice)?;
            drop(holder);
            let again = Objects::beside(&mut self.source, self.choice, tables)?;
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
        let why = "the source's definitions change too often to be read, or it does not come to a standstill";
        Err(AttachError::Unfit(why.into()))
    }

    /// Opens a session at the source that holds the names and definitions of all tables that were
    /// found. So the definitions that are read while the session lives belong to every position
    /// that is read then. Without it, two tables that changed places before the position was read,
    /// and again after it, would be taken for each other. A table that is gone is not held, and
    /// will be missed when the definitions are compared.
    fn hold(&mut self, objects: &Objects) -> Result<Source> {
        let mut holder = Source::connect(&self.plan.source)?;
        holder.query("START TRANSACTION READ ONLY")?;
        for table in objects.tables() {
            table.hold(&mut holder)?;
        }
        Ok(holder)
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
            Moment::Place(place) if !self.source.is_mariadb() => {
                let file = literal_text(&place.file);
                &format!("SOURCE_LOG_FILE = {file}, SOURCE_LOG_POS = {}", place.position)
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

    /// Compares the copy with the source if the plan says so. What differs is told, and the server
    /// serves on, also when it cannot be compared.
    fn verify(&mut self) {
        if self.plan.verify
            && let Err(error) = verify(self.plan, self.choice, self.at)
        {
            eprintln!("the verification ends: {error}");
        }
    }

    fn rounds(&mut self) -> Rounds<'_> {
        Rounds {
            plan: self.plan,
            choice: self.choice,
            at: self.at,
            source: &mut self.source,
            local: &mut self.local,
            progress: &mut self.progress,
            refused_locks: BTreeMap::new(),
        }
    }

    /// Applies the log up to the end that it had when the last row had been read, and then goes on
    /// as any replica.
    fn end(&mut self) -> Result<()> {
        self.progress.step("the log");
        let end = self.source.log_end()?;
        self.local.query("START REPLICA SQL_THREAD")?;
        while !self.local.replica_status()?.applied.is_at_or_behind(&end) {
            check_replication(&mut self.local)?;
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
