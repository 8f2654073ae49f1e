//! The events that a source adds to the groups that the log holds: the head and end of a file, the GTID event of a group, and what a
//! dump session makes up. Every event ends with its CRC-32, except where a client wants none. Their bytes are crate `binlog`'s.

use binlog::Checksum;
use binlog::checksum::{crc32, verify_checksum};
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{GtidEvent, event_type, flag};
use binlog::group::{self, GroupStart};
use binlog::gtid::{Gtid, GtidSet, Uuid};
use engine::CommitHeader;
use os::disk::File;

pub use binlog::MAGIC;
pub use binlog::checksum::CRC32_LEN as CHECKSUM_BYTES;
pub use binlog::event::HEADER_LEN as HEADER_BYTES;
pub use event_type::{ANONYMOUS_GTID, FORMAT_DESCRIPTION, GTID, PREVIOUS_GTIDS, ROTATE, STOP};

/// LOG_EVENT_BINLOG_IN_USE_F
pub const FLAG_IN_USE: u16 = flag::BINLOG_IN_USE;
/// LOG_EVENT_ARTIFICIAL_F
pub const FLAG_ARTIFICIAL: u16 = flag::ARTIFICIAL;
/// LOG_EVENT_RELAY_LOG_F
pub const FLAG_RELAY_LOG: u16 = flag::RELAY_LOG;
/// The longest rotate or stop event there can be.
pub const LONGEST_END_EVENT_BYTES: u64 = 19 + 8 + 512 + 4;

/// Where the seconds of creation are in a format description event: after the version numbers of format and server.
const CREATED_OFFSET: usize = HEADER_BYTES + 2 + 50;
const CHECKSUM_ALGORITHM_CRC32: u8 = 1;

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

fn now_s() -> u32 {
    (os::clock::now_us() / 1_000_000) as u32
}

fn base_now(server_id: u32) -> EventBase {
    EventBase { timestamp: now_s(), server_id }
}

fn checksum(with_checksum: bool) -> Checksum {
    if with_checksum { Checksum::Crc32 } else { Checksum::None }
}

/// Appends a format description event that begins at `pos`.
pub fn append_format_description(
    out: &mut Vec<u8>,
    pos: u64,
    server_version: &str,
    server_id: u32,
    flags: u16,
) {
    let base = base_now(server_id);
    encode::format_description(base, server_version, base.timestamp, Checksum::Crc32, flags, Some(pos), out);
}

/// First bytes of a file: magic number, format description, previous GTIDs.
pub(crate) fn file_head(server_version: &str, server_id: u32, previous: &GtidSet) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    append_format_description(&mut out, 4, server_version, server_id, 0);
    let start = encode::previous_gtids(base_now(server_id), previous, &mut out);
    finish_event(&mut out, start, Some(start as u64), Checksum::Crc32);
    out
}

/// Appends a rotate event that begins at `pos`.
pub(crate) fn append_rotate(out: &mut Vec<u8>, pos: u64, server_id: u32, next_file: &str) {
    let start = encode::rotate(base_now(server_id), next_file.as_bytes(), 4, false, out);
    finish_event(out, start, Some(pos), Checksum::Crc32);
}

/// Appends a stop event that begins at `pos`.
pub(crate) fn append_stop(out: &mut Vec<u8>, pos: u64, server_id: u32) {
    let start = encode::stop(base_now(server_id), out);
    finish_event(out, start, Some(pos), Checksum::Crc32);
}

/// The event by which a sender says which file it goes on with.
pub fn fake_rotate(file: &[u8], pos: u64, server_id: u32, with_checksum: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    let start = encode::rotate(EventBase { timestamp: 0, server_id }, file, pos, true, &mut out);
    finish_event(&mut out, start, None, checksum(with_checksum));
    out
}

/// The event by which a sender says that it lives, and how far it has looked.
pub(crate) fn heartbeat(file: &str, pos: u64, server_id: u32, with_checksum: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(64);
    encode::heartbeat(server_id, file, pos, checksum(with_checksum), &mut out);
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
    let event = GtidEvent {
        gtid: header.gtid.unwrap_or(Gtid { uuid: Uuid([0; 16]), gno: 0 }),
        // Row events only, but for DDL.
        flags: if header.ddl { binlog::event::FLAG_MAY_HAVE_SBR } else { 0 },
        last_committed: last_committed as i64,
        sequence_number: sequence_number as i64,
        immediate_commit_us: header.immediate_commit_us,
        original_commit_us: header.original_commit_us,
        transaction_length: 0,
        immediate_server_version: header.immediate_server_version,
        original_server_version: header.original_server_version,
        commit_group_ticket: 0,
    };
    let start = if header.gtid.is_some() { GroupStart::Gtid(&event) } else { GroupStart::Anonymous(&event) };
    group::emit(group, start, pos, Checksum::Crc32, out)
        .map(drop)
        .map_err(|error| format!("the group is damaged: {error}"))
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
        let mut summed = bytes.clone();
        summed[17] &= !(FLAG_IN_USE as u8);
        if verify_checksum(&summed).is_err() {
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
        && verify_checksum(bytes).is_ok()
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
    let sum = crc32(&out);
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
            let base = EventBase { timestamp: 1_700_000_000, server_id: 5 };
            let start = encode::begin_event(base, event_type::QUERY, 0, &mut group);
            group.resize(start + HEADER_BYTES + body, b'x');
            finish_event(&mut group, start, None, Checksum::None);
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
                verify_checksum(event).expect("its checksum is right");
                at += event.len();
                assert_eq!(u32_at(event, 13) as usize, 157 + at - 3);
                events += 1;
            }
            assert_eq!(events, 3);
            assert_eq!(gtid_of(&out[3..]), header(0).gtid);
            let first = &out[3..3 + size(&out[3..])];
            let decoded = binlog::decode(first, &binlog::Format::new(Checksum::Crc32)).expect("is whole").1;
            let binlog::Event::Gtid(gtid) = decoded else { panic!("{decoded:?}") };
            assert_eq!(gtid.transaction_length, (out.len() - 3) as u64);
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
