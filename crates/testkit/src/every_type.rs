//! Tables with a column of every type, changes of their rows, and the values as text in the form
//! that every reader of the binary log prints ([`crate::reader`]).

use crate::server::Server;

/// The table whose first row ends a reader's work.
pub const LAST: &str = "every.last";

/// How the values of a column are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The text of the values is compared.
    Text,
    /// The bytes of the values are compared, as hexadecimal digits.
    Bytes,
    /// The numbers that the `BIT` values stand for are compared.
    Bits,
    /// The nearest numbers of type `FLOAT` or `DOUBLE`, with this many bits, are compared.
    Float(u8),
    /// The JSON texts are compared without the spaces in them.
    Json,
}

/// A table, its columns after the key `id`, and the values of its rows in the order of the columns.
struct Table {
    name: &'static str,
    columns: &'static [(&'static str, &'static str, Kind)],
    rows: &'static [&'static str],
}

const TABLES: &[Table] = &[
    Table {
        name: "numbers",
        columns: &[
            ("t", "TINYINT", Kind::Text),
            ("tu", "TINYINT UNSIGNED", Kind::Text),
            ("s", "SMALLINT", Kind::Text),
            ("su", "SMALLINT UNSIGNED", Kind::Text),
            ("m", "MEDIUMINT", Kind::Text),
            ("mu", "MEDIUMINT UNSIGNED", Kind::Text),
            ("i", "INT", Kind::Text),
            ("iu", "INT UNSIGNED", Kind::Text),
            ("b", "BIGINT", Kind::Text),
            ("bu", "BIGINT UNSIGNED", Kind::Text),
            ("d", "DECIMAL(20,6)", Kind::Text),
            ("f", "FLOAT", Kind::Float(32)),
            ("g", "DOUBLE", Kind::Float(64)),
            ("bits", "BIT(20)", Kind::Bits),
        ],
        rows: &[
            "-128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, \
             18446744073709551615, -12345678901234.567891, -0.1, 1.25e100, b'10000000000000000001'",
            "127, 0, 32767, 0, 8388607, 0, 2147483647, 0, 9223372036854775807, 0, 0.000001, 65536.5, -3.5, b'0'",
            "0, 128, -1, 32768, -1, 8388608, -1, 2147483648, -1, 9223372036854775808, 0, 0, 0, b'101'",
            "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
        ],
    },
    Table {
        name: "texts",
        columns: &[
            ("c", "CHAR(10)", Kind::Text),
            ("v", "VARCHAR(300)", Kind::Text),
            ("l", "VARCHAR(20) CHARACTER SET latin1", Kind::Text),
            ("t", "TEXT", Kind::Text),
            ("mt", "MEDIUMTEXT", Kind::Text),
            ("bin", "VARBINARY(16)", Kind::Bytes),
            ("bl", "BLOB", Kind::Bytes),
            ("mb", "MEDIUMBLOB", Kind::Bytes),
            ("e", "ENUM('small','middle','large')", Kind::Text),
            ("st", "SET('a','b','c','d')", Kind::Text),
            ("j", "JSON", Kind::Json),
        ],
        rows: &[
            "'pad', REPEAT('v', 300), 'plain', 'some\\ttext\\n', REPEAT('m', 70000), X'00FF10', X'0001FE', \
             REPEAT('b', 200000), 'large', 'a,c', '{\"a\": [1, true, null], \"b\": \"x\"}'",
            "'ünï', 'čeština', 'plain', '', '€', X'', X'00', X'FF', 'small', 'd', '[\"ä\", {\"k\": -5}]'",
            "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
        ],
    },
    Table {
        name: "times",
        columns: &[
            ("d", "DATE", Kind::Text),
            ("t", "TIME", Kind::Text),
            ("t6", "TIME(6)", Kind::Text),
            ("dt", "DATETIME", Kind::Text),
            ("dt3", "DATETIME(3)", Kind::Text),
            ("ts", "TIMESTAMP NULL", Kind::Text),
            ("ts6", "TIMESTAMP(6) NULL", Kind::Text),
            ("y", "YEAR", Kind::Text),
        ],
        rows: &[
            "'2026-11-21', '-838:59:59', '12:34:56.789012', '9999-12-31 23:59:59', '1000-01-01 00:00:00.125', \
             '2001-02-03 04:05:06', '2037-12-31 23:59:59.999999', 2155",
            "'1970-01-01', '00:00:01', '-00:00:00.500000', '1970-01-01 00:00:00', '2024-02-29 23:59:59.999', \
             '1970-01-02 00:00:00', '1999-12-31 23:59:59.000001', 1901",
            "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
        ],
    },
];

