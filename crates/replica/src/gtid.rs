//! The head of an event group: MySQL's GTID events (named or anonymous) and MariaDB's, in one form.

use binlog::DecodeError;
use binlog::event::{
    Event, GtidEvent, Header, UNKNOWN_SERVER_VERSION, VERSION_OF_MARIADB, is_version_of_mariadb,
};
use binlog::gtid::{Gtid, MariadbGtid};

/// The GTID of an event group that was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GroupGtid {
    /// The group has no GTID: it is anonymous, or its source writes no GTID events.
    #[default]
    None,
    /// The GTID of a MySQL source.
    Mysql(Gtid),
    /// The GTID of a MariaDB source.
    Mariadb(MariadbGtid),
}

/// The facts that the first event of a group tells about the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupHead {
    /// The group's GTID.
    pub gtid: GroupGtid,
    /// The time when the first server committed the group, in microseconds of unix time.
    pub original_commit_us: u64,
    /// The time when the source committed the group, in microseconds of unix time.
    pub immediate_commit_us: u64,
    /// The version of the first server. `None` means that it is not known.
    pub original_server_version: Option<u32>,
}

impl GroupHead {
    /// Builds the head of a group that has only the timestamp of an event, in seconds. MariaDB and
    /// sources before MySQL 8.0 write no commit time that is finer.
    pub fn of_second(timestamp_s: u32) -> GroupHead {
        let commit_us = u64::from(timestamp_s) * 1_000_000;
        GroupHead {
            gtid: GroupGtid::None,
            original_commit_us: commit_us,
            immediate_commit_us: commit_us,
            original_server_version: None,
        }
    }

    /// Reports whether a MariaDB server committed the group first, so that its statements are in
    /// MariaDB's dialect.
    pub fn is_of_mariadb(&self) -> bool {
        matches!(self.gtid, GroupGtid::Mariadb(_))
            || self.original_server_version.is_some_and(is_version_of_mariadb)
    }

    /// Decodes a GTID event without its checksum. `Ok(None)` means that the event is of another
    /// kind.
    pub fn read(event: &[u8]) -> Result<Option<GroupHead>, DecodeError> {
        let header = Header::decode(event)?;
        Ok(GroupHead::of_event(&header, &binlog::event::decode_body(&header, event)?))
    }

    /// Builds the head from a decoded event. `None` means that the event is no GTID event.
    pub fn of_event(header: &Header, event: &Event<'_>) -> Option<GroupHead> {
        let coarse = GroupHead::of_second(header.timestamp);
        match event {
            Event::MariadbGtid(event) => Some(GroupHead {
                gtid: GroupGtid::Mariadb(event.gtid),
                original_server_version: Some(VERSION_OF_MARIADB),
                ..coarse
            }),
            Event::Gtid(event) | Event::AnonymousGtid(event) => Some(GroupHead::of_mysql(header, event)),
            _ => None,
        }
    }

    /// Builds the head from a decoded GTID event of a MySQL source, named or anonymous.
    #[inline]
    pub fn of_mysql(header: &Header, event: &GtidEvent) -> GroupHead {
        let coarse = GroupHead::of_second(header.timestamp);
        let is_named = header.event_type != crate::event::kind::ANONYMOUS_GTID;
        let known = Some(event.original_server_version).filter(|&v| v != UNKNOWN_SERVER_VERSION && v != 0);
        let or_coarse = |us: u64, coarse: u64| if us == 0 { coarse } else { us };
        let immediate = or_coarse(event.immediate_commit_us, coarse.immediate_commit_us);
        GroupHead {
            gtid: if is_named { GroupGtid::Mysql(event.gtid) } else { GroupGtid::None },
            original_commit_us: or_coarse(event.original_commit_us, immediate),
            immediate_commit_us: immediate,
            original_server_version: known,
        }
    }
}
