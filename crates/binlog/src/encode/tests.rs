use super::*;
use crate::event::Header;
use crate::event::{
    Event, FLAG_MAY_HAVE_SBR, Format, GtidEvent, HeartbeatEvent, QueryEvent, QueryStatus, RotateEvent,
    RowsKind, UserVarValue, XaPrepareEvent, decode, decode_body, is_edge_of_group, rows_flag,
};
use crate::gtid::Gtid;
use types::row::RowLayout;
use types::{ColumnMask, ColumnType, Value};

const BASE: EventBase = EventBase { timestamp: 1_700_000_000, server_id: 7 };

/// Finishes the event, checks its checksum and decodes it.
fn back(out: &mut Vec<u8>, start: usize) -> (Header, Event<'_>) {
    finish_event(out, start, Some(1000), Checksum::Crc32);
    let event = &out[start..];
    crate::checksum::verify_checksum(event).unwrap();
    let (header, decoded) = decode(event, &Format::new(Checksum::Crc32)).unwrap();
    assert_eq!(header.log_pos as usize, 1000 + event.len());
    assert_eq!((header.timestamp, header.server_id), (BASE.timestamp, BASE.server_id));
    (header, decoded)
}

#[test]
fn small_events() {
    let mut out = vec![9, 9, 9];
    let start = xid(BASE, 77, &mut out);
    assert_eq!(back(&mut out, start).1, Event::Xid(77));
    let start = rotate(BASE, b"bin.000002", 4, true, &mut out);
    let rotate = Event::Rotate(RotateEvent { position: 4, file: b"bin.000002" });
    assert_eq!(back(&mut out, start).1, rotate);
    let start = stop(BASE, &mut out);
    assert_eq!(back(&mut out, start).1, Event::Stop);
    let start = intvar(BASE, IntvarEvent { kind: 2, value: 5 }, &mut out);
    assert_eq!(back(&mut out, start).1, Event::Intvar(IntvarEvent { kind: 2, value: 5 }));
    let start = rand(BASE, 1, 2, &mut out);
    assert_eq!(back(&mut out, start).1, Event::Rand(1, 2));
    let start = rows_query(BASE, b"insert", &mut out);
    assert_eq!(back(&mut out, start).1, Event::RowsQuery(b"insert"));
    let prepare = XaPrepareEvent { one_phase: true, xid: Xid::new(b"gt", b"b", -7).expect("short enough") };
    let start = xa_prepare(BASE, &prepare.xid, prepare.one_phase, &mut out);
    assert_eq!(back(&mut out, start).1, Event::XaPrepare(prepare));
    let start = super::incident(BASE, IncidentEvent { number: 1, message: b"lost" }, &mut out);
    assert_eq!(back(&mut out, start).1, Event::Incident(IncidentEvent { number: 1, message: b"lost" }));
    let value = UserVarValue { kind: 0, collation: 255, bytes: b"x", unsigned: false };
    for value in [None, Some(value)] {
        let var = UserVarEvent { name: b"v", value };
        let start = user_var(BASE, &var, &mut out);
        assert_eq!(back(&mut out, start).1, Event::UserVar(var));
    }
    let list = vec!["0-1-5".parse().unwrap(), "3-1-9".parse().unwrap()];
    let start = mariadb_gtid_list(BASE, &list, 0, false, &mut out);
    assert_eq!(back(&mut out, start).1, Event::MariadbGtidList(list));
}

#[test]
fn heartbeats() {
    let mut out = Vec::new();
    let start = heartbeat(7, "bin.000001", 1234, Checksum::Crc32, &mut out);
    crate::checksum::verify_checksum(&out[start..]).unwrap();
    let expected = |position| Event::Heartbeat(HeartbeatEvent { file: b"bin.000001", position });
    assert_eq!(decode(&out, &Format::new(Checksum::Crc32)).unwrap().1, expected(1234));
    out.clear();
    let start = heartbeat_v2(7, "bin.000001", 1 << 40, &mut out);
    finish_event(&mut out, start, None, Checksum::Crc32);
    assert_eq!(decode(&out, &Format::new(Checksum::Crc32)).unwrap().1, expected(1 << 40));
}

#[test]
fn format_descriptions() {
    for checksum in [Checksum::None, Checksum::Crc32] {
        let mut out = Vec::new();
        format_description(BASE, "9.7.0-slipstream", 5, checksum, 0, Some(4), &mut out);
        crate::checksum::verify_checksum(&out).unwrap();
        let (header, event) = decode(&out, &Format::new(Checksum::None)).unwrap();
        let Event::FormatDescription(decoded) = event else { panic!("{event:?}") };
        assert_eq!((decoded.server_version, decoded.created), (&b"9.7.0-slipstream"[..], 5));
        assert_eq!(decoded.post_header_lens, POST_HEADER_LENS);
        assert_eq!(decoded.format().checksum, checksum);
        assert_eq!((header.log_pos as usize, header.flags), (4 + out.len(), 0));
    }
}

