//! The writing of events.
//!
//! Every function appends a header and a body to a buffer and returns where the event starts.
//! [`finish_event`] then fills in size, position and checksum. The caller passes an [`EventBase`]
//! with the fields that all headers share.

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
pub use frame::{EventBase, append_checksum, begin_event, finish_event};
pub(crate) use frame::{set_size_and_pos, set_u32};
pub use gtid::{anonymous_gtid, gtid, gtid_body_len, mariadb_gtid};
pub use query::{query, write_status};
pub use rows::rows;
pub use table_map::{RowMetadata, TableMapSource, table_map};

/// Appends a complete FORMAT_DESCRIPTION event. It always ends in a checksum, whatever the checksum
/// of the other events is. `created` is 0 except in the first file after a server start. `flags`
/// are those of the header.
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
    // The checksum is that of the event without this flag, since the flag is cleared in place when
    // the file is closed.
    out[start + FLAGS_OFFSET] |= (flags & flag::BINLOG_IN_USE) as u8;
    start
}

/// Appends a PREVIOUS_GTIDS event with its set.
pub fn previous_gtids(base: EventBase, set: &GtidSet, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::PREVIOUS_GTIDS, flag::IGNORABLE, out);
    set.encode(out);
    start
}

/// Appends the XID event that commits a transaction.
#[inline]
pub fn xid(base: EventBase, xid: u64, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::XID, 0, out);
    out.extend_from_slice(&xid.to_le_bytes());
    start
}

/// Appends the XA_PREPARE event at the end of an XA transaction that is prepared, or committed in
/// one phase.
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

/// Appends a ROTATE event: the log continues at `position` of `file`. `artificial` means that the
/// event is made up for a replica and not in the file.
pub fn rotate(base: EventBase, file: &[u8], position: u64, artificial: bool, out: &mut Vec<u8>) -> usize {
    let flags = if artificial { flag::ARTIFICIAL } else { 0 };
    let start = begin_event(base, event_type::ROTATE, flags, out);
    out.extend_from_slice(&position.to_le_bytes());
    out.extend_from_slice(file);
    start
}

/// Appends a STOP event: the server was shut down.
pub fn stop(base: EventBase, out: &mut Vec<u8>) -> usize {
    begin_event(base, event_type::STOP, 0, out)
}

/// Appends a complete HEARTBEAT event, which has the file in the body and 32 bits of the position
/// in the header.
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

/// Appends a TRANSACTION_PAYLOAD event. Its events have `uncompressed_len` bytes, and `payload`
/// when compressed with zstd. The fields are in MySQL's order.
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

/// Appends a HEARTBEAT_V2 event, which is for positions of 4 GB and more.
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

/// Appends an INTVAR event with a number that the next statement uses.
pub fn intvar(base: EventBase, intvar: IntvarEvent, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::INTVAR, 0, out);
    out.push(intvar.kind);
    out.extend_from_slice(&intvar.value.to_le_bytes());
    start
}

/// Appends a RAND event with the seeds of RAND() in the next statement.
pub fn rand(base: EventBase, seed1: u64, seed2: u64, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::RAND, 0, out);
    out.extend_from_slice(&seed1.to_le_bytes());
    out.extend_from_slice(&seed2.to_le_bytes());
    start
}

/// Appends a USER_VAR event with a user variable that the next statement uses.
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

/// Appends a ROWS_QUERY event with the statement that the following row events come from
/// (`binlog_rows_query_log_events`).
pub fn rows_query(base: EventBase, statement: &[u8], out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::ROWS_QUERY, flag::IGNORABLE, out);
    out.push(0); // An unused byte: it was the length once, and MySQL writes 0.
    out.extend_from_slice(statement);
    start
}

/// Appends an INCIDENT event: something is missing from the log here.
pub fn incident(base: EventBase, incident: IncidentEvent<'_>, out: &mut Vec<u8>) -> usize {
    let start = begin_event(base, event_type::INCIDENT, 0, out);
    let message = &incident.message[..incident.message.len().min(255)];
    out.extend_from_slice(&incident.number.to_le_bytes());
    out.push(message.len() as u8);
    out.extend_from_slice(message);
    start
}

/// A bit of a GTID list's `flags`: the replica has been sent everything that it asked for (`START
/// SLAVE UNTIL master_gtid_pos`).
pub const MARIADB_LIST_UNTIL_REACHED: u32 = 1 << 28;

/// Appends MariaDB's list of the last GTIDs before a file, or one that a source makes up for a
/// replica. `flags` is 0 or [`MARIADB_LIST_UNTIL_REACHED`].
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
