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
    /// The transactions before a position in MariaDB's log. There the log and the engine commit in
    /// the same order, and a consistent snapshot tells its position. `gtid_binlog_pos` may have
    /// transactions that are not visible yet.
    Place(LogPlace),
}

impl Moment {
    /// Returns the moment that every SELECT at the source sees from now on.
    pub fn now(source: &mut Source) -> Result<Moment> {
        match source.is_mariadb() {
            true => Ok(Moment::Place(snapshot_place(source)?)),
            false => Ok(Moment::Gtids(source.one("SELECT @@GLOBAL.gtid_executed")?.replace('\n', ""))),
        }
    }

    /// Returns the moment up to which the source's log has been applied here.
    pub fn applied(local: &mut Local, is_mariadb: bool) -> Result<Moment> {
        match is_mariadb {
            true => Ok(Moment::Place(local.replica_status()?.applied)),
            false => Ok(Moment::Gtids(local.executed()?)),
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
    pub fn is_visible(&self, source: &mut Source) -> Result<bool> {
        match self {
            Moment::Gtids(gtids) => Ok(source.one(&are_executed(gtids))? == "1"),
            Moment::Place(place) => Ok(snapshot_place(source)?.is_at_or_behind(place)),
        }
    }
}

/// Returns the query whether a server has these GTIDs.
fn are_executed(gtids: &str) -> String {
    format!("SELECT GTID_SUBSET({}, @@GLOBAL.gtid_executed)", literal(gtids))
}

/// Returns the position in MariaDB's log of a snapshot that is taken now.
fn snapshot_place(source: &mut Source) -> Result<LogPlace> {
    source.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
    let shown = source.table("SHOW STATUS LIKE 'binlog_snapshot_%'");
    source.query("COMMIT")?;
    let shown = shown?;
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
