//! The statements that want the most memory: each kind makes the server keep as much as it can in
//! one way, and grows with a number.

use os::random::Rng;

/// A step of a session. Steps come in order until one is refused.
#[derive(Debug, Clone)]
pub enum Step {
    Query(String),
    /// Runs a prepared statement whose only parameter is sent in `parts` parts of `part_bytes`
    /// bytes.
    LongData {
        statement: &'static str,
        parts: usize,
        part_bytes: usize,
    },
    /// Prepares this text `times` times, and keeps all the prepared statements.
    Prepare {
        statement: String,
        times: usize,
    },
}

/// A function that makes the steps. The number is the size in percent of the largest.
type Make = fn(u64, &mut Rng) -> Vec<Step>;

/// All kinds with their names.
pub const KINDS: &[(&str, Make)] = &[
    ("long texts", long_texts),
    ("long lists of rows", long_lists_of_rows),
    ("many unions", many_unions),
    ("deep expressions", deep_expressions),
    ("wide select lists", wide_select_lists),
    ("copied aliases", copied_aliases),
    ("sorts", sorts),
    ("groups", groups),
    ("distinct", distinct),
    ("group_concat", group_concat),
    ("kept results", kept_results),
    ("joins", joins),
    ("long values", long_values),
    ("long results", long_results),
    ("user variables", user_variables),
    ("prepared statements", prepared_statements),
    ("long data", long_data),
    ("settings", settings),
    ("changed rows", changed_rows),
    ("definitions", definitions),
    ("described tables", described_tables),
    ("cached plans", cached_plans),
    ("large packets", large_packets),
];

/// The statements that make the tables.
pub const TABLES: &[&str] = &[
    "CREATE DATABASE worst",
    "CREATE TABLE worst.n (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "INSERT INTO worst.n (v) VALUES (1), (2), (3), (4)",
    "INSERT INTO worst.n (v) SELECT a.v FROM worst.n a, worst.n b, worst.n c",
    "INSERT INTO worst.n (v) SELECT a.v FROM worst.n a, worst.n b LIMIT 956",
    "CREATE TABLE worst.wide (id INT PRIMARY KEY, k INT, v VARCHAR(4000), w VARCHAR(4000), KEY by_k (k))",
    "INSERT INTO worst.wide SELECT id, id % 7, REPEAT(CHAR(65 + id % 26), 500 + id), CONCAT(id, REPEAT('w', 900)) \
     FROM worst.n",
    "CREATE TABLE worst.long_values (id INT PRIMARY KEY, v LONGTEXT)",
    "INSERT INTO worst.long_values SELECT id, REPEAT(CONCAT('long ', id), 500000) FROM worst.n WHERE id <= 6",
];

fn percent(of: u64, percent: u64) -> usize {
    (of * percent / 100).max(1) as usize
}

fn query(text: impl Into<String>) -> Step {
    Step::Query(text.into())
}

fn one(text: impl Into<String>) -> Vec<Step> {
    vec![query(text)]
}

fn any(rng: &mut Rng, statements: &[&str]) -> Vec<Step> {
    one(*rng.pick(statements))
}

/// Returns a text with many small items in a row.
fn long_texts(size: u64, rng: &mut Rng) -> Vec<Step> {
    const MOST_BYTES: u64 = 60 << 20;
    let (before, item, after) = *rng.pick(&[
        ("SELECT 1 IN (2", ",1", ")"),
        ("SELECT 'b' IN ('a'", ",'a'", ")"),
        ("SELECT 1 IN (2", ",NULL", ")"),
        ("SELECT (1, 1) IN ((1, 2)", ",(1,2)", ")"),
        ("SELECT id FROM worst.n WHERE id IN (1", ",1", ")"),
        ("SELECT id FROM worst.wide WHERE k IN (1", ",1", ")"),
        ("DELETE FROM worst.n WHERE id IN (0", ",0", ")"),
        ("SELECT 1", "+1", ""),
        ("SELECT 1", " OR 0", ""),
        ("SELECT 1", " AND 1", ""),
        ("SELECT CONCAT('a'", ",'b'", ")"),
        ("SELECT COALESCE(NULL", ",NULL", ")"),
        ("SELECT CASE", " WHEN 0 THEN 1", " END"),
        ("SELECT x'61'", ",x'61'", ""),
        ("SELECT 1", ",@a", ""),
        ("SELECT 1", ",@@port", ""),
        ("DO 1", ",1", ""),
        ("SET @a = 1", ",@a=1", ""),
        ("SELECT 1 FROM worst.n WHERE id = 1", " OR id = 2", ""),
        ("SELECT 1 FROM worst.n GROUP BY id", ",id", ""),
        ("SELECT 1 FROM worst.n ORDER BY id", ",id", ""),
        ("SELECT 1 FROM worst.n ORDER BY 1", ",1", ""),
    ]);
    let times = percent(MOST_BYTES, size) / item.len();
    one([before, &item.repeat(times), after].concat())
}

