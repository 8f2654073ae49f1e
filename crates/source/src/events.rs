//! The events that a source adds to the groups in the redo log: the head and the end of a file, and
//! the events that a dump session makes up. The codec is in crate `binlog`. This module decides
//! which events there are, with which settings, and where.

use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{
    EVENT_SIZE_OFFSET, Event, FLAG_MAY_HAVE_SBR, FLAGS_OFFSET, Format, GtidEvent, HEADER_LEN, LOG_POS_OFFSET,
    flag,
};
use binlog::group::GroupStart;
use binlog::gtid::{Gtid, GtidSet, MariadbGtid, Uuid};
pub use binlog::{Checksum, MAGIC, event::event_type};
use engine::CommitHeader;
use os::disk::File;

/// The length in bytes of the CRC-32 behind an event.
pub const CHECKSUM_BYTES: usize = 4;
/// The length in bytes of the longest possible rotate or stop event.
pub(crate) const LONGEST_END_EVENT_BYTES: u64 = 19 + 8 + 512 + 4;
/// The offset of the creation time (seconds) in a format description event, behind the versions of
/// the binary log and of the server.
const CREATED_OFFSET: usize = HEADER_LEN + 2 + 50;

/// Returns the type of an event, whose header must be there.
#[inline]
pub fn kind(event: &[u8]) -> u8 {
    event[4]
}

/// Returns the length in bytes of the whole event, as its header says.
#[inline]
pub fn size(event: &[u8]) -> usize {
    u32_at(event, EVENT_SIZE_OFFSET) as usize
}

/// Returns the time when the event was made, in seconds of unix time.
#[inline]
pub fn timestamp(event: &[u8]) -> u32 {
    u32_at(event, 0)
}

#[inline]
fn u32_at(event: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(event[at..at + 4].try_into().expect("four bytes"))
}

fn base_of_now(server_id: u32) -> EventBase {
    EventBase { timestamp: (os::clock::now_us() / 1_000_000) as u32, server_id }
}

/// Returns the first bytes of a file of the binary log: magic number, format description, previous
/// GTIDs. A file that `follows` another in the life of one server has no creation time, because
/// replicas take a creation time for a restart, and drop temporary tables.
pub(crate) fn file_head(
    server_version: &str,
    server_id: u32,
    previous: &GtidSet,
    follows: bool,
    checksum: Checksum,
) -> Vec<u8> {
    let base = base_of_now(server_id);
    let mut out = plain_head(base, server_version, if follows { 0 } else { base.timestamp }, 0, checksum);
    let offset = out.len() as u64;
    let start = encode::previous_gtids(base, previous, &mut out);
    finish_event(&mut out, start, Some(offset), checksum);
    out
}

/// Returns the magic number and a format description.
fn plain_head(
    base: EventBase,
    server_version: &str,
    created_s: u32,
    flags: u16,
    checksum: Checksum,
) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let offset = Some(out.len() as u64);
    encode::format_description(base, server_version, created_s, checksum, flags, offset, &mut out);
    out
}

/// Returns the first bytes of a file of the relay log.
pub fn relay_file_head(server_version: &str) -> Vec<u8> {
    let base = base_of_now(0);
    plain_head(base, server_version, base.timestamp, flag::RELAY_LOG, Checksum::Crc32)
}

/// Appends a rotate event that begins at `pos`.
pub(crate) fn append_rotate(
    out: &mut Vec<u8>,
    pos: u64,
    server_id: u32,
    next_file: &str,
    checksum: Checksum,
) {
    let start = encode::rotate(base_of_now(server_id), next_file.as_bytes(), MAGIC.len() as u64, false, out);
    finish_event(out, start, Some(pos), checksum);
}

/// Appends a stop event that begins at `pos`.
pub(crate) fn append_stop(out: &mut Vec<u8>, pos: u64, server_id: u32, checksum: Checksum) {
    let start = encode::stop(base_of_now(server_id), out);
    finish_event(out, start, Some(pos), checksum);
}

/// Returns the event with which a sender says in which file it goes on.
pub fn fake_rotate(file: &str, pos: u64, server_id: u32, checksum: Checksum) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let start = encode::rotate(EventBase { timestamp: 0, server_id }, file.as_bytes(), pos, true, &mut out);
    finish_event(&mut out, start, None, checksum);
    out
}

/// Returns the event with which a sender says that it is alive, and how far it has searched the
/// log.
pub(crate) fn heartbeat(file: &str, pos: u64, server_id: u32, checksum: Checksum) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    encode::heartbeat(server_id, file, pos, checksum, &mut out);
    out
}

