//! Tests with binary logs that real servers wrote (`scripts/codec-fixtures.sh`): decoding a log
//! must give the rows that the server showed, and encoding the decoded events must give the same
//! bytes.

use binlog::encode::{self, EventBase, RowMetadata, TableMapSource, finish_event};
use binlog::event::{Event, Format, Header, RowsEvent, RowsKind, TableMap, decode};
use binlog::reader::EventReader;
use binlog::{Checksum, checksum};
use std::collections::BTreeMap;
use types::row::RowLayout;
use types::{ColumnMask, ColumnType, Value};

struct Fixture {
    name: &'static str,
    log: &'static [u8],
    rows: &'static str,
}

macro_rules! fixture {
    ($name:literal) => {
        Fixture {
            name: $name,
            log: include_bytes!(concat!("data/", $name, ".binlog")),
            rows: include_str!(concat!("data/", $name, ".tsv")),
        }
    };
}

fn fixtures() -> [Fixture; 5] {
    [
        fixture!("mysql-full"),
        fixture!("mysql-minimal"),
        fixture!("mysql-noblob"),
        fixture!("mariadb-full"),
        fixture!("mariadb-minimal"),
    ]
}

/// Returns the events of a file, decoded in the format that its FORMAT_DESCRIPTION event describes.
/// The checksums are verified.
fn events(log: &'static [u8]) -> Vec<(Header, Event<'static>, &'static [u8])> {
    let mut format = Format::new(Checksum::None);
    let mut events = Vec::new();
    for raw in EventReader::of_file(log).unwrap() {
        let raw = raw.unwrap();
        checksum::verify_checksum(raw.bytes).unwrap();
        assert_eq!(raw.header.log_pos as usize, raw.offset + raw.bytes.len());
        let (header, event) = decode(raw.bytes, &format).unwrap();
        if let Event::FormatDescription(description) = &event {
            format = description.format();
            assert_eq!(format.checksum, Checksum::Crc32);
        }
        events.push((header, event, raw.bytes));
    }
    events
}

/// A table's rows as full images. The keys are the values of the first column.
type Rows = BTreeMap<i64, Vec<u8>>;

fn id_of(layout: &RowLayout, image: &[u8]) -> i64 {
    match layout.decode(image, 0).unwrap() {
        Value::Int(id) => id,
        other => panic!("the first column is the id, not {other:?}"),
    }
}

/// Returns the id in a partial image, which must include the first column.
fn id_in(layout: &RowLayout, mask: &ColumnMask, image: &[u8]) -> i64 {
    let raw = layout.get_raw_partial(mask, image, 0).unwrap().expect("before-images have the key").unwrap();
    i64::from(i32::from_le_bytes(raw.try_into().unwrap()))
}

