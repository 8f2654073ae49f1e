//! The words of the grammar: functions, operators, literals, types, and whole statements that stay
//! as they are.

/// Functions, each with the least and the most arguments that it takes.
pub const FUNCTIONS: &str = "abs:1 acos:1 any_value:1 ascii:1 asin:1 atan:1-2 atan2:2 bin:1 bit_count:1 \
    bit_length:1 ceil:1 ceiling:1 char:1-3 char_length:1 character_length:1 charset:1 coalesce:1-3 \
    coercibility:1 collation:1 concat:1-3 concat_ws:2-4 connection_id:0 conv:3 convert_tz:3 cos:1 cot:1 \
    crc32:1 curdate:0 current_role:0 current_user:0 curtime:0 database:0 date:1 date_format:2 datediff:2 \
    day:1 dayname:1 dayofmonth:1 dayofweek:1 dayofyear:1 degrees:1 elt:2-4 exp:1 field:2-4 find_in_set:2 \
    floor:1 format:2 found_rows:0 from_base64:1 from_days:1 from_unixtime:1-2 greatest:2-4 hex:1 hour:1 \
    if:3 ifnull:2 inet_aton:1 insert:4 instr:2 is_uuid:1 isnull:1 last_day:1 last_insert_id:0-1 lcase:1 \
    least:2-4 left:2 length:1 ln:1 locate:2-3 log:1-2 log10:1 log2:1 lower:1 lpad:3 ltrim:1 makedate:2 \
    maketime:3 md5:1 microsecond:1 mid:3 minute:1 mod:2 month:1 monthname:1 now:0 nullif:2 oct:1 \
    octet_length:1 ord:1 period_add:2 period_diff:2 pi:0 pow:2 power:2 quarter:1 quote:1 radians:1 \
    rand:0-1 repeat:2 replace:3 reverse:1 right:2 round:1-2 row_count:0 rpad:3 rtrim:1 sec_to_time:1 \
    second:1 session_user:0 sha1:1 sha2:2 sign:1 sin:1 space:1 sqrt:1 strcmp:2 substr:2-3 substring:2-3 \
    substring_index:3 sysdate:0 tan:1 time:1 time_format:2 time_to_sec:1 timediff:2 timestamp:1-2 \
    to_base64:1 to_days:1 to_seconds:1 truncate:2 ucase:1 unhex:1 unix_timestamp:0-1 upper:1 user:0 \
    utc_date:0 utc_time:0 utc_timestamp:0 uuid:0 version:0 week:1-2 weekday:1 weekofyear:1 year:1 \
    yearweek:1-2";

/// Aggregate functions.
pub const AGGREGATES: [&str; 14] = [
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "count",
    "max",
    "min",
    "std",
    "stddev",
    "stddev_samp",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];

/// Aggregate functions that take DISTINCT.
pub const DISTINCT_AGGREGATES: [&str; 5] = ["avg", "count", "max", "min", "sum"];

/// Calls whose arguments must be of a special kind, and some that the server does not have.
pub const PARTICULAR: [&str; 9] = [
    "uuid_to_bin(uuid())",
    "bin_to_uuid(uuid_to_bin(uuid()))",
    "get_lock('fuzz', 0)",
    "is_free_lock('fuzz')",
    "release_lock('fuzz')",
    "gtid_subset('11111111-2222-3333-4444-555555555555:1-5', '11111111-2222-3333-4444-555555555555:2')",
    "gtid_subtract('11111111-2222-3333-4444-555555555555:1-5', '11111111-2222-3333-4444-555555555555:2')",
    "weight_string('a')",
    "json_value('{}', '$.a')",
];

/// Usual values.
pub const LITERALS: [&str; 22] = [
    "NULL",
    "0",
    "1",
    "-1",
    "2",
    "7",
    "255",
    "-128",
    "0.1",
    "-0.0",
    "''",
    "'a'",
    "'abc'",
    "'2026-02-28'",
    "'%a_%'",
    "X'FF00'",
    "b'1010101'",
    "TRUE",
    "DATE'2024-02-29'",
    "TIME'12:34:56.7'",
    "TIMESTAMP'1980-01-01 00:00:01'",
    "'10:11:12'",
];

