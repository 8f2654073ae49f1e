//! MySQL's reserved words, which cannot be names without quotes.

/// The reserved words of MySQL 8.4, sorted and in upper case.
pub(super) const RESERVED: &[&str] = &[
    "ACCESSIBLE",
    "ADD",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "AS",
    "ASC",
    "ASENSITIVE",
    "BEFORE",
    "BETWEEN",
    "BIGINT",
    "BINARY",
    "BLOB",
    "BOTH",
    "BY",
    "CALL",
    "CASCADE",
    "CASE",
    "CHANGE",
    "CHAR",
    "CHARACTER",
    "CHECK",
    "COLLATE",
    "COLUMN",
    "CONDITION",
    "CONSTRAINT",
    "CONTINUE",
    "CONVERT",
    "CREATE",
    "CROSS",
    "CUBE",
    "CUME_DIST",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "CURSOR",
    "DATABASE",
    "DATABASES",
    "DAY_HOUR",
    "DAY_MICROSECOND",
    "DAY_MINUTE",
    "DAY_SECOND",
    "DEC",
    "DECIMAL",
    "DECLARE",
    "DEFAULT",
    "DELAYED",
    "DELETE",
    "DENSE_RANK",
    "DESC",
    "DESCRIBE",
    "DETERMINISTIC",
    "DISTINCT",
    "DISTINCTROW",
    "DIV",
    "DOUBLE",
    "DROP",
    "DUAL",
    "EACH",
    "ELSE",
    "ELSEIF",
    "EMPTY",
    "ENCLOSED",
    "ESCAPED",
    "EXCEPT",
    "EXISTS",
    "EXIT",
    "EXPLAIN",
    "FALSE",
    "FETCH",
    "FIRST_VALUE",
    "FLOAT",
    "FLOAT4",
    "FLOAT8",
    "FOR",
    "FORCE",
    "FOREIGN",
    "FROM",
    "FULLTEXT",
    "FUNCTION",
    "GENERATED",
    "GET",
    "GRANT",
    "GROUP",
    "GROUPING",
    "GROUPS",
    "HAVING",
    "HIGH_PRIORITY",
    "HOUR_MICROSECOND",
    "HOUR_MINUTE",
    "HOUR_SECOND",
    "IF",
    "IGNORE",
    "IN",
    "INDEX",
    "INFILE",
    "INNER",
    "INOUT",
    "INSENSITIVE",
    "INSERT",
    "INT",
    "INT1",
    "INT2",
    "INT3",
    "INT4",
    "INT8",
    "INTEGER",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IO_AFTER_GTIDS",
    "IO_BEFORE_GTIDS",
    "IS",
    "ITERATE",
    "JOIN",
    "JSON_TABLE",
    "KEY",
    "KEYS",
    "KILL",
    "LAG",
    "LAST_VALUE",
    "LATERAL",
    "LEAD",
    "LEADING",
    "LEAVE",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LINEAR",
    "LINES",
    "LOAD",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "LOCK",
    "LONG",
    "LONGBLOB",
    "LONGTEXT",
    "LOOP",
    "LOW_PRIORITY",
    "MATCH",
    "MAXVALUE",
    "MEDIUMBLOB",
    "MEDIUMINT",
    "MEDIUMTEXT",
    "MIDDLEINT",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "MOD",
    "MODIFIES",
    "NATURAL",
    "NOT",
    "NO_WRITE_TO_BINLOG",
    "NTH_VALUE",
    "NTILE",
    "NULL",
    "NUMERIC",
    "OF",
    "ON",
    "OPTIMIZE",
    "OPTIMIZER_COSTS",
    "OPTION",
    "OPTIONALLY",
    "OR",
    "ORDER",
    "OUT",
    "OUTER",
    "OUTFILE",
    "OVER",
    "PARTITION",
    "PERCENT_RANK",
    "PRECISION",
    "PRIMARY",
    "PROCEDURE",
    "PURGE",
    "QUALIFY",
    "RANGE",
    "RANK",
    "READ",
    "READS",
    "READ_WRITE",
    "REAL",
    "RECURSIVE",
    "REFERENCES",
    "REGEXP",
    "RELEASE",
    "RENAME",
    "REPEAT",
    "REPLACE",
    "REQUIRE",
    "RESIGNAL",
    "RESTRICT",
    "RETURN",
    "REVOKE",
    "RIGHT",
    "RLIKE",
    "ROW",
    "ROWS",
    "ROW_NUMBER",
    "SCHEMA",
    "SCHEMAS",
    "SECOND_MICROSECOND",
    "SELECT",
    "SENSITIVE",
    "SEPARATOR",
    "SET",
    "SHOW",
    "SIGNAL",
    "SMALLINT",
    "SPATIAL",
    "SPECIFIC",
    "SQL",
    "SQLEXCEPTION",
    "SQLSTATE",
    "SQLWARNING",
    "SQL_BIG_RESULT",
    "SQL_CALC_FOUND_ROWS",
    "SQL_SMALL_RESULT",
    "SSL",
    "STARTING",
    "STORED",
    "STRAIGHT_JOIN",
    "SYSTEM",
    "TABLE",
    "TERMINATED",
    "THEN",
    "TINYBLOB",
    "TINYINT",
    "TINYTEXT",
    "TO",
    "TRAILING",
    "TRIGGER",
    "TRUE",
    "UNDO",
    "UNION",
    "UNIQUE",
    "UNLOCK",
    "UNSIGNED",
    "UPDATE",
    "USAGE",
    "USE",
    "USING",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
    "VALUES",
    "VARBINARY",
    "VARCHAR",
    "VARCHARACTER",
    "VARYING",
    "VIRTUAL",
    "WHEN",
    "WHERE",
    "WHILE",
    "WINDOW",
    "WITH",
    "WRITE",
    "XOR",
    "YEAR_MONTH",
    "ZEROFILL",
];

