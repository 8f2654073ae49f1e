//! The events that a source adds to the groups that the log holds: the head and end of a file, the GTID event of a group, and what a
//! dump session makes up. Every event ends with its CRC-32, except where a client wants none. Layouts are those of MySQL's binary log
//! version 4 (its internals manual and `libbinlogevents`).

use binlog::gtid::{Gtid, GtidSet, Uuid};
use engine::CommitHeader;
use os::disk::File;

/// First bytes of every binary and relay log file.
pub const MAGIC: [u8; 4] = [0xFE, b'b', b'i', b'n'];
/// Length of an event's header.
pub const HEADER_BYTES: usize = 19;
/// Length of the CRC-32 behind an event.
pub const CHECKSUM_BYTES: usize = 4;
/// LOG_EVENT_BINLOG_IN_USE_F
pub const FLAG_IN_USE: u16 = 0x1;
/// LOG_EVENT_ARTIFICIAL_F
pub const FLAG_ARTIFICIAL: u16 = 0x20;
/// LOG_EVENT_RELAY_LOG_F
pub const FLAG_RELAY_LOG: u16 = 0x40;
/// The longest rotate or stop event there can be.
pub const LONGEST_END_EVENT_BYTES: u64 = 19 + 8 + 512 + 4;

#[allow(missing_docs, reason = "MySQL's names of event types")]
mod kinds {
    pub const STOP: u8 = 3;
    pub const ROTATE: u8 = 4;
    pub const FORMAT_DESCRIPTION: u8 = 15;
    pub const HEARTBEAT: u8 = 27;
    pub const GTID: u8 = 33;
    pub const ANONYMOUS_GTID: u8 = 34;
    pub const PREVIOUS_GTIDS: u8 = 35;
}
pub use kinds::*;

/// Lengths of the parts behind the header that every event of a type has, for types 1 to 41.
const POST_HEADER_BYTES: [u8; 41] = [
    0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 98, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42,
    42, 0, 18, 52, 0, 10, 40, 0,
];
const SERVER_VERSION_BYTES: usize = 50;
/// Where the seconds of creation are in a format description event.
const CREATED_OFFSET: usize = HEADER_BYTES + 2 + SERVER_VERSION_BYTES;
const CHECKSUM_ALGORITHM_CRC32: u8 = 1;
/// Set in the commit timestamp of a GTID event when the original timestamp follows.
const HAS_ORIGINAL_TIMESTAMP: u64 = 1 << 55;
const HAS_ORIGINAL_VERSION: u32 = 1 << 31;
/// `last_committed` and `sequence_number` follow.
const LOGICAL_TIMESTAMP: u8 = 2;

/// Type of an event whose header is known to be there.
pub fn kind(event: &[u8]) -> u8 {
    event[4]
}

/// Length of the whole event, as its header says.
pub fn size(event: &[u8]) -> usize {
    u32_at(event, 9) as usize
}

/// When the event was made: unix time in seconds.
pub fn timestamp(event: &[u8]) -> u32 {
    u32_at(event, 0)
}

fn u32_at(event: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(event[at..at + 4].try_into().expect("four bytes"))
}

/// Starts an event; [`finish`] completes it.
fn begin(out: &mut Vec<u8>, kind: u8, timestamp_s: u32, server_id: u32, flags: u16) -> usize {
    let start = out.len();
    out.extend_from_slice(&timestamp_s.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&server_id.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&flags.to_le_bytes());
    start
}

/// Fills in the length and end position of the event that began at `start`, and appends its checksum.
fn finish(out: &mut Vec<u8>, start: usize, log_pos: u64, with_checksum: bool) {
    let size = out.len() - start + if with_checksum { CHECKSUM_BYTES } else { 0 };
    out[start + 9..start + 13].copy_from_slice(&(size as u32).to_le_bytes());
    out[start + 13..start + 17].copy_from_slice(&(log_pos as u32).to_le_bytes());
    if with_checksum {
        let sum = crc32fast::hash(&out[start..]);
        out.extend_from_slice(&sum.to_le_bytes());
    }
}

fn now_s() -> u32 {
    (os::clock::now_us() / 1_000_000) as u32
}

