//! Documents as arguments of functions of dates and times, and as what JSON_SEARCH looks for.

use testkit::answers::same_answers;

/// A date and a moment as texts, values of all three kinds, and what is none of them.
const DOCUMENTS: [&str; 11] = [
    r#"'"2024-01-02"'"#,
    r#"'"2024-01-02 10:11:12.25"'"#,
    "DATE'2024-05-06'",
    "TIMESTAMP'2024-05-06 10:11:12'",
    "TIME'10:11:12.5'",
    "20240102",
    "2.5",
    "'true'",
    "'{}'",
    r#"'"abc"'"#,
    "'null'",
];

const FUNCTIONS: [&str; 19] = [
    "YEAR(?), MONTH(?), DAY(?), QUARTER(?)",
    "DAYOFMONTH(?), DAYOFWEEK(?), WEEKDAY(?), DAYOFYEAR(?)",
    "WEEK(?), WEEK(?, 3), WEEKOFYEAR(?), YEARWEEK(?)",
    "DATE(?), LAST_DAY(?), TO_DAYS(?)",
    "TO_SECONDS(?)",
    "DAYNAME(?), MONTHNAME(?)",
    "DATEDIFF(?, '2024-01-01'), DATEDIFF('2024-01-01', ?)",
    "DATE_FORMAT(?, '%Y %m %d')",
    "CONVERT_TZ(?, '+00:00', '+01:00')",
    "TIMESTAMP(?)",
    "TIMESTAMP('2024-12-30', ?)",
    "EXTRACT(YEAR FROM ?), EXTRACT(DAY FROM ?)",
    "HOUR(?), MINUTE(?), SECOND(?), MICROSECOND(?)",
    "TIME(?), TIME_TO_SEC(?)",
    "CAST(? AS DATE)",
    "CAST(? AS DATETIME)",
    "CAST(? AS TIME)",
    "ADDTIME('10:00:00', ?)",
    "STR_TO_DATE(?, '%Y-%m-%d')",
];

#[test]
fn documents_are_dates_and_times() {
    let mut statements = vec!["SET time_zone = '+00:00', timestamp = 1700000000".to_owned()];
    for document in DOCUMENTS {
        let document = format!("CAST({document} AS JSON)");
        let asked = FUNCTIONS.iter().map(|asked| format!("SELECT {}", asked.replace('?', &document)));
        statements.extend(asked);
    }
    statements.push("CREATE DATABASE m".to_owned());
    statements.push("USE m".to_owned());
    statements.push("CREATE TABLE t (id INT PRIMARY KEY, j JSON)".to_owned());
    let rows = r#"(1, '{"at": "2024-01-02 10:11:12", "n": 5}'), (2, NULL), (3, '{"at": null}')"#;
    statements.push(format!("INSERT INTO t VALUES {rows}"));
    for asked in FUNCTIONS {
        let of_column = asked.replace('?', "j->'$.at'");
        statements.push(format!("SELECT {of_column} FROM t WHERE id < 3 ORDER BY id"));
    }
    statements.push(
        "SELECT EXTRACT(HOUR FROM j->'$.at'), EXTRACT(SECOND FROM j->'$.at') FROM t WHERE id = 1".to_owned(),
    );
    statements.push("SELECT UNIX_TIMESTAMP(j->'$.at') FROM t WHERE id < 3 ORDER BY id".to_owned());
    statements.push("SELECT id FROM t WHERE id < 3 AND YEAR(j->'$.at') = 2024".to_owned());
    statements
        .push("SELECT DATE(j->'$.at') AS d, COUNT(*) FROM t WHERE id < 3 GROUP BY d ORDER BY d".to_owned());
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    let answers = same_answers("documents_are_dates_and_times", &statements);
    assert!(answers.iter().any(|answer| answer.contains("2024-01-31")), "{answers:#?}");
}

/// JSON_SEARCH compares in the collation of a pattern that has its own.
#[test]
fn searches_have_the_collation_of_their_pattern() {
    const STATEMENTS: &[&str] = &[
        "CREATE DATABASE s",
        "USE s",
        "SET NAMES utf8mb4",
        "CREATE TABLE t (c VARCHAR(10) COLLATE utf8mb4_general_ci, l VARCHAR(10) CHARACTER SET latin1, \
         b VARCHAR(10) COLLATE utf8mb4_bin, n VARCHAR(10))",
        "INSERT INTO t VALUES ('a', 'a', 'a', 'a'), ('B%', 'b%', 'B%', 'é'), ('a ', 'a ', 'a ', 'E'), \
         ('_', '%', 'b', 'É%'), (NULL, '', NULL, '')",
        r#"SELECT c, JSON_SEARCH('["A", "b", "bc", "e", ""]', 'all', c) FROM t"#,
        r#"SELECT l, JSON_SEARCH('["A", "b", "bc", "e", ""]', 'all', l) FROM t"#,
        r#"SELECT b, JSON_SEARCH('["A", "b", "bc", "e", ""]', 'all', b) FROM t"#,
        r#"SELECT n, JSON_SEARCH('["A", "b", "bc", "e", ""]', 'all', n) FROM t"#,
        r#"SELECT JSON_SEARCH('["A", "b", "bc", "e"]', 'all', CONCAT(c)), JSON_SEARCH('{"A": "a"}', 'one', c) FROM t"#,
        r#"SELECT JSON_SEARCH('["A", "b"]', 'one', 'a'), JSON_SEARCH('["A", "b"]', 'one', UPPER('a'))"#,
        r#"SELECT JSON_SEARCH('["A", "b"]', 'one', 'a' COLLATE utf8mb4_general_ci)"#,
        r#"SELECT JSON_SEARCH('["A", "b"]', 'one', _latin1'a'), JSON_SEARCH('["A"]', 'one', CONVERT('a' USING latin1))"#,
        "SET @v = 'a'",
        r#"SELECT JSON_SEARCH('["A", "b"]', 'one', @v), JSON_SEARCH(JSON_ARRAY('A'), 'one', LOWER('A'))"#,
    ];
    let answers = same_answers("searches_have_the_collation_of_their_pattern", STATEMENTS);
    assert!(answers.iter().any(|answer| answer.contains("$[3]")), "{answers:#?}");
}
