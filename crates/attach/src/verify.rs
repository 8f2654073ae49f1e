//! `--verify` and `--repair`: compares a replica with its source while both work, table by table,
//! and copies again what differs.
//!
//! Both sides of a table are compared at one point of the log: a snapshot at the source whose place
//! in the log is known, and a snapshot here while the applier stands exactly at that place. Then
//! the applier goes on. What differs is copied again from another snapshot, while the applier
//! stands at that one's place.

use std::collections::BTreeSet;

use bench::progress::{Progress, grouped};
use os::clock::sleep;
use protocol::client::ConnectOptions;

use crate::applying::{POLL, apply, apply_exactly};
use crate::choice::Choice;
use crate::chunk::Reader;
use crate::command_line::Plan;
use crate::compare::{Difference, differences};
use crate::definitions::{OWN_SCHEMAS, Table};
use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::moment::Moment;
use crate::snapshot::{LOCK_WAITS, Snapshot};
use crate::source::{Source, quoted};

/// The number of times that a table is repaired and compared again.
const REPAIRS: usize = 3;

/// The user-level lock that keeps two verifications apart, which would start each other's applier.
const LOCK: &str = "slipstream_verification";

/// The variables that are set while rows are repaired: with rows that differ, an applier in another
/// mode may stop, and rows come as files of a client.
const WHILE_REPAIRING: [(&str, &str); 2] = [("replica_exec_mode", "CONVERGE"), ("local_infile", "1")];

/// A comparison that is going on.
struct Verification<'a> {
    plan: &'a Plan,
    choice: &'a dyn Choice,
    at: &'a ConnectOptions,
    source: Source,
    local: Local,
    progress: Progress,
    bytes: u64,
}

/// Compares all chosen tables of the replica at `local` with those of the source, prints what
/// differs, and repairs it if the plan says so. Returns the number of tables that still differ.
///
/// # Errors
/// Returns an error when one side cannot be asked, or when replication stops.
pub fn verify(plan: &Plan, choice: &dyn Choice, local: &ConnectOptions) -> Result<usize> {
    let mut verification = Verification {
        plan,
        choice,
        at: local,
        source: Source::connect(&plan.source)?,
        local: Local::connect(local)?,
        progress: Progress::new(),
        bytes: 0,
    };
    verification.check_source()?;
    if verification.local.one(&format!("SELECT GET_LOCK('{LOCK}', 0)"))? != "1" {
        return Err(AttachError::Unfit("another verification of this replica is going on".into()));
    }
    verification.progress.step("verification");
    let mut before = Vec::new();
    for (name, value) in if plan.repair { &WHILE_REPAIRING[..] } else { &[] } {
        before.push((name, verification.local.one(&format!("SELECT @@GLOBAL.{name}"))?));
        verification.local.query(&format!("SET GLOBAL {name} = {value}"))?;
    }
    let verified = verification.run();
    // The applier may have been left standing. Its error is told if there is no earlier one.
    let went_on = verification.local.query("START REPLICA SQL_THREAD");
    for (name, value) in before {
        verification.local.query(&format!("SET GLOBAL {name} = {value}"))?;
    }
    let differing = verified?;
    went_on?;
    Ok(differing)
}

