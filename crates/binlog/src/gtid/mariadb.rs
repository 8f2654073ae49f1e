//! MariaDB's GTIDs.

use super::error::GtidError;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The GTID of one transaction of a MariaDB server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MariadbGtid {
    /// The domain (`gtid_domain_id`). Transactions of one domain have an order.
    pub domain: u32,
    /// The `server_id` of the server where the transaction was committed first.
    pub server_id: u32,
    /// The transaction's number in its domain.
    pub seq: u64,
}

impl fmt::Display for MariadbGtid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}-{}", self.domain, self.server_id, self.seq)
    }
}

impl FromStr for MariadbGtid {
    type Err = GtidError;

    fn from_str(text: &str) -> Result<MariadbGtid, GtidError> {
        let bad = || GtidError::Malformed(text.to_string());
        let mut parts = text.trim().split('-');
        let mut part = || parts.next().ok_or_else(bad);
        let gtid = MariadbGtid {
            domain: part()?.parse().map_err(|_| bad())?,
            server_id: part()?.parse().map_err(|_| bad())?,
            seq: part()?.parse().map_err(|_| bad())?,
        };
        if parts.next().is_some() { Err(bad()) } else { Ok(gtid) }
    }
}

/// A point in a MariaDB server's history: the last transaction of each domain, as in
/// `gtid_slave_pos`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MariadbGtidState {
    last: BTreeMap<u32, MariadbGtid>,
}

impl MariadbGtidState {
    /// Makes this the last transaction of its domain.
    pub fn update(&mut self, gtid: MariadbGtid) {
        self.last.insert(gtid.domain, gtid);
    }

    /// Returns the last transaction of a domain.
    pub fn get(&self, domain: u32) -> Option<MariadbGtid> {
        self.last.get(&domain).copied()
    }

    /// Returns the last transactions, sorted by domain.
    pub fn iter(&self) -> impl Iterator<Item = MariadbGtid> + '_ {
        self.last.values().copied()
    }

    /// Reports whether there is no transaction yet.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Reports whether the transaction is at or before this point of its domain, by its number.
    pub fn contains(&self, gtid: MariadbGtid) -> bool {
        self.get(gtid.domain).is_some_and(|last| gtid.seq <= last.seq)
    }
}

impl fmt::Display for MariadbGtidState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, gtid) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(out, "{comma}{gtid}")?;
        }
        Ok(())
    }
}

impl FromStr for MariadbGtidState {
    type Err = GtidError;

    /// Reads `gtid_slave_pos` as MariaDB prints it: GTIDs separated by commas, at most one for each
    /// domain.
    fn from_str(text: &str) -> Result<MariadbGtidState, GtidError> {
        let mut state = MariadbGtidState::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let gtid: MariadbGtid = part.parse()?;
            if state.last.insert(gtid.domain, gtid).is_some() {
                return Err(GtidError::Malformed(text.to_string()));
            }
        }
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_one_transaction_a_domain() {
        let mut state: MariadbGtidState = "1-2-30, 0-1-5".parse().expect("is a state");
        assert_eq!(state.to_string(), "0-1-5,1-2-30");
        state.update(MariadbGtid { domain: 0, server_id: 9, seq: 6 });
        assert_eq!(state.to_string(), "0-9-6,1-2-30");
        assert!(state.contains(MariadbGtid { domain: 0, server_id: 1, seq: 6 }));
        assert!(!state.contains(MariadbGtid { domain: 0, server_id: 1, seq: 7 }));
        assert!(!state.contains(MariadbGtid { domain: 7, server_id: 1, seq: 1 }));
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["0-1", "0-1-2-3", "a-1-2", "0-1-5,0-2-6"] {
            assert!(text.parse::<MariadbGtidState>().is_err(), "{text}");
        }
        assert!("".parse::<MariadbGtidState>().expect("is empty").is_empty());
    }
}
