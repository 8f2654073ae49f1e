//! Conditions on single columns, which a scan decides on the bytes of its rows, compared with
//! MySQL: columns of each type beside constants of each kind, at and around the columns' bounds.

use bench::instance::Settings;
use testkit::answers::answer;
use testkit::server::same_as_mysql;

/// The columns of the table, with values that are stored in them.
const COLUMNS: &[(&str, &str, &[&str])] = &[
    ("v", "VARCHAR(20)", &["''", "'abc'", "'ABC'", "'äbc'", "'abc '", "'zz'", "NULL"]),
    ("i", "TINYINT", &["-128", "-1", "0", "1", "5", "127", "NULL"]),
    ("u", "BIGINT UNSIGNED", &["0", "1", "9223372036854775808", "18446744073709551615", "NULL"]),
    ("m", "MEDIUMINT", &["-8388608", "-5", "5", "8388607"]),
    ("c", "CHAR(10) COLLATE utf8mb4_general_ci", &["''", "'abc'", "'ABC  '", "'äbc'", "NULL", "'b'"]),
    ("d", "DECIMAL(7,2)", &["-99999.99", "-1.50", "-0.01", "0", "0.01", "1.5", "24", "99999.99", "NULL"]),
    ("w", "DECIMAL(18,0)", &["-999999999999999999", "-1", "0", "1", "999999999999999999"]),
    ("long_d", "DECIMAL(40,10)", &["-1.5", "0", "1.5", "NULL"]),
    ("day", "DATE", &["'1000-01-01'", "'1999-12-31'", "'2000-01-01'", "'9999-12-31'", "NULL"]),
    ("at", "DATETIME(2)", &["'1999-12-31 23:59:59.98'", "'2000-01-01'", "'2000-01-01 00:00:00.01'", "NULL"]),
    ("b", "VARBINARY(10)", &["''", "'abc'", "'ABC'", "x'00'", "NULL"]),
    ("l", "VARCHAR(10) CHARACTER SET latin1", &["'abc'", "'ÄBC'", "'x'", "NULL"]),
    ("f", "DOUBLE", &["-1.5", "0", "1.5", "NULL"]),
    ("i2", "TINYINT", &["1", "0", "-1", "NULL"]),
    ("d2", "DECIMAL(7,2)", &["1.5", "-0.01", "24", "NULL"]),
    ("day2", "DATE", &["'2000-01-01'", "'1999-12-31'", "NULL"]),
    ("v2", "VARCHAR(20)", &["'abc'", "'ÄBC'", "'zz'", "''", "NULL"]),
    ("c2", "CHAR(10) COLLATE utf8mb4_general_ci", &["'ABC'", "''", "'a'", "NULL"]),
    ("b2", "VARBINARY(10)", &["'abc'", "x'00'", "'abd'", "NULL"]),
];

/// Pairs of constants that the columns are compared with.
const CONSTANTS: &[(&str, &str)] = &[
    ("0", "5"),
    ("-1", "1"),
    ("-129", "128"),
    ("1.5", "24.005"),
    ("-1.505", "-0.001"),
    ("-100000", "99999.995"),
    ("18446744073709551615", "9223372036854775807"),
    ("1e0", "1.5e0"),
    ("DATE'1999-12-31'", "DATE'1999-12-31' + INTERVAL 1 DAY"),
    ("'1999-12-31'", "'1999-12-31 23:59:59.985'"),
    ("TIMESTAMP'1999-12-31 23:59:59.985'", "TIMESTAMP'2000-01-01 00:00:00'"),
    ("19991231", "20000101000000"),
    ("'abc'", "'zz'"),
    ("''", "'ABC '"),
    ("'äbc'", "'b'"),
    ("x'616263'", "x'00'"),
    ("1.4 + 0.1", "2.00 * 12"),
    ("NULL", "1"),
];

fn conditions(column: &str, (a, b): (&str, &str)) -> Vec<String> {
    let compared = ["=", "<>", "<", "<=", ">", ">=", "<=>"].map(|op| format!("{column} {op} {a}"));
    let mirrored = ["=", "<>", "<", "<=", ">", ">="].map(|op| format!("{b} {op} {column}"));
    let others = [
        format!("{column} BETWEEN {a} AND {b}"),
        format!("{column} NOT BETWEEN {a} AND {b}"),
        format!("{column} IN ({b}, {a})"),
        format!("{column} NOT IN ({b}, {a})"),
        format!("{column} > {a} AND {column} < {b}"),
    ];
    compared.into_iter().chain(mirrored).chain(others).collect()
}