/// Returns an INSERT or REPLACE of many rows.
fn long_lists_of_rows(size: u64, rng: &mut Rng) -> Vec<Step> {
    const MOST_BYTES: u64 = 60 << 20;
    let (before, row, after) = *rng.pick(&[
        ("INSERT IGNORE INTO worst.n VALUES (1,1)", ",(1,1)", ""),
        ("INSERT IGNORE INTO worst.n VALUES (1,1+0)", ",(1,1+0)", ""),
        ("INSERT IGNORE INTO worst.n (id) VALUES (1)", ",(1)", ""),
        ("INSERT INTO worst.n (id) VALUES (1)", ",(1)", " ON DUPLICATE KEY UPDATE v = 1"),
        ("INSERT IGNORE INTO worst.n () VALUES ()", ",()", ""),
        ("REPLACE INTO worst.n VALUES (1,DEFAULT)", ",(1,DEFAULT)", ""),
    ]);
    let times = percent(MOST_BYTES, size) / row.len() / 4;
    one([before, &row.repeat(times), after].concat())
}

fn many_unions(size: u64, rng: &mut Rng) -> Vec<Step> {
    const MOST: u64 = 400_000;
    let branch = *rng.pick(&[
        "SELECT 1",
        "SELECT 1,2,3,4,5,6,7,8",
        "SELECT id, v FROM worst.n WHERE id = 1",
        "(SELECT 'some text' ORDER BY 1 LIMIT 1)",
        "SELECT * FROM worst.wide WHERE id = 3",
    ]);
    let between = *rng.pick(&[" UNION ", " UNION ALL "]);
    let times = percent(MOST * 8, size) / branch.len();
    one(vec![branch; times].join(between))
}

fn deep_expressions(size: u64, rng: &mut Rng) -> Vec<Step> {
    const MOST: u64 = 1_000_000;
    let (before, after) = *rng.pick(&[
        ("(", ")"),
        ("NOT ", ""),
        ("-", ""),
        ("ABS(", ")"),
        ("(SELECT ", ")"),
        ("IF(1,", ",2)"),
        ("1 IN (", ")"),
        ("CASE WHEN ", " THEN 1 END"),
    ]);
    let times = percent(MOST, size);
    one(["SELECT ", &before.repeat(times), "1", &after.repeat(times)].concat())
}

fn wide_select_lists(size: u64, rng: &mut Rng) -> Vec<Step> {
    let (item, from, most) = *rng.pick(&[
        ("*", " FROM information_schema.columns a, information_schema.tables b WHERE 0", 100_000),
        ("a.*", " FROM worst.wide a WHERE 0", 2_000_000),
        ("id", " FROM worst.n WHERE id = 1", 4_000_000),
        ("'some text' AS a_rather_long_name_of_a_column", "", 1_000_000),
        ("COUNT(v)", " FROM worst.n", 1_000_000),
        ("(SELECT 1)", "", 1_000_000),
    ]);
    one(format!("SELECT {}{from}", vec![item; percent(most, size)].join(",")))
}

/// Returns a short text whose tree is large, because an aliased expression is copied each time that
/// its alias is named.
fn copied_aliases(size: u64, rng: &mut Rng) -> Vec<Step> {
    let times = percent(20_000, size);
    let long = vec!["1"; times].join("+");
    let (before, item) = *rng.pick(&[(" HAVING a", "+a"), (" ORDER BY a", ",a"), (" ORDER BY 1", ",1")]);
    one(format!("SELECT {long} AS a FROM worst.n WHERE id = 1{before}{}", item.repeat(times)))
}

