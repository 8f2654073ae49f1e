//! Queries whose rows go to the client as they are stored, compared with MySQL: columns of each
//! type, by the text protocol and the binary one, as they are read and sorted by columns.

use bench::instance::Settings;
use protocol::client::{Client, ResultSet};
use protocol::scalar::Scalar;
use testkit::server::same_as_mysql;

const TABLE: &str = "CREATE TABLE s.t (id INT PRIMARY KEY, tiny TINYINT, small SMALLINT UNSIGNED,
    medium MEDIUMINT, medium_u MEDIUMINT UNSIGNED, big BIGINT, big_u BIGINT UNSIGNED,
    filled INT(6) UNSIGNED ZEROFILL, year YEAR, d DECIMAL(20, 4), f FLOAT, g DOUBLE, bits BIT(11),
    day DATE, at DATETIME(3), stamp TIMESTAMP(2) NULL, time TIME(1),
    c CHAR(120), v VARCHAR(300), latin VARCHAR(20) CHARACTER SET latin1, l MEDIUMTEXT, bin BINARY(5),
    vbin VARBINARY(9), blobs BLOB, e ENUM('x', 'ä', ''), chosen SET('one', 'two'), j JSON, g2 POINT,
    KEY (small), KEY (v))";

const ROWS: [&str; 5] = [
    "(1, -128, 65535, -8388608, 16777215, -9223372036854775808, 18446744073709551615, 7, 1999,
      -1234567890123456.7891, 1.5, -2.25e100, b'10110', '2024-02-29', '1999-12-31 23:59:59.999',
      '2001-01-01 10:00:00.25', '-838:59:59', 'abc', 'Été', 'äöü', 'long', x'0100', x'00ff', x'80ff',
      'ä', 'one,two', '{\"a\": [1, null]}', POINT(1, 2))",
    "(2, 127, 0, 8388607, 0, 9223372036854775807, 0, 1234567, 2155, 0, 0, 0, b'0', '0001-01-01',
      '1000-01-01', '1970-01-02 00:00:00', '00:00:00.5', '', '', '', '', '', '', '', 'x', '', '[]', NULL)",
    "(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "(4, -1, 300, -3, 3, -3, 3, 0, 2000, 1.5, -1.5, 1e-5, b'1', '2024-02-28', '2024-02-29 01:02:03.004',
      '2024-02-29 01:02:03', '12:34:56.7', REPEAT('é', 120), REPEAT('ab', 150), 'x', REPEAT('t', 70000),
      'abcde', 'abcdefghi', REPEAT('b', 300), '', 'two', '1', POINT(-1, 0.5))",
    "(5, -1, 300, -3, 3, -3, 3, 0, 2000, 1.50, -1.5, 1e-5, b'1', '2024-02-28', '2024-02-29 01:02:03.004',
      '2024-02-29 01:02:03', '12:34:56.7', 'ABC', 'Été', 'X', 'T', 'abcde', 'abcdefghi', 'b', '', 'two',
      '1', POINT(-1, 0.5))",
];

const COLUMNS: [&str; 28] = [
    "id", "tiny", "small", "medium", "medium_u", "big", "big_u", "filled", "year", "d", "f", "g", "bits",
    "day", "at", "stamp", "time", "c", "v", "latin", "l", "bin", "vbin", "blobs", "e", "chosen", "j", "g2",
];

