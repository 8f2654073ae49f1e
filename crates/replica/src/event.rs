//! Reading, in place, of the few bytes of an event that the receiver and the applier look at for
//! every event.

pub use binlog::event::event_type as kind;
use binlog::event::{FLAGS_OFFSET, HEADER_LEN, LOG_POS_OFFSET, flag};

/// The length in bytes of the CRC-32 behind an event.
pub const CHECKSUM_BYTES: usize = 4;

pub use binlog::boundary::is_outside_groups;
pub use source::events::{kind as kind_of, size, timestamp};

/// Returns the id of the server that wrote the event first.
pub fn server_id(event: &[u8]) -> u32 {
    u32_at(event, 5)
}

/// Returns the end position of the event in the source's file, modulo 4 GB. `None` means that the
/// event stands in no file of the source.
pub fn end_pos(event: &[u8]) -> Option<u64> {
    let end = u32_at(event, LOG_POS_OFFSET);
    let made_up = flags(event) & (flag::ARTIFICIAL | flag::RELAY_LOG) != 0;
    (end != 0 && !made_up).then_some(u64::from(end))
}

/// Returns the event's flags (`LOG_EVENT_*_F`).
pub fn flags(event: &[u8]) -> u16 {
    u16::from_le_bytes([event[FLAGS_OFFSET], event[FLAGS_OFFSET + 1]])
}

fn u32_at(event: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(event[at..at + 4].try_into().expect("four bytes"))
}

/// Reports whether the bytes are one whole event: at least a header, and as many bytes as it says.
pub fn is_whole(event: &[u8]) -> bool {
    event.len() >= HEADER_LEN && size(event) == event.len()
}

/// Returns the 64-bit position behind an event, given the position before the event and the 32 bits
/// of the end position that the event holds. An event that repeats the head of a file holds an
/// earlier end, and the position stays where it was.
pub fn unwrap_pos(before: u64, end: u64) -> u64 {
    const WRAP: u64 = 1 << 32;
    let whole = (before & !(WRAP - 1)) | end;
    if whole + WRAP / 2 < before { whole + WRAP } else { whole.max(before) }
}

/// Returns the events of `raw`, each with its checksum and with its end as an offset in `raw`.
pub fn split(raw: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = raw.get(at..).filter(|rest| !rest.is_empty())?;
        let event = &rest[..size(rest)];
        at += event.len();
        Some((event, at))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use binlog::Checksum;
    use binlog::encode::{self, EventBase, finish_event};
    use binlog::event::QueryEvent;

    const BASE: EventBase = EventBase { timestamp: 0, server_id: 1 };

    /// Builds an event with this body and no checksum.
    pub(crate) fn bare(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = Vec::new();
        let start = encode::begin_event(BASE, kind, 0, &mut event);
        event.extend_from_slice(body);
        finish_event(&mut event, start, None, Checksum::None);
        event
    }

    /// Builds a query event in schema `s`.
    pub(crate) fn query(text: &str) -> Vec<u8> {
        let query = QueryEvent {
            thread_id: 7,
            exec_time: 0,
            error_code: 0,
            status_vars: &[0, 0, 0, 0, 0],
            schema: b"s",
            statement: text.as_bytes(),
        };
        let mut event = Vec::new();
        let start = encode::query(BASE, &query, 0, &mut event);
        finish_event(&mut event, start, None, Checksum::None);
        event
    }

    #[test]
    fn positions_beyond_4_gb_are_made_whole() {
        assert_eq!(unwrap_pos(4, 1000), 1000);
        assert_eq!(unwrap_pos(0xFFFF_FF00, 0x10), 0x1_0000_0010);
        assert_eq!(unwrap_pos(0x1_0000_0010, 0x20), 0x1_0000_0020);
        assert_eq!(unwrap_pos(30_000, 256), 30_000);
    }

    #[test]
    fn a_cut_event_is_not_whole() {
        let event = query("BEGIN");
        assert!(is_whole(&event));
        for cut in 0..event.len() {
            assert!(!is_whole(&event[..cut]), "cut at {cut}");
        }
    }
}
