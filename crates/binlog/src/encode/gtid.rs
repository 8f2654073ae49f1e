//! The events that start a transaction.

use super::{EventBase, begin_event};
use crate::cursor::put_packed_int;
use crate::event::{
    GtidEvent, HEADER_LEN, LOGICAL_TIMESTAMP_TYPECODE, MariadbGtidEvent, NO_GTID, event_type,
};

const HAS_ORIGINAL_TIMESTAMP: u64 = 1 << 55;
const HAS_ORIGINAL_VERSION: u32 = 1 << 31;

/// Appends a GTID event. `event.transaction_length` is what the reader gets; for
/// a transaction of `rest` bytes (checksums included) it is `rest` + header + [`gtid_body_len`] + checksum.
pub fn gtid(base: EventBase, event: &GtidEvent, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::GTID, 0, out);
    write_body(event, out);
    start
}

/// Appends an ANONYMOUS_GTID event; the event's GTID is written as zeros.
pub fn anonymous_gtid(base: EventBase, event: &GtidEvent, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::ANONYMOUS_GTID, 0, out);
    write_body(&GtidEvent { gtid: NO_GTID, ..*event }, out);
    start
}

/// Bytes of the event's body when the transaction's other events have `rest_len` bytes and each event's checksum
/// `checksum_len`; with it, the `transaction_length` to write, which counts this event too.
pub fn gtid_body_len(event: &GtidEvent, rest_len: u64, checksum_len: usize) -> (usize, u64) {
    let timestamps = if event.original_commit_us == event.immediate_commit_us { 7 } else { 14 };
    let versions = if event.original_server_version == event.immediate_server_version { 4 } else { 8 };
    let ticket = if event.commit_group_ticket == 0 { 0 } else { 8 };
    let fixed = 1 + 16 + 8 + 1 + 8 + 8 + timestamps + versions + ticket;
    // The length counts the bytes it is written in: the shortest form that still holds it.
    let others = rest_len + (HEADER_LEN + fixed + checksum_len) as u64;
    let width = [(1, 250), (3, 0xffff), (4, 0xff_ffff)]
        .into_iter()
        .find(|(width, largest)| others + width <= *largest)
        .map_or(9, |(width, _)| width);
    (fixed + width as usize, others + width)
}

fn write_body(event: &GtidEvent, out: &mut Vec<u8>) {
    out.push(event.flags);
    out.extend_from_slice(&event.gtid.uuid.0);
    out.extend_from_slice(&event.gtid.gno.to_le_bytes());
    out.push(LOGICAL_TIMESTAMP_TYPECODE);
    out.extend_from_slice(&event.last_committed.to_le_bytes());
    out.extend_from_slice(&event.sequence_number.to_le_bytes());
    let same_time = event.original_commit_us == event.immediate_commit_us;
    let immediate = event.immediate_commit_us & (HAS_ORIGINAL_TIMESTAMP - 1);
    let time_flag = if same_time { 0 } else { HAS_ORIGINAL_TIMESTAMP };
    out.extend_from_slice(&(immediate | time_flag).to_le_bytes()[..7]);
    if !same_time {
        out.extend_from_slice(&event.original_commit_us.to_le_bytes()[..7]);
    }
    put_packed_int(event.transaction_length, out);
    let same_version = event.original_server_version == event.immediate_server_version;
    let version_flag = if same_version { 0 } else { HAS_ORIGINAL_VERSION };
    out.extend_from_slice(&(event.immediate_server_version | version_flag).to_le_bytes());
    if !same_version {
        out.extend_from_slice(&event.original_server_version.to_le_bytes());
    }
    if event.commit_group_ticket != 0 {
        out.extend_from_slice(&event.commit_group_ticket.to_le_bytes());
    }
}

/// Appends a MariaDB GTID event; its server id must be that of `base`.
pub fn mariadb_gtid(base: EventBase, event: &MariadbGtidEvent, flags: u16, out: &mut Vec<u8>) -> usize {
    assert_eq!(base.server_id, event.gtid.server_id, "the server id of a MariaDB GTID is its header's");
    let start = begin_event(base, event_type::MARIADB_GTID, flags, out);
    out.extend_from_slice(&event.gtid.seq.to_le_bytes());
    out.extend_from_slice(&event.gtid.domain.to_le_bytes());
    out.push(event.flags);
    if event.flags & crate::event::mariadb_flag::GROUP_COMMIT_ID != 0 {
        out.extend_from_slice(&event.commit_id.to_le_bytes());
    } else {
        out.extend_from_slice(&[0; 6]); // MariaDB's padding to the fixed part's 19 bytes
    }
    start
}
