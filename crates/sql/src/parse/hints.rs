//! Parsing of optimizer hints: `/*+ ... */` behind SELECT, INSERT, REPLACE, UPDATE and DELETE.
//!
//! `MAX_EXECUTION_TIME(n)` has an effect, and so have the hints about the order and the methods of
//! a SELECT's joins if they name its own tables. MySQL's other hints are known and skipped.

use crate::ast::JoinHint;

/// The greatest value of MAX_EXECUTION_TIME, in milliseconds.
const MOST_EXECUTION_TIME_MS: u64 = u32::MAX as u64;

/// MySQL's hints other than MAX_EXECUTION_TIME, in alphabetical order.
pub(crate) const HINTS_WITHOUT_TIME: &[&str] = &[
    "BKA",
    "BNL",
    "DERIVED_CONDITION_PUSHDOWN",
    "GROUP_INDEX",
    "HASH_JOIN",
    "INDEX",
    "INDEX_MERGE",
    "JOIN_FIXED_ORDER",
    "JOIN_INDEX",
    "JOIN_ORDER",
    "JOIN_PREFIX",
    "JOIN_SUFFIX",
    "MERGE",
    "MRR",
    "NO_BKA",
    "NO_BNL",
    "NO_DERIVED_CONDITION_PUSHDOWN",
    "NO_GROUP_INDEX",
    "NO_HASH_JOIN",
    "NO_ICP",
    "NO_INDEX",
    "NO_INDEX_MERGE",
    "NO_JOIN_INDEX",
    "NO_MERGE",
    "NO_MRR",
    "NO_ORDER_INDEX",
    "NO_RANGE_OPTIMIZATION",
    "NO_SEMIJOIN",
    "NO_SKIP_SCAN",
    "ORDER_INDEX",
    "QB_NAME",
    "RESOURCE_GROUP",
    "SEMIJOIN",
    "SET_VAR",
    "SKIP_SCAN",
    "SUBQUERY",
];

/// The result of a statement's hints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints {
    /// MAX_EXECUTION_TIME, in milliseconds, if the statement is a SELECT that has it.
    pub max_execution_time_ms: Option<u64>,
    /// The warnings about hints: their numbers and texts.
    pub warnings: Vec<(u16, String)>,
}

/// The position of an error, and its text.
type Wrong = (usize, &'static str);

/// A reader of hints, from the first one to the end of their comment.
pub(super) struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// The hints about joins that have been read.
    joins: Vec<JoinHint>,
}

/// Returns the hint about joins with this name and these arguments. `None` if it is another hint,
/// or is about another query of the statement.
fn join_hint(name: &[u8], arguments: &[u8]) -> Option<JoinHint> {
    let arguments = std::str::from_utf8(arguments).ok()?;
    if arguments.contains('@') {
        return None;
    }
    let is_between = |c: char| c.is_ascii_whitespace() || c == ',';
    let names = arguments.split(is_between).filter(|word| !word.is_empty());
    let names: Vec<String> = names.map(|word| word.trim_matches('`').to_owned()).collect();
    let of_index = |is_wanted: bool, mut names: Vec<String>| {
        (!names.is_empty()).then(|| JoinHint::Index { is_wanted, table: names.remove(0), indexes: names })
    };
    match &name.to_ascii_uppercase()[..] {
        b"JOIN_FIXED_ORDER" => Some(JoinHint::FixedOrder),
        b"JOIN_ORDER" => Some(JoinHint::Order(names)),
        b"JOIN_PREFIX" => Some(JoinHint::Prefix(names)),
        b"JOIN_SUFFIX" => Some(JoinHint::Suffix(names)),
        b"HASH_JOIN" | b"BNL" => Some(JoinHint::Hash { is_wanted: true, tables: names }),
        b"NO_HASH_JOIN" | b"NO_BNL" => Some(JoinHint::Hash { is_wanted: false, tables: names }),
        b"INDEX" | b"JOIN_INDEX" => of_index(true, names),
        b"NO_INDEX" | b"NO_JOIN_INDEX" => of_index(false, names),
        _ => None,
    }
}

impl<'t> Reader<'t> {
    /// Starts at the hints at this position of the text.
    pub fn at(text: &'t [u8], at: usize) -> Reader<'t> {
        Reader { text, at, joins: Vec::new() }
    }

    /// Reads all hints, and returns those about joins. `is_whole` says that the statement is the
    /// SELECT that has the hints.
    pub fn read(mut self, is_whole: bool, hints: &mut Hints) -> Vec<JoinHint> {
        while !self.is_at_end() {
            if let Err((at, what)) = self.hint(is_whole, hints) {
                let line = 1 + self.text[..at].iter().filter(|byte| **byte == b'\n').count();
                let near: String = String::from_utf8_lossy(&self.text[at..]).chars().take(80).collect();
                hints.warnings.push((1064, format!("{what} near '{near}' at line {line}")));
                break;
            }
        }
        self.joins
    }

    fn skip_blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b',') {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.text.len() || self.text[self.at..].starts_with(b"*/")
    }

