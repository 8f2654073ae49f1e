//! Moments of the source: what a SELECT sees there, and how far its log must be applied for the
//! same to be here.

use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::log_place::LogPlace;
use crate::source::{Source, literal};

/// The transactions that are visible at the source at some moment, or that have been applied here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// The transactions with these GTIDs. MySQL extends `gtid_executed` after the engine's commit.
    Gtids(String),
    /// The transactions before a position in the log. In MariaDB the log and the engine commit in
    /// the same order, and a consistent snapshot tells its position. `gtid_binlog_pos` may have
    /// transactions that are not visible yet. So may the position of a MySQL server without GTIDs.
    Place(LogPlace),
}

impl Moment {
    /// Returns a moment that has everything which a SELECT at the source has seen so far. Every
    /// SELECT sees all of it from now on, except at a MySQL server without GTIDs.
    pub fn now(source: &mut Source) -> Result<Moment> {
        match (source.is_mariadb(), source.has_gtids()) {
            (true, _) => Ok(Moment::Place(place_of_snapshot_now(source)?)),
            (_, true) => Ok(Moment::Gtids(source.one("SELECT @@GLOBAL.gtid_executed")?.replace('\n', ""))),
            (_, false) => Ok(Moment::Place(source.log_end()?)),
        }
    }

    /// Returns a moment of which every SELECT at the source sees all from now on, as it sees all
    /// definitions. A MySQL server without GTIDs is locked for it as dumps do: until transactions
    /// that commit have done so, for at most `seconds`. `None` means that it took longer.
    pub fn visible(source: &mut Source, seconds: u32) -> Result<Option<Moment>> {
        if source.is_mariadb() || source.has_gtids() {
            return Moment::now(source).map(Some);
        }
        source.query(&format!("SET SESSION lock_wait_timeout = {seconds}"))?;
        match source.query("FLUSH TABLES WITH READ LOCK") {
            Ok(_) => {}
            Err(AttachError::Source(_, error)) if error.server_code() == Some(1205) => return Ok(None),
            Err(error) => return Err(error),
        }
        let now = Moment::now(source);
        source.query("UNLOCK TABLES")?;
        now.map(Some)
    }

    /// Returns the moment up to which the source's log has been applied here.
    pub fn applied(local: &mut Local, has_gtids: bool) -> Result<Moment> {
        match has_gtids {
            true => Ok(Moment::Gtids(local.executed()?)),
            false => Ok(Moment::Place(local.replica_status()?.applied)),
        }
    }

    /// Reports whether all transactions of the moment have been applied here.
    pub fn is_applied(&self, local: &mut Local) -> Result<bool> {
        match self {
            Moment::Gtids(gtids) => Ok(local.one(&are_executed(gtids))? == "1"),
            Moment::Place(place) => Ok(local.replica_status()?.applied.is_at_or_behind(place)),
        }
    }

    /// Reports whether every SELECT at the source sees all transactions of the moment from now on.
    /// The source is MariaDB, or MySQL with GTIDs.
    pub fn is_visible(&self, source: &mut Source) -> Result<bool> {
        match self {
            Moment::Gtids(gtids) => Ok(source.one(&are_executed(gtids))? == "1"),
            Moment::Place(place) => Ok(place_of_snapshot_now(source)?.is_at_or_behind(place)),
        }
    }
}

/// Returns the query whether a server has these GTIDs.
fn are_executed(gtids: &str) -> String {
    format!("SELECT GTID_SUBSET({}, @@GLOBAL.gtid_executed)", literal(gtids))
}

/// Returns the position in MariaDB's log of a snapshot that is taken now.
fn place_of_snapshot_now(source: &mut Source) -> Result<LogPlace> {
    source.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let place = snapshot_place(source);
    source.query("COMMIT")?;
    place
}

/// Returns the position in MariaDB's log of the snapshot that a session has.
pub fn snapshot_place(source: &mut Source) -> Result<LogPlace> {
    let shown = source.table("SHOW STATUS LIKE 'binlog_snapshot_%'")?;
    let value = |name: &str| {
        let row = shown.iter().find(|row| row[0].eq_ignore_ascii_case(name));
        row.map(|row| row[1].clone()).unwrap_or_default()
    };
    let (file, position) = (value("binlog_snapshot_file"), value("binlog_snapshot_position").parse());
    match position {
        Ok(position) if !file.is_empty() => Ok(LogPlace { file, position }),
        _ => Err(AttachError::Unfit("the source does not say where in its log a snapshot is".into())),
    }
}
