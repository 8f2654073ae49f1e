//! GTID events, as every group begins with one: MySQL's (named or anonymous) and MariaDB's.

use binlog::gtid::{Gtid, MariadbGtid, Uuid};

use crate::event::{self, HEADER_BYTES};

/// The GTID of a group that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupGtid {
    /// None: anonymous, or a source that writes no GTID events.
    #[default]
    None,
    /// MySQL's.
    Mysql(Gtid),
    /// MariaDB's.
    Mariadb(MariadbGtid),
}

/// What a GTID event says of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupHead {
    /// Its GTID.
    pub gtid: GroupGtid,
    /// When the first server committed it, in microseconds of unix time.
    pub original_commit_us: u64,
    /// When the source committed it.
    pub immediate_commit_us: u64,
    /// Version of the first server; 0 where it is not said.
    pub original_server_version: u32,
    /// MariaDB: a group of one statement, which no COMMIT ends.
    pub is_standalone: bool,
}

const HAS_ORIGINAL_TIMESTAMP: u64 = 1 << 55;
const HAS_ORIGINAL_VERSION: u32 = 1 << 31;
/// Version shown for a MariaDB source, whose GTID events carry none: that of the MySQL it is closest to.
const UNDEFINED_SERVER_VERSION: u32 = 999_999;

/// Reads a GTID event without its checksum; `None` when it is damaged. Sources before MySQL 8.0 and MariaDB say no commit time finer
/// than the event's own timestamp: a second.
pub fn read(event: &[u8]) -> Option<GroupHead> {
    match event::kind(event) {
        event::MARIADB_GTID => read_mariadb(event),
        event::GTID | event::ANONYMOUS_GTID => read_mysql(event),
        _ => None,
    }
}

fn read_mysql(event: &[u8]) -> Option<GroupHead> {
    let body = &event[HEADER_BYTES..];
    let uuid = Uuid(body.get(1..17)?.try_into().ok()?);
    let gno = u64::from_le_bytes(body.get(17..25)?.try_into().ok()?);
    let gtid = if event::kind(event) == event::GTID {
        GroupGtid::Mysql(Gtid { uuid, gno })
    } else {
        GroupGtid::None
    };
    let timestamp_us = u64::from(event::timestamp(event)) * 1_000_000;
    let mut head = GroupHead {
        gtid,
        original_commit_us: timestamp_us,
        immediate_commit_us: timestamp_us,
        original_server_version: 0,
        is_standalone: false,
    };
    let Some(rest) = body.get(42..).filter(|rest| rest.len() >= 7) else { return Some(head) };
    let first = seven_bytes(rest)?;
    head.immediate_commit_us = first & !HAS_ORIGINAL_TIMESTAMP;
    let mut at = 7;
    head.original_commit_us = if first & HAS_ORIGINAL_TIMESTAMP != 0 {
        at = 14;
        seven_bytes(rest.get(7..)?)?
    } else {
        head.immediate_commit_us
    };
    at += match rest.get(at) {
        None => return Some(head),
        Some(0xFC) => 3,
        Some(0xFD) => 4,
        Some(0xFE) => 9,
        Some(_) => 1,
    };
    let version = |at: usize| Some(u32::from_le_bytes(rest.get(at..at + 4)?.try_into().ok()?));
    if let Some(immediate) = version(at) {
        head.original_server_version =
            if immediate & HAS_ORIGINAL_VERSION != 0 { version(at + 4)? } else { immediate };
    }
    Some(head)
}

fn seven_bytes(bytes: &[u8]) -> Option<u64> {
    let mut value = [0; 8];
    value[..7].copy_from_slice(bytes.get(..7)?);
    Some(u64::from_le_bytes(value))
}

fn read_mariadb(event: &[u8]) -> Option<GroupHead> {
    let body = event.get(HEADER_BYTES..HEADER_BYTES + 13)?;
    let seq = u64::from_le_bytes(body[..8].try_into().ok()?);
    let domain = u32::from_le_bytes(body[8..12].try_into().ok()?);
    let timestamp_us = u64::from(event::timestamp(event)) * 1_000_000;
    Some(GroupHead {
        gtid: GroupGtid::Mariadb(MariadbGtid { domain, server_id: event::server_id(event), seq }),
        original_commit_us: timestamp_us,
        immediate_commit_us: timestamp_us,
        original_server_version: UNDEFINED_SERVER_VERSION,
        is_standalone: body[12] & event::MARIADB_FL_STANDALONE != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::tests::bare;

    #[test]
    fn reads_both_commit_times_of_a_mysql_event() {
        let mut body = vec![0; 42];
        body[1..17].fill(3);
        body[17] = 9;
        body.extend_from_slice(&(1_700_000_000_000_005 | HAS_ORIGINAL_TIMESTAMP).to_le_bytes()[..7]);
        body.extend_from_slice(&1_700_000_000_000_001u64.to_le_bytes()[..7]);
        body.extend_from_slice(&[0xFC, 0, 2]);
        body.extend_from_slice(&(90_700u32 | HAS_ORIGINAL_VERSION).to_le_bytes());
        body.extend_from_slice(&80_036u32.to_le_bytes());
        let event = bare(event::GTID, &body);
        let head = read(&event).expect("is whole");
        assert_eq!(head.gtid, GroupGtid::Mysql(Gtid { uuid: Uuid([3; 16]), gno: 9 }));
        assert_eq!(
            (head.immediate_commit_us, head.original_commit_us),
            (1_700_000_000_000_005, 1_700_000_000_000_001)
        );
        assert_eq!(head.original_server_version, 80_036);
        for cut in 0..25 {
            assert!(read(&event[..HEADER_BYTES + cut]).is_none());
        }
        for cut in 25..body.len() {
            // Whatever is missing behind the GTID, reading does not go astray.
            let _ = read(&event[..HEADER_BYTES + cut]);
        }
    }
}