/// Appends a format description event that begins at `pos`.
pub fn append_format_description(
    out: &mut Vec<u8>,
    pos: u64,
    server_version: &str,
    server_id: u32,
    flags: u16,
) {
    let now_s = now_s();
    let start = begin(out, FORMAT_DESCRIPTION, now_s, server_id, flags);
    out.extend_from_slice(&4u16.to_le_bytes());
    let mut version = [0; SERVER_VERSION_BYTES];
    let length = server_version.len().min(SERVER_VERSION_BYTES - 1);
    version[..length].copy_from_slice(&server_version.as_bytes()[..length]);
    out.extend_from_slice(&version);
    out.extend_from_slice(&now_s.to_le_bytes());
    out.push(HEADER_BYTES as u8);
    out.extend_from_slice(&POST_HEADER_BYTES);
    out.push(CHECKSUM_ALGORITHM_CRC32);
    let end = pos + (out.len() - start + CHECKSUM_BYTES) as u64;
    finish(out, start, end, true);
}

/// First bytes of a file: magic number, format description, previous GTIDs.
pub(crate) fn file_head(server_version: &str, server_id: u32, previous: &GtidSet) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    append_format_description(&mut out, 4, server_version, server_id, 0);
    let start = begin(&mut out, PREVIOUS_GTIDS, now_s(), server_id, 0);
    previous.encode(&mut out);
    let end = (out.len() + CHECKSUM_BYTES) as u64;
    finish(&mut out, start, end, true);
    out
}

/// Appends a rotate event that begins at `pos`.
pub(crate) fn append_rotate(out: &mut Vec<u8>, pos: u64, server_id: u32, next_file: &str) {
    let start = begin(out, ROTATE, now_s(), server_id, 0);
    out.extend_from_slice(&4u64.to_le_bytes());
    out.extend_from_slice(next_file.as_bytes());
    let end = pos + (out.len() - start + CHECKSUM_BYTES) as u64;
    finish(out, start, end, true);
}

/// Appends a stop event that begins at `pos`.
pub(crate) fn append_stop(out: &mut Vec<u8>, pos: u64, server_id: u32) {
    let start = begin(out, STOP, now_s(), server_id, 0);
    finish(out, start, pos + (HEADER_BYTES + CHECKSUM_BYTES) as u64, true);
}

/// The event by which a sender says which file it goes on with.
pub fn fake_rotate(file: &[u8], pos: u64, server_id: u32, with_checksum: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let start = begin(&mut out, ROTATE, 0, server_id, FLAG_ARTIFICIAL);
    out.extend_from_slice(&pos.to_le_bytes());
    out.extend_from_slice(file);
    finish(&mut out, start, 0, with_checksum);
    out
}

/// The event by which a sender says that it lives, and how far it has looked.
pub(crate) fn heartbeat(file: &str, pos: u64, server_id: u32, with_checksum: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let start = begin(&mut out, HEARTBEAT, 0, server_id, 0);
    out.extend_from_slice(file.as_bytes());
    finish(&mut out, start, pos, with_checksum);
    out
}

/// Appends a committed group as the file has it, beginning at `pos`: its GTID event, then its events with end positions and
/// checksums. `Err`: the group is not a list of events.
pub(crate) fn append_group(
    out: &mut Vec<u8>,
    pos: u64,
    header: &CommitHeader,
    group: &[u8],
    last_committed: u64,
    sequence_number: u64,
) -> Result<(), String> {
    let events = count_events(group)?;
    let base = out.len();
    let rest_bytes = (group.len() + events * CHECKSUM_BYTES) as u64;
    append_gtid(out, pos, header, timestamp(group), (last_committed, sequence_number), rest_bytes);
    let mut rest = group;
    while !rest.is_empty() {
        let (event, following) = rest.split_at(size(rest));
        let start = out.len();
        out.extend_from_slice(event);
        let end = pos + (out.len() - base + CHECKSUM_BYTES) as u64;
        finish(out, start, end, true);
        rest = following;
    }
    Ok(())
}

fn count_events(group: &[u8]) -> Result<usize, String> {
    let (mut at, mut count) = (0, 0);
    while at < group.len() {
        let rest = &group[at..];
        if rest.len() < HEADER_BYTES || size(rest) < HEADER_BYTES || size(rest) > rest.len() {
            return Err(format!("the group's event number {} is damaged", count + 1));
        }
        at += size(rest);
        count += 1;
    }
    if count == 0 { Err("the group has no events".to_string()) } else { Ok(count) }
}