fn queries() -> Vec<String> {
    let mut queries: Vec<String> = [
        "SELECT * FROM s.t",
        "SELECT * FROM s.t WHERE id = 1",
        "SELECT * FROM s.t WHERE id = 3",
        "SELECT * FROM s.t WHERE id = 99",
        "SELECT v, id, v, id FROM s.t WHERE id BETWEEN 2 AND 4",
        "SELECT c FROM s.t WHERE id > 2.5",
        "SELECT c FROM s.t WHERE id > 'x'",
        "SELECT c FROM s.t WHERE id IN (5, 1, 4)",
        "SELECT id, c FROM s.t WHERE small = 300",
        "SELECT id, v FROM s.t WHERE v = 'ETE'",
        "SELECT id FROM s.t WHERE small = 300 AND tiny = -1",
        "SELECT id AS other, c AS text FROM s.t x WHERE x.id < 3",
        "SELECT id, c FROM s.t ORDER BY id DESC",
        "SELECT c FROM s.t WHERE id < 5 ORDER BY id",
        "SELECT id, c FROM s.t ORDER BY c, v DESC, id",
        "SELECT DISTINCT c FROM s.t ORDER BY c",
        "SELECT DISTINCT tiny, medium, e FROM s.t ORDER BY e DESC, medium, tiny",
        "SELECT DISTINCT c, l FROM s.t WHERE id BETWEEN 1 AND 5 ORDER BY c DESC, l",
        "SELECT DISTINCT small FROM s.t ORDER BY small",
        "SELECT id FROM s.t ORDER BY stamp, id",
        "SELECT id, l FROM s.t ORDER BY g2 IS NULL, id",
        "SELECT id, c FROM s.t ORDER BY c LIMIT 2",
        "SELECT id, v FROM s.t FOR UPDATE",
        "SELECT SQL_CALC_FOUND_ROWS c FROM s.t ORDER BY c",
    ]
    .map(str::to_owned)
    .to_vec();
    for column in COLUMNS {
        queries.push(format!("SELECT {column} FROM s.t"));
        queries.push(format!("SELECT id, {column} FROM s.t ORDER BY {column}, id"));
        if !["g2", "j", "l", "blobs"].contains(&column) {
            queries.push(format!("SELECT DISTINCT {column} FROM s.t ORDER BY {column} DESC"));
        }
    }
    queries
}

fn shown(query: &str, result: Result<ResultSet, protocol::client::ClientError>) -> String {
    let result = match result {
        Ok(result) => result,
        Err(error) => return error.to_string(),
    };
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    let row = |row: &Vec<Option<Vec<u8>>>| row.iter().map(cell).collect::<Vec<_>>().join("|");
    let mut rows: Vec<String> = result.rows.iter().map(row).collect();
    // Either server may read another index where the rows need not come in any order.
    if !query.contains("ORDER BY") {
        rows.sort();
    }
    let text = rows.join("\n");
    // Either may keep another one of the texts that are equal in the collation.
    match query.contains("DISTINCT") {
        true => text.to_lowercase(),
        false => text,
    }
}

/// Returns the rows of a query by both protocols. A prepared statement runs twice, because the
/// second execution sends the definitions of the first again.
fn ask(client: &mut Client, query: &str) -> Vec<String> {
    let mut answers = vec![format!("{query}: {}", shown(query, client.query(query)))];
    answers.push(shown("", client.query("SELECT FOUND_ROWS()")));
    match client.prepare(query) {
        Ok(statement) => answers.extend((0..2).map(|_| shown(query, client.execute(&statement, &[])))),
        Err(error) => answers.push(error.to_string()),
    }
    answers
}

#[test]
fn rows_go_to_the_client_as_they_are_stored() {
    let answers = same_as_mysql("stored_rows", &Settings::default(), |server| {
        let mut client = server.connect();
        let mut answers = Vec::new();
        client.query("CREATE DATABASE s").expect("made");
        client.query(TABLE).expect("made");
        client.query(&format!("INSERT INTO s.t VALUES {}", ROWS.join(", "))).expect("filled");
        for setting in [
            "SET time_zone = '+03:00'",
            "SET character_set_results = latin1",
            "SET character_set_results = NULL",
            "SET character_set_results = utf8mb4, sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'",
            "SET sql_mode = DEFAULT",
        ] {
            client.query(setting).expect("set");
            for query in queries() {
                answers.extend(ask(&mut client, &query));
            }
        }
        answers
    });
    assert!(answers.len() > 1000, "{} answers", answers.len());
}

