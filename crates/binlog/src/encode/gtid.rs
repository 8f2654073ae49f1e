//! The events that start a transaction.

use super::frame::{EventBase, begin_event};
use crate::cursor::{put_packed_int, put_serialized_int, put_serialized_uint};
use crate::event::{
    GtidEvent, HEADER_LEN, LOGICAL_TIMESTAMP_TYPECODE, MariadbGtidEvent, NO_GTID, event_type, flag,
    mariadb_flag, tagged_field,
};
use crate::xid::Xid;

const HAS_ORIGINAL_TIMESTAMP: u64 = 1 << 55;
const HAS_ORIGINAL_VERSION: u32 = 1 << 31;
/// The length in bytes of the part of a GTID event's body that every event has: flags, UUID,
/// number, and the type and the two numbers of the logical clock.
const FIXED_LEN: usize = 1 + 16 + 8 + 1 + 8 + 8;
/// The length in bytes of the fixed part of a MariaDB GTID event, which its format description also
/// has.
const MARIADB_GTID_HEADER_LEN: usize = 19;

/// Appends a GTID event, or a GTID_TAGGED event if the GTID has a tag. `event.transaction_length`
/// is written as it is. For a transaction whose other events have `rest` bytes (checksums included)
/// it should be `rest` + header + [`gtid_body_len`] + checksum.
pub fn gtid(base: EventBase, event: &GtidEvent, out: &mut Vec<u8>) -> usize {
    if !event.gtid.tsid.tag.is_none() {
        let start = begin_event(base, event_type::GTID_TAGGED, 0, out);
        write_tagged_body(event, out);
        return start;
    }
    let start = begin_event(base, event_type::GTID, 0, out);
    write_body(event, out);
    start
}

/// Appends an ANONYMOUS_GTID event, whose GTID is written as zeros.
pub fn anonymous_gtid(base: EventBase, event: &GtidEvent, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::ANONYMOUS_GTID, 0, out);
    write_body(&GtidEvent { gtid: NO_GTID, ..*event }, out);
    start
}

/// Returns the number of bytes of the event's body when the transaction's other events have
/// `rest_len` bytes and each event's checksum has `checksum_len`. Also returns the
/// `transaction_length` to write, which includes this event.
pub fn gtid_body_len(event: &GtidEvent, rest_len: u64, checksum_len: usize) -> (usize, u64) {
    if !event.gtid.tsid.tag.is_none() {
        return tagged_body_len(event, rest_len, checksum_len);
    }
    let timestamps = if event.original_commit_us == event.immediate_commit_us { 7 } else { 14 };
    let versions = if event.original_server_version == event.immediate_server_version { 4 } else { 8 };
    let ticket = if event.commit_group_ticket == 0 { 0 } else { 8 };
    let fixed = FIXED_LEN + timestamps + versions + ticket;
    // The length includes the bytes in which it is itself written: the shortest form that can hold
    // it is taken.
    let others = rest_len + (HEADER_LEN + fixed + checksum_len) as u64;
    let width = [(1, 250), (3, 0xffff), (4, 0xff_ffff)]
        .into_iter()
        .find(|(width, largest)| others + width <= *largest)
        .map_or(9, |(width, _)| width);
    (fixed + width as usize, others + width)
}

fn tagged_body_len(event: &GtidEvent, rest_len: u64, checksum_len: usize) -> (usize, u64) {
    let others = rest_len + (HEADER_LEN + checksum_len) as u64;
    let mut transaction_length = others;
    // The length includes the bytes in which it is itself written, so it grows until it fits.
    loop {
        let mut body = Vec::new();
        write_tagged_body(&GtidEvent { transaction_length, ..*event }, &mut body);
        let counted = others + body.len() as u64;
        if counted == transaction_length {
            return (body.len(), transaction_length);
        }
        transaction_length = counted;
    }
}

/// Appends the body of GTID_TAGGED. In front of the fields are the version of the format, the
/// number of bytes of the body, and the number of the last field that a reader must know.
fn write_tagged_body(event: &GtidEvent, out: &mut Vec<u8>) {
    let mut fields = Vec::with_capacity(96);
    put_serialized_uint(0, &mut fields);
    write_tagged_fields(event, &mut fields);
    // The number of bytes includes the bytes in which it is itself written.
    let mut head = Vec::new();
    let mut size = 0;
    while size != head.len() + fields.len() {
        size = head.len() + fields.len();
        head.clear();
        put_serialized_uint(1, &mut head);
        put_serialized_uint(size as u64, &mut head);
    }
    out.extend(head);
    out.extend(fields);
}

