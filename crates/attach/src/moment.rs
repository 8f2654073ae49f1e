//! Moments of the source, which say what a SELECT there sees, and how far its log is to be applied
//! for the same to be here.

use protocol::client::ResultSet;

use crate::error::{AttachError, Result};
use crate::local::Local;
use crate::source::{Source, literal};

/// A place in the source's binary log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPlace {
    pub file: String,
    pub position: u64,
}

impl LogPlace {
    /// From the first row of a result: the file and the position are in columns of these names.
    pub fn of(shown: &ResultSet, file: &str, position: &str) -> Option<LogPlace> {
        let position = shown.text(0, position)?.parse().ok()?;
        Some(LogPlace { file: shown.text(0, file)?, position })
    }

    /// Whether everything before another place is before this one too. Files are numbered.
    pub fn is_at_or_behind(&self, other: &LogPlace) -> bool {
        let number =
            |place: &LogPlace| place.file.rsplit('.').next().and_then(|digits| digits.parse::<u64>().ok());
        (number(self), self.position) >= (number(other), other.position)
    }
}

/// What is visible at the source at some moment, or what has been applied here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// The transactions with these GTIDs. MySQL extends `gtid_executed` after the engine's commit.
    Gtids(String),
    /// The transactions before a place in MariaDB's log. There the log and the engine commit in one
    /// order, and a consistent snapshot says which place it belongs to; `gtid_binlog_pos` may have
    /// transactions that are not visible yet.
    Place(LogPlace),
}

impl Moment {
    /// What every SELECT at the source sees from now on.
    pub fn now(source: &mut Source) -> Result<Moment> {
        if !source.is_mariadb() {
            return Ok(Moment::Gtids(source.one("SELECT @@GLOBAL.gtid_executed")?.replace('\n', "")));
        }
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
            Ok(position) if !file.is_empty() => Ok(Moment::Place(LogPlace { file, position })),
            _ => Err(AttachError::Unfit("the source does not say where in its log a snapshot is".into())),
        }
    }

    /// What has been applied here of such a source.
    pub fn applied(local: &mut Local, is_mariadb: bool) -> Result<Moment> {
        match is_mariadb {
            true => Ok(Moment::Place(local.replica_status()?.applied)),
            false => Ok(Moment::Gtids(local.executed()?)),
        }
    }

    /// Whether all of it has been applied here.
    pub fn is_applied(&self, local: &mut Local) -> Result<bool> {
        match self {
            Moment::Gtids(gtids) => {
                let sql = format!("SELECT GTID_SUBSET({}, @@GLOBAL.gtid_executed)", literal(gtids));
                Ok(local.one(&sql)? == "1")
            }
            Moment::Place(place) => Ok(local.replica_status()?.applied.is_at_or_behind(place)),
        }
    }

    /// Whether every SELECT at the source sees all of it from now on.
    pub fn is_visible(&self, source: &mut Source) -> Result<bool> {
        match (self, Moment::now(source)?) {
            (Moment::Gtids(gtids), Moment::Gtids(visible)) => {
                let sql = format!("SELECT GTID_SUBSET({}, {})", literal(gtids), literal(&visible));
                Ok(source.one(&sql)? == "1")
            }
            (Moment::Place(place), Moment::Place(visible)) => Ok(visible.is_at_or_behind(place)),
            _ => Err(AttachError::Unfit("the source is of another kind than it was".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_ordered_by_the_numbers_of_their_files() {
        let place = |file: &str, position| LogPlace { file: file.into(), position };
        let nowhere = place("", 0);
        let in_order = [place("binlog.000002", 900), place("binlog.000003", 4), place("binlog.1000000", 4)];
        for (at, one) in in_order.iter().enumerate() {
            assert!(one.is_at_or_behind(one) && one.is_at_or_behind(&nowhere));
            assert!(!nowhere.is_at_or_behind(one), "nothing has been applied yet");
            for before in &in_order[..at] {
                assert!(one.is_at_or_behind(before) && !before.is_at_or_behind(one));
            }
        }
    }
}
