//! Tests of compressed events: what a source compressed is expanded to the same bytes, and a
//! damaged event is refused without a panic and without reserving the memory that it only claims to
//! need.

use std::io::Write;

use binlog::compressed::{PayloadReader, PayloadWriter, expand_mariadb, is_mariadb_compressed};
use binlog::cursor::put_packed_int;
use binlog::encode::{EventBase, begin_event, finish_event};
use binlog::event::{COMPRESSION_NONE, COMPRESSION_ZSTD, Event, Format, HEADER_LEN, decode, event_type};
use binlog::reader::EventReader;
use binlog::{Checksum, DecodeError};
use os::memory::WatchedAllocator;
use os::random::{Rng, test_seed};

#[global_allocator]
static ALLOCATOR: WatchedAllocator = WatchedAllocator::new();

/// The most bytes that a decoder may ask for at once. The inputs have at most 13 kB when expanded.
const MOST_BYTES: usize = 1 << 20;
const ROUNDS: usize = 20_000;

/// Returns the events of a file after the format description, without their checksums.
fn events(file: &[u8]) -> Vec<Vec<u8>> {
    let mut events = Vec::new();
    for raw in EventReader::of_file(file).unwrap().skip(1) {
        let raw = raw.unwrap().bytes;
        let mut event = raw[..raw.len() - 4].to_vec();
        finish_event(&mut event, 0, None, Checksum::None);
        events.push(event);
    }
    events
}

/// Builds a TRANSACTION_PAYLOAD event that holds `events`.
fn payload(events: &[Vec<u8>], compression: u64) -> Vec<u8> {
    let bytes = events.concat();
    let packed = if compression == COMPRESSION_ZSTD {
        zstd::bulk::compress(&bytes, 3).unwrap()
    } else {
        bytes.clone()
    };
    let mut event = Vec::new();
    let base = EventBase { timestamp: 7, server_id: 1 };
    let start = begin_event(base, event_type::TRANSACTION_PAYLOAD, 0, &mut event);
    for (field, number) in [(2, compression), (3, bytes.len() as u64), (1, packed.len() as u64)] {
        let mut value = Vec::new();
        put_packed_int(number, &mut value);
        put_packed_int(field, &mut event);
        put_packed_int(value.len() as u64, &mut event);
        event.extend_from_slice(&value);
    }
    event.push(0);
    event.extend_from_slice(&packed);
    finish_event(&mut event, start, None, Checksum::None);
    event
}

/// Returns the event as MariaDB compresses it. `None` means that MariaDB does not compress events
/// of this kind.
fn compressed(event: &[u8]) -> Option<Vec<u8>> {
    let (kind, rest) = match decode(event, &Format::new(Checksum::None)).unwrap().1 {
        Event::Query(query) => (event_type::MARIADB_QUERY_COMPRESSED, query.statement),
        Event::Rows(rows) => {
            let to_compressed = event_type::MARIADB_WRITE_ROWS_COMPRESSED_V1 - event_type::WRITE_ROWS_V1;
            let is_v1 = event[4] < event_type::WRITE_ROWS;
            let kind = match is_v1 {
                true => event[4] + to_compressed,
                false => event[4] - event_type::WRITE_ROWS + event_type::MARIADB_WRITE_ROWS_COMPRESSED,
            };
            (kind, rows.rows)
        }
        _ => return None,
    };
    let mut packed = event[..event.len() - rest.len()].to_vec();
    packed[4] = kind;
    let len = (rest.len() as u32).to_be_bytes();
    let used = 4 - len.iter().take_while(|byte| **byte == 0).count().min(3);
    packed.push(0x80 | used as u8);
    packed.extend_from_slice(&len[4 - used..]);
    let mut stream = flate2::write::ZlibEncoder::new(packed, flate2::Compression::default());
    stream.write_all(rest).unwrap();
    let mut packed = stream.finish().unwrap();
    finish_event(&mut packed, 0, None, Checksum::None);
    Some(packed)
}

fn expanded(event: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut plain = Vec::new();
    expand_mariadb(event, &mut plain).map(|()| plain)
}