/// Values at the ends of ranges, and values outside of them.
pub const EXTREMES: [&str; 19] = [
    "2147483647",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "99999999999999999999999999999999999999999999999999999999999999999",
    "1e308",
    "-1e308",
    "1e-320",
    "123456789012345678901234567890.123456789012345678901234567890",
    "'9999-12-31 23:59:59.999999'",
    "'0000-00-00'",
    "'2026-02-29'",
    "'-838:59:59'",
    "'\\0'",
    "_binary'\u{e9}'",
    "'1e400'",
    "'\u{1F600}\u{df}'",
    "'11111111-2222-3333-4444-555555555555:1-5'",
];

/// Operators between two values.
pub const BINARY: [&str; 29] = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "DIV",
    "MOD",
    "=",
    "<>",
    "<",
    "<=",
    ">",
    ">=",
    "<=>",
    "AND",
    "OR",
    "XOR",
    "&&",
    "||",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "LIKE",
    "NOT LIKE",
    "!=",
    "REGEXP",
    "NOT RLIKE",
];

/// Operators that do not exist, or want something other than a value.
pub const ODD: [&str; 5] = ["COLLATE", "SOUNDS LIKE", "IN", "->", "MEMBER OF"];

/// Types of columns, and whether an index can hold one whole (0), a part (1), or not at all (2).
pub const TYPES: [(&str, u8); 26] = [
    ("TINYINT", 0),
    ("SMALLINT UNSIGNED", 0),
    ("MEDIUMINT", 0),
    ("INT", 0),
    ("BIGINT UNSIGNED", 0),
    ("DECIMAL(65,30)", 0),
    ("DECIMAL(5,2)", 0),
    ("FLOAT", 0),
    ("DOUBLE", 0),
    ("BIT(64)", 0),
    ("BIT(1)", 0),
    ("CHAR(10)", 0),
    ("VARCHAR(300)", 0),
    ("BINARY(3)", 0),
    ("VARBINARY(200)", 0),
    ("TEXT", 1),
    ("BLOB", 1),
    ("MEDIUMTEXT", 1),
    ("ENUM('a','b','c')", 0),
    ("SET('x','y','z')", 0),
    ("DATE", 0),
    ("TIME(6)", 0),
    ("DATETIME(3)", 0),
    ("TIMESTAMP NULL", 0),
    ("YEAR", 0),
    ("JSON", 2),
];

/// Units of intervals.
pub const UNITS: [&str; 9] =
    ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"];

/// Units of two parts, which TIMESTAMPADD does not take.
pub const LONG_UNITS: [&str; 4] = ["DAY_MICROSECOND", "YEAR_MONTH", "HOUR_SECOND", "MINUTE_SECOND"];

/// The types that CAST accepts.
pub const CASTS: [&str; 12] = [
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
];

/// Statements about a whole table, whose name is put behind them.
pub const OF_A_TABLE: [&str; 8] = [
    "SHOW CREATE TABLE",
    "SHOW COLUMNS FROM",
    "SHOW INDEX FROM",
    "CHECK TABLE",
    "ANALYZE TABLE",
    "OPTIMIZE TABLE",
    "CHECKSUM TABLE",
    "DESCRIBE",
];

/// Statements about the server and the session.
pub const OTHERS: [&str; 36] = [
    "SET autocommit = 1",
    "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET sql_mode = ''",
    "SET sql_mode = ''",
    "SET sql_mode = 'PIPES_AS_CONCAT,TRADITIONAL'",
    "SET sql_mode = DEFAULT",
    "SET NAMES latin1",
    "SET NAMES utf8mb4",
    "SHOW TABLES",
    "SHOW DATABASES",
    "SHOW VARIABLES",
    "SHOW STATUS",
    "SHOW PROCESSLIST",
    "SHOW ENGINE INNODB STATUS",
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
    "FLUSH TABLES",
    "FLUSH BINARY LOGS",
    "XA RECOVER",
    "DO SLEEP(0.01)",
    "SELECT * FROM information_schema.columns",
    "SELECT * FROM performance_schema.data_locks",
    "SELECT * FROM information_schema.tables t JOIN information_schema.columns c USING (table_name)",
    "SET @a = 1, @b = 'x'",
    "SELECT @a, @b, @@sql_mode, @@warning_count",
    "COMMIT",
];
