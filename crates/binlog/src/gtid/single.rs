//! The identifier of one transaction of a MySQL server.

use std::fmt;
use std::str::FromStr;

use super::error::GtidError;
use super::tsid::{Tag, Tsid};
use super::uuid::Uuid;

/// The largest transaction number, MySQL's `GNO_END - 1`.
pub const GNO_MAX: u64 = i64::MAX as u64 - 1;

/// The GTID of one transaction of a MySQL server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gtid {
    /// The server where the transaction was committed first, and its tag.
    pub tsid: Tsid,
    /// The transaction's number among those of its server and tag, counted from 1.
    pub gno: u64,
}

impl Gtid {
    /// Makes a GTID with a number that was read from somewhere. `None` means that the number is out
    /// of range, which is 1 to [`GNO_MAX`].
    pub fn in_range(tsid: impl Into<Tsid>, gno: u64) -> Option<Gtid> {
        (1..=GNO_MAX).contains(&gno).then(|| Gtid::new(tsid, gno))
    }

    /// Makes a GTID. A UUID alone stands for a server without a tag.
    pub fn new(tsid: impl Into<Tsid>, gno: u64) -> Gtid {
        Gtid { tsid: tsid.into(), gno }
    }
}

impl fmt::Display for Gtid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.tsid, self.gno)
    }
}

impl FromStr for Gtid {
    type Err = GtidError;

    /// Reads `uuid:number` or `uuid:tag:number`.
    fn from_str(text: &str) -> Result<Gtid, GtidError> {
        let bad = || GtidError::Malformed(text.to_string());
        let (uuid, rest) = text.trim().split_once(':').ok_or_else(bad)?;
        let uuid: Uuid = uuid.trim().parse().map_err(|_| bad())?;
        let (tag, gno) = match rest.split_once(':') {
            Some((tag, gno)) => (tag.parse().map_err(|_| bad())?, gno),
            None => (Tag::NONE, rest),
        };
        Ok(Gtid { tsid: Tsid { uuid, tag }, gno: parse_gno(gno).ok_or_else(bad)? })
    }
}

/// Reads a transaction number: decimal, 1 to [`GNO_MAX`].
pub(super) fn parse_gno(text: &str) -> Option<u64> {
    let gno: u64 = text.trim().parse().ok()?;
    (1..=GNO_MAX).contains(&gno).then_some(gno)
}
