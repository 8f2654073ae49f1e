//! `START REPLICA UNTIL`: the condition under which the applier stops by itself.

use binlog::gtid::GtidSet;
use sql::admin::Until;

use crate::error::ChannelError;
use crate::gtid::GroupGtid;

/// A condition whose file names, offsets and GTID sets are well formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UntilCondition {
    /// The applier stops at this offset in this file of the source's log.
    Source(String, u64),
    /// The applier stops at this offset in this file of the relay log.
    Relay(String, u64),
    /// The applier stops before the first transaction that is in this set.
    BeforeGtids(GtidSet),
    /// The applier stops when all transactions of this set are executed.
    AfterGtids(GtidSet),
    /// The applier stops when the executed transactions have no gap, which is always the case here.
    AfterGaps,
}

/// The point that the applier has reached, between two groups.
pub struct Reached<'a> {
    /// The file of the source's log.
    pub source_file: &'a str,
    /// The offset in `source_file`.
    pub source_pos: u64,
    /// The file of the relay log.
    pub relay_file: &'a str,
    /// The offset in `relay_file`.
    pub relay_pos: u64,
    /// All GTIDs that are executed on this server.
    pub executed: &'a GtidSet,
}

impl UntilCondition {
    /// Checks and converts the UNTIL clause of a statement.
    ///
    /// # Errors
    /// Returns 1772 (`ER_MALFORMED_GTID_SET_SPECIFICATION`) when a GTID set is malformed.
    pub fn parse(until: &Until) -> Result<UntilCondition, ChannelError> {
        let set = |text: &str| {
            text.parse::<GtidSet>().map_err(|_| {
                ChannelError::new(1772, "HY000", format!("Malformed GTID set specification '{text}'."))
            })
        };
        Ok(match until {
            Until::SourcePosition { log_file, log_pos } => UntilCondition::Source(log_file.clone(), *log_pos),
            Until::RelayPosition { log_file, log_pos } => UntilCondition::Relay(log_file.clone(), *log_pos),
            Until::SqlBeforeGtids(text) => UntilCondition::BeforeGtids(set(text)?),
            Until::SqlAfterGtids(text) => UntilCondition::AfterGtids(set(text)?),
            Until::SqlAfterGaps => UntilCondition::AfterGaps,
        })
    }

    /// Reports whether the applier has reached the point where it has to stop.
    pub fn is_reached(&self, at: &Reached<'_>) -> bool {
        match self {
            UntilCondition::Source(file, pos) => is_at(at.source_file, at.source_pos, file, *pos),
            UntilCondition::Relay(file, pos) => is_at(at.relay_file, at.relay_pos, file, *pos),
            UntilCondition::AfterGtids(set) => set.is_subset(at.executed),
            UntilCondition::AfterGaps => true,
            UntilCondition::BeforeGtids(_) => false,
        }
    }

    /// Reports whether the applier has to stop before this group.
    pub fn excludes(&self, group: GroupGtid) -> bool {
        matches!((self, group), (UntilCondition::BeforeGtids(set), GroupGtid::Mysql(gtid)) if set.contains(gtid))
    }

    /// Reports whether one of the transactions before which the applier should stop is executed
    /// already.
    pub fn is_missed(&self, executed: &GtidSet) -> bool {
        let UntilCondition::BeforeGtids(set) = self else { return false };
        let mut left = set.clone();
        left.subtract(executed);
        left.count() != set.count()
    }

    /// Returns `Until_Condition`, `Until_Log_File` and `Until_Log_Pos` of SHOW REPLICA STATUS.
    pub fn shown(&self) -> (&'static str, &str, u64) {
        match self {
            UntilCondition::Source(file, pos) => ("Source", file, *pos),
            UntilCondition::Relay(file, pos) => ("Relay", file, *pos),
            UntilCondition::BeforeGtids(_) => ("SQL_BEFORE_GTIDS", "", 0),
            UntilCondition::AfterGtids(_) => ("SQL_AFTER_GTIDS", "", 0),
            UntilCondition::AfterGaps => ("SQL_AFTER_MTS_GAPS", "", 0),
        }
    }
}

/// Reports whether a position is at or behind the wanted one. Files of one series are compared by
/// their numbers.
fn is_at(file: &str, pos: u64, wanted_file: &str, wanted_pos: u64) -> bool {
    let number = |name: &str| name.rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
    match (number(file), number(wanted_file)) {
        (Some(file), Some(wanted)) => (file, pos) >= (wanted, wanted_pos),
        _ => file == wanted_file && pos >= wanted_pos,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn reached<'a>(source: (&'a str, u64), executed: &'a GtidSet) -> Reached<'a> {
        Reached {
            source_file: source.0,
            source_pos: source.1,
            relay_file: "relay.000003",
            relay_pos: 9,
            executed,
        }
    }

    #[test]
    fn positions_are_reached_when_they_are_passed() {
        let none = GtidSet::default();
        let until = UntilCondition::Source("binlog.000009".into(), 100);
        assert!(!until.is_reached(&reached(("binlog.000009", 99), &none)));
        assert!(!until.is_reached(&reached(("", 4), &none)));
        assert!(until.is_reached(&reached(("binlog.000009", 100), &none)));
        assert!(until.is_reached(&reached(("binlog.000010", 4), &none)));
        assert!(UntilCondition::Relay("relay.000003".into(), 9).is_reached(&reached(("", 4), &none)));
        assert!(!UntilCondition::Relay("relay.000003".into(), 10).is_reached(&reached(("", 4), &none)));
    }

    #[test]
    fn sets() {
        let set = |text: &str| -> GtidSet { format!("{UUID}:{text}").parse().expect("is a set") };
        let after = UntilCondition::parse(&Until::SqlAfterGtids(format!("{UUID}:1-3"))).expect("is a set");
        assert!(!after.is_reached(&reached(("", 4), &set("1-2"))));
        assert!(after.is_reached(&reached(("", 4), &set("1-7"))));
        let before = UntilCondition::parse(&Until::SqlBeforeGtids(format!("{UUID}:5-6"))).expect("is a set");
        let gtid = |gno| {
            GroupGtid::Mysql(binlog::gtid::Gtid::new(
                UUID.parse::<binlog::gtid::Uuid>().expect("a UUID"),
                gno,
            ))
        };
        assert!(before.excludes(gtid(5)) && !before.excludes(gtid(4)) && !before.excludes(GroupGtid::None));
        assert!(before.is_missed(&set("1-5")) && !before.is_missed(&set("1-4")));
        assert_eq!(UntilCondition::parse(&Until::SqlAfterGtids("x".into())).expect_err("is none").code, 1772);
    }
}