/// Returns the GTID event of a committed group. `numbers` are `last_committed` and
/// `sequence_number`.
pub(crate) fn gtid_event(header: &CommitHeader, numbers: (u64, u64)) -> GtidEvent {
    GtidEvent {
        gtid: header.gtid.unwrap_or(Gtid::new(Uuid([0; 16]), 0)),
        // A group has only row events, except with DDL or binlog_format = STATEMENT.
        flags: if header.ddl || header.replaced { FLAG_MAY_HAVE_SBR } else { 0 },
        last_committed: numbers.0 as i64,
        sequence_number: numbers.1 as i64,
        immediate_commit_us: header.immediate_commit_us,
        original_commit_us: header.original_commit_us,
        transaction_length: 0,
        immediate_server_version: header.immediate_server_version,
        original_server_version: header.original_server_version,
        commit_group_ticket: 0,
    }
}

/// Returns the start of a group that has this GTID event.
pub(crate) fn group_start<'e>(header: &CommitHeader, event: &'e GtidEvent) -> GroupStart<'e> {
    if header.gtid.is_some() { GroupStart::Gtid(event) } else { GroupStart::Anonymous(event) }
}

/// An event at the head of a file.
pub struct HeadEvent {
    /// The offset of the event in the file.
    pub pos: u64,
    /// The event's bytes, with its checksum.
    pub bytes: Vec<u8>,
}

impl HeadEvent {
    /// Returns the offset of the event's end in the file.
    pub fn end(&self) -> u64 {
        self.pos + self.bytes.len() as u64
    }
}

/// Reads the events at the head of a file: the format description and, if there is one, the
/// previous GTIDs.
///
/// # Errors
/// Returns text that says why the head cannot be read.
pub fn read_head(file: &dyn File) -> Result<Vec<HeadEvent>, String> {
    let mut magic = [0; MAGIC.len()];
    file.read_exact_at(&mut magic, 0).map_err(|error| error.to_string())?;
    if magic != MAGIC {
        return Err("this is no binary log file: its magic number is wrong".to_string());
    }
    let len = file.len_bytes().map_err(|error| error.to_string())?;
    let mut events: Vec<HeadEvent> = Vec::new();
    let mut pos = MAGIC.len() as u64;
    for expected in [event_type::FORMAT_DESCRIPTION, event_type::PREVIOUS_GTIDS] {
        let mut header = [0; HEADER_LEN];
        let got = file.read_at(&mut header, pos).map_err(|error| error.to_string())?;
        if got < HEADER_LEN || kind(&header) != expected {
            break;
        }
        let damaged = || format!("the event at position {pos} is damaged");
        let size = size(&header);
        if size < HEADER_LEN || pos + size as u64 > len {
            return Err(damaged());
        }
        let mut bytes = vec![0; size];
        file.read_exact_at(&mut bytes, pos).map_err(|error| error.to_string())?;
        // The checksum was computed without the flag of an open file, which is set and cleared in
        // place.
        let flags = bytes[FLAGS_OFFSET];
        bytes[FLAGS_OFFSET] &= !(flag::BINLOG_IN_USE as u8);
        if expected == event_type::FORMAT_DESCRIPTION || checksum_of_head(&events)? == Checksum::Crc32 {
            binlog::checksum::verify_checksum(&bytes).map_err(|_| damaged())?;
        }
        bytes[FLAGS_OFFSET] = flags;
        pos += size as u64;
        events.push(HeadEvent { pos: pos - size as u64, bytes });
    }
    Ok(events)
}

/// Returns the checksum of a file's events, as its format description says.
pub(crate) fn checksum_of_head(head: &[HeadEvent]) -> Result<Checksum, String> {
    head.first()
        .and_then(|format| checksum_of_format(&format.bytes))
        .ok_or_else(|| "its format description event is damaged".to_string())
}

/// Returns the GTIDs in the previous GTIDs event of a head. Without such an event the set is empty.
pub(crate) fn previous_gtids_of(head: &[HeadEvent]) -> Result<GtidSet, String> {
    let Some(event) = head.iter().find(|event| kind(&event.bytes) == event_type::PREVIOUS_GTIDS) else {
        return Ok(GtidSet::default());
    };
    let body = &event.bytes[HEADER_LEN..event.bytes.len() - checksum_of_head(head)?.len_bytes()];
    GtidSet::decode(body).map_err(|_| "its previous GTIDs event is damaged".to_string())
}

/// Reports whether the bytes are one whole rotate or stop event.
pub(crate) fn is_end_event(bytes: &[u8], checksum: Checksum) -> bool {
    bytes.len() >= HEADER_LEN + checksum.len_bytes()
        && matches!(kind(bytes), event_type::ROTATE | event_type::STOP)
        && size(bytes) == bytes.len()
        && (checksum == Checksum::None || binlog::checksum::verify_checksum(bytes).is_ok())
}