impl Verification<'_> {
    /// Checks that the replica follows this source, because places in another log mean nothing.
    fn check_source(&mut self) -> Result<()> {
        let (column, identity) = match self.source.is_mariadb() {
            true => ("Source_Server_Id", "SELECT @@GLOBAL.server_id"),
            false => ("Source_UUID", "SELECT @@GLOBAL.server_uuid"),
        };
        let status = self.local.query("SHOW REPLICA STATUS")?;
        let (followed, source) = (status.text(0, column).unwrap_or_default(), self.source.one(identity)?);
        match followed == source {
            true => Ok(()),
            false => Err(AttachError::Unfit(format!(
                "the replica follows '{followed}', and the source is '{source}'"
            ))),
        }
    }

    fn run(&mut self) -> Result<usize> {
        let tables = Table::all(&mut self.source, self.choice)?;
        let mut differing = 0;
        for (number, table) in tables.iter().enumerate() {
            let (bytes, of) = (self.bytes, tables.len());
            self.progress.tell(|| format!("{number} of {of} tables, {} MB", grouped(bytes >> 20)));
            differing += usize::from(!self.is_same(table)?);
        }
        differing += self.extra_tables()?;
        let (bytes, of) = (grouped(self.bytes >> 20), tables.len());
        self.progress.done(format!("{of} tables, {bytes} MB, {differing} differ"));
        Ok(differing)
    }

    /// Compares a table and, if the plan says so, repairs it. Returns whether it is the same now.
    fn is_same(&mut self, table: &Table) -> Result<bool> {
        let name = format!("{}.{}", table.schema, table.name);
        for repairs in 0.. {
            let Some(found) = self.compare(table)? else { return Ok(true) };
            if found.is_empty() {
                if repairs > 0 {
                    eprintln!("repaired: {name} is the same now");
                }
                return Ok(true);
            }
            for difference in &found {
                eprintln!("differs: {name}: {difference}");
            }
            if !self.plan.repair || repairs == REPAIRS {
                return Ok(false);
            }
            self.repair(table, &found)?;
        }
        unreachable!("the loop ends after some repairs")
    }

    /// Takes a snapshot of a table at the source, and brings the applier to its place, where it
    /// stands still. `None` means that there is no such table any more.
    fn meet(&mut self, table: &Table) -> Result<Option<Snapshot>> {
        self.local.query("STOP REPLICA SQL_THREAD")?;
        for seconds in LOCK_WAITS {
            let Some(snapshot) = Snapshot::take(&self.plan.source, table, seconds)? else {
                if Table::now(&mut self.source, &table.schema, &table.name)?.is_none() {
                    return Ok(None);
                }
                continue;
            };
            if !snapshot.place.is_at_or_behind(&self.local.replica_status()?.applied) {
                // MariaDB sends an event before its transaction is in a snapshot.
                sleep(POLL);
                continue;
            }
            apply_exactly(&mut self.local, &snapshot.place)?;
            return Ok(Some(snapshot));
        }
        let name = table.quoted();
        Err(AttachError::Unfit(format!("transactions on {name} last too long for a snapshot of it")))
    }

    /// Compares a table at one point of the log. `None` means that it is at the source no more.
    fn compare(&mut self, table: &Table) -> Result<Option<Vec<Difference>>> {
        let Some(mut snapshot) = self.meet(table)? else { return Ok(None) };
        let is_here = self.local.table_ids()?.contains_key(&table.path());
        let mut here = Source::connect(self.at)?;
        here.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        here.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")?;
        // The applier may rename the table as soon as it goes on.
        let is_here = is_here && table.hold(&mut here)?;
        self.local.query("START REPLICA SQL_THREAD")?;
        let mut reader = Reader::new(&mut snapshot.source, table.clone())?;
        if !is_here {
            return Ok(Some(vec![Difference::of_missing_table()]));
        }
        let (bytes, progress) = (&mut self.bytes, &mut self.progress);
        let found = differences(&mut reader, &mut snapshot.source, &mut here, |read| {
            *bytes += read;
            progress.tell(|| format!("{}, {} MB", table.quoted(), grouped(*bytes >> 20)));
        });
        found.map(Some)
    }

    /// Copies what differs again, while the applier stands at the place of a snapshot.
    fn repair(&mut self, table: &Table, found: &[Difference]) -> Result<()> {
        assert!(self.plan.repair, "rows are written only where --repair asks for it");
        let Some(mut snapshot) = self.meet(table)? else { return Ok(()) };
        let of_mariadb = snapshot.source.is_mariadb();
        let mut local = Local::for_rows(self.at, of_mariadb)?;
        if !self.local.table_ids()?.contains_key(&table.path()) {
            local.query(&format!("CREATE DATABASE IF NOT EXISTS {}", quoted(&table.schema)))?;
            local.query(&format!("USE {}", quoted(&table.schema)))?;
            let made = snapshot.source.query(&format!("SHOW CREATE TABLE {}", table.quoted()))?;
            local.query(&made.cell(0, 1).unwrap_or_default())?;
        }
        let reader = Reader::new(&mut snapshot.source, table.clone())?;
        if !reader.has_chunks() {
            reader.replace_all(&mut snapshot.source, &mut local, |_, _, _| Ok(()))?;
        } else {
            for difference in found {
                let (after, upto) = (difference.after.as_deref(), difference.upto.as_deref());
                let rows = reader.between(&mut snapshot.source, after, upto)?;
                reader.replace_between(&mut local, after, upto, &rows)?;
            }
        }
        self.local.query("START REPLICA SQL_THREAD").map(|_| ())
    }

    /// Names the tables that are here and not at the source. Returns their number. They are left
    /// alone, because nobody else may have their rows.
    fn extra_tables(&mut self) -> Result<usize> {
        /// How often the lists are compared. MariaDB's list lacks a table shortly before its DROP
        /// TABLE is in the log, so that two times do not suffice.
        const ROUNDS: usize = 3;
        // A table that was dropped at the source while the lists were read is not here the next
        // time, or it is another one of the same name, which has another id.
        let mut extra: Option<BTreeSet<(String, Option<String>)>> = None;
        for _ in 0..ROUNDS {
            let now = Moment::now(&mut self.source)?;
            self.local.query("STOP REPLICA SQL_THREAD")?;
            apply(&mut self.local, &now, None)?;
            let list = format!(
                "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME), TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
                 WHERE TABLE_TYPE <> 'VIEW' AND TABLE_TYPE <> 'SEQUENCE' AND TABLE_SCHEMA NOT IN {OWN_SCHEMAS}"
            );
            let ids = self.local.table_ids()?;
            let here = self.local.query(&list)?;
            let there: BTreeSet<String> =
                self.source.table(&list)?.into_iter().map(|mut row| row.swap_remove(0)).collect();
            let found = (0..here.rows.len()).filter_map(|row| {
                let [name, schema, table] =
                    [0, 1, 2].map(|column| here.cell(row, column).unwrap_or_default());
                let is_extra = !there.contains(&name) && self.choice.takes_table(&schema, &table);
                is_extra.then(|| (name, ids.get(&format!("{schema}/{table}")).cloned()))
            });
            extra = Some(match extra {
                None => found.collect(),
                Some(earlier) => found.filter(|table| earlier.contains(table)).collect(),
            });
            sleep(POLL);
        }
        let extra = extra.unwrap_or_default();
        for (name, _) in &extra {
            eprintln!("differs: {name} is here and not at the source");
        }
        Ok(extra.len())
    }
}