fn append_gtid(
    out: &mut Vec<u8>,
    pos: u64,
    header: &CommitHeader,
    timestamp_s: u32,
    (last_committed, sequence_number): (u64, u64),
    rest_bytes: u64,
) {
    let kind = if header.gtid.is_some() { GTID } else { ANONYMOUS_GTID };
    let gtid = header.gtid.unwrap_or(Gtid { uuid: Uuid([0; 16]), gno: 0 });
    let start = begin(out, kind, timestamp_s, header.server_id, 0);
    out.push(0);
    out.extend_from_slice(&gtid.uuid.0);
    out.extend_from_slice(&gtid.gno.to_le_bytes());
    out.push(LOGICAL_TIMESTAMP);
    out.extend_from_slice(&last_committed.to_le_bytes());
    out.extend_from_slice(&sequence_number.to_le_bytes());
    let (immediate, original) = (header.immediate_commit_us, header.original_commit_us);
    if immediate == original {
        out.extend_from_slice(&immediate.to_le_bytes()[..7]);
    } else {
        out.extend_from_slice(&(immediate | HAS_ORIGINAL_TIMESTAMP).to_le_bytes()[..7]);
        out.extend_from_slice(&original.to_le_bytes()[..7]);
    }
    let same_version = header.immediate_server_version == header.original_server_version;
    let version_bytes = if same_version { 4 } else { 8 };
    let without_length = (out.len() - start + version_bytes + CHECKSUM_BYTES) as u64 + rest_bytes;
    append_total_length(out, without_length);
    if same_version {
        out.extend_from_slice(&header.immediate_server_version.to_le_bytes());
    } else {
        out.extend_from_slice(&(header.immediate_server_version | HAS_ORIGINAL_VERSION).to_le_bytes());
        out.extend_from_slice(&header.original_server_version.to_le_bytes());
    }
    let end = pos + (out.len() - start + CHECKSUM_BYTES) as u64;
    finish(out, start, end, true);
}

/// Appends `others` plus its own length, as a length-encoded integer.
fn append_total_length(out: &mut Vec<u8>, others: u64) {
    for (marker, bytes, limit) in
        [(None, 1u64, 251u64), (Some(0xFC), 3, 1 << 16), (Some(0xFD), 4, 1 << 24), (Some(0xFE), 9, u64::MAX)]
    {
        let total = others + bytes;
        if total < limit {
            out.extend(marker);
            let value_bytes = bytes as usize - usize::from(marker.is_some());
            out.extend_from_slice(&total.to_le_bytes()[..value_bytes]);
            return;
        }
    }
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

/// Reads the events at the head of a file: the format description and, if there is one, the previous GTIDs.
pub fn read_head(file: &dyn File) -> Result<Vec<HeadEvent>, String> {
    let mut magic = [0; 4];
    file.read_exact_at(&mut magic, 0).map_err(|error| error.to_string())?;
    if magic != MAGIC {
        return Err("this is no binary log file: its magic number is wrong".to_string());
    }
    let mut events = Vec::new();
    let mut pos = 4;
    for expected in [FORMAT_DESCRIPTION, PREVIOUS_GTIDS] {
        let mut header = [0; HEADER_BYTES];
        let at_end = file.read_at(&mut header, pos).map_err(|error| error.to_string())? < HEADER_BYTES;
        if at_end || kind(&header) != expected {
            break;
        }
        let len = file.len_bytes().map_err(|error| error.to_string())?;
        let size = size(&header);
        if size < HEADER_BYTES + CHECKSUM_BYTES || pos + size as u64 > len {
            return Err(format!("the event at position {pos} is damaged"));
        }
        let mut bytes = vec![0; size];
        file.read_exact_at(&mut bytes, pos).map_err(|error| error.to_string())?;
        // The flag of an open file is set after the checksum was made.
        let mut summed = bytes[..size - CHECKSUM_BYTES].to_vec();
        summed[17] &= !(FLAG_IN_USE as u8);
        if crc32fast::hash(&summed) != u32_at(&bytes, size - CHECKSUM_BYTES) {
            return Err(format!("the event at position {pos} is damaged"));
        }
        pos += size as u64;
        events.push(HeadEvent { pos: pos - size as u64, bytes });
    }
    Ok(events)
}

/// The GTIDs in the previous GTIDs event of a head; empty without one.
pub fn previous_gtids_of(head: &[HeadEvent]) -> Result<GtidSet, String> {
    let Some(event) = head.iter().find(|event| kind(&event.bytes) == PREVIOUS_GTIDS) else {
        return Ok(GtidSet::default());
    };
    let body = &event.bytes[HEADER_BYTES..event.bytes.len() - CHECKSUM_BYTES];
    GtidSet::decode(body).map_err(|_| "its previous GTIDs event is damaged".to_string())
}

/// The bytes are one whole rotate or stop event.
pub(crate) fn is_end_event(bytes: &[u8]) -> bool {
    bytes.len() >= HEADER_BYTES + CHECKSUM_BYTES
        && matches!(kind(bytes), ROTATE | STOP)
        && size(bytes) == bytes.len()
        && crc32fast::hash(&bytes[..bytes.len() - CHECKSUM_BYTES])
            == u32_at(bytes, bytes.len() - CHECKSUM_BYTES)
}

/// A format description event says that it and all that follow end with a CRC-32.
pub fn format_has_checksums(event: &[u8]) -> bool {
    let algorithm = event.len().checked_sub(CHECKSUM_BYTES + 1).and_then(|at| event.get(at));
    event.len() > CREATED_OFFSET + 5 && algorithm == Some(&CHECKSUM_ALGORITHM_CRC32)
}

/// The format description of a file as a client gets it: never "in use"; for one that does not start at the file's beginning without
/// position and creation time, so that it does not take the server for restarted.
pub(crate) fn format_for_client(event: &[u8], from_start: bool, with_checksums: bool) -> Vec<u8> {
    let mut out = event[..event.len() - CHECKSUM_BYTES].to_vec();
    out[17] &= !(FLAG_IN_USE as u8);
    if !from_start {
        out[13..17].fill(0);
        out[CREATED_OFFSET..CREATED_OFFSET + 4].fill(0);
    }
    if !with_checksums {
        let algorithm = out.len() - 1;
        out[algorithm] = 0;
    }
    // A format description has room for a checksum whether or not the others have one.
    let sum = crc32fast::hash(&out);
    out.extend_from_slice(&sum.to_le_bytes());
    out
}

/// The event as a client gets it that wants no checksums.
pub(crate) fn without_checksum(event: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&event[..event.len() - CHECKSUM_BYTES]);
    let size = out.len() as u32;
    out[9..13].copy_from_slice(&size.to_le_bytes());
}

