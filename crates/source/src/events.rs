//! The events that a source adds to the groups that the log holds: the head and end of a file, and
//! what a dump session makes up. The codec is crate `binlog`'s; here is which events, with which
//! settings, and where.

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

/// Length of the CRC-32 behind an event.
pub const CHECKSUM_BYTES: usize = 4;
/// The longest rotate or stop event there can be.
pub(crate) const LONGEST_END_EVENT_BYTES: u64 = 19 + 8 + 512 + 4;
/// Offset of the seconds of creation in a format description event: behind the binary log's version
/// and the server's.
const CREATED_OFFSET: usize = HEADER_LEN + 2 + 50;

/// Type of an event whose header is known to be there.
pub fn kind(event: &[u8]) -> u8 {
    event[4]
}

/// Length of the whole event, as its header says.
pub fn size(event: &[u8]) -> usize {
    u32_at(event, EVENT_SIZE_OFFSET) as usize
}

/// When the event was made: unix time in seconds.
pub fn timestamp(event: &[u8]) -> u32 {
    u32_at(event, 0)
}

fn u32_at(event: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(event[at..at + 4].try_into().expect("four bytes"))
}

fn base_of_now(server_id: u32) -> EventBase {
    EventBase { timestamp: (os::clock::now_us() / 1_000_000) as u32, server_id }
}

/// First bytes of a file of the binary log: magic number, format description, previous GTIDs. A
/// file that `follows` another in the life of one server does not tell when it was created:
/// replicas take that for a restart, and drop temporary tables.
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

/// Magic number and format description.
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

/// First bytes of a file of the relay log.
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

/// The event by which a sender says which file it goes on with.
pub fn fake_rotate(file: &str, pos: u64, server_id: u32, checksum: Checksum) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let start = encode::rotate(EventBase { timestamp: 0, server_id }, file.as_bytes(), pos, true, &mut out);
    finish_event(&mut out, start, None, checksum);
    out
}

/// The event by which a sender says that it lives, and how far it has looked.
pub(crate) fn heartbeat(file: &str, pos: u64, server_id: u32, checksum: Checksum) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    encode::heartbeat(server_id, file, pos, checksum, &mut out);
    out
}

/// The GTID event of a committed group. `numbers` are `last_committed` and `sequence_number`.
pub(crate) fn gtid_event(header: &CommitHeader, numbers: (u64, u64)) -> GtidEvent {
    GtidEvent {
        gtid: header.gtid.unwrap_or(Gtid::new(Uuid([0; 16]), 0)),
        // Row events only, but for DDL and binlog_format = STATEMENT.
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

/// How a group that has this GTID event starts.
pub(crate) fn group_start<'e>(header: &CommitHeader, event: &'e GtidEvent) -> GroupStart<'e> {
    if header.gtid.is_some() { GroupStart::Gtid(event) } else { GroupStart::Anonymous(event) }
}

/// An event at the head of a file.
pub struct HeadEvent {
    /// Offset in the file.
    pub pos: u64,
    /// Its bytes, with checksum.
    pub bytes: Vec<u8>,
}

impl HeadEvent {
    /// Where it ends.
    pub fn end(&self) -> u64 {
        self.pos + self.bytes.len() as u64
    }
}

/// Reads the events at the head of a file: the format description and, if there is one, the
/// previous GTIDs.
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
        // The checksum is that of the event without the flag of an open file, which comes and goes
        // in place.
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

/// What the events of a file end with, as its format description says.
pub(crate) fn checksum_of_head(head: &[HeadEvent]) -> Result<Checksum, String> {
    head.first()
        .and_then(|format| checksum_of_format(&format.bytes))
        .ok_or_else(|| "its format description event is damaged".to_string())
}

/// The GTIDs in the previous GTIDs event of a head; empty without one.
pub(crate) fn previous_gtids_of(head: &[HeadEvent]) -> Result<GtidSet, String> {
    let Some(event) = head.iter().find(|event| kind(&event.bytes) == event_type::PREVIOUS_GTIDS) else {
        return Ok(GtidSet::default());
    };
    let body = &event.bytes[HEADER_LEN..event.bytes.len() - checksum_of_head(head)?.len_bytes()];
    GtidSet::decode(body).map_err(|_| "its previous GTIDs event is damaged".to_string())
}

/// The bytes are one whole rotate or stop event.
pub(crate) fn is_end_event(bytes: &[u8], checksum: Checksum) -> bool {
    bytes.len() >= HEADER_LEN + checksum.len_bytes()
        && matches!(kind(bytes), event_type::ROTATE | event_type::STOP)
        && size(bytes) == bytes.len()
        && (checksum == Checksum::None || binlog::checksum::verify_checksum(bytes).is_ok())
}

/// What a format description event says that it and all that follow end with; `None`: it is
/// damaged.
pub fn checksum_of_format(event: &[u8]) -> Option<Checksum> {
    match binlog::decode(event, &Format::new(Checksum::Crc32)) {
        Ok((_, Event::FormatDescription(format))) => Some(format.checksum),
        _ => None,
    }
}

/// From where on a client gets a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// From its first transaction.
    First,
    /// By GTID, and it has the file's first transaction.
    Later,
    /// By a position behind the head.
    Within,
}

/// The format description of a file as a client gets it: never "in use". To one that does not begin
/// with the file's first transaction it shows no creation time, so that it does not take the server
/// for restarted. Only to one that begins within, it has no position. One that comes back by GTID
/// after its connection broke within a transaction needs the position: an event without one counts
/// as made up, and MySQL's coordinator of appliers then does not give up the transaction's first
/// part before it hands out the whole again (9.7.4 ends in a segmentation fault).
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
    // A format description has a checksum whether or not the others have one.
    encode::append_checksum(&mut out, 0);
    out
}

/// The format description of a file as a replica gets it that goes by MariaDB's GTIDs: with
/// MariaDB's own event types, and made up, since in the file it is shorter. The version stays ours:
/// MariaDB takes the settings in QUERY events as MySQL's by it.
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

/// The event by which a sender tells a MariaDB replica which transactions precede what comes, and
/// where that is in the file.
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

/// The event as a client gets it that wants no checksums.
pub(crate) fn without_checksum(event: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&event[..event.len() - CHECKSUM_BYTES]);
    let size = out.len() as u32;
    out[EVENT_SIZE_OFFSET..EVENT_SIZE_OFFSET + 4].copy_from_slice(&size.to_le_bytes());
}

/// The GTID in a GTID event.
pub(crate) fn gtid_of(event: &[u8], checksum: Checksum) -> Option<Gtid> {
    match binlog::decode(event, &Format::new(checksum)) {
        Ok((_, Event::Gtid(event))) => Some(event.gtid),
        _ => None,
    }
}
