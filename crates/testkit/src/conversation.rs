//! A conversation of the project's client with a server, which must go the same way with every
//! flavor. It checks that the client understands other servers, and that Slipstream's answers are
//! understood by the client.

use bench::instance::{Instance, USER};
use protocol::client::{Client, ClientError, ConnectOptions};
use protocol::command;
use protocol::scalar::{DateTimeParts, Scalar, TimeParts};

/// Runs the whole conversation with a server that has no schema `p`.
pub fn whole_client(server: &Instance) {
    let options = tcp(server);
    let mut client = Client::connect(&options).unwrap_or_else(|error| panic!("{error}"));
    statements_of_both_protocols(&mut client);
    a_parameter_in_parts(&mut client);
    client.query("SET GLOBAL max_allowed_packet = 67108864").unwrap();
    large_rows(&options);
    errors_leave_the_connection_usable(&mut client);
    several_statements(&options);
    let wrong = Client::connect(&tcp(server).user(USER, "wrong")).unwrap_err();
    assert_eq!(wrong.server_code(), Some(1045));
    client.quit();
}

/// Returns the options to connect over TCP.
pub fn tcp(server: &Instance) -> ConnectOptions {
    ConnectOptions::tcp("127.0.0.1", server.port()).user(USER, USER)
}

fn statements_of_both_protocols(client: &mut Client) {
    client.query("CREATE DATABASE p").unwrap();
    client.command(command::INIT_DB, b"p").unwrap();
    client
        .query(
            "CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, i INT, d DECIMAL(10,2), f DOUBLE, \
             s VARCHAR(100), b LONGBLOB, dt DATETIME(6), da DATE, ti TIME(3))",
        )
        .unwrap();
    let insert =
        client.prepare("INSERT INTO t (i, d, f, s, b, dt, da, ti) VALUES (?, ?, ?, ?, ?, ?, ?, ?)").unwrap();
    assert_eq!(insert.parameters(), 8);
    let date = DateTimeParts { year: 2024, month: 2, day: 29, ..DateTimeParts::default() };
    let at = DateTimeParts { hour: 23, minute: 59, second: 58, micros: 123_456, ..date };
    let time = TimeParts { negative: true, days: 2, hours: 3, minutes: 4, seconds: 5, micros: 678_000 };
    let row = [
        Scalar::Int(-7),
        Scalar::Bytes(b"12.34"),
        Scalar::Double(0.5),
        Scalar::Bytes("h\u{e9}llo".as_bytes()),
        Scalar::Null,
        Scalar::DateTime(at),
        Scalar::Date(date),
        Scalar::Time(time),
    ];
    let done = client.execute_discard(&insert, &row).unwrap();
    assert_eq!((done.affected_rows, done.last_insert_id), (1, 1));

    let select = client.prepare("SELECT * FROM t WHERE id = ?").unwrap();
    let text = client.query("SELECT * FROM t WHERE id = 1").unwrap();
    let binary = client.execute(&select, &[Scalar::UInt(1)]).unwrap();
    assert_eq!(text.rows, binary.rows);
    let want = [
        Some("1"),
        Some("-7"),
        Some("12.34"),
        Some("0.5"),
        Some("h\u{e9}llo"),
        None,
        Some("2024-02-29 23:59:58.123456"),
        Some("2024-02-29"),
        Some("-51:04:05.678"),
    ];
    for (i, want) in want.iter().enumerate() {
        assert_eq!(text.cell(0, i).as_deref(), *want, "column {i}");
    }
    assert_eq!(client.execute_discard(&select, &[Scalar::UInt(9)]).unwrap().rows, 0);
    client.close(select).unwrap();
    assert!(matches!(client.execute(&insert, &[]), Err(ClientError::Protocol(_))));
}

fn a_parameter_in_parts(client: &mut Client) {
    let part = [b'x'; 5000];
    let insert = client.prepare("INSERT INTO p.t (b) VALUES (?)").unwrap();
    client.send_long_data(&insert, 0, &part[..100]).unwrap();
    client.send_long_data(&insert, 0, &part[100..]).unwrap();
    // The statement is executed without a value for the parameter, which has been sent before.
    client.send_command(command::STMT_EXECUTE, &long_data_execute(insert.id())).unwrap();
    assert_eq!(client.read_summary().unwrap().affected_rows, 1);
    assert_eq!(client.query("SELECT MAX(LENGTH(b)) FROM p.t").unwrap().cell(0, 0).as_deref(), Some("5000"));
}

fn long_data_execute(id: u32) -> Vec<u8> {
    let mut body = id.to_le_bytes().to_vec();
    body.extend_from_slice(&[0, 1, 0, 0, 0, 0, 1, 251, 0]);
    body
}

fn large_rows(options: &ConnectOptions) {
    // The new limit holds for new connections only.
    let mut client = Client::connect(options).unwrap();
    let insert = client.prepare("INSERT INTO p.t (b) VALUES (?)").unwrap();
    for len in [(16 << 20) - 40, 0xff_ffff, 20 << 20] {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        client.execute_discard(&insert, &[Scalar::Bytes(&bytes)]).unwrap();
        let back = client.query("SELECT b FROM p.t ORDER BY id DESC LIMIT 1").unwrap();
        assert!(back.rows[0][0].as_deref() == Some(&bytes[..]), "{len} bytes came back different");
    }
    let mut seen = 0;
    let summary =
        client.query_rows("SELECT LENGTH(b) FROM p.t", |row| seen += usize::from(row[0].is_some())).unwrap();
    assert_eq!((summary.rows, seen), (5, 4));
}

fn errors_leave_the_connection_usable(client: &mut Client) {
    for _ in 0..2 {
        let error = client.query("SELECT * FROM no_such_schema.t").unwrap_err();
        assert!(matches!(error.server_code(), Some(1146 | 1049)), "{error}");
        client.ping().unwrap();
    }
    assert_eq!(client.prepare("SELEC 1").unwrap_err().server_code(), Some(1064));
    client.command(command::RESET_CONNECTION, &[]).unwrap();
    assert_eq!(client.query("SELECT 1").unwrap().cell(0, 0).as_deref(), Some("1"));
}

fn several_statements(options: &ConnectOptions) {
    let options = ConnectOptions { multi_statements: true, ..options.clone() };
    let mut client = Client::connect(&options).unwrap();
    let results = client.query_all("SELECT 1; SELECT 2, 3; SET @x = 1").unwrap();
    assert_eq!(results.iter().map(|r| r.columns.len()).collect::<Vec<_>>(), [1, 2, 0]);
    assert_eq!(client.query_discard("SELECT 1; SELECT 2").unwrap().rows, 2);
    assert_eq!(client.query_all("SELECT 1; SELEC 2").unwrap_err().server_code(), Some(1064));
    client.ping().unwrap();
}