/// A table as a test compares it.
pub struct Shape {
    /// The name of the table, with its schema.
    pub name: String,
    /// The name of each column, and how its values are compared.
    pub columns: Vec<(&'static str, Kind)>,
}

/// Returns the tables that [`create_and_fill`] and [`change`] leave behind.
pub fn shapes() -> Vec<Shape> {
    let of = |table: &Table| {
        let mut columns = vec![("id", Kind::Text)];
        columns.extend(table.columns.iter().map(|(name, _, kind)| (*name, *kind)));
        if table.name == "times" {
            columns.push(("added", Kind::Text));
        }
        Shape { name: format!("every.{}", table.name), columns }
    };
    TABLES.iter().map(of).collect()
}

/// Escapes text as readers print it.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

/// Returns the rows of a table, in the form that readers print.
pub fn rows_of(server: &Server, shape: &Shape) -> Vec<Vec<String>> {
    let column = |(name, kind): &(&str, Kind)| match kind {
        Kind::Bytes => format!("HEX({name})"),
        Kind::Bits => format!("{name} + 0"),
        _ => name.to_string(),
    };
    let columns: Vec<String> = shape.columns.iter().map(column).collect();
    let mut session = server.connect();
    session.query("SET time_zone = '+00:00'").expect("a time zone that is a number");
    let sql = format!("SELECT {} FROM {} ORDER BY id", columns.join(", "), shape.name);
    let found = session.query(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => escape(&String::from_utf8_lossy(bytes)),
        None => "\\N".to_string(),
    };
    found.rows.iter().map(|row| row.iter().map(text).collect()).collect()
}

fn run(server: &Server, statements: &[String]) {
    let mut session = server.connect();
    for sql in ["SET time_zone = '+00:00'", "SET NAMES utf8mb4"] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    for sql in statements {
        session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", server.flavor()));
    }
}

/// Makes the tables and fills them.
pub fn create_and_fill(server: &Server) {
    let mut statements = vec!["CREATE DATABASE every".to_string()];
    for table in TABLES {
        let columns: Vec<String> =
            table.columns.iter().map(|(name, words, _)| format!("{name} {words}")).collect();
        statements.push(format!(
            "CREATE TABLE every.{} (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, {}) DEFAULT CHARSET = utf8mb4",
            table.name,
            columns.join(", ")
        ));
        let names: Vec<&str> = table.columns.iter().map(|(name, _, _)| *name).collect();
        let rows: Vec<String> = table.rows.iter().map(|row| format!("({row})")).collect();
        statements.push(format!(
            "INSERT INTO every.{} ({}) VALUES {}",
            table.name,
            names.join(", "),
            rows.join(", ")
        ));
    }
    statements.push("CREATE TABLE every.last (id INT PRIMARY KEY)".to_string());
    run(server, &statements);
}

/// Returns the number of rows that [`create_and_fill`] makes.
pub fn rows_at_first() -> usize {
    TABLES.iter().map(|table| table.rows.len()).sum()
}

/// Changes the rows while a reader follows. The last statement ends the reader's work.
pub fn change(server: &Server) {
    let mut statements: Vec<String> = Vec::new();
    for table in TABLES {
        for row in table.rows {
            statements.push(format!("INSERT INTO every.{} VALUES (NULL, {row})", table.name));
        }
        statements.push(format!("UPDATE every.{} SET id = id + 100 WHERE id = 2", table.name));
        statements.push(format!("DELETE FROM every.{} WHERE id = 1", table.name));
    }
    let more = [
        "UPDATE every.numbers SET d = d * 2, b = 5 WHERE id > 2",
        "UPDATE every.texts SET t = REPEAT('t', 30000), mb = NULL, st = 'b,c' WHERE id > 3",
        "UPDATE every.times SET dt = '2020-02-29 00:00:00', t = '10:11:12' WHERE id > 2",
        "BEGIN",
        "INSERT INTO every.numbers (t) VALUES (1)",
        "ROLLBACK",
        "BEGIN",
        "INSERT INTO every.numbers (t) VALUES (2), (3)",
        "UPDATE every.numbers SET t = t + 1 WHERE t = 2",
        "COMMIT",
        "FLUSH BINARY LOGS",
        "ALTER TABLE every.times ADD COLUMN added VARCHAR(20)",
        "INSERT INTO every.times (y, added) VALUES (2026, 'later')",
        "INSERT INTO every.last VALUES (1)",
    ];
    statements.extend(more.map(String::from));
    run(server, &statements);
}