fn sorts(_: u64, rng: &mut Rng) -> Vec<Step> {
    any(
        rng,
        &[
            "SELECT a.v, b.id FROM worst.wide a, worst.n b ORDER BY a.w, b.id",
            "SELECT a.id, b.id FROM worst.n a, worst.n b, worst.n c ORDER BY a.id + b.id",
            "SELECT a.id FROM worst.n a, worst.n b, worst.n c ORDER BY CONCAT(a.id, b.id), c.id DESC LIMIT 3000000, 1",
            "SELECT 1 FROM worst.n a, worst.n b, worst.n c ORDER BY RAND()",
            "SELECT a.v FROM worst.long_values a, worst.n b ORDER BY b.id, a.v",
            "SELECT a.v FROM worst.long_values a, worst.n b ORDER BY b.id, a.v LIMIT 100",
            "SELECT SQL_CALC_FOUND_ROWS a.id FROM worst.n a, worst.n b, worst.n c ORDER BY b.id DESC LIMIT 1",
        ],
    )
}

fn groups(_: u64, rng: &mut Rng) -> Vec<Step> {
    any(
        rng,
        &[
            "SELECT a.id, b.id, COUNT(*) FROM worst.n a, worst.n b, worst.n c GROUP BY a.id, b.id, c.id",
            "SELECT a.id, b.id, MAX(a.v) FROM worst.wide a, worst.n b GROUP BY a.id, b.id",
            "SELECT b.id, MAX(CONCAT(b.id, a.v)) FROM worst.long_values a, worst.n b GROUP BY b.id",
            "SELECT CONCAT(a.v, b.id) x, COUNT(*) FROM worst.wide a, worst.n b GROUP BY x",
            "SELECT COUNT(*) FROM (SELECT a.id, COUNT(DISTINCT b.id, c.id) FROM worst.n a, worst.n b, worst.n c \
             GROUP BY a.id) x",
            "SELECT SUM(a.v), AVG(a.v), MIN(a.v), MAX(a.v), STD(a.v), COUNT(a.v) FROM worst.n a, worst.n b, worst.n c \
             GROUP BY a.id * 1000000 + b.id * 1000 + c.id",
        ],
    )
}

fn distinct(_: u64, rng: &mut Rng) -> Vec<Step> {
    any(
        rng,
        &[
            "SELECT DISTINCT a.id, b.id, c.id FROM worst.n a, worst.n b, worst.n c LIMIT 1000000000, 1",
            "SELECT DISTINCT a.v, b.id FROM worst.wide a, worst.n b LIMIT 1000000000, 1",
            "SELECT DISTINCT CONCAT(b.id, a.v) FROM worst.long_values a, worst.n b LIMIT 1000000000, 1",
            "SELECT COUNT(DISTINCT a.id, b.id, c.id) FROM worst.n a, worst.n b, worst.n c",
            "SELECT COUNT(DISTINCT a.v, b.v, a.id, b.id) FROM worst.wide a, worst.wide b",
            "SELECT SUM(DISTINCT a.id * 1000000 + b.id * 1000 + c.id) FROM worst.n a, worst.n b, worst.n c",
        ],
    )
}

fn group_concat(size: u64, rng: &mut Rng) -> Vec<Step> {
    let limit = format!("SET SESSION group_concat_max_len = {}", percent(1 << 30, size));
    let statement = *rng.pick(&[
        "SELECT LENGTH(GROUP_CONCAT(a.v)) FROM worst.wide a, worst.n b",
        "SELECT LENGTH(GROUP_CONCAT(a.v ORDER BY a.w)) FROM worst.wide a, worst.n b",
        "SELECT LENGTH(GROUP_CONCAT(a.id ORDER BY b.id)) FROM worst.n a, worst.n b, worst.n c",
        "SELECT LENGTH(GROUP_CONCAT(DISTINCT a.id, b.id, c.id)) FROM worst.n a, worst.n b, worst.n c",
        "SELECT b.id, LENGTH(GROUP_CONCAT(a.v)) FROM worst.wide a, worst.n b GROUP BY b.id",
        "SELECT b.id, GROUP_CONCAT(a.v ORDER BY a.id) FROM worst.wide a, worst.n b GROUP BY b.id",
        "SELECT GROUP_CONCAT(a.v SEPARATOR '') FROM worst.long_values a, worst.n b",
        "SELECT GROUP_CONCAT(a.v, a.v, a.v) FROM worst.long_values a, worst.n b WHERE b.id < 3",
        "SELECT REPLACE(GROUP_CONCAT(a.v), 'l', 'll') FROM worst.long_values a, worst.n b",
    ]);
    vec![query(limit), query(statement)]
}