/// The GTID in a GTID event.
pub(crate) fn gtid_of(event: &[u8]) -> Option<Gtid> {
    let body = event.get(HEADER_BYTES + 1..HEADER_BYTES + 25)?;
    Some(Gtid {
        uuid: Uuid(body[..16].try_into().expect("sixteen bytes")),
        gno: u64::from_le_bytes(body[16..].try_into().expect("eight bytes")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(original_commit_us: u64) -> CommitHeader {
        CommitHeader {
            binlogged: true,
            ddl: false,
            server_id: 5,
            gtid: Some(Gtid { uuid: Uuid([7; 16]), gno: 42 }),
            mariadb_gtid: None,
            immediate_commit_us: 1_700_000_000_000_001,
            original_commit_us,
            depends_lsn: 0,
            original_server_version: 90_700,
            immediate_server_version: 90_700,
        }
    }

    /// Two events without checksum.
    fn group(bytes: usize) -> Vec<u8> {
        let mut group = Vec::new();
        for body in [bytes, 8] {
            let start = begin(&mut group, 2, 1_700_000_000, 5, 0);
            group.resize(start + HEADER_BYTES + body, b'x');
            finish(&mut group, start, 0, false);
        }
        group
    }

    #[test]
    fn a_groups_positions_lengths_and_checksums_hold() {
        for (bytes, original) in
            [(10, 1), (10, 1_700_000_000_000_001), (250, 7), (70_000, 7), (17_000_000, 7)]
        {
            let mut out = vec![9; 3];
            append_group(&mut out, 157, &header(original), &group(bytes), 3, 4).expect("is well formed");
            let mut at = 3;
            let mut events = 0;
            while at < out.len() {
                let event = &out[at..at + size(&out[at..])];
                let split = event.len() - CHECKSUM_BYTES;
                assert_eq!(crc32fast::hash(&event[..split]), u32_at(event, split));
                at += event.len();
                assert_eq!(u32_at(event, 13) as usize, 157 + at - 3);
                events += 1;
            }
            assert_eq!(events, 3);
            assert_eq!(gtid_of(&out[3..]), header(0).gtid);
            assert_eq!(transaction_length(&out[3..]), (out.len() - 3) as u64);
        }
    }

    /// The transaction length in a GTID event, read as a replica does.
    fn transaction_length(event: &[u8]) -> u64 {
        let mut at = HEADER_BYTES + 42;
        let has_original = event[at + 6] & 0x80 != 0;
        at += if has_original { 14 } else { 7 };
        let number = |from: usize, bytes: usize| {
            let mut value = [0; 8];
            value[..bytes].copy_from_slice(&event[from..from + bytes]);
            u64::from_le_bytes(value)
        };
        match event[at] {
            0xFC => number(at + 1, 2),
            0xFD => number(at + 1, 3),
            0xFE => number(at + 1, 8),
            short => u64::from(short),
        }
    }

    #[test]
    fn a_damaged_group_is_refused() {
        let good = group(10);
        let mut out = Vec::new();
        for cut in [0, 5, 30, good.len() - 1] {
            assert!(append_group(&mut out, 4, &header(1), &good[..cut], 0, 1).is_err(), "cut at {cut}");
        }
    }
}
