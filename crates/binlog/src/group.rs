//! Event groups: the events of one transaction, in the form in which the log keeps them.
//!
//! A group is its events in order, each in v4 format, **without** the event that starts it (GTID,
//! ANONYMOUS_GTID, MariaDB's GTID), **without** checksums, with `log_pos` 0, and with the
//! `table_id` of TABLE_MAP and row events set to that of this server's table. It starts with QUERY
//! `BEGIN` and ends with XID or QUERY `COMMIT`, or is one QUERY event (DDL).
//!
//! [`append_received`] makes a group from the events of a source, and [`emit`] turns it into the
//! bytes of a binary log file.

use crate::checksum::{CRC32_LEN, Checksum, crc32};
use crate::cursor::DecodeError;
use crate::encode::{self, EventBase, finish_event, set_size_and_pos};
use crate::event::{
    GtidEvent, HEADER_LEN, Header, MariadbGtidEvent, QueryEvent, event_type, flag, rows_kind,
};
use crate::reader::{EventReader, RawEvent, event_len};
use crate::xid::Xid;

/// The offset of the server id in an event's header.
const SERVER_ID_OFFSET: usize = 5;
/// The number of bytes of a table id in TABLE_MAP and row events.
const TABLE_ID_LEN: usize = 6;

/// Returns the events of a group, one after the other. Only their headers are read.
#[inline]
pub fn walk(group: &[u8]) -> EventReader<'_> {
    EventReader::new(group)
}

/// What [`append_received`] did with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The event is in the group.
    Appended,
    /// The event is of a type that no group has (checkpoint, heartbeat, ...) and was left out.
    LeftOut,
}

/// Appends an event that a source sent, in the form that groups have: without checksum, with the
/// size corrected and `log_pos` 0. Row events of version 1 become version 2 and MariaDB's
/// annotations become ROWS_QUERY, so that MySQL's replicas can read the group.
///
/// `event` is exactly one event, whose checksum has been verified. The event that starts the
/// transaction is not passed here.
#[inline]
pub fn append_received(event: &[u8], checksum: Checksum, group: &mut Vec<u8>) -> Result<Taken, DecodeError> {
    let header = Header::decode(event)?;
    if checksum == Checksum::None && has_form_of_groups(header.event_type) {
        let start = group.len();
        assert!(u32::try_from(event.len()).is_ok(), "an event of {} bytes", event.len());
        group.extend_from_slice(event);
        set_size_and_pos(group, start, event.len(), 0);
        return Ok(Taken::Appended);
    }
    let end = event
        .len()
        .checked_sub(checksum.len_bytes())
        .filter(|&end| end >= HEADER_LEN)
        .ok_or(DecodeError { offset: event.len(), what: "event too short for its checksum" })?;
    let start = group.len();
    match header.event_type {
        event_type::MARIADB_BINLOG_CHECKPOINT
        | event_type::MARIADB_GTID_LIST
        | event_type::HEARTBEAT
        | event_type::HEARTBEAT_V2
        | event_type::PREVIOUS_GTIDS
        | event_type::FORMAT_DESCRIPTION
        | event_type::ROTATE
        | event_type::STOP => return Ok(Taken::LeftOut),
        event_type::WRITE_ROWS_V1 | event_type::UPDATE_ROWS_V1 | event_type::DELETE_ROWS_V1 => {
            append_version_2(&event[..end], group)?;
        }
        event_type::MARIADB_ANNOTATE_ROWS => {
            let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
            encode::rows_query(base, &event[HEADER_LEN..end], group);
        }
        _ => group.extend_from_slice(&event[..end]),
    }
    finish_event(group, start, None, Checksum::None);
    Ok(Taken::Appended)
}

/// Reports whether a group has events of a type as a source sends them. Most events of transactions
/// are of these types.
#[inline]
fn has_form_of_groups(kind: u8) -> bool {
    matches!(
        kind,
        event_type::QUERY
            | event_type::XID
            | event_type::TABLE_MAP
            | event_type::WRITE_ROWS
            | event_type::UPDATE_ROWS
            | event_type::DELETE_ROWS
    )
}

