//! What begins a group: MySQL's GTID events (named or anonymous) and MariaDB's, in one form.

use binlog::DecodeError;
use binlog::event::{Event, Header, UNKNOWN_SERVER_VERSION};
use binlog::gtid::{Gtid, MariadbGtid};

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

/// What the first event of a group says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupHead {
    /// Its GTID.
    pub gtid: GroupGtid,
    /// When the first server committed it, in microseconds of unix time.
    pub original_commit_us: u64,
    /// When the source committed it.
    pub immediate_commit_us: u64,
    /// Version of the first server, where it is known.
    pub original_server_version: Option<u32>,
}

impl GroupHead {
    /// A group of which nothing is said but when an event of it was made: sources before MySQL 8.0,
    /// and MariaDB, say no commit time finer than that second.
    pub fn of_second(timestamp_s: u32) -> GroupHead {
        let commit_us = u64::from(timestamp_s) * 1_000_000;
        GroupHead {
            gtid: GroupGtid::None,
            original_commit_us: commit_us,
            immediate_commit_us: commit_us,
            original_server_version: None,
        }
    }

    /// Reads a GTID event without its checksum; `Ok(None)` for an event of another kind.
    pub fn read(event: &[u8]) -> Result<Option<GroupHead>, DecodeError> {
        let header = Header::decode(event)?;
        Ok(GroupHead::of_event(&header, &binlog::event::decode_body(&header, event)?))
    }

    /// From a decoded event.
    pub fn of_event(header: &Header, event: &Event<'_>) -> Option<GroupHead> {
        let coarse = GroupHead::of_second(header.timestamp);
        match event {
            Event::MariadbGtid(event) => Some(GroupHead { gtid: GroupGtid::Mariadb(event.gtid), ..coarse }),
            Event::Gtid(event) | Event::AnonymousGtid(event) => {
                let is_named = header.event_type != crate::event::kind::ANONYMOUS_GTID;
                let gtid = if is_named { GroupGtid::Mysql(event.gtid) } else { GroupGtid::None };
                let known =
                    Some(event.original_server_version).filter(|&v| v != UNKNOWN_SERVER_VERSION && v != 0);
                let or_coarse = |us: u64, coarse: u64| if us == 0 { coarse } else { us };
                let immediate = or_coarse(event.immediate_commit_us, coarse.immediate_commit_us);
                Some(GroupHead {
                    gtid,
                    original_commit_us: or_coarse(event.original_commit_us, immediate),
                    immediate_commit_us: immediate,
                    original_server_version: known,
                })
            }
            _ => None,
        }
    }
}