const LETTERS: usize = 26;

/// The positions of the first word of each letter, and the number of all words at the end.
const STARTS: [usize; LETTERS + 1] = {
    let mut starts = [RESERVED.len(); LETTERS + 1];
    let mut at = RESERVED.len();
    while at > 0 {
        at -= 1;
        starts[(RESERVED[at].as_bytes()[0] - b'A') as usize] = at;
    }
    // A letter without words gets the position of the next letter.
    let mut letter = LETTERS;
    while letter > 0 {
        letter -= 1;
        if starts[letter] > starts[letter + 1] {
            starts[letter] = starts[letter + 1];
        }
    }
    starts
};

/// For each letter, the lengths of its words: bit n stands for n bytes.
const LENGTHS: [u64; LETTERS] = {
    let mut lengths = [0; LETTERS];
    let mut at = 0;
    while at < RESERVED.len() {
        let word = RESERVED[at].as_bytes();
        assert!(word.len() < u64::BITS as usize, "each length has a bit");
        lengths[(word[0] - b'A') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// The reserved words of MySQL that MariaDB 10.11 takes for names without quotes.
const NAMES_IN_MARIADB: &[&str] = &[
    "CUBE",
    "CUME_DIST",
    "DATABASE",
    "DENSE_RANK",
    "EMPTY",
    "FIRST_VALUE",
    "FUNCTION",
    "GENERATED",
    "GET",
    "GROUPING",
    "GROUPS",
    "IO_AFTER_GTIDS",
    "IO_BEFORE_GTIDS",
    "JSON_TABLE",
    "LAG",
    "LAST_VALUE",
    "LATERAL",
    "LEAD",
    "NTH_VALUE",
    "NTILE",
    "OF",
    "OPTIMIZER_COSTS",
    "OPTION",
    "PERCENT_RANK",
    "QUALIFY",
    "RANK",
    "ROW",
    "SCHEMA",
    "STORED",
    "SYSTEM",
    "VIRTUAL",
];

/// Reports whether `word`, in any case, is reserved in MySQL and a name in MariaDB.
pub fn is_name_in_mariadb(word: &[u8]) -> bool {
    NAMES_IN_MARIADB.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

/// Reports whether `word`, in any case, begins a clause of MySQL in a place where it could be taken
/// for a name.
pub fn leads_in_mysql(word: &[u8]) -> bool {
    ["JSON_TABLE", "LATERAL", "QUALIFY"].iter().any(|lead| word.eq_ignore_ascii_case(lead.as_bytes()))
}

/// Reports whether `word` is reserved, in any case.
pub fn is_reserved(word: &[u8]) -> bool {
    let Some(first) = word.first().filter(|byte| byte.is_ascii_alphabetic()) else { return false };
    let letter = usize::from(first.to_ascii_uppercase() - b'A');
    if word.len() >= u64::BITS as usize || LENGTHS[letter] & (1 << word.len()) == 0 {
        return false;
    }
    let same_letter = &RESERVED[STARTS[letter]..STARTS[letter + 1]];
    same_letter
        .iter()
        .any(|reserved| reserved.len() == word.len() && word.eq_ignore_ascii_case(reserved.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_found() {
        assert!(RESERVED.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            is_reserved(b"Select")
                && is_reserved(b"XOR")
                && !is_reserved(b"sbtest1")
                && !is_reserved(b"count")
        );
        assert!(RESERVED.iter().all(|word| is_reserved(word.to_ascii_lowercase().as_bytes())));
        assert!(NAMES_IN_MARIADB.iter().all(|word| is_reserved(word.as_bytes())));
        assert!(is_name_in_mariadb(b"Rank") && !is_name_in_mariadb(b"select"));
        let not_reserved: [&[u8]; 6] = [b"", b"x", b"_select", b"selects", b"jelly", b"9"];
        assert!(!not_reserved.iter().any(|word| is_reserved(word)));
    }
}