/// Appends a version 1 row event with the type of version 2 and an empty extra data field.
fn append_version_2(event: &[u8], group: &mut Vec<u8>) -> Result<(), DecodeError> {
    const FIXED_LEN: usize = HEADER_LEN + TABLE_ID_LEN + 2;
    let (fixed, rest) = event
        .split_at_checked(FIXED_LEN)
        .ok_or(DecodeError { offset: event.len(), what: "row event ends early" })?;
    let start = group.len();
    group.extend_from_slice(fixed);
    group[start + 4] += event_type::WRITE_ROWS - event_type::WRITE_ROWS_V1;
    group.extend_from_slice(&2u16.to_le_bytes());
    group.extend_from_slice(rest);
    Ok(())
}

/// Appends the BEGIN that a MariaDB GTID event stands for, or nothing for a standalone group.
/// `header` is the header of that event.
pub fn begin_from_mariadb(header: &Header, gtid: &MariadbGtidEvent, group: &mut Vec<u8>) {
    if gtid.is_standalone() {
        return;
    }
    let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
    begin(base, 0, &[], group);
}

const BEGIN: QueryEvent<'static> = QueryEvent {
    thread_id: 0,
    exec_time: 0,
    error_code: 0,
    status_vars: &[],
    schema: b"",
    statement: b"BEGIN",
};

/// Appends QUERY `BEGIN`. `status_vars` are encoded status variables ([`encode::write_status`]).
pub fn begin(base: EventBase, thread_id: u32, status_vars: &[u8], group: &mut Vec<u8>) {
    let query = QueryEvent { thread_id, status_vars, ..BEGIN };
    let start = encode::query(base, &query, flag::SUPPRESS_USE, group);
    finish_event(group, start, None, Checksum::None);
}

/// Appends the `XA START` that a MariaDB GTID event stands for when it begins a prepared XA
/// transaction.
pub fn start_xa_from_mariadb(header: &Header, xid: &Xid, group: &mut Vec<u8>) {
    let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
    let statement = format!("XA START {xid}");
    let query = QueryEvent { statement: statement.as_bytes(), ..BEGIN };
    let start = encode::query(base, &query, flag::SUPPRESS_USE, group);
    finish_event(group, start, None, Checksum::None);
}

/// Returns the table id of a TABLE_MAP or row event. `None` for other events.
#[inline]
pub fn table_id(event: &RawEvent<'_>) -> Result<Option<u64>, DecodeError> {
    if !has_table_id(event.header.event_type) {
        return Ok(None);
    }
    match event.bytes.get(HEADER_LEN..HEADER_LEN + TABLE_ID_LEN) {
        Some(id) => {
            let mut wide = [0; 8];
            wide[..TABLE_ID_LEN].copy_from_slice(id);
            Ok(Some(u64::from_le_bytes(wide)))
        }
        None => Err(DecodeError { offset: event.offset, what: "event too short for a table id" }),
    }
}

#[inline]
fn has_table_id(kind: u8) -> bool {
    kind == event_type::TABLE_MAP || kind == event_type::PARTIAL_UPDATE_ROWS || rows_kind(kind).is_some()
}

/// Overwrites the table id of the TABLE_MAP or row event that starts at `offset` of the group.
///
/// Panics if there is no such event: offsets come from [`walk`] over the same group.
#[inline]
pub fn set_table_id(group: &mut [u8], offset: usize, table_id: u64) {
    assert!(has_table_id(group[offset + 4]), "event type {} has no table id", group[offset + 4]);
    let at = offset + HEADER_LEN;
    group[at..at + TABLE_ID_LEN].copy_from_slice(&table_id.to_le_bytes()[..TABLE_ID_LEN]);
}

/// Overwrites the server id of the event that starts at `offset` of the group.
pub fn set_server_id(group: &mut [u8], offset: usize, server_id: u32) {
    assert!(offset + HEADER_LEN <= group.len(), "an event of the group is at {offset}");
    encode::set_u32(group, offset + SERVER_ID_OFFSET, server_id);
}

