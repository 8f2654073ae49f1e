//! Statements made up from a grammar: every kind of statement, operator and function that the
//! parser knows, over small tables.

use os::random::Rng;

const FUNCTIONS: &str = "abs acos any_value ascii asin atan atan2 avg bin bin_to_uuid bit_and bit_count bit_length bit_or bit_xor ceil ceiling \
    char char_length character_length charset coalesce coercibility collation concat concat_ws connection_id conv convert_tz cos cot count crc32 curdate \
    current_role current_user curtime database date date_format datediff day dayname dayofmonth dayofweek dayofyear degrees elt exp field find_in_set \
    floor format found_rows from_base64 from_days from_unixtime get_lock greatest group_concat gtid_subset gtid_subtract hex hour if ifnull inet_aton \
    insert instr is_free_lock is_uuid isnull json_value last_day last_insert_id lcase least left length ln locate log log10 log2 lower lpad ltrim \
    makedate maketime max md5 microsecond mid min minute mod month monthname now nullif oct octet_length ord period_add period_diff pi pow power \
    quarter quote radians rand release_lock repeat replace reverse right round row_count rpad rtrim sec_to_time second session_user sha1 sha2 sign \
    sin space sqrt std stddev stddev_samp strcmp substr substring substring_index sum sysdate tan time time_format time_to_sec timediff \
    timestamp to_base64 to_days to_seconds truncate ucase unhex unix_timestamp upper user utc_date utc_time utc_timestamp uuid uuid_to_bin var_pop \
    var_samp variance version week weekday weekofyear weight_string year yearweek";
const LITERALS: [&str; 40] = [
    "NULL",
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "-128",
    "2147483647",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999999999999999999999999999999999999999999",
    "0.1",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "123456789012345678901234567890.123456789012345678901234567890",
    "''",
    "'a'",
    "'abc'",
    "'2026-02-29'",
    "'9999-12-31 23:59:59.999999'",
    "'0000-00-00'",
    "'-838:59:59'",
    "'%a_%'",
    "'\\0'",
    "_binary'\u{e9}'",
    "X'FF00'",
    "b'1010101'",
    "TRUE",
    "DATE'2024-02-29'",
    "TIME'12:34:56.7'",
    "TIMESTAMP'1970-01-01 00:00:01'",
    "'ß'",
    "'1e400'",
    "'\u{1F600}'",
    "'11111111-2222-3333-4444-555555555555:1-5'",
];
const BINARY: [&str; 27] = [
    "+", "-", "*", "/", "%", "DIV", "MOD", "=", "<>", "<", "<=", ">", ">=", "<=>", "AND", "OR", "XOR", "&&",
    "||", "&", "|", "^", "<<", ">>", "LIKE", "NOT LIKE", "!=",
];
const ODD: [&str; 6] = ["REGEXP", "COLLATE", "SOUNDS LIKE", "IN", "->", "MEMBER OF"];
const TYPES: [&str; 26] = [
    "TINYINT",
    "SMALLINT UNSIGNED",
    "MEDIUMINT",
    "INT",
    "BIGINT UNSIGNED",
    "DECIMAL(65,30)",
    "DECIMAL(5,2)",
    "FLOAT",
    "DOUBLE",
    "BIT(64)",
    "BIT(1)",
    "CHAR(10)",
    "VARCHAR(300)",
    "BINARY(3)",
    "VARBINARY(200)",
    "TEXT",
    "BLOB",
    "MEDIUMTEXT",
    "ENUM('a','b','c')",
    "SET('x','y','z')",
    "DATE",
    "TIME(6)",
    "DATETIME(3)",
    "TIMESTAMP NULL",
    "YEAR",
    "JSON",
];
const UNITS: [&str; 12] = [
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "DAY_MICROSECOND",
    "YEAR_MONTH",
    "HOUR_SECOND",
];
const CASTS: [&str; 13] = [
    "SIGNED",
    "UNSIGNED",
    "CHAR",
    "CHAR(3)",
    "BINARY",
    "BINARY(5)",
    "DECIMAL(65,30)",
    "DECIMAL",
    "DATE",
    "TIME(6)",
    "DATETIME(6)",
    "DOUBLE",
    "JSON",
];
const OTHERS: [&str; 60] = [
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "RELEASE SAVEPOINT s",
    "SET autocommit = 0",
    "SET autocommit = 1",
    "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET sql_mode = ''",
    "SET sql_mode = 'ANSI,TRADITIONAL'",
    "SET sql_mode = DEFAULT",
    "SET NAMES latin1",
    "SET NAMES utf8mb4",
    "SHOW TABLES",
    "SHOW DATABASES",
    "SHOW VARIABLES",
    "SHOW STATUS",
    "SHOW PROCESSLIST",
    "SHOW ENGINE INNODB STATUS",
    "SHOW CREATE TABLE t0",
    "SHOW COLUMNS FROM t1",
    "SHOW INDEX FROM t2",
    "SHOW TABLE STATUS",
    "SHOW WARNINGS",
    "SHOW ERRORS",
    "SHOW BINARY LOGS",
    "SHOW BINLOG EVENTS LIMIT 3",
    "SHOW REPLICA STATUS",
    "SHOW GRANTS",
    "SHOW COLLATION",
    "SHOW CHARACTER SET",
    "SHOW ENGINES",
    "SHOW PRIVILEGES",
    "CHECK TABLE t0, t1, t2",
    "ANALYZE TABLE t0",
    "OPTIMIZE TABLE t1",
    "CHECKSUM TABLE t0, t1",
    "TRUNCATE TABLE t2",
    "LOCK TABLES t0 WRITE, t1 READ",
    "UNLOCK TABLES",
    "FLUSH TABLES",
    "FLUSH BINARY LOGS",
    "FLUSH TABLES WITH READ LOCK",
    "XA START 'x'",
    "XA END 'x'",
    "XA PREPARE 'x'",
    "XA COMMIT 'x'",
    "XA ROLLBACK 'x'",
    "XA RECOVER",
    "DO SLEEP(0.01)",
    "SELECT * FROM information_schema.columns",
    "SELECT * FROM performance_schema.data_locks",
    "SELECT * FROM information_schema.tables t JOIN information_schema.columns c USING (table_name)",
    "SET @a = 1, @b = 'x'",
    "PREPARE p FROM 'SELECT ? + 1'",
    "EXECUTE p USING @a",
    "DEALLOCATE PREPARE p",
    "DESCRIBE t0",
];

