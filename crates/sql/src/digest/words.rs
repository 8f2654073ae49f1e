//! How the words of a statement are printed in its digest.

use crate::parse::{HINTS_WITHOUT_TIME, all_keywords};
use std::collections::HashMap;
use std::sync::OnceLock;
use types::collation::Charset;

/// Reserved words of MySQL 9.7 that were none in 8.4.
const NEWER: &str = "EXTERNAL LIBRARY TABLESAMPLE";

/// Names of functions that are keywords only right before their parenthesis.
const FUNCTIONS: &str = "ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB \
     EXTRACT GROUP_CONCAT JSON_ARRAYAGG JSON_OBJECTAGG MAX MID MIN NOW POSITION SESSION_USER STD \
     STDDEV STDDEV_POP STDDEV_SAMP ST_COLLECT SUBDATE SUBSTR SUBSTRING SUM SYSDATE SYSTEM_USER TRIM \
     VARIANCE VAR_POP VAR_SAMP";

/// Words that MySQL prints as another word that means the same.
const PRINTED_AS: &[(&str, &str)] = &[
    ("ANY", "SOME"),
    ("BIGINT", "INT8"),
    ("CHAR", "CHARACTER"),
    ("COLUMNS", "FIELDS"),
    ("CURRENT_DATE", "CURDATE"),
    ("CURRENT_TIME", "CURTIME"),
    ("CURRENT_TIMESTAMP", "NOW"),
    ("DATABASE", "SCHEMA"),
    ("DATABASES", "SCHEMAS"),
    ("DAY", "SQL_TSI_DAY"),
    ("DEC", "DECIMAL"),
    ("DESCRIBE", "EXPLAIN"),
    ("DISTINCT", "DISTINCTROW"),
    ("DOUBLE", "FLOAT8"),
    ("FLOAT", "FLOAT4"),
    ("GEOMCOLLECTION", "GEOMETRYCOLLECTION"),
    ("HOUR", "SQL_TSI_HOUR"),
    ("INT", "INTEGER"),
    ("INT1", "TINYINT"),
    ("INT2", "SMALLINT"),
    ("INT3", "MIDDLEINT"),
    ("INT4", "INTEGER"),
    ("IO_THREAD", "RELAY_THREAD"),
    ("LOCALTIME", "NOW"),
    ("LOCALTIMESTAMP", "NOW"),
    ("MEDIUMINT", "MIDDLEINT"),
    ("MID", "SUBSTRING"),
    ("MINUTE", "SQL_TSI_MINUTE"),
    ("MONTH", "SQL_TSI_MONTH"),
    ("NDB", "NDBCLUSTER"),
    ("QUARTER", "SQL_TSI_QUARTER"),
    ("REGEXP", "RLIKE"),
    ("SECOND", "SQL_TSI_SECOND"),
    ("SESSION_USER", "SYSTEM_USER"),
    ("SQL_TSI_WEEK", "WEEK"),
    ("SQL_TSI_YEAR", "YEAR"),
    ("STD", "STDDEV_POP"),
    ("STDDEV", "STDDEV_POP"),
    ("SUBSTR", "SUBSTRING"),
    ("USER", "SYSTEM_USER"),
    ("VARCHAR", "VARCHARACTER"),
    ("VARIANCE", "VAR_POP"),
];

/// The hint that is none of [`HINTS_WITHOUT_TIME`], and the words among the arguments of hints.
const FURTHER_HINTS: &[&str] =
    &["DUPSWEEDOUT", "FIRSTMATCH", "INTOEXISTS", "LOOSESCAN", "MATERIALIZATION", "MAX_EXECUTION_TIME"];

/// The operators and punctuation marks, each with how it is printed.
const SYMBOLS: &[(&str, &str)] = &[
    ("(", "("),
    (")", ")"),
    (",", ","),
    (".", "."),
    ("=", "="),
    (";", ";"),
    ("*", "*"),
    ("+", "+"),
    ("-", "-"),
    ("/", "/"),
    ("%", "%"),
    ("<", "<"),
    (">", ">"),
    ("<=", "<="),
    (">=", ">="),
    ("<>", "!="),
    ("!=", "!="),
    ("<=>", "<=>"),
    ("&&", "&&"),
    ("||", "||"),
    (":=", ":="),
    ("->", "->"),
    ("->>", "->>"),
    ("<<", "<<"),
    (">>", ">>"),
    ("!", "!"),
    ("~", "~"),
    ("&", "&"),
    ("|", "|"),
    ("^", "^"),
    (":", ":"),
    ("{", "{"),
    ("}", "}"),
];

/// A keyword as it is printed.
#[derive(Clone, Copy)]
struct Keyword {
    printed: &'static str,
    /// Whether the word is a keyword only right before a parenthesis.
    needs_parenthesis: bool,
}