fn unpacked(event: &[u8]) -> Result<Vec<Vec<u8>>, DecodeError> {
    let Event::TransactionPayload(payload) = decode(event, &Format::new(Checksum::None))?.1 else {
        return Ok(Vec::new());
    };
    let mut reader = PayloadReader::new(&payload)?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event.to_vec());
    }
    Ok(events)
}

fn inputs() -> Vec<Vec<u8>> {
    let mysql = events(include_bytes!("data/mysql-full.binlog"));
    let mariadb = events(include_bytes!("data/mariadb-full.binlog"));
    let mut inputs: Vec<Vec<u8>> =
        mysql.iter().chain(&mariadb).filter_map(|event| compressed(event)).collect();
    for compression in [COMPRESSION_ZSTD, COMPRESSION_NONE] {
        inputs.push(payload(&mysql, compression));
    }
    inputs
}

#[test]
fn what_was_compressed_comes_back() {
    let mysql = events(include_bytes!("data/mysql-full.binlog"));
    let mariadb = events(include_bytes!("data/mariadb-full.binlog"));
    let mut count = 0;
    for event in mysql.iter().chain(&mariadb) {
        let Some(packed) = compressed(event) else { continue };
        assert!(is_mariadb_compressed(packed[4]));
        assert_eq!(expanded(&packed).as_ref(), Ok(event));
        count += 1;
    }
    assert!(count > 20, "{count} events were tried");
    for compression in [COMPRESSION_ZSTD, COMPRESSION_NONE] {
        assert_eq!(unpacked(&payload(&mysql, compression)), Ok(mysql.clone()));
    }
    // A payload is refused if it names a length that differs from that of its content.
    let mut long = payload(&mysql, COMPRESSION_ZSTD);
    let claimed = mysql.concat().len() as u64;
    let mut value = Vec::new();
    put_packed_int(claimed, &mut value);
    let at = long.windows(value.len()).position(|bytes| bytes == value).unwrap();
    long[at + 1] ^= 1;
    assert!(unpacked(&long).is_err());
    assert!(expanded(&mysql[1]).is_err(), "it is not compressed");
}

/// A group is compressed to the same bytes each time, because the binary log of a crashed server is
/// written again from its redo log.
#[test]
fn a_group_becomes_the_same_payload_each_time() {
    let group = events(include_bytes!("data/mysql-full.binlog"));
    let whole = group.concat();
    let write = |writer: &mut PayloadWriter| {
        let mut event = Vec::new();
        writer.append(&whole, &mut event).map(|()| event)
    };
    for level in [1, 3, 22] {
        let mut writer = PayloadWriter::new(level).expect("has memory");
        let first = write(&mut writer).expect("compresses");
        assert!(first.len() < whole.len());
        assert_eq!(unpacked(&first), Ok(group.clone()));
        let anew = write(&mut PayloadWriter::new(level).expect("has memory"));
        assert!(write(&mut writer).as_ref() == Ok(&first) && anew == Ok(first), "level {level}");
    }
    let damaged = PayloadWriter::new(3).expect("has memory").append(&whole[..5], &mut Vec::new());
    assert!(damaged.is_err());
}

#[test]
fn damaged_ones_are_refused_or_read() {
    let mut rng = Rng::new(test_seed("damaged_ones_are_refused_or_read"));
    let inputs = inputs();
    let mut refused = 0;
    for round in 0..ROUNDS {
        let mut damaged = {
            let input = rng.pick(&inputs);
            rng.damaged(input)
        };
        if damaged.len() > HEADER_LEN {
            let len = damaged.len() as u32;
            damaged[9..13].copy_from_slice(&len.to_le_bytes());
        }
        ALLOCATOR.take_largest_bytes();
        refused += usize::from(expanded(&damaged).is_err());
        refused += usize::from(unpacked(&damaged).is_err());
        let largest = ALLOCATOR.take_largest_bytes();
        assert!(largest < MOST_BYTES, "round {round}: {largest} bytes asked for, event {damaged:02x?}");
    }
    assert!(refused > ROUNDS, "{refused}");
}