/// Patterns of LIKE.
const PATTERNS: &[&str] = &[
    "'%b%'",
    "'ABC'",
    "'a%'",
    "'_bc'",
    "'%C'",
    "'%bc %'",
    "''",
    "'%'",
    "'%%'",
    "'_'",
    "'%ä%'",
    "'z%z'",
    "'%b%c%'",
    "'|%b' ESCAPE '|'",
    "'a|bc' ESCAPE '|'",
    "'%|_%' ESCAPE '|'",
    "x'00'",
    "NULL",
    "1.5",
    "'-1%'",
];

/// Conditions on parts of texts.
const PARTS: [&str; 22] = [
    "SUBSTRING({} FROM 1 FOR 2) IN ('ab', 'ÄB', 'z ')",
    "SUBSTRING({} FROM 1 FOR 2) NOT IN ('ab', 'ÄB', 'z ')",
    "SUBSTRING({}, 2) = 'bc'",
    "SUBSTRING({}, 2) <> 'BC'",
    "SUBSTRING({}, 2, 1) = 'b' AND i IN (0, 1, 5)",
    "SUBSTRING({}, 4, 9) = ''",
    "SUBSTRING({}, 4) = ' '",
    "SUBSTRING({}, 0, 2) = ''",
    "SUBSTRING({}, -2) = 'bc'",
    "SUBSTRING({}, 1, 0) = ''",
    "SUBSTRING({}, 1, -1) = ''",
    "SUBSTRING({}, 1, NULL) = 'a'",
    "SUBSTRING({}, 9223372036854775807, 9223372036854775807) = ''",
    "LEFT({}, 1) = 'Ä'",
    "LEFT({}, 1) IN ('A', 'z', 'x', '1')",
    "LEFT({}, 3) NOT IN ('abc')",
    "LEFT({}, -1) = ''",
    "LEFT({}, 1) > 'a'",
    "LEFT({}, 1) = 1",
    "LEFT({}, 2) IN ('ab', NULL)",
    "LEFT({}, 1) COLLATE utf8mb4_bin = 'a'",
    "'a' = LEFT({}, 1)",
];

/// Conditions of several branches.
const BRANCHES: [&str; 12] = [
    "i = 0 OR d > 1",
    "i = 0 OR v IS NULL",
    "(i = 1 AND v = 'abc') OR (i = 5 AND d BETWEEN 0 AND 24) OR c LIKE '%b'",
    "(v = 'ABC' OR v = 'zz') AND (i IN (0, 1) OR day < '2000-01-01')",
    "(i > 0 AND i < 100 AND d >= 0) OR (i < 0 AND (d < 0 OR LEFT(c, 1) = 'a'))",
    "NOT (i = 0 OR d > 1)",
    "i2 = i OR d2 = d OR day = day2",
    "(i = 0 OR i = NULL) OR (v = 'zz' AND NULL)",
    "i = 0 OR v = 0",
    "i = 200 OR d = 1.505 OR day = '2000-01-01 00:00:01'",
    "(day > '1999-12-31' AND day < '9999-12-31') OR (day = '1000-01-01' AND i < 5)",
    "i IN (1, 5) OR (u = 18446744073709551615 AND m < 0) OR (w >= 1 AND b = 'abc')",
];

/// Returns one query that asks for the rows of each condition.
fn query(conditions: &[String]) -> String {
    let rows = |condition: &String| {
        format!("(SELECT GROUP_CONCAT(id ORDER BY id SEPARATOR ' ') FROM t WHERE {condition})")
    };
    format!("SELECT {}", conditions.iter().map(rows).collect::<Vec<_>>().join(", "))
}

