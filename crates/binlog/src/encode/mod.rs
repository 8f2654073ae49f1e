//! Writing events.
//!
//! Every function appends a header and a body to a buffer and returns where the event starts;
//! [`finish_event`] then fills in size, position and checksum. The caller says once, in an
//! [`EventBase`], what all headers share.

mod gtid;
mod query;
mod rows;
mod table_map;

use crate::checksum::{Checksum, crc32};
use crate::cursor::put_packed_int;
use crate::event::{
    EVENT_SIZE_OFFSET, FLAGS_OFFSET, HEADER_LEN, Header, IncidentEvent, IntvarEvent, LOG_POS_OFFSET,
    SERVER_VERSION_LEN, UserVarEvent, event_type, flag,
};
use crate::gtid::{GtidSet, MariadbGtid};
use crate::xid::Xid;
pub use gtid::{anonymous_gtid, gtid, gtid_body_len, mariadb_gtid};
pub use query::{query, write_status};
pub use rows::rows;
pub use table_map::{RowMetadata, TableMapSource, table_map};

/// Lengths of the fixed parts of the event types 1 to 42, as MySQL 9.7 writes them and with the
/// version 1 row events of older servers.
pub const POST_HEADER_LENS: [u8; 42] = [
    0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 99, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42,
    42, 0, 18, 52, 0, 10, 40, 0, 0,
];

/// Lengths of the fixed parts of MariaDB's own event types, 160 to 171, as MariaDB 10.11 writes
/// them.
pub const MARIADB_POST_HEADER_LENS: [u8; 12] = [0, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10];

/// What the headers of events that belong together share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventBase {
    /// Unix seconds.
    pub timestamp: u32,
    /// The server that wrote the events first.
    pub server_id: u32,
}

/// Appends a header without size and position; returns where the event starts.
#[inline]
pub fn begin_event(base: EventBase, event_type: u8, flags: u16, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let EventBase { timestamp, server_id } = base;
    Header { timestamp, event_type, server_id, event_size: 0, log_pos: 0, flags }.encode(out);
    start
}

/// Fills in the size of the event that starts at `start` and ends with the buffer, its `log_pos`
/// and its checksum. `file_offset` is where in its binary log file the event starts; None leaves
/// `log_pos` 0.
#[inline]
pub fn finish_event(out: &mut Vec<u8>, start: usize, file_offset: Option<u64>, checksum: Checksum) {
    let size = out.len() - start + checksum.len_bytes();
    assert!(size >= HEADER_LEN && u32::try_from(size).is_ok(), "an event of {size} bytes");
    set_u32(out, start + EVENT_SIZE_OFFSET, size as u32);
    // The field has 32 bits; in a file over 4 GB it wraps, as MySQL's does.
    set_u32(out, start + LOG_POS_OFFSET, file_offset.map_or(0, |offset| (offset + size as u64) as u32));
    if checksum == Checksum::Crc32 {
        append_checksum(out, start);
    }
}