fn write_tagged_fields(event: &GtidEvent, out: &mut Vec<u8>) {
    use tagged_field as field;
    put_serialized_uint(field::FLAGS, out);
    put_serialized_uint(event.flags.into(), out);
    put_serialized_uint(field::UUID, out);
    for byte in event.gtid.tsid.uuid.0 {
        put_serialized_uint(byte.into(), out);
    }
    put_serialized_uint(field::GNO, out);
    put_serialized_int(event.gtid.gno as i64, out);
    put_serialized_uint(field::TAG, out);
    let tag = event.gtid.tsid.tag.as_str();
    put_serialized_uint(tag.len() as u64, out);
    out.extend_from_slice(tag.as_bytes());
    put_serialized_uint(field::LAST_COMMITTED, out);
    put_serialized_int(event.last_committed, out);
    put_serialized_uint(field::SEQUENCE_NUMBER, out);
    put_serialized_int(event.sequence_number, out);
    let mut put = |number: u64, value: u64| {
        put_serialized_uint(number, out);
        put_serialized_uint(value, out);
    };
    put(field::IMMEDIATE_COMMIT_US, event.immediate_commit_us);
    if event.original_commit_us != event.immediate_commit_us {
        put(field::ORIGINAL_COMMIT_US, event.original_commit_us);
    }
    put(field::TRANSACTION_LENGTH, event.transaction_length);
    put(field::IMMEDIATE_SERVER_VERSION, event.immediate_server_version.into());
    if event.original_server_version != event.immediate_server_version {
        put(field::ORIGINAL_SERVER_VERSION, event.original_server_version.into());
    }
    if event.commit_group_ticket != 0 {
        put(field::COMMIT_GROUP_TICKET, event.commit_group_ticket);
    }
}

fn write_body(event: &GtidEvent, out: &mut Vec<u8>) {
    let mut fixed = [0; FIXED_LEN];
    fixed[0] = event.flags;
    fixed[1..17].copy_from_slice(&event.gtid.tsid.uuid.0);
    fixed[17..25].copy_from_slice(&event.gtid.gno.to_le_bytes());
    fixed[25] = LOGICAL_TIMESTAMP_TYPECODE;
    fixed[26..34].copy_from_slice(&event.last_committed.to_le_bytes());
    fixed[34..].copy_from_slice(&event.sequence_number.to_le_bytes());
    out.extend_from_slice(&fixed);
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

/// Appends a MariaDB GTID event. Its server id must be that of `base`. `xid` names the XA
/// transaction that the group prepares or ends, if the event's flags say so. An event shorter than
/// `least_len` bytes is filled up with zeros, which MariaDB ignores.
pub fn mariadb_gtid(
    base: EventBase,
    event: &MariadbGtidEvent,
    xid: Option<&Xid>,
    least_len: usize,
    out: &mut Vec<u8>,
) -> usize {
    const ENDS_WITH_XID: u8 = mariadb_flag::PREPARED_XA | mariadb_flag::COMPLETED_XA;
    assert_eq!(base.server_id, event.gtid.server_id, "the server id of a MariaDB GTID is its header's");
    assert_eq!(event.flags & ENDS_WITH_XID != 0, xid.is_some(), "the flags tell of an XID");
    let start = begin_event(base, event_type::MARIADB_GTID, flag::SUPPRESS_USE, out);
    out.extend_from_slice(&event.gtid.seq.to_le_bytes());
    out.extend_from_slice(&event.gtid.domain.to_le_bytes());
    out.push(event.flags);
    if event.flags & mariadb_flag::GROUP_COMMIT_ID != 0 {
        out.extend_from_slice(&event.commit_id.to_le_bytes());
    }
    if let Some(xid) = xid {
        out.extend_from_slice(&(xid.format_id() as u32).to_le_bytes());
        out.extend_from_slice(&[xid.gtrid().len() as u8, xid.bqual().len() as u8]);
        out.extend_from_slice(xid.data());
    }
    let least_len = least_len.max(HEADER_LEN + MARIADB_GTID_HEADER_LEN);
    out.resize(out.len().max(start + least_len), 0);
    start
}