fn statements() -> Vec<String> {
    let mut statements =
        vec!["CREATE DATABASE cc".to_owned(), "USE cc".to_owned(), "SET sql_mode = ''".to_owned()];
    let columns: Vec<_> = COLUMNS.iter().map(|(name, ty, _)| format!("{name} {ty}")).collect();
    statements.push(format!("CREATE TABLE t (id INT PRIMARY KEY, {})", columns.join(", ")));
    let row = |id: usize| {
        // Strides that share nothing with the lists' lengths bring most pairs of values together.
        let values =
            COLUMNS.iter().enumerate().map(|(at, (.., values))| values[(id * (at + 1) + at) % values.len()]);
        format!("({id}, {})", values.collect::<Vec<_>>().join(", "))
    };
    statements.push(format!("INSERT INTO t VALUES {}", (0..60).map(row).collect::<Vec<_>>().join(", ")));
    for (column, ty, _) in COLUMNS {
        // MySQL refuses a constant text that is no date beside a date (1525).
        let is_date = ty.starts_with("DATE");
        let is_no_date =
            |text: &str| text.starts_with('x') || text.starts_with('\'') && !text.starts_with("'1");
        let constants = CONSTANTS.iter().filter(|(a, b)| !is_date || !is_no_date(a) && !is_no_date(b));
        statements.extend(constants.map(|pair| query(&conditions(column, *pair))));
    }
    for (a, b) in [
        ("i", "i2"),
        ("d", "d2"),
        ("day", "day2"),
        ("i", "m"),
        ("d", "w"),
        ("day", "at"),
        ("v", "c"),
        ("v", "v2"),
        ("c", "c2"),
        ("b", "b2"),
        ("l", "v COLLATE utf8mb4_general_ci"),
    ] {
        let conditions = ["=", "<>", "<", "<=", ">", ">=", "<=>"].map(|op| format!("{a} {op} {b}"));
        statements.push(query(&conditions));
    }
    for column in ["v", "c", "b", "l", "v2", "i", "d"] {
        let like =
            |pattern: &&str| [format!("{column} LIKE {pattern}"), format!("{column} NOT LIKE {pattern}")];
        statements.push(query(&PATTERNS.iter().flat_map(like).collect::<Vec<_>>()));
    }
    for column in ["v", "c", "b", "l", "v2", "i"] {
        statements.push(query(&PARTS.map(|part| part.replace("{}", column))));
    }
    statements.push(query(&BRANCHES.map(str::to_owned)));
    statements.push(query(&[
        "v LIKE v2".to_owned(),
        "v LIKE CONCAT('%', c2, '%')".to_owned(),
        "v COLLATE utf8mb4_bin LIKE '%b%'".to_owned(),
        "v NOT LIKE '%B%' AND i IN (0, 5, 127) AND c <> 'b'".to_owned(),
        "i IN (SELECT i2 FROM t GROUP BY i2 HAVING COUNT(*) > 2)".to_owned(),
        "i NOT IN (SELECT i2 FROM t GROUP BY i2 HAVING COUNT(*) > 2)".to_owned(),
        "i IN (SELECT m FROM t GROUP BY m)".to_owned(),
        "u IN (SELECT m FROM t GROUP BY m)".to_owned(),
        "u IN (SELECT u + 0 FROM t GROUP BY u)".to_owned(),
        "i IN (SELECT d FROM t GROUP BY d)".to_owned(),
        "d IN (SELECT i FROM t GROUP BY i)".to_owned(),
        "i IN (SELECT v FROM t WHERE id < 0 GROUP BY v)".to_owned(),
        "id IN (SELECT MAX(id) FROM t GROUP BY day, d)".to_owned(),
    ]));
    statements.extend(
        [
            // A hash table keeps no columns that are read only while it is filled.
            "SELECT /*+ BNL(y) */ COUNT(*), SUM(y.id), MAX(y.i) FROM t x LEFT JOIN t y
             ON y.i2 = x.i AND y.v NOT LIKE '%b%' AND y.day < '2000-01-01'",
            "SELECT /*+ BNL(y) */ x.id, y.v, y.c FROM t x JOIN t y ON y.d2 = x.d
             WHERE y.v LIKE '%c' AND y.c2 >= x.v AND y.c LIKE '%b%' ORDER BY 1, 2, 3 LIMIT 40",
            "SELECT /*+ BNL(y, z) */ x.id, COUNT(z.i2), MIN(y.v2) FROM t x LEFT JOIN (t y JOIN t z
             ON z.m = y.m AND z.v <> z.v2) ON y.i = x.i2 AND y.c LIKE 'a%' GROUP BY x.id, x.v ORDER BY 1",
            "SELECT /*+ BNL(y) */ y.d, x.day2, COUNT(*) FROM t x JOIN t y ON y.i = x.i2 AND y.v LIKE '%b%'
             GROUP BY x.v2, y.d, x.day2 ORDER BY 1, 2, 3",
            "SELECT d, at, day, COUNT(*) FROM t GROUP BY d, at, day ORDER BY 1, 2, 3",
            "SELECT DISTINCT long_d, w, at FROM t ORDER BY 1, 2, 3",
            "SELECT x, COUNT(*) FROM (SELECT d2 x FROM t UNION ALL SELECT long_d FROM t UNION ALL SELECT w FROM t
             UNION ALL SELECT 1.50 UNION ALL SELECT -0.0) y GROUP BY x ORDER BY x",
            "SELECT COUNT(*) FROM t x JOIN t y ON y.long_d = x.d2 AND y.id > 3",
            "SELECT COUNT(*) FROM t x JOIN t y ON y.at = x.day2 AND y.id > 3",
            "SET @day = '2000-01-01', @d = 1.50, @text = 'ABC'",
            "PREPARE p FROM 'SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE day < ? AND d > ? OR v = ?'",
            "EXECUTE p USING @day, @d, @text",
            "PREPARE p FROM 'SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE day <= ? AND d <= ?'",
            "EXECUTE p USING @day, @d",
            "SELECT id, (SELECT COUNT(*) FROM t x WHERE x.day < t.day AND x.d <> t.d) FROM t ORDER BY id",
            "SELECT COUNT(*) FROM t x JOIN t y ON x.i = y.i2 AND x.d > 0.01 AND y.day < '2000-01-01' AND y.v = 'ABC'",
            // Columns that only decided conditions read are not decoded, and the others are.
            "SELECT id, v, i FROM t WHERE v <> v2 AND c <> c2 ORDER BY id",
            "SELECT id, v, c FROM t WHERE v <> v2 AND c > c2 AND LENGTH(v2) < 3 ORDER BY id",
            "SELECT COUNT(*), MAX(v2) FROM t WHERE v <> v2",
            "SELECT x.id, x.c, y.v2 FROM t x JOIN t y ON y.id = x.i WHERE x.v <> x.v2 AND y.c2 < x.v2
             ORDER BY 1, 2, 3",
            "SELECT id, (SELECT COUNT(*) FROM t y WHERE y.v <> y.v2 AND y.c2 = x.c2) FROM t x
             WHERE x.v < x.v2 ORDER BY id",
            "SET sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'",
            "SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE c = 'abc' AND v = 'abc '",
        ]
        .map(str::to_owned),
    );
    statements
}

