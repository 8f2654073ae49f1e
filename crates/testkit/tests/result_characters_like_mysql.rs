//! Tests of `character_set_results`: the bytes in which the text of columns is sent, and the
//! collations with which the columns are announced. A real MySQL gets the same statements and must
//! send the same.

use bench::instance::Settings;
use testkit::server::same_as_mysql;

const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "USE d",
    "SET NAMES utf8mb4",
    "CREATE TABLE t (a INT, l VARCHAR(9) CHARSET latin1, u TEXT CHARSET utf32, b VARBINARY(9), \
     e ENUM('ü', 'b') CHARSET latin1, w CHAR(3) CHARSET ucs2 COLLATE ucs2_bin, n VARCHAR(9))",
    "INSERT INTO t VALUES (1, 'ü', 'ß', 'é', 'ü', 'ö', 'ä'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
];

#[test]
fn text_is_sent_as_character_set_results_says() {
    let answers = same_as_mysql("result_characters", &Settings::default(), |server| {
        let mut client = server.connect();
        for sql in STATEMENTS {
            client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let mut answers = Vec::new();
        for characters in ["NULL", "binary", "latin1", "utf32", "utf8mb4"] {
            client.query(&format!("SET character_set_results = {characters}")).expect("may be set");
            for sql in ["SELECT * FROM t", "SELECT CONCAT(l, 'x'), UPPER(u), 'ü' FROM t"] {
                let result = client.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                let collations: Vec<u16> = result.columns.iter().map(|column| column.collation).collect();
                let cell = |cell: &Option<Vec<u8>>| cell.as_ref().map(|text| text.escape_ascii().to_string());
                let rows: Vec<Vec<_>> =
                    result.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
                answers.push(format!("{characters}: {sql}: {collations:?} {rows:?}"));
            }
        }
        answers
    });
    assert!(answers[0].contains(r"\xfc"), "latin1 is sent as it is: {answers:#?}");
}