#[test]
fn gtid_events() {
    let plain = "94dfb2db-e5ea-11f1-9ee3-02fc00000001:5".parse::<Gtid>().unwrap();
    let mut event = GtidEvent {
        gtid: plain,
        flags: FLAG_MAY_HAVE_SBR,
        last_committed: 3,
        sequence_number: 4,
        immediate_commit_us: 1_795_293_153_441_543,
        original_commit_us: 1_700_000_000_000_001,
        transaction_length: 0,
        immediate_server_version: 90_704,
        original_server_version: 80_040,
        commit_group_ticket: 0,
    };
    for rest in [0, 200, 65_400, 70_000, 1 << 33] {
        let (body, length) = gtid_body_len(&event, rest, 4);
        event.transaction_length = length;
        let mut out = Vec::new();
        let start = gtid(BASE, &event, &mut out);
        assert_eq!(out.len(), HEADER_LEN + body);
        assert_eq!(back(&mut out, start).1, Event::Gtid(event));
        assert_eq!(length, rest + out.len() as u64);
    }
    event.original_commit_us = event.immediate_commit_us;
    event.commit_group_ticket = 9;
    let mut out = Vec::new();
    let start = gtid(BASE, &event, &mut out);
    assert_eq!(back(&mut out, start).1, Event::Gtid(event));
    event.gtid = "94dfb2db-e5ea-11f1-9ee3-02fc00000001:tag:5".parse::<Gtid>().unwrap();
    for rest in [0, 20, 200, 16_200, 16_300, 70_000, 1 << 33, 1 << 60] {
        event.original_commit_us += 1;
        let (body, length) = gtid_body_len(&event, rest, 4);
        event.transaction_length = length;
        let mut out = Vec::new();
        let start = gtid(BASE, &event, &mut out);
        assert_eq!((out.len(), out[4]), (HEADER_LEN + body, event_type::GTID_TAGGED));
        assert_eq!(back(&mut out, start).1, Event::Gtid(event));
        assert_eq!(length, rest + out.len() as u64);
    }
}

#[test]
fn a_tagged_gtid_event_is_mysqls() {
    // This is the body that MySQL 9.7.4 wrote for `SET gtid_next = 'AUTOMATIC:b'`.
    let theirs = [
        0x02, 0x6c, 0x00, 0x00, 0x00, 0x02, 0xde, 0x31, 0x02, 0x0d, 0x02, 0x95, 0x02, 0x99, 0x03, 0x66, 0x22,
        0xc5, 0x03, 0xb5, 0x02, 0xec, 0x04, 0xf1, 0x03, 0x00, 0x00, 0x00, 0x02, 0x04, 0x04, 0x06, 0x02, 0x62,
        0x08, 0x04, 0x0a, 0x0c, 0x0c, 0x7f, 0x49, 0x63, 0x04, 0xc7, 0xd6, 0x60, 0x06, 0x10, 0x31, 0x04, 0x12,
        0x83, 0x12, 0x0b,
    ];
    let mut event = vec![0; HEADER_LEN];
    event[4] = event_type::GTID_TAGGED;
    event.extend_from_slice(&theirs);
    let header = Header::decode(&event).unwrap();
    let Event::Gtid(decoded) = decode_body(&header, &event).unwrap() else { panic!("another event") };
    assert_eq!(decoded.gtid.to_string(), "6f8c83a5-e633-11f1-ad76-02fc00000001:b:1");
    assert_eq!((decoded.last_committed, decoded.sequence_number), (1, 3));
    let mut ours = Vec::new();
    gtid(BASE, &decoded, &mut ours);
    assert_eq!(ours[HEADER_LEN..], theirs);
}

#[test]
fn queries() {
    let status = QueryStatus {
        flags2: Some(0),
        sql_mode: Some(0x45a0_0020),
        catalog: Some(b"std"),
        auto_increment: Some((2, 1)),
        charset: Some((255, 255, 255)),
        time_zone: Some(b"SYSTEM"),
        lc_time_names: Some(0),
        charset_database: Some(8),
        table_map_for_update: Some(3),
        invoker: Some((b"root", b"localhost")),
        updated_schemas: Some(Some(vec![b"a", b"b"])),
        microseconds: Some(123_456),
        explicit_defaults_for_timestamp: Some(true),
        ddl_xid: Some(9),
        default_collation_for_utf8mb4: Some(255),
        sql_require_primary_key: Some(0),
        default_table_encryption: Some(0),
    };
    let mut status_vars = Vec::new();
    write_status(&status, &mut status_vars);
    let event = QueryEvent {
        thread_id: 1,
        exec_time: 2,
        error_code: 0,
        status_vars: &status_vars,
        schema: b"sbtest",
        statement: b"create table t (id int)",
    };
    let mut out = Vec::new();
    let start = query(BASE, &event, 0, &mut out);
    let (_, decoded) = back(&mut out, start);
    let Event::Query(decoded) = decoded else { panic!("{decoded:?}") };
    assert_eq!(decoded, event);
    assert_eq!(decoded.status().unwrap(), status);
    let unlisted = QueryStatus { updated_schemas: Some(None), ..QueryStatus::default() };
    let mut short = Vec::new();
    write_status(&unlisted, &mut short);
    assert_eq!(QueryEvent { status_vars: &short, ..event }.status().unwrap(), unlisted);
}

