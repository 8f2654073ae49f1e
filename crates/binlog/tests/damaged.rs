//! Tests with events as damage or an attacker might change them: every decoder returns a value or
//! an error. None panics, and none reserves memory for a length that it has read and not checked.

use binlog::event::{Event, Format, decode};
use binlog::gtid::{GtidSet, MariadbGtidState};
use binlog::reader::EventReader;
use binlog::{Checksum, group};
use os::memory::WatchedAllocator;
use os::random::{Rng, test_seed};
use types::ColumnMask;
use types::row::RowLayout;

#[global_allocator]
static ALLOCATOR: WatchedAllocator = WatchedAllocator::new();

/// A number of bytes that no decoder may ask for at once on any of these inputs, which have at most
/// 13 kB. (A GTID set or a JSON document becomes somewhat longer as text.)
const MOST_BYTES: usize = 1 << 20;
const ROUNDS: usize = 60_000;

const LOGS: [&[u8]; 5] = [
    include_bytes!("data/mysql-full.binlog"),
    include_bytes!("data/mysql-minimal.binlog"),
    include_bytes!("data/mysql-noblob.binlog"),
    include_bytes!("data/mariadb-full.binlog"),
    include_bytes!("data/mariadb-minimal.binlog"),
];

/// A file's events, its format, and the layouts of its tables by their ids.
struct Log {
    events: Vec<&'static [u8]>,
    format: Format,
    layouts: Vec<(u64, RowLayout)>,
}

fn read(log: &'static [u8]) -> Log {
    let mut read = Log { events: Vec::new(), format: Format::new(Checksum::None), layouts: Vec::new() };
    for raw in EventReader::of_file(log).unwrap() {
        let raw = raw.unwrap();
        match decode(raw.bytes, &read.format).unwrap().1 {
            Event::FormatDescription(description) => read.format = description.format(),
            Event::TableMap(map) => {
                read.layouts.push((map.table_id, RowLayout::new(&map.columns().unwrap())))
            }
            _ => {}
        }
        read.events.push(raw.bytes);
    }
    read
}

/// Decodes everything that can be decoded in an event.
fn go_through(event: &[u8], log: &Log, rng: &mut Rng) {
    let Ok((_, event)) = decode(event, &log.format) else { return };
    match event {
        Event::FormatDescription(description) => {
            let _ = description.format();
        }
        Event::PreviousGtids(encoded) => {
            let _ = GtidSet::decode(encoded);
        }
        Event::Query(query) => {
            let _ = (query.status().is_ok(), query.is_begin(), query.is_end());
        }
        Event::TableMap(map) => {
            if let Ok(columns) = map.columns() {
                let _ = RowLayout::new(&columns);
            }
            let _ = map.optional().is_ok();
        }
        Event::Rows(rows) => {
            // The layout is mostly that of the table that the event names, now and then another
            // one, because a source may name one table and send rows of another.
            let layout = log.layouts.iter().rev().find(|(id, _)| *id == rows.table_id && !rng.one_in(50));
            let (_, layout) = layout.unwrap_or_else(|| rng.pick(&log.layouts));
            let (before, after) = (rows.before_mask(), rows.after_mask());
            for change in rows.iter(layout).take(10_000) {
                let Ok(change) = change else { break };
                let images = [before.as_ref().zip(change.before), after.as_ref().zip(change.after)];
                images.into_iter().flatten().for_each(|(mask, image)| row(layout, mask, image));
            }
        }
        _ => {}
    }
}

fn row(layout: &RowLayout, mask: &ColumnMask, image: &[u8]) {
    let _ = layout.partial_len(mask, image).is_ok();
    let _ = layout.walk_partial(mask, image, |_, _| {}).is_ok();
    let mut base = Vec::new();
    layout.encode_raw(&vec![None; layout.columns()], &mut base).unwrap();
    let mut whole = Vec::new();
    if layout.splice(&base, mask, image, &mut whole).is_ok() {
        full_row(layout, &whole);
    }
    full_row(layout, image);
}

fn full_row(layout: &RowLayout, image: &[u8]) {
    let _ = layout.len_of(image).is_ok();
    if let Ok(values) = layout.decode_all(image) {
        let mut again = Vec::new();
        let _ = layout.encode(&values, &mut again).is_ok();
        let _ = layout.changed(image, &again).is_ok();
    }
    let _ = layout.extract(image, &ColumnMask::full(layout.columns()), &mut Vec::new()).is_ok();
}

#[test]
fn damaged_events_are_decoded_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_events_are_decoded_or_refused"));
    let logs = LOGS.map(read);
    for log in &logs {
        log.events.iter().for_each(|event| go_through(event, log, &mut rng));
    }
    for round in 0..ROUNDS {
        let log = rng.pick(&logs);
        let event = *rng.pick(&log.events);
        let mut damaged = rng.damaged(event);
        if rng.one_in(2) && damaged.len() > 13 {
            // The length is made right again, as a careful attacker would do it. Otherwise the
            // decoders look at little more than the length.
            let len = damaged.len() as u32;
            damaged[9..13].copy_from_slice(&len.to_le_bytes());
        }
        ALLOCATOR.take_largest_bytes();
        go_through(&damaged, log, &mut rng);
        let largest = ALLOCATOR.take_largest_bytes();
        assert!(largest < MOST_BYTES, "round {round}: {largest} bytes asked for, event {event:02x?}");
    }
}

#[test]
fn damaged_groups_and_files_are_read_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_groups_and_files_are_read_or_refused"));
    for round in 0..3_000 {
        let log = *rng.pick(&LOGS);
        let damaged = rng.damaged(log);
        ALLOCATOR.take_largest_bytes();
        if let Ok(reader) = EventReader::of_file(&damaged) {
            for raw in reader {
                let Ok(raw) = raw else { break };
                let mut group = Vec::new();
                let _ = group::append_received(raw.bytes, Checksum::Crc32, &mut group);
                let _ = group::table_id(&raw).is_ok();
            }
        }
        for raw in group::walk(&damaged[4.min(damaged.len())..]) {
            if raw.is_err() {
                break;
            }
        }
        let largest = ALLOCATOR.take_largest_bytes();
        assert!(largest < MOST_BYTES, "round {round}: {largest} bytes asked for");
    }
}

#[test]
fn damaged_gtid_sets_are_parsed_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_gtid_sets_are_parsed_or_refused"));
    let text = "11111111-2222-3333-4444-555555555555:1-5:7-9,\n22222222-2222-3333-4444-555555555555:3";
    let set: GtidSet = text.parse().unwrap();
    let mut encoded = Vec::new();
    set.encode(&mut encoded);
    for round in 0..ROUNDS {
        let (text, bytes) = (rng.damaged(text.as_bytes()), rng.damaged(&encoded));
        let mariadb = rng.damaged(b"0-1-17,3-2-9223372036854775807");
        ALLOCATOR.take_largest_bytes();
        if let Ok(set) = GtidSet::decode(&bytes) {
            let again: GtidSet = set.to_string().parse().expect("a set's own text");
            assert_eq!(again, set);
        }
        if let Ok(set) = String::from_utf8_lossy(&text).parse::<GtidSet>() {
            assert_eq!(set.to_string().parse(), Ok(set));
        }
        let _ = String::from_utf8_lossy(&mariadb).parse::<MariadbGtidState>().is_ok();
        let largest = ALLOCATOR.take_largest_bytes();
        assert!(largest < MOST_BYTES, "round {round}: {largest} bytes asked for");
    }
}