/// The length of the longest keyword, in bytes.
const LONGEST: usize = 40;

fn keywords() -> &'static HashMap<&'static [u8], Keyword> {
    static KEYWORDS: OnceLock<HashMap<&'static [u8], Keyword>> = OnceLock::new();
    KEYWORDS.get_or_init(|| {
        let always = all_keywords().chain(NEWER.split_ascii_whitespace()).map(|word| (word, false));
        let functions = FUNCTIONS.split_ascii_whitespace().map(|word| (word, true));
        let keyword = |(word, needs_parenthesis): (&'static str, bool)| {
            let other = PRINTED_AS.iter().find(|(from, _)| *from == word);
            let printed = other.map_or(word, |(_, to)| to);
            (word.as_bytes(), Keyword { printed, needs_parenthesis })
        };
        always.chain(functions).map(keyword).collect()
    })
}

/// Returns a word as it is printed, or `None` for a name. `opens` says that a parenthesis follows
/// at once.
pub(super) fn keyword(word: &[u8], opens: bool) -> Option<&'static str> {
    let mut upper = [0; LONGEST];
    let upper = upper.get_mut(..word.len())?;
    upper.copy_from_slice(word);
    upper.make_ascii_uppercase();
    let found = keywords().get(&*upper)?;
    (opens || !found.needs_parenthesis).then_some(found.printed)
}

/// Returns a word of an optimizer hint as it is printed, or `None` for a name.
pub(super) fn hint(word: &[u8]) -> Option<&'static str> {
    let mut all = HINTS_WITHOUT_TIME.iter().chain(FURTHER_HINTS);
    all.find(|hint| hint.as_bytes().eq_ignore_ascii_case(word)).copied()
}

/// Returns an operator or punctuation mark as it is printed.
pub(super) fn symbol(raw: &[u8]) -> Option<&'static str> {
    SYMBOLS.iter().find(|(symbol, _)| symbol.as_bytes() == raw).map(|(_, printed)| *printed)
}

/// Reports whether a word like `_utf8mb4` names a character set.
pub(super) fn is_character_set(word: &[u8]) -> bool {
    let Some((b'_', name)) = word.split_first() else { return false };
    std::str::from_utf8(name).is_ok_and(|name| Charset::from_name(name).is_some())
}

/// Operators and keywords behind which an expression begins, so that a sign before a number belongs
/// to the number.
const BEFORE_SIGN: &[&str] = &[
    "(", ",", "+", "-", "*", "/", "%", "=", "<", ">", "<=", ">=", "!=", "<=>", "&&", "||", "|", "&", "^",
    "<<", ">>", "EVERY", "AT", "STARTS", "ENDS", "DEFAULT", "RETURN", "IF", "ELSEIF", "CASE", "WHEN", "THEN",
    "ELSE", "WHILE", "UNTIL", "SELECT", "OR", "XOR", "AND", "NOT", "BETWEEN", "LIKE", "RLIKE", "INTERVAL",
    "DIV", "MOD",
];

/// Further operators and keywords behind which NULL is a value.
const BEFORE_NULL: &[&str] = &[
    "!",
    "~",
    ":=",
    "DISTINCTROW",
    "ALL",
    "WHERE",
    "HAVING",
    "ON",
    "BY",
    "ESCAPE",
    "DO",
    "USING",
    "FROM",
    "FOR",
    "IN",
    "BOTH",
    "LEADING",
    "TRAILING",
    "STRAIGHT_JOIN",
    "HIGH_PRIORITY",
    "SQL_NO_CACHE",
    "SQL_SMALL_RESULT",
    "SQL_BIG_RESULT",
    "SQL_BUFFER_RESULT",
    "SQL_CALC_FOUND_ROWS",
];

/// Reports whether a sign behind this word belongs to the number that follows.
pub(super) fn begins_expression(word: &str) -> bool {
    BEFORE_SIGN.contains(&word)
}

/// Reports whether NULL behind this word is a value.
pub(super) fn precedes_value(word: &str) -> bool {
    begins_expression(word) || BEFORE_NULL.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_printed_as_their_synonyms() {
        assert_eq!(keyword(b"distinct", false), Some("DISTINCTROW"));
        assert_eq!(keyword(b"Select", false), Some("SELECT"));
        assert_eq!(keyword(b"count", false), None);
        assert_eq!(keyword(b"std", true), Some("STDDEV_POP"));
        assert_eq!(keyword(b"sbtest1", true), None);
        assert_eq!(keyword(&[b'a'; 200], true), None);
    }

    #[test]
    fn the_longest_keyword_fits() {
        assert!(keywords().keys().all(|word| word.len() <= LONGEST));
    }
}