/// Returns a query with queries in it.
fn kept_results(_: u64, rng: &mut Rng) -> Vec<Step> {
    any(
        rng,
        &[
            "SELECT COUNT(*) FROM (SELECT a.v, b.id FROM worst.wide a, worst.n b) x",
            "SELECT COUNT(*) FROM (SELECT a.id FROM worst.n a, worst.n b, worst.n c) x",
            "SELECT 0 IN (SELECT a.id FROM worst.n a, worst.n b, worst.n c)",
            "SELECT 'x' IN (SELECT CONCAT(a.v, b.id) FROM worst.long_values a, worst.n b)",
            "SELECT a.id FROM worst.n a, worst.n b UNION SELECT c.id * d.id FROM worst.n c, worst.n d, worst.n e",
            "SELECT a.id, b.id FROM worst.n a, worst.n b, worst.n c UNION ALL SELECT 1, 2 LIMIT 1",
            "SELECT a.v FROM worst.wide a, worst.n b UNION SELECT CONCAT(d.id, c.v) FROM worst.wide c, worst.n d \
             ORDER BY 1",
            "SELECT a.v FROM worst.long_values a, worst.n b UNION ALL SELECT a.v FROM worst.long_values a",
            "SELECT COUNT(*) FROM (SELECT * FROM (SELECT a.v FROM worst.long_values a, worst.n b WHERE b.id < 4) x) y, \
             worst.n z",
        ],
    )
}

fn joins(size: u64, rng: &mut Rng) -> Vec<Step> {
    let tables = percent(60, size);
    let (table, between, end) = *rng.pick(&[
        ("worst.n", " JOIN ", ""),
        ("worst.wide", ", ", " LIMIT 1"),
        ("worst.long_values", ", ", ""),
        ("(SELECT v FROM worst.long_values)", ", ", ""),
        ("information_schema.columns", " CROSS JOIN ", " LIMIT 1"),
        ("(SELECT 1 UNION SELECT 2)", " STRAIGHT_JOIN ", ""),
    ]);
    let list: Vec<String> = (0..tables).map(|at| format!("{table} t{at}")).collect();
    one(format!("SELECT * FROM {}{end}", list.join(between)))
}

/// Returns a query whose functions make long values.
fn long_values(size: u64, rng: &mut Rng) -> Vec<Step> {
    let long = format!("REPEAT('ab', {})", percent(30 << 20, size));
    let times = rng.between(1, 40) as usize;
    let function = *rng.pick(&[
        "CONCAT(#)",
        "CONCAT_WS('/', #, #)",
        "UPPER(#)",
        "LOWER(#)",
        "REVERSE(#)",
        "LEFT(#, 60000000)",
        "RIGHT(#, 60000000)",
        "SUBSTRING(#, 2)",
        "TRIM(#)",
        "LTRIM(#)",
        "TRIM('b' FROM #)",
        "REPLACE(#, 'a', 'b')",
        "REPLACE(#, 'ab', '')",
        "SUBSTRING_INDEX(#, 'a', -3)",
        "SUBSTRING_INDEX(#, 'zz', 3)",
        "INSERT(#, 1, 1, #)",
        "LPAD('a', 15000000, #)",
        "HEX(LEFT(#, 30000000))",
        "UNHEX(#)",
        "TO_BASE64(LEFT(#, 40000000))",
        "FROM_BASE64(#)",
        "QUOTE(#)",
        "CONVERT(# USING utf16)",
        "CONVERT(# USING latin1)",
        "CAST(# AS BINARY)",
        "CAST(# AS CHAR CHARACTER SET utf32)",
        "# COLLATE utf8mb4_bin",
        "MD5(#)",
        "SHA2(#, 512)",
        "LOCATE('ba', #)",
        "INSTR(#, 'c')",
        "FIND_IN_SET('a', #)",
        "STRCMP(#, #)",
        "# LIKE #",
        "# = #",
        "# IN (#, #, #)",
        "ELT(1, #, #)",
        "FIELD('a', #, #)",
        "COALESCE(NULL, #)",
        "IF(1, #, #)",
        "IFNULL(NULL, #)",
        "NULLIF(#, 'a')",
        "CASE 1 WHEN 1 THEN # ELSE # END",
        "GREATEST(#, #)",
        "LEAST(#, #, 'a')",
        "(SELECT #)",
        "@a := #",
        "CHAR_LENGTH(#)",
        "CRC32(#)",
        "ST_GeomFromText(#)",
        "CONCAT(#, 1) + 0",
        "CAST(# AS DECIMAL(65, 30))",
        "CAST(# AS DATETIME)",
        "DATE_FORMAT(NOW(), #)",
        "STR_TO_DATE(#, #)",
        "MAX(#)",
        "GTID_SUBSET(#, #)",
        "STRING_TO_VECTOR(#)",
        "SOUNDEX(#)",
        "WEIGHT_STRING(#)",
        "COMPRESS(#)",
        "JSON_ARRAY(#, #)",
    ]);
    let call = function.replace('#', &long);
    let statement = match rng.below(4) {
        0 => format!("SELECT LENGTH({call})"),
        1 => format!("SELECT {call}"),
        2 => format!("DO {}", vec![call; times].join(", ")),
        _ => format!("SELECT LENGTH(CONCAT({}))", vec![call; times].join(", ")),
    };
    one(statement)
}

