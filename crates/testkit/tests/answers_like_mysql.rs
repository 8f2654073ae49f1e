//! Tests that what only a client of the protocol sees of answers is as in MySQL: the ids in OK
//! packets, the types of results, headings, and the characters that a client with another character
//! set gets.

use bench::instance::{Flavor, Settings};
use protocol::client::{Client, ClientError, ResultSet};
use protocol::scalar::{DateTimeParts, Scalar, TimeParts};
use testkit::answers::shown;
use testkit::{Server, available};

/// Starts both servers, or returns `None` if MySQL is not available.
fn servers(test: &str) -> Option<[Server; 2]> {
    available(test, &[Flavor::MySql]).then(|| {
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &Settings::default()))
    })
}

fn code(error: &ClientError) -> String {
    error.server_code().map_or_else(|| error.to_string(), |code| format!("error {code}"))
}

/// Sends each text to both servers and compares everything that `ask` returns.
fn compare(servers: &[Server; 2], asked: &[&str], ask: impl Fn(&mut Client, &str) -> String) {
    let mut clients = servers.each_ref().map(|server| server.connect());
    let mut wrong = Vec::new();
    for text in asked {
        let [ours, theirs] = clients.each_mut().map(|client| ask(client, text));
        if ours != theirs {
            wrong.push(format!("{text}\n  here:  {ours}\n  MySQL: {theirs}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), asked.len(), wrong.join("\n"));
}

const INSERTS: &[&str] = &[
    "CREATE DATABASE i",
    "USE i",
    "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, v INT)",
    "CREATE TABLE n (u INT PRIMARY KEY, v INT)",
    "CREATE TABLE b (u INT PRIMARY KEY, id BIGINT UNSIGNED AUTO_INCREMENT, KEY (id))",
    "CREATE TABLE s (id SMALLINT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "INSERT INTO a (u) VALUES (1)",
    "INSERT INTO a (u) VALUES (2), (3)",
    "INSERT INTO a VALUES (10, 10, 0)",
    "INSERT INTO a VALUES (12, 12, 0), (11, 11, 0)",
    "INSERT INTO a VALUES (NULL, 13, 0), (20, 20, 0)",
    "INSERT INTO a VALUES (30, 30, 0), (NULL, 31, 0), (0, 32, 0)",
    "INSERT INTO a VALUES (0, 33, 0)",
    "INSERT INTO a VALUES (-5, 34, 0)",
    "INSERT INTO a VALUES ('40', 35, 0)",
    "INSERT INTO a VALUES (40 + 1, 36, 0)",
    "INSERT INTO a SET id = 50, u = 50",
    "INSERT INTO a (u, id) VALUES (51, 51), (52, 0)",
    "INSERT IGNORE INTO a VALUES (10, 10, 0)",
    "INSERT IGNORE INTO a VALUES (10, 10, 0), (60, 60, 0)",
    "INSERT IGNORE INTO a VALUES (61, 61, 0), (10, 10, 0)",
    "INSERT IGNORE INTO a (u) VALUES (1)",
    "INSERT IGNORE INTO a (u) VALUES (1), (62)",
    "INSERT IGNORE INTO a (u) VALUES (63), (1)",
    "INSERT INTO a (u) VALUES (1)",
    "INSERT INTO a (id, u) VALUES (10, 99)",
    "INSERT INTO a (u) VALUES (1) ON DUPLICATE KEY UPDATE v = 5",
    "INSERT INTO a (u) VALUES (1) ON DUPLICATE KEY UPDATE v = 5",
    "INSERT INTO a (u) VALUES (70) ON DUPLICATE KEY UPDATE v = 5",
    "INSERT INTO a (id, u) VALUES (71, 71) ON DUPLICATE KEY UPDATE v = 5",
    "INSERT INTO a (id, u) VALUES (71, 71) ON DUPLICATE KEY UPDATE v = 6",
    "INSERT INTO a (id, u) VALUES (71, 71) ON DUPLICATE KEY UPDATE v = 6",
    "INSERT INTO a (id, u) VALUES (10, 200) ON DUPLICATE KEY UPDATE v = 8",
    "INSERT INTO a (u) VALUES (1) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)",
    "INSERT INTO a (u) VALUES (2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 9",
    "INSERT INTO a (u) VALUES (2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 10",
    "INSERT INTO a (u) VALUES (80), (1), (81) ON DUPLICATE KEY UPDATE v = 11",
    "INSERT INTO a (u) VALUES (1), (82) ON DUPLICATE KEY UPDATE v = 12",
    "INSERT INTO a (id, u) VALUES (90, 90), (1, 1) ON DUPLICATE KEY UPDATE v = 13",
    "INSERT INTO a (id, u) VALUES (1, 1), (91, 91) ON DUPLICATE KEY UPDATE v = 14",
    "REPLACE INTO a (u) VALUES (100)",
    "REPLACE INTO a (u) VALUES (100)",
    "REPLACE INTO a VALUES (110, 110, 0)",
    "REPLACE INTO a VALUES (110, 110, 1)",
    "REPLACE INTO a VALUES (112, 112, 1), (NULL, 113, 1)",
    "INSERT INTO a (u) SELECT 120",
    "INSERT INTO a (u) SELECT 121 UNION SELECT 122",
    "INSERT INTO a SELECT 130, 130, 0",
    "INSERT INTO a SELECT 131, 131, 0 UNION SELECT 132, 132, 0",
    "INSERT INTO a SELECT 140, 140, 0 UNION SELECT NULL, 141, 0",
    "INSERT INTO a (u) SELECT 1 FROM n",
    "INSERT IGNORE INTO a SELECT 150, 150, 0 UNION SELECT 10, 10, 0",
    "INSERT INTO n VALUES (1, LAST_INSERT_ID(77))",
    "INSERT INTO n VALUES (2, LAST_INSERT_ID(77))",
    "INSERT INTO n VALUES (3, 3)",
    "INSERT INTO a VALUES (160, 160, LAST_INSERT_ID(5))",
    "INSERT INTO a VALUES (NULL, 161, LAST_INSERT_ID(6))",
    "UPDATE n SET v = LAST_INSERT_ID(v + 1) WHERE u = 1",
    "UPDATE n SET v = LAST_INSERT_ID(77) WHERE u = 1",
    "UPDATE n SET v = LAST_INSERT_ID(77) WHERE u = 1",
    "UPDATE n SET v = 1 WHERE u = 1",
    "UPDATE a SET v = 2 WHERE id = 10",
    "DELETE FROM n WHERE v = LAST_INSERT_ID(78) AND u = 1",
    "DELETE FROM n WHERE u = 2",
    "INSERT INTO b VALUES (1, 18446744073709551614)",
    "INSERT INTO b (u, id) VALUES (2, 7)",
    "INSERT INTO s VALUES (5, 1)",
    "SET sql_mode = CONCAT(@@sql_mode, ',NO_AUTO_VALUE_ON_ZERO')",
    "INSERT INTO a VALUES (0, 170, 0)",
    "INSERT INTO a VALUES (NULL, 171, 0)",
    "SET insert_id = 500",
    "INSERT INTO a (u) VALUES (172), (173)",
    "TRUNCATE a",
    "SELECT LAST_INSERT_ID(18446744073709547416)",
    "SELECT LAST_INSERT_ID(-1)",
    "SELECT LAST_INSERT_ID('18446744073709547416')",
    "SELECT LAST_INSERT_ID(18446744073709547416 + 1)",
    "SELECT LAST_INSERT_ID(0xFFFFFFFFFFFFFFF0)",
    "SELECT LAST_INSERT_ID(2.5)",
    "SELECT LAST_INSERT_ID(NULL)",
];

#[test]
fn ok_packets_carry_mysqls_insert_id() {
    let Some(servers) = servers("ok_packets_carry_mysqls_insert_id") else { return };
    compare(&servers, INSERTS, |client, text| {
        let told = client.query(text).map_or_else(
            |error| code(&error),
            |result| format!("{} rows, id {}", result.ok.affected_rows, result.ok.last_insert_id),
        );
        let ids = client.query("SELECT LAST_INSERT_ID(), @@last_insert_id").expect("a query");
        format!("{told}; {}", shown(&ids))
    });
}

/// Returns the type of each column, whether it is unsigned or binary, and its number of decimals.
fn types(result: &ResultSet) -> String {
    use protocol::column::column_flag::UNSIGNED;
    let one = |column: &protocol::column::Column| {
        // MySQL sets the unsigned flag of hexadecimal literals too, which are strings.
        let is_string = matches!(column.field_type, 252..=254);
        let unsigned = if column.flags & UNSIGNED != 0 && !is_string { " unsigned" } else { "" };
        let collation = if column.collation == 63 { "binary" } else { "text" };
        format!("{} {collation}{unsigned} {}", column.field_type, column.decimals)
    };
    result.columns.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_parameters_type_is_its_results() {
    let Some(servers) = servers("a_parameters_type_is_its_results") else { return };
    let day = DateTimeParts { year: 2020, month: 2, day: 3, hour: 4, minute: 5, second: 6, micros: 700 };
    let time = TimeParts { negative: true, days: 1, hours: 2, minutes: 3, seconds: 4, micros: 500_000 };
    let parameters = [
        Scalar::Int(-5),
        Scalar::UInt(u64::MAX),
        Scalar::Float(1.5),
        Scalar::Double(0.1),
        Scalar::Bytes(b"text"),
        Scalar::Date(day),
        Scalar::DateTime(day),
        Scalar::Time(time),
        Scalar::Null,
    ];
    let asked = [
        "SELECT ?",
        "SELECT ? AS x, 1",
        "SELECT ? UNION ALL SELECT ?",
        "SELECT ? + 1",
        "SELECT COALESCE(?, NULL)",
        "SELECT * FROM (SELECT ? AS x) d",
    ];
    compare(&servers, &asked, |client, text| {
        let mut told = Vec::new();
        // Where a parameter stands among other expressions, MySQL gives texts and NULL the type of
        // what surrounds them. Here they stay texts, so they are left out.
        let stands_alone = text.starts_with("SELECT ? AS") || text == "SELECT ?";
        let has_own_type = |one: &&Scalar| !matches!(one, Scalar::Bytes(_) | Scalar::Null);
        for parameter in parameters.iter().filter(|one| stands_alone || has_own_type(one)) {
            // Each parameter gets a new statement, because MySQL keeps some types from one
            // execution to the next and converts later values to them.
            let statement = client.prepare(text).expect("a statement");
            let given = vec![*parameter; statement.parameters()];
            let outcome = client.execute(&statement, &given);
            let outcome = outcome.map_or_else(
                |error| code(&error),
                |result| format!("{} = {}", types(&result), shown(&result)),
            );
            told.push(format!("\n    {parameter:?}: {outcome}"));
            client.close(statement).expect("closed");
        }
        told.concat()
    });
}

#[test]
fn literals_have_mysqls_types() {
    let Some(servers) = servers("literals_have_mysqls_types") else { return };
    let asked = [
        "SELECT x'8090', 0x41, b'101', X''",
        "SELECT x'41' + 0, x'41' DIV 2",
        "SELECT CONCAT(x'41', 'a'), UNHEX('41'), HEX(x'41')",
        "SELECT _utf8mb4 x'41', _binary x'41', _latin1 x'E9'",
        "SELECT 7 DIV 2, 7.5 DIV 2, 7e0 DIV 2, 7 % 2, 7.5 % 2, 7e0 % 2, CAST(7 AS UNSIGNED) DIV 2",
        "SELECT x'41' UNION SELECT 'b'",
        "SELECT IF(1, x'41', 'a'), COALESCE(x'41', 'a')",
        "SELECT CAST(55 AS DECIMAL(0, 0)), CONVERT(55, DECIMAL(0)), CAST(12345678901 AS DECIMAL(0))",
        "SELECT JSON_VALUE('{\"a\": 55}', '$.a' RETURNING DECIMAL(0, 0))",
    ];
    compare(&servers, &asked, |client, text| {
        client
            .query(text)
            .map_or_else(|error| code(&error), |result| format!("{} = {}", types(&result), shown(&result)))
    });
}

/// What a column's definition says of it but for its length: type, bytes or characters, flags and
/// digits.
fn described(result: &ResultSet) -> String {
    let one = |column: &protocol::column::Column| {
        let collation = if column.collation == 63 { "bytes" } else { "characters" };
        format!("{} {collation} {:#x} {}", column.field_type, column.flags, column.decimals)
    };
    result.columns.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn columns_are_described_as_by_mysql() {
    let Some(servers) = servers("columns_are_described_as_by_mysql") else { return };
    for server in &servers {
        server.run("CREATE DATABASE described");
        server.run(
            "CREATE TABLE described.t (id BIGINT PRIMARY KEY AUTO_INCREMENT, i INT, u INT UNSIGNED NOT NULL, t TINYINT(1), \
             d DECIMAL(5,2), f FLOAT, b BIT(3), y YEAR, ts TIMESTAMP NULL, e ENUM('a'), s SET('a'), j JSON, g GEOMETRY, \
             bi BINARY(3), vb VARBINARY(3), z INT(5) ZEROFILL, lt LONGTEXT, tx TEXT, bl BLOB, k INT, l INT, \
             v VARCHAR(9), KEY (k, l), UNIQUE KEY (z))",
        );
    }
    let asked = [
        "SELECT * FROM described.t",
        "SELECT 1 = 1, 1 < 2, NOT 1, 1 IS NULL, 1 LIKE 1, 1 BETWEEN 1 AND 2, 1 IS TRUE, 1 XOR 1, 1 <=> 1, 1 IN (1)",
        "SELECT EXISTS (SELECT 1), FIELD(v, 'a'), INTERVAL(1, 2) FROM described.t",
        "SELECT MONTH(ts), HOUR(ts), WEEK(ts), v IN ('a'), ST_ISVALID(g), REGEXP_LIKE(v, 'a') FROM described.t",
        "SELECT MAX(i), COALESCE(i, i), IF(1, i, i), CASE WHEN 1 THEN i END, NULLIF(i, 1), LEAST(i, i) FROM described.t \
         GROUP BY id",
        "SELECT IF(1, 1 = 1, 2 = 2), COALESCE(1 = 1), CASE WHEN 1 THEN EXISTS (SELECT 1) ELSE 1 END",
        "SELECT j, JSON_ARRAY(1), JSON_EXTRACT(j, '$'), CAST(1 AS JSON), COALESCE(j, j) FROM described.t",
        "SELECT x.* FROM (SELECT i = 1 b, JSON_ARRAY(i) c, i FROM described.t) x",
        "SELECT MAX(b), MAX(y), MAX(e), MAX(s), MAX(d), MAX(f), AVG(i), SUM(i), COUNT(*) FROM described.t",
        "SELECT ST_GEOMFROMTEXT('POINT(1 1)'), g FROM described.t",
        "SELECT (SELECT tx), (SELECT bl), (SELECT i), (SELECT e) FROM described.t",
        "CREATE TABLE described.made SELECT 1 = 1 a, EXISTS (SELECT 1) b, FIELD(1, 2) c, INTERVAL(1, 2) d",
        "SHOW CREATE TABLE described.made",
        "SELECT COLLATION(ST_ASTEXT(g)), COLLATION(GROUP_CONCAT(bl)), COLLATION(GROUP_CONCAT(v)) FROM described.t GROUP BY g",
    ];
    compare(&servers, &asked, |client, text| {
        client.query(text).map_or_else(
            |error| code(&error),
            |result| match text.starts_with("SHOW") {
                true => shown(&result),
                false => format!("{} = {}", described(&result), shown(&result)),
            },
        )
    });
}

const HEADINGS: &[&str] = &[
    "SELECT * FROM information_schema.tables LIMIT 0",
    "SELECT table_name, Table_Schema FROM information_schema.tables LIMIT 0",
    "SELECT t.table_name, table_name AS x, UPPER(table_name) FROM information_schema.tables t LIMIT 0",
    "SELECT id FROM information_schema.processlist LIMIT 0",
    "SELECT engine FROM information_schema.engines LIMIT 0",
    "SELECT table_name FROM information_schema.tables UNION SELECT 1 LIMIT 0",
    "SELECT column_name FROM information_schema.columns LIMIT 0",
    "SELECT constraint_name FROM information_schema.key_column_usage LIMIT 0",
    "SELECT schema_name FROM information_schema.schemata LIMIT 0",
    "SELECT variable_name FROM performance_schema.global_variables LIMIT 0",
];

const BLANKS: &[&str] = &[
    "",
    "  ",
    ";",
    "/* x */",
    "/* x */;",
    "-- x",
    "-- x\n",
    "-- ",
    "# x",
    "/*!999999\\- enable the sandbox mode */",
    "/*!999999 x */",
    "/*!50000 */",
    "/*! */",
    "/*M!100 x*/",
    "/*+ x */",
    "/* x",
    "/*!90700 SELECT 1 */",
    "SELECT 1 /*!90800 + 1 */",
    "SELECT 1; /* x */",
    "PREPARE p FROM '/* x */'",
];

#[test]
fn a_text_of_comments_alone_is_answered() {
    let Some(servers) = servers("answers_like_mysql::a_text_of_comments_alone_is_answered") else { return };
    compare(&servers, BLANKS, |client, text| match client.query(text) {
        Ok(result) => format!("{} columns: {}", result.columns.len(), shown(&result)),
        Err(error) => code(&error),
    });
}

#[test]
fn headings_are_mysqls() {
    let Some(servers) = servers("headings_are_mysqls") else { return };
    compare(&servers, HEADINGS, |client, text| {
        let result = client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        result.columns.iter().map(|column| &*column.name).collect::<Vec<_>>().join(", ")
    });
}

#[test]
fn explain_tells_mysqls_key_length_and_ref() {
    let Some(servers) = servers("explain_tells_mysqls_key_length_and_ref") else { return };
    for server in &servers {
        server.run("CREATE DATABASE e");
        server.run(
            "CREATE TABLE e.t (id INT PRIMARY KEY, a INT NOT NULL, n BIGINT, v VARCHAR(20), c CHAR(5) NOT NULL, \
             d DATETIME, m DECIMAL(10,2), x TEXT, KEY a (a), KEY n (n), KEY v (v), KEY c (c), KEY d (d), KEY m (m), \
             KEY x (x(7)), KEY an (a, n, v), UNIQUE KEY u (c, a))",
        );
        server.run("CREATE TABLE e.o (id INT PRIMARY KEY, t INT NOT NULL)");
        let row = |i: u32| format!("({i},{i},{i},'v{i}','c{i}','2020-01-01',{i},'x{i}')");
        let rows: Vec<String> = (1..200).map(row).collect();
        server.run(&format!("INSERT INTO e.t VALUES {}", rows.join(",")));
        let rows: Vec<String> = (1..50).map(|i| format!("({i},{i})")).collect();
        server.run(&format!("INSERT INTO e.o VALUES {}", rows.join(",")));
        server.run("ANALYZE TABLE e.t");
        server.run("ANALYZE TABLE e.o");
    }
    let asked = [
        "SELECT * FROM e.t WHERE id = 5",
        "SELECT * FROM e.t FORCE INDEX (a) WHERE a = 5",
        "SELECT * FROM e.t WHERE n = 5",
        "SELECT * FROM e.t WHERE v = 'v5'",
        "SELECT * FROM e.t FORCE INDEX (c) WHERE c = 'c5'",
        "SELECT * FROM e.t FORCE INDEX (m) WHERE m = 5",
        "SELECT * FROM e.t FORCE INDEX (d) WHERE d = '2020-01-01'",
        "SELECT * FROM e.t WHERE x = 'x5'",
        "SELECT * FROM e.t FORCE INDEX (an) WHERE a = 5 AND n = 5",
        "SELECT * FROM e.t FORCE INDEX (an) WHERE a = 5 AND n > 5",
        "SELECT * FROM e.t FORCE INDEX (an) WHERE a = 5 AND n = 5 AND v = 'v5'",
        "SELECT * FROM e.t WHERE c = 'c5' AND a = 5",
        "SELECT * FROM e.t WHERE id BETWEEN 5 AND 7",
        "SELECT * FROM e.t WHERE id IN (5, 7)",
        "SELECT * FROM e.t",
    ];
    compare(&servers, &asked, |client, text| {
        let result = client.query(&format!("EXPLAIN FORMAT=TRADITIONAL {text}")).expect("a plan");
        ["type", "key", "key_len", "ref"].map(|column| result.text(0, column).unwrap_or_default()).join("|")
    });
    let joined = ["SELECT STRAIGHT_JOIN * FROM e.o JOIN e.t ON t.id = o.t"];
    compare(&servers, &joined, |client, text| {
        let result = client.query(&format!("EXPLAIN FORMAT=TRADITIONAL {text}")).expect("a plan");
        ["type", "key", "key_len", "ref"].map(|column| result.text(1, column).unwrap_or_default()).join("|")
    });
}

#[test]
fn a_client_reads_its_own_characters() {
    let Some(servers) = servers("a_client_reads_its_own_characters") else { return };
    for server in &servers {
        server.run("CREATE DATABASE l");
        server.run("CREATE TABLE l.t (a VARCHAR(9), e ENUM('\u{e9}', 'x'), b VARBINARY(9))");
        server
            .run("INSERT INTO l.t VALUES ('caf\u{e9}', '\u{e9}', '\u{e9}'), ('\u{20ac}\u{4e2d}', 'x', NULL)");
    }
    let asked = [
        "SET NAMES latin1",
        "SELECT * FROM l.t ORDER BY a",
        "SELECT CONCAT(a, '!'), HEX(a), HEX(b) FROM l.t ORDER BY a",
        "SET NAMES ascii",
        "SELECT * FROM l.t ORDER BY a",
        "SET NAMES utf8mb4",
        "SELECT * FROM l.t ORDER BY a",
        "SET character_set_results = latin1",
        "SELECT a FROM l.t ORDER BY a",
        "SET character_set_results = utf8mb3",
        "SELECT a FROM l.t ORDER BY a",
    ];
    compare(&servers, &asked, |client, text| {
        client.query(text).map_or_else(|error| code(&error), |result| shown(&result))
    });
}

/// A prepared statement sends its columns' definitions again when nothing has changed; after each
/// of these it has to send others, or the same for other characters.
const BETWEEN_EXECUTIONS: &[&str] = &[
    "DO 0",
    "ALTER TABLE e MODIFY a BIGINT UNSIGNED NOT NULL",
    "ALTER TABLE e MODIFY b VARCHAR(30) CHARACTER SET latin1",
    "SET NAMES latin1",
    "DO 0",
    "ALTER TABLE e ADD c DATETIME(3)",
    "SET character_set_results = utf8mb3",
    "SET NAMES sjis",
    "DROP TABLE e",
    "CREATE TABLE e (b TEXT, a DECIMAL(9, 3), d ENUM('x', 'ü'), f LONGTEXT, g JSON)",
    "INSERT INTO e VALUES ('ü', 2.5, 'ü', 'x', '{}')",
    "SET NAMES latin1",
    "SET NAMES utf8mb4",
    "DO 0",
];

#[test]
fn columns_of_statements_that_are_executed_again_are_mysqls() {
    let Some(servers) = servers("columns_of_statements_that_are_executed_again_are_mysqls") else { return };
    let seen = servers.each_ref().map(|server| {
        let mut client = server.connect();
        for text in ["CREATE DATABASE e", "USE e", "CREATE TABLE e (a INT, b CHAR(3))"] {
            client.query(text).unwrap();
        }
        client.query("INSERT INTO e VALUES (1, 'ä')").unwrap();
        client.query("CREATE PROCEDURE p() BEGIN SELECT a FROM e; SELECT b, a FROM e; END").unwrap();
        let texts = ["SELECT * FROM e WHERE a > ?", "SELECT b AS x, a FROM e WHERE ? < 1", "CALL p()"];
        let statements = texts.map(|text| client.prepare(text).unwrap());
        let mut seen = Vec::new();
        for between in BETWEEN_EXECUTIONS {
            client.query(between).unwrap();
            for (text, statement) in texts.iter().zip(&statements) {
                let values: Vec<Scalar> = (0..statement.parameters()).map(|_| Scalar::Int(0)).collect();
                for _ in 0..2 {
                    let answer = match client.execute(statement, &values) {
                        Ok(result) => format!("{:?} {}", result.columns, shown(&result)),
                        Err(error) => code(&error),
                    };
                    seen.push(format!("{text} after {between}: {answer}"));
                }
            }
        }
        seen
    });
    let [ours, theirs] = seen;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
}