    fn word(&mut self) -> &'t [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        self.at += length;
        &rest[..length]
    }

    fn expect(&mut self, byte: u8) -> Result<(), Wrong> {
        self.skip_blanks();
        if self.text.get(self.at) != Some(&byte) {
            return Err((self.at, "Optimizer hint syntax error"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads one hint.
    fn hint(&mut self, is_whole: bool, hints: &mut Hints) -> Result<(), Wrong> {
        let start = self.at;
        let name = self.word();
        let is_other = HINTS_WITHOUT_TIME.iter().any(|other| name.eq_ignore_ascii_case(other.as_bytes()));
        if is_other {
            self.expect(b'(')?;
            let from = self.at;
            self.pass_over()?;
            self.joins.extend(join_hint(name, &self.text[from..self.at - 1]));
            return Ok(());
        }
        if !name.eq_ignore_ascii_case(b"MAX_EXECUTION_TIME") {
            return Err((start, "Optimizer hint syntax error"));
        }
        self.expect(b'(')?;
        self.skip_blanks();
        let at = self.at;
        let digits = String::from_utf8_lossy(self.word()).into_owned();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err((at, "Optimizer hint syntax error"));
        }
        let limit_ms = digits.parse().ok().filter(|ms| *ms <= MOST_EXECUTION_TIME_MS);
        let limit_ms: u64 = limit_ms.ok_or((self.at, "Unsupported MAX_EXECUTION_TIME"))?;
        self.expect(b')')?;
        if !is_whole {
            let text = "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
            hints.warnings.push((3125, text.to_owned()));
        } else if hints.max_execution_time_ms.is_some() {
            let text = format!("Hint MAX_EXECUTION_TIME({limit_ms}) is ignored as conflicting/duplicated");
            hints.warnings.push((3126, text));
        } else {
            hints.max_execution_time_ms = Some(limit_ms);
        }
        Ok(())
    }

    /// Skips everything up to and including the parenthesis that ends the hint.
    fn pass_over(&mut self) -> Result<(), Wrong> {
        let mut depth = 1;
        while !self.is_at_end() {
            match self.text[self.at] {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err((self.at, "Optimizer hint syntax error"))
    }
}

#[cfg(test)]
mod tests {
    use crate::lexer::LexMode;
    use crate::parse::parse;

    fn hints(text: &str) -> (Option<u64>, Vec<String>) {
        let hints = parse(text.as_bytes(), LexMode::default()).unwrap().unwrap().hints;
        let warnings = hints.warnings.into_iter().map(|(code, text)| format!("{code} {text}"));
        (hints.max_execution_time_ms, warnings.collect())
    }

    /// The expected results are those of MySQL 9.7.
    #[test]
    fn limits_and_warnings_are_mysqls() {
        let none: Vec<String> = Vec::new();
        assert_eq!(hints("select /*+ MAX_EXECUTION_TIME(50) */ 1"), (Some(50), none.clone()));
        assert_eq!(
            hints("(select\n/*+ NO_ICP(t a) max_execution_time( 7 )*/ 1) union select 2"),
            (Some(7), none.clone())
        );
        assert_eq!(hints("select /* + MAX_EXECUTION_TIME(50) */ 1"), (None, none.clone()));
        assert_eq!(hints("select /*+ */ 1"), (None, none));
        let only = "3125 MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
        for text in [
            "insert into t select /*+ MAX_EXECUTION_TIME(50) */ 1",
            "insert /*+ MAX_EXECUTION_TIME(50) */ into t values (1)",
            "update /*+ MAX_EXECUTION_TIME(50) */ t set a = 1",
            "delete /*+ MAX_EXECUTION_TIME(50) */ from t",
            "select 1 where (select /*+ MAX_EXECUTION_TIME(50) */ 2) = 1",
            "select 5 union select /*+ MAX_EXECUTION_TIME(50) */ 6",
        ] {
            assert_eq!(hints(text), (None, vec![only.to_owned()]), "{text}");
        }
        let twice = "3126 Hint MAX_EXECUTION_TIME(60) is ignored as conflicting/duplicated";
        assert_eq!(
            hints("select /*+ MAX_EXECUTION_TIME(50) MAX_EXECUTION_TIME(60) */ 1"),
            (Some(50), vec![twice.to_owned()])
        );
        for (text, warning) in [
            (
                "select /*+ MAX_EXECUTION_TIME(-1) */ 1",
                "Optimizer hint syntax error near '-1) */ 1' at line 1",
            ),
            (
                "select /*+ MAX_EXECUTION_TIME(abc) */ 1",
                "Optimizer hint syntax error near 'abc) */ 1' at line 1",
            ),
            ("select /*+ MAX_EXECUTION_TIME() */ 1", "Optimizer hint syntax error near ') */ 1' at line 1"),
            (
                "select /*+ MAX_EXECUTION_TIME(99999999999999) */ 1",
                "Unsupported MAX_EXECUTION_TIME near ') */ 1' at line 1",
            ),
            ("select /*+ bogus(a) */ 1", "Optimizer hint syntax error near 'bogus(a) */ 1' at line 1"),
        ] {
            assert_eq!(hints(text), (None, vec![format!("1064 {warning}")]), "{text}");
        }
    }
}