/// Overwrites all table ids of a group. `translate` returns the new id for an old one, or `None` to
/// leave it.
pub fn set_table_ids(
    group: &mut [u8],
    mut translate: impl FnMut(u64) -> Option<u64>,
) -> Result<(), DecodeError> {
    let mut at = 0;
    while at < group.len() {
        let event = match walk(&group[at..]).next() {
            Some(event) => event.map_err(|error| DecodeError { offset: at + error.offset, ..error })?,
            None => break,
        };
        let (len, id) = (event.bytes.len(), table_id(&event)?);
        if let Some(new_id) = id.and_then(&mut translate) {
            set_table_id(group, at, new_id);
        }
        at += len;
    }
    Ok(())
}

/// The event that starts a group in a binary log file.
#[derive(Clone, Copy, Debug)]
pub enum GroupStart<'a> {
    /// A GTID event. Its `transaction_length` is computed here.
    Gtid(&'a GtidEvent),
    /// An ANONYMOUS_GTID event. Its `transaction_length` is computed here.
    Anonymous(&'a GtidEvent),
}

/// Appends a group in the form of a binary log file: the event that starts it, then its events with
/// `log_pos` and checksum filled in. `file_offset` is the offset in the file of the first byte.
/// Returns the number of bytes.
///
/// The starting event gets the timestamp and server id of the group's first event.
pub fn emit(
    group: &[u8],
    start: GroupStart<'_>,
    file_offset: u64,
    checksum: Checksum,
    out: &mut Vec<u8>,
) -> Result<u64, DecodeError> {
    let first = Header::decode(group)?;
    let events = count_events(group)?;
    let begin = out.len();
    out.reserve(group.len() + events as usize * checksum.len_bytes() + 128);
    emit_start(&first, (group.len() as u64, events), start, file_offset, checksum, out);
    let events_offset = file_offset + (out.len() - begin) as u64;
    emit_events(group, events_offset, checksum, out)?;
    Ok((out.len() - begin) as u64)
}

/// Returns how many events there are.
fn count_events(group: &[u8]) -> Result<u64, DecodeError> {
    let (mut at, mut count) = (0, 0);
    while at < group.len() {
        at += event_len(&group[at..]).map_err(|error| DecodeError { offset: at + error.offset, ..error })?;
        count += 1;
    }
    Ok(count)
}

/// Appends the event that starts a group. `first` is the header of the group's first event, and the
/// group has this many bytes and events. This and [`emit_events`] of the group's events, run by
/// run, do the same as [`emit`].
pub fn emit_start(
    first: &Header,
    (group_len, events): (u64, u64),
    start: GroupStart<'_>,
    file_offset: u64,
    checksum: Checksum,
    out: &mut Vec<u8>,
) {
    let rest_len = group_len + events * checksum.len_bytes() as u64;
    let begin = out.len();
    let base = EventBase { timestamp: first.timestamp, server_id: first.server_id };
    let (GroupStart::Gtid(gtid) | GroupStart::Anonymous(gtid)) = start;
    let (_, transaction_length) = encode::gtid_body_len(gtid, rest_len, checksum.len_bytes());
    let gtid = GtidEvent { transaction_length, ..*gtid };
    let at = match start {
        GroupStart::Gtid(_) => encode::gtid(base, &gtid, out),
        GroupStart::Anonymous(_) => encode::anonymous_gtid(base, &gtid, out),
    };
    finish_event(out, at, Some(file_offset), checksum);
    debug_assert_eq!((out.len() - begin) as u64 + rest_len, transaction_length);
}

/// Appends some events of a group with `log_pos` and checksum. `file_offset` is the offset in the
/// file of the first byte.
pub fn emit_events(
    events: &[u8],
    file_offset: u64,
    checksum: Checksum,
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let (begin, mut read) = (out.len(), 0);
    while read < events.len() {
        let len = event_len(&events[read..])
            .map_err(|error| DecodeError { offset: read + error.offset, ..error })?;
        let at = out.len();
        out.extend_from_slice(&events[read..read + len]);
        read += len;
        let size = len + checksum.len_bytes();
        let end_offset = file_offset + (at - begin + size) as u64;
        set_size_and_pos(out, at, size, end_offset);
        if checksum == Checksum::Crc32 {
            let crc = crc32(&out[at..]);
            out.extend_from_slice(&crc.to_le_bytes());
        }
        debug_assert_eq!(out.len() - at, size, "checksums have {CRC32_LEN} bytes");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