#[test]
fn edges_of_groups_are_known_by_their_statements_alone() {
    let edges = ["BEGIN", "COMMIT", "ROLLBACK"];
    let others = ["", "B", "begin", "BEGIN ", "XBEGIN", "ROLLBACK TO a", "COMMI", "SELECT 'BEGIN"];
    for (schema, status_vars) in [("", &[][..]), ("BEGIN", &[0; 300]), ("s", b"BEGIN")] {
        for text in edges.iter().chain(&others) {
            let event = QueryEvent {
                thread_id: u32::MAX,
                exec_time: 1,
                error_code: 2,
                status_vars,
                schema: schema.as_bytes(),
                statement: text.as_bytes(),
            };
            let mut out = Vec::new();
            let start = query(BASE, &event, 0, &mut out);
            assert_eq!(is_edge_of_group(&out[start..]), edges.contains(text), "{text} in {schema}");
            let decoded = match back(&mut out, start).1 {
                Event::Query(query) => query.is_begin() || query.is_end(),
                other => panic!("{other:?}"),
            };
            assert_eq!(decoded, edges.contains(text), "{text} in {schema}");
        }
    }
    assert!((0..40).all(|len| !is_edge_of_group(&[0xff; 40][..len])), "bytes that are no event");
}

#[test]
fn tables_and_rows() {
    let members = vec!["x".to_string(), "y".into()];
    let columns = [
        ColumnType::int(false),
        ColumnType::bigint(true),
        ColumnType::varchar(20, 255),
        ColumnType::varbinary(20),
        ColumnType::text(255),
        ColumnType::char(9, 8),
        ColumnType::enumeration(members.clone(), 255),
        ColumnType::set(members, 45),
        ColumnType::decimal(10, 2),
    ];
    let names = ["id", "n", "v", "b", "t", "c", "e", "s", "d"];
    let mut nullable = ColumnMask::full(columns.len());
    nullable = ColumnMask::from_bitmap(&[0xfe, 0x01], nullable.columns()).unwrap();
    let source = TableMapSource {
        table_id: 0x0102_0304_0506,
        schema: "d",
        table: "t",
        columns: &columns,
        nullable: &nullable,
        has_generated_key: false,
        metadata: RowMetadata::Full { names: &names, primary_key: &[(0, 0), (2, 4)], visible: &[true; 9] },
    };
    let mut out = Vec::new();
    let start = table_map(BASE, &source, &mut out);
    let (_, decoded) = back(&mut out, start);
    let Event::TableMap(map) = decoded else { panic!("{decoded:?}") };
    assert_eq!((map.table_id, map.schema, map.table), (0x0102_0304_0506, &b"d"[..], &b"t"[..]));
    assert_eq!(map.columns().unwrap(), columns);
    assert!(!map.is_nullable(0) && map.is_nullable(8));
    let optional = map.optional().unwrap();
    let expected: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    assert_eq!((optional.column_names, optional.primary_key), (Some(expected), Some(vec![(0, 0), (2, 4)])));

    let layout = RowLayout::new(&columns);
    let mut row = vec![Value::Null; columns.len()];
    row[0] = Value::Int(5);
    row[2] = Value::text("text");
    let mut image = Vec::new();
    layout.encode(&row, &mut image).unwrap();
    let full = ColumnMask::full(columns.len());
    for kind in [RowsKind::Write, RowsKind::Update, RowsKind::Delete] {
        let mut out = Vec::new();
        let start = rows(BASE, kind, 9, rows_flag::STMT_END, &full, &full, &mut out);
        let images = if kind == RowsKind::Update { 4 } else { 2 };
        (0..images).for_each(|_| out.extend_from_slice(&image));
        let (_, decoded) = back(&mut out, start);
        let Event::Rows(event) = decoded else { panic!("{decoded:?}") };
        assert!(event.kind == kind && event.table_id == 9 && event.ends_statement());
        let changes: Vec<_> = event.iter(&layout).map(Result::unwrap).collect();
        assert_eq!(changes.len(), 2);
        for change in changes {
            assert_eq!(change.before, (kind != RowsKind::Write).then_some(&image[..]));
            assert_eq!(change.after, (kind != RowsKind::Delete).then_some(&image[..]));
        }
    }
}