/// Whether the access answers a condition depends on the values of the parameters.
#[test]
fn parameters_of_any_kind_find_stored_rows() {
    let answers = same_as_mysql("stored_rows_of_parameters", &Settings::default(), |server| {
        let mut client = server.connect();
        client.query("CREATE DATABASE s").expect("made");
        client.query(TABLE).expect("made");
        client.query(&format!("INSERT INTO s.t VALUES {}", ROWS.join(", "))).expect("filled");
        let mut answers = Vec::new();
        for text in [
            "SELECT id, v, c FROM s.t WHERE id = ?",
            "SELECT id, v FROM s.t WHERE id >= ? AND id < 5 ORDER BY c",
            "SELECT DISTINCT v FROM s.t WHERE small > ? ORDER BY v",
            "SELECT id FROM s.t WHERE v = ?",
        ] {
            for parameter in [
                Scalar::Int(1),
                Scalar::Int(-1),
                Scalar::UInt(u64::MAX),
                Scalar::Double(1.5),
                Scalar::Double(4.0),
                Scalar::Bytes(b"4"),
                Scalar::Bytes(b"ete"),
                Scalar::Null,
                Scalar::Int(2),
            ] {
                // MySQL keeps the kind of the parameter that came first.
                let statement = client.prepare(text).expect("prepared");
                answers.push(format!(
                    "{text} {parameter:?}: {}",
                    shown(text, client.execute(&statement, &[parameter]))
                ));
            }
        }
        answers
    });
    assert_eq!(answers.len(), 36);
}

/// A transaction sees its own changes and the rows of its snapshot, whatever way the rows go.
#[test]
fn stored_rows_are_those_of_the_snapshot_and_of_own_changes() {
    let answers = same_as_mysql("stored_rows_of_a_snapshot", &Settings::default(), |server| {
        let (mut reader, mut writer) = (server.connect(), server.connect());
        let rows = (1..=2000).map(|id| format!("({id}, REPEAT('{} ', 8))", id * 7 % 1000));
        let rows: Vec<_> = rows.collect();
        for statement in [
            "CREATE DATABASE o",
            "CREATE TABLE o.t (id INT PRIMARY KEY, c CHAR(60))",
            &format!("INSERT INTO o.t VALUES {}", rows.join(", ")),
        ] {
            writer.query(statement).expect("made");
        }
        // The sorted rows do not fit in memory.
        reader.query("SET sort_buffer_size = 32768").expect("set");
        reader.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").expect("begun");
        writer.query("UPDATE o.t SET c = 'changed' WHERE id % 3 = 0").expect("changed");
        writer.query("DELETE FROM o.t WHERE id % 10 = 1").expect("changed");
        writer.query("INSERT INTO o.t VALUES (3000, 'new')").expect("changed");
        let mut answers = Vec::new();
        let mut ask = |client: &mut Client| {
            for query in [
                "SELECT c FROM o.t WHERE id BETWEEN 30 AND 200",
                "SELECT id, c FROM o.t",
                "SELECT id, c FROM o.t WHERE id > 100 ORDER BY c, id",
                "SELECT DISTINCT c FROM o.t WHERE id < 150 ORDER BY c",
                "SELECT c FROM o.t WHERE id = 33",
                "SELECT c FROM o.t WHERE id = 31",
                "SELECT * FROM o.t WHERE id > 280 ORDER BY c, id",
                "SELECT DISTINCT c FROM o.t ORDER BY c DESC",
            ] {
                answers.push(format!("{query}: {}", shown(query, client.query(query))));
            }
        };
        ask(&mut reader);
        reader.query("UPDATE o.t SET c = 'own' WHERE id BETWEEN 40 AND 45").expect("changed");
        reader.query("DELETE FROM o.t WHERE id = 50").expect("changed");
        reader.query("INSERT INTO o.t VALUES (3001, 'mine')").expect("changed");
        ask(&mut reader);
        reader.query("ROLLBACK").expect("ended");
        ask(&mut reader);
        // The rows lack the new column.
        writer.query("ALTER TABLE o.t ADD COLUMN d INT DEFAULT 4, ALGORITHM=INSTANT").expect("changed");
        writer.query("INSERT INTO o.t VALUES (3002, 'newer', 5)").expect("changed");
        ask(&mut reader);
        answers
    });
    assert_eq!(answers.len(), 32);
}