/// Returns a query whose rows are long on their way to the client.
fn long_results(size: u64, rng: &mut Rng) -> Vec<Step> {
    let times = percent(40, size);
    let (prelude, statement) = match rng.below(5) {
        0 => ("DO 0", format!("SELECT {} FROM worst.long_values", vec!["v"; times].join(","))),
        1 => ("DO 0", format!("SELECT {}", vec!["REPEAT('x', 60000000)"; times].join(","))),
        2 => ("SET NAMES latin1", format!("SELECT {} FROM worst.long_values", vec!["v"; times].join(","))),
        3 => (
            "SET @a = REPEAT('x', 30000000)",
            format!("SELECT {} FROM worst.n LIMIT 3", vec!["@a"; times].join(",")),
        ),
        _ => (
            "SET character_set_results = utf32",
            format!("SELECT {}", vec!["REPEAT('x', 9000000)"; times].join(",")),
        ),
    };
    vec![query(prelude), query(statement)]
}

fn user_variables(size: u64, rng: &mut Rng) -> Vec<Step> {
    let times = percent(200_000, size);
    match rng.below(4) {
        0 => {
            let set: Vec<String> = (0..times).map(|at| format!("@variable{at} = {at}")).collect();
            one(format!("SET {}", set.join(",")))
        }
        1 => {
            let mut steps = vec![query("SET @a = REPEAT('x', 1000000)")];
            steps.extend((0..8).map(|_| query("SET @a = CONCAT(@a, @a)")));
            steps.push(query("SELECT @a, @a, @a, @a, @a, @a, @a, @a"));
            steps
        }
        2 => (0..percent(60, size)).map(|at| query(format!("SET @v{at} = REPEAT('x', 9000000)"))).collect(),
        _ => one("SELECT @a := CONCAT(COALESCE(@a, 'x'), REPEAT('x', 100000)) FROM worst.n a, worst.n b"),
    }
}

fn prepared_statements(size: u64, rng: &mut Rng) -> Vec<Step> {
    let times = percent(2000, size);
    match rng.below(4) {
        0 => {
            let statement = format!("SELECT 1 IN ({})", vec!["1"; 20_000].join(","));
            vec![Step::Prepare { statement, times }]
        }
        1 => {
            let statement = format!("SELECT {}", vec!["?"; 60_000].join(","));
            vec![Step::Prepare { statement, times: times / 100 }]
        }
        2 => vec![
            query("SET @text = CONCAT('SELECT 1', REPEAT('+1', 5000000))"),
            query("PREPARE s FROM @text"),
            query("EXECUTE s"),
        ],
        _ => {
            let names = (0..times).map(|at| query(format!("PREPARE s{at} FROM 'SELECT * FROM worst.wide'")));
            names.collect()
        }
    }
}

fn long_data(size: u64, rng: &mut Rng) -> Vec<Step> {
    let statement = *rng.pick(&[
        "SELECT LENGTH(?)",
        "SELECT ?",
        "SELECT CONCAT(?, 'x')",
        "INSERT IGNORE INTO worst.long_values VALUES (1, ?)",
    ]);
    let part_bytes = *rng.pick(&[100, 65_000, 16 << 20]);
    let parts = (percent(64 << 20, size) / part_bytes).clamp(1, 10_000);
    vec![Step::LongData { statement, parts, part_bytes }]
}

/// Returns statements that give variables of the session long texts.
fn settings(size: u64, rng: &mut Rng) -> Vec<Step> {
    let value = format!("REPEAT('x', {})", percent(60 << 20, size));
    let variable =
        *rng.pick(&["sql_mode", "init_connect", "character_set_client", "optimizer_switch", "time_zone"]);
    vec![query(format!("SET SESSION {variable} = {value}")), query("SELECT 1")]
}