/// Makes up statements.
pub struct Grammar<'a> {
    rng: &'a mut Rng,
    /// The tables whose columns an expression may name.
    scope: Vec<String>,
}

impl<'a> Grammar<'a> {
    pub fn new(rng: &'a mut Rng) -> Grammar<'a> {
        Grammar { rng, scope: Vec::new() }
    }

    fn one(&mut self, of: &[&'static str]) -> &'static str {
        of[self.rng.below(of.len() as u64) as usize]
    }

    fn table(&mut self) -> String {
        format!("t{}", self.rng.below(4))
    }

    fn column(&mut self) -> String {
        let column = match self.rng.below(6) {
            0 => "id".to_owned(),
            at => format!("c{}", at - 1),
        };
        match self.scope.len() as u64 {
            0 => self.one(&LITERALS).to_owned(),
            // Now and then one that is not there, or not clear.
            _ if self.rng.one_in(30) => column,
            tables => format!("{}.{column}", self.scope[self.rng.below(tables) as usize]),
        }
    }

    fn list(&mut self, most: u64, mut item: impl FnMut(&mut Self) -> String) -> String {
        let count = self.rng.between(1, most);
        (0..count).map(|_| item(self)).collect::<Vec<_>>().join(", ")
    }

    /// An expression that is no deeper than this. (How deep one may be at all is another test's.)
    fn expression(&mut self, depth: u64) -> String {
        if depth == 0 || self.rng.one_in(5) {
            return if self.rng.one_in(2) { self.column() } else { self.one(&LITERALS).to_owned() };
        }
        let mut inner = || self.expression(depth - 1);
        let (a, b, c) = (inner(), inner(), inner());
        match self.rng.below(22) {
            0 if self.rng.one_in(20) => format!("({a} {} {b})", self.one(&ODD)),
            0..=5 => format!("({a} {} {b})", self.one(&BINARY)),
            6 => format!("{} ({a})", self.one(&["-", "~", "!", "NOT", "+", "BINARY"])),
            7 => format!("({a} BETWEEN {b} AND {c})"),
            8 => format!("({a} {} ({b}, {c}))", self.one(&["IN", "NOT IN"])),
            9 => format!("CASE WHEN {a} THEN {b} ELSE {c} END"),
            10 => format!("CASE {a} WHEN {b} THEN {c} END"),
            11 => format!("CAST({a} AS {})", self.one(&CASTS)),
            12 => format!("({a} {} INTERVAL {b} {})", self.one(&["+", "-"]), self.one(&UNITS)),
            13 => format!("EXTRACT({} FROM {a})", self.one(&UNITS)),
            14 => format!("TIMESTAMP{}({}, {a}, {b})", self.one(&["ADD", "DIFF"]), self.one(&UNITS)),
            15 => format!("({})", self.select(depth - 1, 1)),
            16 => format!("{} ({})", self.one(&["EXISTS", "NOT EXISTS"]), self.select(depth - 1, 1)),
            17 => format!("({a} IS {}NULL)", self.one(&["", "NOT "])),
            18 => format!("TRIM({} {a} FROM {b})", self.one(&["LEADING", "TRAILING", "BOTH"])),
            19 => format!("GROUP_CONCAT({}{a} ORDER BY {b} SEPARATOR {c})", self.one(&["", "DISTINCT "])),
            _ => {
                let names: Vec<&'static str> = FUNCTIONS.split_whitespace().collect();
                let name = *self.rng.pick(&names);
                match self.rng.below(5) {
                    0 => format!("{name}()"),
                    1 => format!("{name}({a})"),
                    2 => format!("{name}({a}, {b})"),
                    3 => format!("{name}({a}, {b}, {c})"),
                    _ => format!("{name}({}{a})", self.one(&["", "DISTINCT "])),
                }
            }
        }
    }

    fn from(&mut self, depth: u64) -> String {
        let mut text = self.table();
        self.scope = vec![text.clone()];
        for _ in 0..self.rng.below(3) {
            let right = match depth > 0 && self.rng.one_in(5) {
                true => {
                    let scope = std::mem::take(&mut self.scope);
                    let derived = self.select(depth - 1, 2);
                    self.scope = scope;
                    format!("({derived}) d")
                }
                false => self.table(),
            };
            if right.len() == 2 && !self.scope.contains(&right) {
                self.scope.push(right.clone());
            }
            let how =
                self.one(&["JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", "NATURAL JOIN", "STRAIGHT_JOIN"]);
            text = match self.rng.below(3) {
                0 => format!("{text} {how} {right} USING (id)"),
                1 => format!("{text} {how} {right} ON {}", self.expression(depth.min(2))),
                _ => format!("{text}, {right}"),
            };
        }
        text
    }

    /// A SELECT of at most so many columns, which knows nothing of what is around it.
    fn select(&mut self, depth: u64, columns: u64) -> String {
        let outer = std::mem::take(&mut self.scope);
        let from = if self.rng.one_in(6) { String::new() } else { self.from(depth) };
        let mut text = format!("SELECT {}", self.one(&["", "", "", "DISTINCT ", "SQL_NO_CACHE "]));
        text += &match columns > 1 && !from.is_empty() && self.rng.one_in(3) {
            true => "*".to_owned(),
            false => self.list(columns, |g| g.expression(depth)),
        };
        if !from.is_empty() {
            text += &format!(" FROM {from}");
            if self.rng.one_in(2) {
                text += &format!(" WHERE {}", self.expression(depth));
            }
            if self.rng.one_in(4) {
                text += &format!(" GROUP BY {}", self.list(2, |g| g.expression(depth.min(2))));
                if self.rng.one_in(3) {
                    text += self.one(&[" WITH ROLLUP", ""]);
                }
                if self.rng.one_in(2) {
                    text += &format!(" HAVING {}", self.expression(depth.min(2)));
                }
            }
            if self.rng.one_in(3) {
                let order = self
                    .list(3, |g| format!("{} {}", g.expression(depth.min(2)), g.one(&["", "ASC", "DESC"])));
                text += &format!(" ORDER BY {order}");
            }
            if self.rng.one_in(4) {
                text += self.one(&[
                    " LIMIT 0",
                    " LIMIT 3",
                    " LIMIT 2, 5",
                    " LIMIT 18446744073709551615 OFFSET 1",
                    " LIMIT 18446744073709551615, 18446744073709551615",
                ]);
            }
            if self.rng.one_in(8) {
                text += self.one(&[
                    " FOR UPDATE",
                    " FOR SHARE SKIP LOCKED",
                    " FOR UPDATE NOWAIT",
                    " LOCK IN SHARE MODE",
                ]);
            }
        }
        self.scope = outer;
        if depth > 0 && columns == 1 && self.rng.one_in(10) {
            text =
                format!("{text} UNION {} {}", self.one(&["ALL", "DISTINCT", ""]), self.select(depth - 1, 1));
        }
        text
    }

    fn definition(&mut self) -> String {
        let mut columns: Vec<String> = (0..5).map(|at| format!("c{at} {}", self.one(&TYPES))).collect();
        columns.insert(
            0,
            self.one(&[
                "id INT PRIMARY KEY AUTO_INCREMENT",
                "id INT",
                "id BIGINT UNSIGNED NOT NULL PRIMARY KEY",
            ])
            .to_owned(),
        );
        for _ in 0..self.rng.below(3) {
            let column = self.rng.below(5);
            columns.push(format!(
                "{} (c{column}{})",
                self.one(&["KEY", "UNIQUE KEY"]),
                self.one(&["", "(3)", " DESC", "(1)"])
            ));
        }
        format!(
            "({}){}",
            columns.join(", "),
            self.one(&["", " DEFAULT CHARSET latin1", " DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin"])
        )
    }

    fn alteration(&mut self) -> String {
        let (at, ty) = (self.rng.below(5), self.one(&TYPES));
        match self.rng.below(10) {
            0 => format!("ADD COLUMN n{at} {ty}"),
            1 => format!("DROP COLUMN c{at}"),
            2 => format!("MODIFY c{at} {ty}"),
            3 => format!("CHANGE c{at} n{at} {ty} NOT NULL"),
            4 => format!("ADD INDEX i{at} (c{at})"),
            5 => format!("DROP INDEX i{at}"),
            6 => format!("ALTER COLUMN c{at} SET DEFAULT {}", self.one(&LITERALS)),
            7 => "AUTO_INCREMENT = 18446744073709551615".to_owned(),
            8 => format!("RENAME TO {}", self.table()),
            _ => format!("ADD UNIQUE (c{at}, id), ADD COLUMN (m{at} {ty})"),
        }
    }

    /// A statement.
    pub fn statement(&mut self) -> String {
        let depth = *self.rng.pick(&[0, 0, 1, 1, 1, 2, 2, 3, 4]);
        let table = self.table();
        self.scope = Vec::new();
        match self.rng.below(24) {
            0..=7 => self.select(depth, 3),
            8..=10 => {
                let rows = self.list(4, |g| {
                    format!("({})", (0..6).map(|_| g.expression(1)).collect::<Vec<_>>().join(", "))
                });
                let verb = self.one(&["INSERT", "REPLACE", "INSERT IGNORE", "INSERT"]);
                let more = if verb == "INSERT" && self.rng.one_in(3) {
                    format!(" ON DUPLICATE KEY UPDATE c1 = {}", self.expression(depth))
                } else {
                    String::new()
                };
                format!("{verb} INTO {table} VALUES {rows}{more}")
            }
            11 => format!("INSERT INTO {table} {}", self.select(depth, 3)),
            12 | 13 => {
                self.scope = vec![table.clone()];
                let set = self.list(2, |g| format!("c{} = {}", g.rng.below(5), g.expression(depth)));
                format!(
                    "UPDATE {}{table} SET {set} WHERE {} LIMIT 5",
                    self.one(&["", "IGNORE "]),
                    self.expression(depth)
                )
            }
            14 => format!(
                "DELETE FROM {table} WHERE {} ORDER BY {} LIMIT 3",
                self.expression(depth),
                self.expression(1)
            ),
            15 => format!("CREATE TABLE IF NOT EXISTS {table} {}", self.definition()),
            16 if self.rng.one_in(4) => format!("DROP TABLE IF EXISTS {table}"),
            17 => format!("ALTER TABLE {table} {}", self.alteration()),
            18 => format!("EXPLAIN {}", self.select(depth, 3)),
            19 => format!("SET @a = {}", self.expression(depth)),
            20 => {
                let text = self.select(depth, 3).replace('\\', "\\\\").replace('\'', "\\'");
                format!("PREPARE p FROM '{text}'")
            }
            21 => {
                let statement = self.select(depth, 3);
                String::from_utf8_lossy(&self.rng.damaged(statement.as_bytes())).into_owned()
            }
            _ => self.one(&OTHERS).to_owned(),
        }
    }
}