fn apply(rows: &mut Rows, layout: &RowLayout, event: &RowsEvent<'_>) {
    let null_row = {
        let mut image = Vec::new();
        layout.encode(&vec![Value::Null; layout.columns()], &mut image).unwrap();
        image
    };
    for change in event.iter(layout) {
        let change = change.unwrap();
        let base = match (change.before, event.before_mask()) {
            (Some(before), Some(mask)) => {
                rows.remove(&id_in(layout, &mask, before)).expect("the row that is changed exists")
            }
            _ => null_row.clone(),
        };
        if let (Some(after), Some(mask)) = (change.after, event.after_mask()) {
            let mut image = Vec::new();
            assert_eq!(layout.splice(&base, &mask, after, &mut image), Ok(after.len()));
            assert!(rows.insert(id_of(layout, &image), image).is_none(), "a row twice");
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Returns the rows in the form of the fixture's `.tsv`.
fn as_tsv(rows: &Rows, layout: &RowLayout) -> String {
    let mut out = String::new();
    for (id, image) in rows {
        out.push_str(&id.to_string());
        for (value, ty) in layout.decode_all(image).unwrap().iter().zip(layout.types()).skip(1) {
            let text = value.text_bytes(Some(ty)).map_or("NULL".to_string(), |text| hex(&text));
            out.push('\t');
            out.push_str(&text);
        }
        out.push('\n');
    }
    out
}

#[test]
fn rows_are_those_that_the_server_showed() {
    for fixture in fixtures() {
        let mut rows = Rows::new();
        let mut layout = None;
        let mut changes = 0;
        for (_, event, _) in events(fixture.log) {
            match event {
                Event::TableMap(map) => {
                    assert_eq!((map.schema, map.table), (&b"fixture"[..], &b"every_type"[..]));
                    layout = Some(RowLayout::new(&map.columns().unwrap()));
                }
                Event::Rows(event) => {
                    apply(&mut rows, layout.as_ref().expect("a table map comes first"), &event);
                    changes += 1;
                }
                _ => {}
            }
        }
        assert_eq!(changes, 5, "{}", fixture.name);
        let layout = layout.unwrap();
        let found = as_tsv(&rows, &layout);
        for (found, expected) in found.lines().zip(fixture.rows.lines()) {
            for (column, (found, expected)) in found.split('\t').zip(expected.split('\t')).enumerate() {
                let ty = &layout.types()[column];
                assert_eq!(found, expected, "{}, column {column}, {}", fixture.name, ty.sql_name());
            }
        }
        assert_eq!(found, fixture.rows, "{}", fixture.name);
    }
}

/// Values that are decoded and encoded again become the same bytes.
#[test]
fn images_encode_to_the_same_bytes() {
    for fixture in fixtures() {
        let mut layout = RowLayout::new(&[]);
        for (_, event, _) in events(fixture.log) {
            match event {
                Event::TableMap(map) => layout = RowLayout::new(&map.columns().unwrap()),
                Event::Rows(event) if event.kind == RowsKind::Write => {
                    for change in event.iter(&layout) {
                        let image = change.unwrap().after.unwrap();
                        let Some(mask) = event.after_mask().filter(ColumnMask::is_full) else { continue };
                        let values = layout.decode_all(image).unwrap();
                        let mut again = Vec::new();
                        layout.encode(&values, &mut again).unwrap();
                        // The server sets the unused bits of the null bitmap; our encoder leaves
                        // them clear.
                        let mut plain = image.to_vec();
                        plain[layout.null_bytes() - 1] &= 0xff >> ((8 - mask.columns() % 8) % 8);
                        assert_eq!(hex(&again), hex(&plain), "{}", fixture.name);
                    }
                }
                _ => {}
            }
        }
    }
}

fn same_table_map(base: EventBase, map: &TableMap<'_>, out: &mut Vec<u8>) -> usize {
    let columns: Vec<ColumnType> = map.columns().unwrap();
    let optional = map.optional().unwrap();
    let names: Vec<&str> = optional
        .column_names
        .as_ref()
        .unwrap()
        .iter()
        .map(|name| std::str::from_utf8(name).unwrap())
        .collect();
    let source = TableMapSource {
        table_id: map.table_id,
        schema: std::str::from_utf8(map.schema).unwrap(),
        table: std::str::from_utf8(map.table).unwrap(),
        columns: &columns,
        nullable: &ColumnMask::from_bitmap(map.nullable, columns.len()).unwrap(),
        has_generated_key: false,
        metadata: RowMetadata::Full {
            names: &names,
            primary_key: optional.primary_key.as_deref().unwrap(),
            visible: optional.visible.as_deref().unwrap(),
        },
    };
    encode::table_map(base, &source, out)
}

/// Returns the event without its checksum and with the bits beyond the last column clear in its
/// column bitmaps. MySQL sets these bits for full images and leaves them clear where it chose all
/// columns one by one.
fn without_spare_bits(rows: &RowsEvent<'_>, event: &[u8]) -> Vec<u8> {
    const BITMAPS_OFFSET: usize = 19 + 6 + 2 + 2 + 1;
    let mut event = event[..event.len() - 4].to_vec();
    let len = rows.columns.div_ceil(8);
    let bitmaps = if rows.kind == RowsKind::Update { 2 } else { 1 };
    for last in (1..=bitmaps).map(|n| BITMAPS_OFFSET + n * len - 1) {
        event[last] &= 0xff >> ((8 - rows.columns % 8) % 8);
    }
    event
}

/// Events of MySQL that are decoded and encoded again become the same bytes.
#[test]
fn events_encode_to_the_same_bytes() {
    for fixture in fixtures().iter().filter(|fixture| fixture.name.starts_with("mysql")) {
        let mut kinds = std::collections::BTreeSet::new();
        for (header, event, bytes) in events(fixture.log) {
            let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
            let mut out = Vec::new();
            let start = match &event {
                Event::PreviousGtids(_) => {
                    encode::previous_gtids(base, &event.previous_gtids().unwrap().unwrap(), &mut out)
                }
                Event::Gtid(gtid) => {
                    let rest = gtid.transaction_length - bytes.len() as u64;
                    assert_eq!(encode::gtid_body_len(gtid, rest, 4).1, gtid.transaction_length);
                    encode::gtid(base, gtid, &mut out)
                }
                Event::Query(query) => {
                    let mut status_vars = Vec::new();
                    encode::write_status(&query.status().unwrap(), &mut status_vars);
                    let query = binlog::event::QueryEvent { status_vars: &status_vars, ..query.clone() };
                    encode::query(base, &query, header.flags, &mut out)
                }
                Event::TableMap(map) => same_table_map(base, map, &mut out),
                Event::Rows(rows) => {
                    let none = ColumnMask::empty(rows.columns);
                    let (before, after) = (rows.before_mask(), rows.after_mask());
                    let (before, after) = (before.as_ref().unwrap_or(&none), after.as_ref().unwrap_or(&none));
                    let start =
                        encode::rows(base, rows.kind, rows.table_id, rows.flags, before, after, &mut out);
                    out.extend_from_slice(rows.rows);
                    start
                }
                Event::Xid(xid) => encode::xid(base, *xid, &mut out),
                Event::RowsQuery(statement) => encode::rows_query(base, statement, &mut out),
                Event::Rotate(rotate) => encode::rotate(base, rotate.file, rotate.position, false, &mut out),
                Event::FormatDescription(description) => {
                    assert_eq!(description.post_header_lens.len(), encode::POST_HEADER_LENS.len());
                    continue;
                }
                other => panic!("{other:?} is not in the fixture"),
            };
            kinds.insert(header.event_type);
            let offset = u64::from(header.log_pos) - bytes.len() as u64;
            finish_event(&mut out, start, Some(offset), Checksum::Crc32);
            let (out, expected) = match &event {
                Event::Rows(rows) => (without_spare_bits(rows, &out), without_spare_bits(rows, bytes)),
                _ => (out, bytes.to_vec()),
            };
            assert_eq!(hex(&out), hex(&expected), "{}: {event:?}", fixture.name);
        }
        assert_eq!(kinds.len(), 10, "event types in {}: {kinds:?}", fixture.name);
    }
}

/// Every event that is cut at any length or has changed bytes is decoded or refused, without a
/// panic.
#[test]
fn damaged_events_do_not_panic() {
    let seed: u64 = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(3);
    println!("SEED={seed}");
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let format = Format::new(Checksum::None);
    for fixture in fixtures() {
        let mut layout = RowLayout::new(&[]);
        for (_, event, bytes) in events(fixture.log) {
            if let Event::TableMap(map) = &event {
                layout = RowLayout::new(&map.columns().unwrap());
            }
            for round in 0..200 {
                let mut damaged = bytes.to_vec();
                if round % 2 == 0 {
                    damaged.truncate(below(bytes.len()));
                }
                for _ in 0..below(4) {
                    let at = 19 + below(bytes.len() - 19);
                    if let Some(byte) = damaged.get_mut(at) {
                        *byte = below(256) as u8;
                    }
                }
                if damaged.len() >= 13 {
                    let size = (damaged.len() as u32).to_le_bytes();
                    damaged[9..13].copy_from_slice(&size);
                }
                consume(decode(&damaged, &format), &layout);
            }
        }
    }
}

fn consume(decoded: Result<(Header, Event<'_>), binlog::DecodeError>, layout: &RowLayout) {
    match decoded {
        Ok((_, Event::TableMap(map))) => {
            let _ = (map.columns(), map.optional());
        }
        Ok((_, Event::Query(query))) => drop(query.status()),
        Ok((_, event @ Event::PreviousGtids(_))) => drop(event.previous_gtids()),
        Ok((_, Event::Rows(rows))) => {
            for change in rows.iter(layout).take(100).flatten() {
                if let Some(image) = change.after.or(change.before) {
                    let _ = layout.decode_all(image);
                }
            }
        }
        _ => {}
    }
}
