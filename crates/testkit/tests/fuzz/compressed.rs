//! Captures as a compressing source sends them: each transaction in a TRANSACTION_PAYLOAD (MySQL),
//! or each statement and row event in a compressed one (MariaDB). The fuzzer changes the content
//! before it is compressed, so that the replica really decodes it.

use std::io::Write;

use binlog::Checksum;
use binlog::compressed::PayloadWriter;
use binlog::encode::{EventBase, finish_event, transaction_payload};
use binlog::event::{Event, Format, HEADER_LEN, decode, event_type};

type Events = Vec<Vec<u8>>;
const CHECKSUM_LEN: usize = 4;

fn kind(event: &[u8]) -> u8 {
    event[4]
}

/// Turns an event without a checksum into a whole event with one.
fn with_checksum(mut event: Vec<u8>) -> Vec<u8> {
    finish_event(&mut event, 0, None, Checksum::Crc32);
    event
}

fn without_checksum(event: &[u8]) -> Vec<u8> {
    let mut event = event[..event.len() - CHECKSUM_LEN].to_vec();
    finish_event(&mut event, 0, None, Checksum::None);
    event
}

/// Puts every transaction, without its GTID event, into one payload. `change` sees the events of
/// each transaction before they are compressed; what it makes of them need not be events.
pub fn mysql(events: &[Vec<u8>], mut change: impl FnMut(&mut Events)) -> Events {
    let mut writer = PayloadWriter::new(3).expect("memory for it");
    let (mut out, mut inner, mut is_behind_gtid) = (Events::new(), Events::new(), false);
    for event in events {
        match kind(event) {
            event_type::GTID | event_type::ANONYMOUS_GTID | event_type::ROTATE | event_type::STOP => {
                put_payload(&mut writer, &mut inner, &mut change, &mut out);
                out.push(event.clone());
                is_behind_gtid = matches!(kind(event), event_type::GTID | event_type::ANONYMOUS_GTID);
            }
            _ if is_behind_gtid => inner.push(without_checksum(event)),
            _ => out.push(event.clone()),
        }
    }
    put_payload(&mut writer, &mut inner, &mut change, &mut out);
    out
}

fn put_payload(
    writer: &mut PayloadWriter,
    inner: &mut Events,
    change: &mut impl FnMut(&mut Events),
    out: &mut Events,
) {
    if inner.is_empty() {
        return;
    }
    change(inner);
    let group = std::mem::take(inner).concat();
    let mut event = Vec::new();
    // Bytes that are too short for a header cannot be compressed as a group, but can be in a
    // payload.
    if writer.append(&group, &mut event).is_err() {
        event.clear();
        let base = EventBase { timestamp: 1, server_id: 1 };
        transaction_payload(base, group.len() as u64, &group, &mut event);
    }
    out.push(with_checksum(event));
}

/// Compresses statements and row events one by one. `change` sees the part of each event that is
/// compressed.
pub fn mariadb(events: &[Vec<u8>], mut change: impl FnMut(Vec<u8>) -> Vec<u8>) -> Events {
    let format = Format::new(Checksum::Crc32);
    let mut compress = |event: &Vec<u8>| {
        let (compressed, rest) = match decode(event, &format).ok()?.1 {
            Event::Query(query) => (event_type::MARIADB_QUERY_COMPRESSED, query.statement),
            Event::Rows(rows) => {
                let plain = kind(event);
                let compressed = match plain < event_type::WRITE_ROWS {
                    true => plain - event_type::WRITE_ROWS_V1 + event_type::MARIADB_WRITE_ROWS_COMPRESSED_V1,
                    false => plain - event_type::WRITE_ROWS + event_type::MARIADB_WRITE_ROWS_COMPRESSED,
                };
                (compressed, rows.rows)
            }
            _ => return None,
        };
        let mut packed = event[..event.len() - CHECKSUM_LEN - rest.len()].to_vec();
        assert!(packed.len() > HEADER_LEN, "statements and rows come last");
        packed[4] = compressed;
        let plain = change(rest.to_vec());
        packed.push(0x84);
        packed.extend_from_slice(&(plain.len() as u32).to_be_bytes());
        let mut stream = flate2::write::ZlibEncoder::new(packed, flate2::Compression::default());
        stream.write_all(&plain).expect("memory is written to");
        Some(with_checksum(stream.finish().expect("memory is written to")))
    };
    events.iter().map(|event| compress(event).unwrap_or_else(|| event.clone())).collect()
}
