use super::*;
use crate::event::{Event, Format, decode};
use crate::gtid::Gtid;

const BASE: EventBase = EventBase { timestamp: 1_700_000_000, server_id: 7 };

fn gtid_event() -> GtidEvent {
    let gtid: Gtid = "94dfb2db-e5ea-11f1-9ee3-02fc00000001:5".parse().unwrap();
    GtidEvent { sequence_number: 1, immediate_commit_us: 17, original_commit_us: 17, ..GtidEvent::new(gtid) }
}

/// Makes a group of BEGIN, a TABLE_MAP and two row events, and XID. The rows are empty here.
fn group() -> Vec<u8> {
    let mut group = Vec::new();
    begin(BASE, 3, &[], &mut group);
    for kind in [event_type::TABLE_MAP, event_type::WRITE_ROWS, event_type::UPDATE_ROWS] {
        let start = encode::begin_event(BASE, kind, 0, &mut group);
        group.extend_from_slice(&[9, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
        finish_event(&mut group, start, None, Checksum::None);
    }
    let start = encode::xid(BASE, 5, &mut group);
    finish_event(&mut group, start, None, Checksum::None);
    group
}

#[test]
fn emitted_groups_come_back_the_same() {
    for checksum in [Checksum::None, Checksum::Crc32] {
        let group = group();
        let mut file = Vec::new();
        let event = gtid_event();
        let written = emit(&group, GroupStart::Gtid(&event), 1000, checksum, &mut file).unwrap();
        assert_eq!(written as usize, file.len());
        let mut received = Vec::new();
        let mut offset = 1000;
        for (i, raw) in EventReader::new(&file).enumerate() {
            let raw = raw.unwrap();
            offset += raw.bytes.len();
            assert_eq!(raw.header.log_pos as usize, offset);
            if checksum == Checksum::Crc32 {
                crate::checksum::verify_checksum(raw.bytes).unwrap();
            }
            if i == 0 {
                let (_, decoded) = decode(raw.bytes, &Format::new(checksum)).unwrap();
                let Event::Gtid(decoded) = decoded else { panic!("{decoded:?}") };
                assert_eq!(decoded, GtidEvent { transaction_length: written, ..event });
            } else {
                assert_eq!(append_received(raw.bytes, checksum, &mut received), Ok(Taken::Appended));
            }
        }
        assert_eq!(received, group);
    }
}

#[test]
fn table_ids_are_rewritten() {
    let mut group = group();
    let before = group.len();
    set_table_ids(&mut group, |id| (id == 9).then_some(0xabcd_ef01_2345)).unwrap();
    assert_eq!(group.len(), before);
    let ids: Vec<Option<u64>> = walk(&group).map(|event| table_id(&event.unwrap()).unwrap()).collect();
    let new = Some(0xabcd_ef01_2345);
    assert_eq!(ids, [None, new, new, new, None]);
}

#[test]
fn mariadb_events_become_mysql_events() {
    let mut event = Vec::new();
    let start = encode::begin_event(BASE, event_type::WRITE_ROWS_V1, 0, &mut event);
    event.extend_from_slice(&[9, 0, 0, 0, 0, 0, 1, 0, 1, 0xff, 0xfe]);
    finish_event(&mut event, start, Some(4), Checksum::Crc32);
    let mut group = Vec::new();
    append_received(&event, Checksum::Crc32, &mut group).unwrap();
    let (header, decoded) = decode(&group, &Format::new(Checksum::None)).unwrap();
    assert_eq!((header.event_type, header.log_pos), (event_type::WRITE_ROWS, 0));
    let Event::Rows(rows) = decoded else { panic!("{decoded:?}") };
    assert_eq!((rows.table_id, rows.columns, rows.rows), (9, 1, &[0xfe][..]));

    let mut annotate = Vec::new();
    let start = encode::begin_event(BASE, event_type::MARIADB_ANNOTATE_ROWS, 0, &mut annotate);
    annotate.extend_from_slice(b"insert into t");
    finish_event(&mut annotate, start, None, Checksum::None);
    group.clear();
    append_received(&annotate, Checksum::None, &mut group).unwrap();
    assert_eq!(decode(&group, &Format::new(Checksum::None)).unwrap().1, Event::RowsQuery(b"insert into t"));
}

#[test]
fn damaged_groups_are_errors() {
    let group = group();
    for len in (1..group.len()).filter(|len| !walk(&group).any(|e| e.unwrap().offset == *len)) {
        assert!(walk(&group[..len]).any(|event| event.is_err()), "{len}");
        let mut out = Vec::new();
        assert!(
            emit(&group[..len], GroupStart::Anonymous(&gtid_event()), 4, Checksum::None, &mut out).is_err()
        );
    }
    let mut out = Vec::new();
    assert!(append_received(&group[..HEADER_LEN], Checksum::Crc32, &mut out).is_err());
}
