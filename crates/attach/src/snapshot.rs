//! Snapshots of a table at the source, of which it is known where in the log they are.
//!
//! MariaDB says where a consistent snapshot is. MySQL does not, so the table is locked against
//! changes for a moment. When the lock has been got, no transaction that has changed the table is
//! still on its way, because each keeps its own lock on the table until its commit is complete.
//! While it is held, the snapshot is taken and the end of the log is looked up. So the log up to
//! there has exactly those changes of this table that the snapshot shows.

use crate::definitions::Table;
use crate::error::{AttachError, Result};
use crate::log_place::LogPlace;
use crate::moment::snapshot_place;
use crate::source::Source;
use protocol::client::ConnectOptions;

/// A session at the source that sees one table as it was at a place in the log, and that keeps the
/// table from being altered, renamed or dropped.
pub struct Snapshot {
    pub source: Source,
    pub place: LogPlace,
}

/// The times in seconds for which a lock on a table is waited for, one try after the other.
pub const LOCK_WAITS: [u32; 4] = [2, 5, 10, 30];

/// The errors that mean "not now": no such table any more, the wait for a lock took too long, and
/// a definition that is younger than the snapshot.
const NOT_NOW: [u16; 3] = [1146, 1205, 1412];

/// The time for which the source may wait for this program to take rows, in seconds.
const PATIENCE: &str = "SET SESSION net_write_timeout = 3600";

impl Snapshot {
    /// Takes a snapshot of a table. Waits at most `seconds` for transactions that have changed the
    /// table; meanwhile new ones wait behind it. `None` means that it took longer, or that there is
    /// no such table any more.
    pub fn take(options: &ConnectOptions, table: &Table, seconds: u32) -> Result<Option<Snapshot>> {
        assert!(seconds > 0, "a lock that nobody waits for is not had on a busy table");
        let mut source = Source::connect(options)?;
        source.query(PATIENCE)?;
        source.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        source.query("SET SESSION lock_wait_timeout = 1")?;
        if source.is_mariadb() {
            return Snapshot::of_mariadb(options, source, table);
        }
        let mut locker = Source::connect(options)?;
        if !lock(&mut locker, table, seconds)? {
            return Ok(None);
        }
        source.query(BEGIN)?;
        // A statement that alters or renames the table may wait for the lock, and this session
        // would wait behind it, for ever but for the short time that is set.
        let is_held = when_now(table.hold(&mut source))?.unwrap_or(false);
        let place = locker.log_end()?;
        locker.query("UNLOCK TABLES")?;
        Ok(is_held.then_some(Snapshot { source, place }))
    }

    /// Takes a snapshot of a MariaDB source. The table's name is held from before the snapshot on:
    /// a table that took this name after it would be read instead.
    fn of_mariadb(options: &ConnectOptions, mut source: Source, table: &Table) -> Result<Option<Snapshot>> {
        let mut holder = Source::connect(options)?;
        holder.query("SET SESSION lock_wait_timeout = 1")?;
        holder.query("START TRANSACTION READ ONLY")?;
        if !when_now(table.hold(&mut holder))?.unwrap_or(false) {
            return Ok(None);
        }
        source.query(BEGIN)?;
        let place = snapshot_place(&mut source)?;
        let is_held = when_now(table.hold(&mut source))?.unwrap_or(false);
        holder.query("COMMIT")?;
        Ok(is_held.then_some(Snapshot { source, place }))
    }
}

const BEGIN: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";

/// Waits until all transactions have ended that have changed a table, for at most `seconds`. Then
/// every SELECT from this table sees what the log has about it so far. Returns false when it took
/// longer, or when there is no such table any more.
pub fn wait_for_changes_of(locker: &mut Source, table: &Table, seconds: u32) -> Result<bool> {
    let is_locked = lock(locker, table, seconds)?;
    if is_locked {
        locker.query("UNLOCK TABLES")?;
    }
    Ok(is_locked)
}

/// Locks one table against changes. It is always one alone: a session that waits for a lock while
/// it holds another may be part of a deadlock, which the source would solve by ending a client's
/// transaction.
fn lock(locker: &mut Source, table: &Table, seconds: u32) -> Result<bool> {
    locker.query(&format!("SET SESSION lock_wait_timeout = {seconds}"))?;
    Ok(when_now(locker.query(&format!("LOCK TABLES {} READ", table.quoted())))?.is_some())
}

/// Turns the errors that mean "not now" into `None`.
fn when_now<T>(done: Result<T>) -> Result<Option<T>> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(AttachError::Source(_, error))
            if error.server_code().is_some_and(|code| NOT_NOW.contains(&code)) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
