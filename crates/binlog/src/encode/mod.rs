//! Writing events.
//!
//! Every function appends a header and a body to a buffer and returns where the event starts;
//! [`finish_event`] then fills in size, position and checksum. The caller says once, in an
//! [`EventBase`], what all headers share.

mod frame;
mod gtid;
mod query;
mod rows;
mod table_map;

use crate::checksum::Checksum;
use crate::cursor::put_packed_int;
use crate::event::{
    EVENT_SIZE_OFFSET, FLAGS_OFFSET, HEADER_LEN, IncidentEvent, IntvarEvent, LOG_POS_OFFSET,
    SERVER_VERSION_LEN, UserVarEvent, event_type, flag,
};
pub use crate::event::{MARIADB_POST_HEADER_LENS, POST_HEADER_LENS};
use crate::gtid::{GtidSet, MariadbGtid};
use crate::xid::Xid;
pub(crate) use frame::set_u32;
pub use frame::{EventBase, append_checksum, begin_event, finish_event};
pub use gtid::{anonymous_gtid, gtid, gtid_body_len, mariadb_gtid};
pub use query::{query, write_status};
pub use rows::rows;
pub use table_map::{RowMetadata, TableMapSource, table_map};

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
    assert_eq!(xid.data().len(), xid.gtrid().len() + xid.bqual().len(), "an XID is its two parts");
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