/// Appends the CRC-32 of everything from `start` on.
#[inline]
pub fn append_checksum(out: &mut Vec<u8>, start: usize) {
    let crc = crc32(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

pub(crate) fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Appends a whole FORMAT_DESCRIPTION event; it always ends in a checksum, whatever the checksum of
/// the other events is. `created` is 0 except in the first file after a server start. `flags` are
/// the header's.
pub fn format_description(
    base: EventBase,
    server_version: &str,
    created: u32,
    checksum: Checksum,
    flags: u16,
    file_offset: Option<u64>,
    out: &mut Vec<u8>,
) -> usize {
    let start = begin_event(base, event_type::FORMAT_DESCRIPTION, flags & !flag::BINLOG_IN_USE, out);
    out.extend_from_slice(&4u16.to_le_bytes());
    let mut version = [0; SERVER_VERSION_LEN];
    let len = server_version.len().min(SERVER_VERSION_LEN - 1);
    version[..len].copy_from_slice(&server_version.as_bytes()[..len]);
    out.extend_from_slice(&version);
    out.extend_from_slice(&created.to_le_bytes());
    out.push(HEADER_LEN as u8);
    out.extend_from_slice(&POST_HEADER_LENS);
    out.push(if checksum == Checksum::Crc32 { 1 } else { 0 });
    finish_event(out, start, file_offset, Checksum::Crc32);
    // The checksum is that of the event with this flag clear: it is cleared in place when the file
    // is closed.
    out[start + FLAGS_OFFSET] |= (flags & flag::BINLOG_IN_USE) as u8;
    start
}

/// Appends the body-less start of a PREVIOUS_GTIDS event with its set.
pub fn previous_gtids(base: EventBase, set: &GtidSet, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::PREVIOUS_GTIDS, flag::IGNORABLE, out);
    set.encode(out);
    start
}

/// COMMIT of a transaction.
#[inline]
pub fn xid(base: EventBase, xid: u64, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::XID, 0, out);
    out.extend_from_slice(&xid.to_le_bytes());
    start
}

/// The end of an XA transaction that is prepared, or committed in one phase.
pub fn xa_prepare(base: EventBase, xid: &Xid, one_phase: bool, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::XA_PREPARE, 0, out);
    out.push(u8::from(one_phase));
    out.extend_from_slice(&(xid.format_id() as u32).to_le_bytes());
    out.extend_from_slice(&(xid.gtrid().len() as u32).to_le_bytes());
    out.extend_from_slice(&(xid.bqual().len() as u32).to_le_bytes());
    out.extend_from_slice(xid.data());
    start
}

/// The log goes on at `position` of `file`. `artificial`: made up for a replica, not in the file.
pub fn rotate(base: EventBase, file: &[u8], position: u64, artificial: bool, out: &mut Vec<u8>) -> usize {
    let flags = if artificial { flag::ARTIFICIAL } else { 0 };
    let start = begin_event(base, event_type::ROTATE, flags, out);
    out.extend_from_slice(&position.to_le_bytes());
    out.extend_from_slice(file);
    start
}

/// The server was shut down.
pub fn stop(base: EventBase, out: &mut Vec<u8>) -> usize {
    begin_event(base, event_type::STOP, 0, out)
}

/// A whole HEARTBEAT event: the file in the body, the position (32 bits of it) in the header.
pub fn heartbeat(server_id: u32, file: &str, position: u64, checksum: Checksum, out: &mut Vec<u8>) -> usize {
    let start = begin_event(EventBase { timestamp: 0, server_id }, event_type::HEARTBEAT, 0, out);
    out.extend_from_slice(file.as_bytes());
    finish_event(out, start, None, Checksum::None);
    let size = (out.len() - start + checksum.len_bytes()) as u32;
    set_u32(out, start + EVENT_SIZE_OFFSET, size);
    set_u32(out, start + LOG_POS_OFFSET, position as u32);
    if checksum == Checksum::Crc32 {
        append_checksum(out, start);
    }
    start
}

/// A TRANSACTION_PAYLOAD of events that have `uncompressed_len` bytes and are `payload` when
/// compressed with zstd. The fields are in MySQL's order.
pub fn transaction_payload(
    base: EventBase,
    uncompressed_len: u64,
    payload: &[u8],
    out: &mut Vec<u8>,
) -> usize {
    const PAYLOAD_SIZE: u64 = 1;
    const COMPRESSION: u64 = 2;
    const UNCOMPRESSED_SIZE: u64 = 3;
    let start = begin_event(base, event_type::TRANSACTION_PAYLOAD, 0, out);
    let fields = [
        (COMPRESSION, crate::event::COMPRESSION_ZSTD),
        (UNCOMPRESSED_SIZE, uncompressed_len),
        (PAYLOAD_SIZE, payload.len() as u64),
    ];
    for (field, value) in fields {
        let mut bytes = Vec::with_capacity(9);
        put_packed_int(value, &mut bytes);
        put_packed_int(field, out);
        put_packed_int(bytes.len() as u64, out);
        out.extend_from_slice(&bytes);
    }
    out.push(0);
    out.extend_from_slice(payload);
    start
}