fn changed_rows(size: u64, rng: &mut Rng) -> Vec<Step> {
    let statement = *rng.pick(&[
        "INSERT INTO worst.n (v) SELECT a.id FROM worst.n a, worst.n b, worst.n c LIMIT 3000000",
        "INSERT INTO worst.wide SELECT a.id * 100000 + b.id, 1, a.v, a.w FROM worst.wide a, worst.n b",
        "INSERT INTO worst.long_values SELECT a.id * 100 + b.id, a.v FROM worst.long_values a, worst.n b",
        "INSERT INTO worst.long_values SELECT 100 + id, REPEAT('x', 60000000) FROM worst.n",
        "UPDATE worst.wide SET v = CONCAT(v, 'x') ORDER BY w",
        "UPDATE worst.long_values SET v = CONCAT(v, v, v, v)",
        "UPDATE worst.wide SET w = REPEAT('y', 4000)",
        "DELETE FROM worst.wide ORDER BY v",
        "REPLACE INTO worst.wide SELECT id, 3, w, v FROM worst.wide",
    ]);
    // The changes are undone each time, so that the tables stay as they are.
    let times = percent(3, size);
    let mut steps = vec![query("BEGIN")];
    steps.extend(vec![query(statement); times]);
    steps.push(query("ROLLBACK"));
    steps
}

fn definitions(size: u64, rng: &mut Rng) -> Vec<Step> {
    let times = percent(200_000, size);
    let numbered = |item: &str| -> String {
        let items: Vec<String> = (0..times).map(|at| item.replace('#', &at.to_string())).collect();
        items.join(",")
    };
    let statement = match rng.below(8) {
        0 => format!("CREATE TABLE worst.x ({})", numbered("c# INT")),
        1 => format!("CREATE TABLE worst.x (a ENUM({}))", numbered("'member #'")),
        2 => format!("CREATE TABLE worst.x (a INT) COMMENT '{}'", "x".repeat(percent(60 << 20, size))),
        3 => format!(
            "CREATE TABLE worst.x (a INT) PARTITION BY LIST (a) (PARTITION p VALUES IN ({}))",
            numbered("#")
        ),
        4 => format!("CREATE TABLE worst.x (a INT DEFAULT ({}))", vec!["1"; times].join("+")),
        5 => format!("CREATE VIEW worst.x AS SELECT {}", numbered("# AS c#")),
        6 => format!("DROP TABLE IF EXISTS {}", numbered("worst.no_such_table#")),
        _ => format!("LOCK TABLES {}", numbered("worst.n AS a# READ")),
    };
    vec![query(statement), query("DROP TABLE IF EXISTS worst.x"), query("DROP VIEW IF EXISTS worst.x")]
}

/// Returns a query of tables that the server computes.
fn described_tables(_: u64, rng: &mut Rng) -> Vec<Step> {
    any(
        rng,
        &[
            "SELECT * FROM information_schema.columns a, information_schema.columns b ORDER BY a.column_name",
            "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, \
             information_schema.columns c GROUP BY a.column_name, b.column_name, c.column_name",
            "SELECT * FROM performance_schema.global_variables a, performance_schema.global_variables b \
             ORDER BY a.variable_value",
            "SELECT DISTINCT * FROM information_schema.processlist a, information_schema.columns b, \
             information_schema.tables c, information_schema.statistics d LIMIT 100000000, 1",
        ],
    )
}

/// Returns statements that each come twice, so that their plans are kept.
fn cached_plans(size: u64, _: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    for number in 0..percent(250, size) {
        let statement = format!("SELECT {number} IN ({})", vec!["1"; 2000].join(","));
        steps.extend([query(statement.clone()), query(statement)]);
    }
    steps
}

/// Returns a text that is long and says little.
fn large_packets(size: u64, rng: &mut Rng) -> Vec<Step> {
    let bytes = percent(63 << 20, size);
    let statement = match rng.below(6) {
        0 => format!("SELECT LENGTH('{}')", "x".repeat(bytes)),
        1 => format!("SELECT '{}'", "x".repeat(bytes)),
        2 => format!("SELECT /* {} */ 1", "x".repeat(bytes)),
        3 => format!("SELECT 1 AS `{}`", "x".repeat(bytes)),
        4 => format!("SELECT x'{}'", "6".repeat(bytes / 2 * 2)),
        _ => format!("SET @a = '{}'", "\\'".repeat(bytes / 2)),
    };
    one(statement)
}