#[test]
fn conditions_on_columns_are_decided_as_by_mysql() {
    let answers = same_as_mysql("conditions_on_columns", &Settings::default(), |server| {
        let mut client = server.connect();
        statements().iter().map(|statement| answer(&mut client, statement)).collect()
    });
    assert!(answers.len() > COLUMNS.len() * CONSTANTS.len() / 2, "{} statements", answers.len());
}

/// A read by an index that has all columns gets most rows as entries of the index, and those that
/// have changed since its snapshot as rows.
#[test]
fn conditions_hold_for_entries_beside_rows_of_an_older_snapshot() {
    let answers = same_as_mysql("entries_beside_rows", &Settings::default(), |server| {
        let (mut reader, mut writer) = (server.connect(), server.connect());
        let rows: Vec<_> = (1..=60).map(|id| format!("({id}, {id}, {})", id % 10)).collect();
        for statement in [
            "CREATE DATABASE e",
            "CREATE TABLE e.t (id INT PRIMARY KEY, a INT, b INT, KEY (a, b))",
            &format!("INSERT INTO e.t VALUES {}", rows.join(", ")),
        ] {
            writer.query(statement).expect("made");
        }
        reader.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").expect("begun");
        writer.query("UPDATE e.t SET a = a + 1000 WHERE id <= 20").expect("changed");
        let read = "SELECT COUNT(*), SUM(a), SUM(b) FROM e.t FORCE INDEX (a) WHERE b > 5 AND a > 0";
        let joined = "SELECT COUNT(*) FROM e.t x FORCE INDEX (a) JOIN e.t y ON y.id = x.b WHERE x.b > 5";
        [read, joined].iter().map(|query| answer(&mut reader, query)).collect()
    });
    assert!(answers[0].ends_with(": 24,780,180"), "{answers:?}");
}