/// HEARTBEAT_V2, for positions of 4 GB and more.
pub fn heartbeat_v2(server_id: u32, file: &str, position: u64, out: &mut Vec<u8>) -> usize {
    let start = begin_event(EventBase { timestamp: 0, server_id }, event_type::HEARTBEAT_V2, 0, out);
    out.push(1);
    put_packed_int(file.len() as u64, out);
    out.extend_from_slice(file.as_bytes());
    let mut value = Vec::new();
    put_packed_int(position, &mut value);
    out.push(2);
    put_packed_int(value.len() as u64, out);
    out.extend_from_slice(&value);
    out.push(0);
    start
}

/// A number that the next statement uses.
pub fn intvar(base: EventBase, intvar: IntvarEvent, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::INTVAR, 0, out);
    out.push(intvar.kind);
    out.extend_from_slice(&intvar.value.to_le_bytes());
    start
}

/// The seeds of RAND() in the next statement.
pub fn rand(base: EventBase, seed1: u64, seed2: u64, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::RAND, 0, out);
    out.extend_from_slice(&seed1.to_le_bytes());
    out.extend_from_slice(&seed2.to_le_bytes());
    start
}

/// A user variable that the next statement uses.
pub fn user_var(base: EventBase, var: &UserVarEvent<'_>, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::USER_VAR, 0, out);
    out.extend_from_slice(&(var.name.len() as u32).to_le_bytes());
    out.extend_from_slice(var.name);
    match &var.value {
        None => out.push(1),
        Some(value) => {
            out.extend_from_slice(&[0, value.kind]);
            out.extend_from_slice(&value.collation.to_le_bytes());
            out.extend_from_slice(&(value.bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(value.bytes);
            out.push(u8::from(value.unsigned));
        }
    }
    start
}

/// The statement that the following row events come from (`binlog_rows_query_log_events`).
pub fn rows_query(base: EventBase, statement: &[u8], out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::ROWS_QUERY, flag::IGNORABLE, out);
    out.push(0); // once the length, which 255 bytes were too few for; MySQL writes 0
    out.extend_from_slice(statement);
    start
}

/// Something is missing from the log here.
pub fn incident(base: EventBase, incident: IncidentEvent<'_>, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::INCIDENT, 0, out);
    let message = &incident.message[..incident.message.len().min(255)];
    out.extend_from_slice(&incident.number.to_le_bytes());
    out.push(message.len() as u8);
    out.extend_from_slice(message);
    start
}

/// `flags` of a GTID list: the replica has been sent what it wanted to have (`START SLAVE UNTIL
/// master_gtid_pos`).
pub const MARIADB_LIST_UNTIL_REACHED: u32 = 1 << 28;

/// MariaDB's list of the last GTIDs before a file, or one that a source makes up for a replica.
/// `flags` is 0 or [`MARIADB_LIST_UNTIL_REACHED`].
pub fn mariadb_gtid_list(
    base: EventBase,
    list: &[MariadbGtid],
    flags: u32,
    artificial: bool,
    out: &mut Vec<u8>,
) -> usize {
    let header_flags = if artificial { flag::ARTIFICIAL } else { 0 };
    let start = begin_event(base, event_type::MARIADB_GTID_LIST, header_flags, out);
    out.extend_from_slice(&(list.len() as u32 | flags).to_le_bytes());
    for gtid in list {
        out.extend_from_slice(&gtid.domain.to_le_bytes());
        out.extend_from_slice(&gtid.server_id.to_le_bytes());
        out.extend_from_slice(&gtid.seq.to_le_bytes());
    }
    start
}

#[cfg(test)]
mod tests;