/// Returns the checksum with which a format description event and all events behind it end, as the
/// event says. `None` means that the event is damaged.
pub fn checksum_of_format(event: &[u8]) -> Option<Checksum> {
    match binlog::decode(event, &Format::new(Checksum::Crc32)) {
        Ok((_, Event::FormatDescription(format))) => Some(format.checksum),
        _ => None,
    }
}

/// The part of a file that a client gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// The client gets the file from its first transaction on.
    First,
    /// The client reads by GTID and has the file's first transaction already.
    Later,
    /// The client reads from a position behind the head.
    Within,
}

/// Returns the format description of a file in the form for a client, never marked as "in use". It
/// has its creation time only for a client that begins with the file's first transaction, because
/// another would take the server for restarted. It has no position only for a client that begins
/// within the file. A client that comes back by GTID after its connection broke within a
/// transaction needs the position: an event without one counts as made up, and MySQL's coordinator
/// of appliers then does not drop the transaction's first part before it hands out the whole
/// transaction again (9.7.4 ends in a segmentation fault).
pub(crate) fn format_for_client(event: &[u8], from: Beginning, checksum: Checksum) -> Vec<u8> {
    let mut out = event[..event.len() - CHECKSUM_BYTES].to_vec();
    out[FLAGS_OFFSET] &= !(flag::BINLOG_IN_USE as u8);
    if from == Beginning::Within {
        out[LOG_POS_OFFSET..LOG_POS_OFFSET + 4].fill(0);
    }
    if from != Beginning::First {
        out[CREATED_OFFSET..CREATED_OFFSET + 4].fill(0);
    }
    if checksum == Checksum::None
        && let Some(algorithm) = out.last_mut()
    {
        *algorithm = 0;
    }
    // A format description has a checksum whether or not the other events have one.
    encode::append_checksum(&mut out, 0);
    out
}

/// Returns the format description of a file in the form for a replica that reads by MariaDB's
/// GTIDs. It has MariaDB's own event types, and is marked as made up because it is shorter in the
/// file. The version stays this server's: MariaDB takes it to read the settings in QUERY events as
/// MySQL's.
pub(crate) fn format_for_mariadb(event: &[u8], checksum: Checksum) -> Vec<u8> {
    const LENS_OFFSET: usize = CREATED_OFFSET + 4 + 1;
    const FIRST_OF_MARIADB: usize = event_type::MARIADB_ANNOTATE_ROWS as usize;
    let mut out = event[..event.len() - CHECKSUM_BYTES - 1].to_vec();
    out[FLAGS_OFFSET] &= !(flag::BINLOG_IN_USE as u8);
    out[LOG_POS_OFFSET..LOG_POS_OFFSET + 4].fill(0);
    out[CREATED_OFFSET..CREATED_OFFSET + 4].fill(0);
    out.resize(LENS_OFFSET + FIRST_OF_MARIADB - 1, 0);
    out.extend_from_slice(&encode::MARIADB_POST_HEADER_LENS);
    out.push(if checksum == Checksum::Crc32 { 1 } else { 0 });
    let size = (out.len() + CHECKSUM_BYTES) as u32;
    out[EVENT_SIZE_OFFSET..EVENT_SIZE_OFFSET + 4].copy_from_slice(&size.to_le_bytes());
    encode::append_checksum(&mut out, 0);
    out
}

/// Returns the event with which a sender tells a MariaDB replica the transactions that precede what
/// comes, and the position in the file.
pub(crate) fn gtid_list(
    list: &[MariadbGtid],
    flags: u32,
    pos: u64,
    server_id: u32,
    checksum: Checksum,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let start = encode::mariadb_gtid_list(EventBase { timestamp: 0, server_id }, list, flags, true, &mut out);
    let len = (out.len() + checksum.len_bytes()) as u64;
    finish_event(&mut out, start, Some(pos.saturating_sub(len)), checksum);
    out
}

/// Writes the event without its checksum into `out`, for a client that wants no checksums.
pub(crate) fn without_checksum(event: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&event[..event.len() - CHECKSUM_BYTES]);
    let size = out.len() as u32;
    out[EVENT_SIZE_OFFSET..EVENT_SIZE_OFFSET + 4].copy_from_slice(&size.to_le_bytes());
}

/// Returns the GTID in a GTID event. `None` means that the event is none, or is damaged.
pub(crate) fn gtid_of(event: &[u8], checksum: Checksum) -> Option<Gtid> {
    match binlog::decode(event, &Format::new(checksum)) {
        Ok((_, Event::Gtid(event))) => Some(event.gtid),
        _ => None,
    }
}
