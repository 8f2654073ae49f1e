//! Parsing of optimizer hints: `/*+ ... */` behind SELECT, INSERT, REPLACE, UPDATE and DELETE.
//!
//! `MAX_EXECUTION_TIME(n)`, `SET_VAR(name = value)` and `QB_NAME(name)` are about the statement and
//! its query blocks. All others are about tables and indexes, and become [`Hint`]s. What they name
//! is looked up when the block is bound.

use super::hint_blocks::Blocks;
use crate::ast::{Block, Hint, HintKind, HintTable};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

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

/// A value that SET_VAR gives a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintValue {
    Integer(u64),
    /// A number with digits behind the point, which no variable takes.
    Fraction,
    /// A text, or a word such as ON.
    Text(String),
}

/// The result of a statement's hints. Most statements have none, and pay one pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hints(Option<Arc<GivenHints>>);

/// The result of hints that have been given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GivenHints {
    /// MAX_EXECUTION_TIME, in milliseconds, if the statement is a SELECT that has it.
    pub max_execution_time_ms: Option<u64>,
    /// The variables that have other values while the statement runs (SET_VAR), in lower case.
    pub set_vars: Vec<(String, HintValue)>,
    /// The hints behind INSERT, REPLACE, UPDATE or DELETE about tables and indexes.
    pub of_statement: Vec<Hint>,
    /// The warnings about hints: their numbers and texts.
    pub warnings: Vec<(u16, String)>,
}

/// What a statement without hints has.
static NO_HINTS: GivenHints = GivenHints {
    max_execution_time_ms: None,
    set_vars: Vec::new(),
    of_statement: Vec::new(),
    warnings: Vec::new(),
};

impl Deref for Hints {
    type Target = GivenHints;

    fn deref(&self) -> &GivenHints {
        self.0.as_deref().unwrap_or(&NO_HINTS)
    }
}

impl DerefMut for Hints {
    fn deref_mut(&mut self) -> &mut GivenHints {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

/// The position of an error, and its text.
type Wrong = (usize, &'static str);

const SYNTAX: &str = "Optimizer hint syntax error";

/// The strategies of SEMIJOIN and SUBQUERY, in the order in which warnings name them.
const STRATEGIES: &[&str] = &["FIRSTMATCH", "LOOSESCAN", "MATERIALIZATION", "DUPSWEEDOUT"];

/// A reader of hints, from the first one to the end of their comment.
pub(super) struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// The block that has the hints.
    block: Block,
    /// The hints about blocks and tables that have been read.
    found: Vec<Hint>,
}

/// Returns what the hint with this name is about, and whether it wants that.
fn kind_of(name: &str) -> Option<(HintKind, bool)> {
    let (is_wanted, of) = match name.strip_prefix("NO_") {
        Some(rest) => (false, rest),
        None => (true, name),
    };
    let kind = match of {
        "JOIN_FIXED_ORDER" => HintKind::FixedOrder,
        "JOIN_ORDER" => HintKind::Order,
        "JOIN_PREFIX" => HintKind::Prefix,
        "JOIN_SUFFIX" => HintKind::Suffix,
        "BNL" => HintKind::Bnl,
        "HASH_JOIN" => HintKind::HashJoin,
        "BKA" => HintKind::Bka,
        "MERGE" => HintKind::Merge,
        "DERIVED_CONDITION_PUSHDOWN" => HintKind::ConditionPushdown,
        "MRR" => HintKind::Mrr,
        "ICP" => HintKind::Icp,
        "RANGE_OPTIMIZATION" => HintKind::RangeOptimization,
        "INDEX" => HintKind::Index,
        "JOIN_INDEX" => HintKind::JoinIndex,
        "GROUP_INDEX" => HintKind::GroupIndex,
        "ORDER_INDEX" => HintKind::OrderIndex,
        "INDEX_MERGE" => HintKind::IndexMerge,
        "SKIP_SCAN" => HintKind::SkipScan,
        "SEMIJOIN" => HintKind::Semijoin,
        "SUBQUERY" => HintKind::Subquery,
        _ => return None,
    };
    Some((kind, is_wanted))
}

/// Returns a name as warnings show it.
fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Returns a table as warnings show it.
fn shown(table: &HintTable) -> String {
    let block = table.block.as_ref().map_or_else(String::new, |block| format!("@{}", quoted(block)));
    format!("{}{block}", quoted(&table.name))
}

impl<'t> Reader<'t> {
    /// Starts at the hints at this position of the text. `number` is that of the block that has
    /// them.
    pub fn at(text: &'t [u8], at: usize, number: u32) -> Reader<'t> {
        Reader { text, at, block: Block { number, name: None }, found: Vec::new() }
    }

    /// Reads all hints, and returns the block and its hints. `is_whole` says that the statement is
    /// the SELECT that has the hints.
    pub fn read(mut self, is_whole: bool, blocks: &mut Blocks, hints: &mut Hints) -> (Block, Vec<Hint>) {
        while !self.is_at_end() {
            if let Err((at, what)) = self.hint(is_whole, blocks, hints) {
                let line = 1 + self.text[..at].iter().filter(|byte| **byte == b'\n').count();
                let near: String = String::from_utf8_lossy(&self.text[at..]).chars().take(80).collect();
                hints.warnings.push((1064, format!("{what} near '{near}' at line {line}")));
                break;
            }
        }
        (self.block, self.found)
    }

    fn skip_blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.text.len() || self.text[self.at..].starts_with(b"*/")
    }

    fn word(&mut self) -> &'t [u8] {
        let rest = &self.text[self.at..];
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
        let length = rest.iter().take_while(|byte| is_of_word(byte)).count();
        self.at += length;
        &rest[..length]
    }

    fn sees(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        self.text.get(self.at) == Some(&byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.sees(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8) -> Result<(), Wrong> {
        if self.eat(byte) { Ok(()) } else { Err((self.at, SYNTAX)) }
    }

    /// Reads a name, which may stand in backquotes.
    fn name(&mut self) -> Result<String, Wrong> {
        self.skip_blanks();
        let start = self.at;
        if self.text.get(self.at) != Some(&b'`') {
            let word = String::from_utf8_lossy(self.word()).into_owned();
            return if word.is_empty() { Err((start, SYNTAX)) } else { Ok(word) };
        }
        let inside = &self.text[start + 1..];
        let length = inside.iter().position(|byte| *byte == b'`').ok_or((start, SYNTAX))?;
        self.at = start + length + 2;
        Ok(String::from_utf8_lossy(&inside[..length]).into_owned())
    }

    /// Reads the name of a block behind `@`, if there is one.
    fn block_name(&mut self) -> Result<Option<String>, Wrong> {
        if self.eat(b'@') { self.name().map(Some) } else { Ok(None) }
    }

    fn table(&mut self) -> Result<HintTable, Wrong> {
        let name = self.name()?;
        let block = if self.text.get(self.at) == Some(&b'@') { self.block_name()? } else { None };
        Ok(HintTable { name, block })
    }

    /// Reads what `read` reads, with commas between, up to the parenthesis that ends the hint.
    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
        let mut list = Vec::new();
        if !self.sees(b')') {
            list.push(read(self)?);
            while self.eat(b',') {
                list.push(read(self)?);
            }
        }
        self.expect(b')')?;
        Ok(list)
    }

    /// Reads one hint.
    fn hint(&mut self, is_whole: bool, blocks: &mut Blocks, hints: &mut Hints) -> Result<(), Wrong> {
        let start = self.at;
        let name = String::from_utf8_lossy(self.word()).to_ascii_uppercase();
        if name == "MAX_EXECUTION_TIME" {
            return self.max_execution_time(is_whole, hints);
        }
        let known = HINTS_WITHOUT_TIME.iter().copied().find(|known| *known == name);
        let name = known.ok_or((start, SYNTAX))?;
        self.expect(b'(')?;
        match (name, kind_of(name)) {
            (_, Some((kind, is_wanted))) => {
                let block = self.block_name()?;
                let of = Hint { name, kind, is_wanted, block, tables: Vec::new(), indexes: Vec::new() };
                self.arguments(of, blocks, hints)
            }
            ("QB_NAME", _) => self.own_name(blocks, hints),
            ("SET_VAR", _) => self.set_var(hints),
            // Threads of statements have no groups here, so none of them exists.
            _ => {
                let group = self.name()?;
                self.expect(b')')?;
                hints.warnings.push((3651, format!("Resource Group '{group}' does not exist.")));
                Ok(())
            }
        }
    }

    /// Reads the arguments of a hint about blocks or tables behind the name of the block, and takes
    /// the hint.
    fn arguments(&mut self, of: Hint, blocks: &mut Blocks, hints: &mut Hints) -> Result<(), Wrong> {
        use HintKind as K;
        let own = of.block.as_ref().map_or_else(String::new, |block| format!("@{}", quoted(block)));
        match of.kind {
            K::FixedOrder => {
                self.expect(b')')?;
                self.take(of, &format!("{own} "), blocks, hints);
            }
            K::Order | K::Prefix | K::Suffix => {
                let tables = self.list(Self::table)?;
                let list: Vec<String> = tables.iter().map(shown).collect();
                let arguments = format!("{own} {}", list.join(","));
                self.take(Hint { tables, ..of }, &arguments, blocks, hints);
            }
            K::Bnl | K::HashJoin | K::Bka | K::Merge | K::ConditionPushdown => {
                let tables = self.list(Self::table)?;
                if tables.is_empty() {
                    self.take(of, &format!("{own} "), blocks, hints);
                    return Ok(());
                }
                for table in tables {
                    let arguments = format!("{} ", shown(&table));
                    self.take(Hint { tables: vec![table], ..of.clone() }, &arguments, blocks, hints);
                }
            }
            K::Semijoin | K::Subquery => self.strategies(of, &own, blocks, hints)?,
            K::Mrr | K::Icp | K::RangeOptimization => {
                let table = self.table()?;
                let indexes = self.list(Self::name)?;
                let of = Hint { tables: vec![table], ..of };
                let table = shown(&of.tables[0]);
                if indexes.is_empty() {
                    self.take(of, &format!("{table} "), blocks, hints);
                    return Ok(());
                }
                for index in indexes {
                    let arguments = format!("{table} {} ", quoted(&index));
                    self.take(Hint { indexes: vec![index], ..of.clone() }, &arguments, blocks, hints);
                }
            }
            K::Index | K::JoinIndex | K::GroupIndex | K::OrderIndex | K::IndexMerge | K::SkipScan => {
                let table = self.table()?;
                let indexes = self.list(Self::name)?;
                let list: Vec<String> = indexes.iter().map(|index| quoted(index)).collect();
                let space = if list.is_empty() { "" } else { " " };
                let arguments = format!("{} {space}{}", shown(&table), list.join(", "));
                self.take(Hint { tables: vec![table], indexes, ..of }, &arguments, blocks, hints);
            }
        }
        Ok(())
    }

    /// Reads the strategies of SEMIJOIN and SUBQUERY.
    fn strategies(
        &mut self,
        of: Hint,
        own: &str,
        blocks: &mut Blocks,
        hints: &mut Hints,
    ) -> Result<(), Wrong> {
        let is_subquery = of.kind == HintKind::Subquery;
        let known: &[&str] = if is_subquery { &["INTOEXISTS", "MATERIALIZATION"] } else { STRATEGIES };
        if is_subquery && self.sees(b')') {
            return Err((self.at, SYNTAX));
        }
        let named = self.list(|reader| {
            reader.skip_blanks();
            let start = reader.at;
            let word = reader.name()?.to_ascii_uppercase();
            known.iter().copied().find(|known| *known == word).ok_or((start, SYNTAX))
        })?;
        let shown: Vec<&str> = known.iter().copied().filter(|known| named.contains(known)).collect();
        let space = if shown.is_empty() { "" } else { " " };
        let arguments = format!("{own} {space}{}", shown.join(", "));
        self.take(of, &arguments, blocks, hints);
        Ok(())
    }

    fn take(&mut self, hint: Hint, arguments: &str, blocks: &mut Blocks, hints: &mut Hints) {
        if blocks.take(&self.block, &hint, arguments, &mut hints.warnings) {
            self.found.push(hint);
        }
    }

    /// Reads the name of the block itself, from behind `QB_NAME(` on.
    fn own_name(&mut self, blocks: &Blocks, hints: &mut Hints) -> Result<(), Wrong> {
        let name = self.name()?;
        self.expect(b')')?;
        if self.block.name.is_some() || blocks.has_name(&name) {
            let text = format!("Hint QB_NAME({}) is ignored as conflicting/duplicated", quoted(&name));
            hints.warnings.push((3126, text));
        } else {
            self.block.name = Some(name);
        }
        Ok(())
    }

    /// Reads a variable and its value, from behind `SET_VAR(` on.
    fn set_var(&mut self, hints: &mut Hints) -> Result<(), Wrong> {
        self.skip_blanks();
        if self.text[self.at..].starts_with(b"@@") {
            // As in MySQL, the error is at the second of the two.
            return Err((self.at + 1, SYNTAX));
        }
        let name = self.name()?.to_ascii_lowercase();
        self.expect(b'=')?;
        self.skip_blanks();
        let start = self.at;
        let value = match self.text.get(self.at) {
            Some(quote @ (b'\'' | b'"')) => {
                let inside = &self.text[start + 1..];
                let length = inside.iter().position(|byte| byte == quote).ok_or((start, SYNTAX))?;
                self.at = start + length + 2;
                HintValue::Text(String::from_utf8_lossy(&inside[..length]).into_owned())
            }
            _ => self.unquoted_value(start)?,
        };
        let written = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        self.expect(b')')?;
        if hints.set_vars.iter().any(|(known, _)| *known == name) {
            let text = format!("Hint SET_VAR({name}={written})  is ignored as conflicting/duplicated");
            hints.warnings.push((3126, text));
        } else {
            hints.set_vars.push((name, value));
        }
        Ok(())
    }

    /// Reads a number, which may have a suffix for its size, or a word.
    fn unquoted_value(&mut self, start: usize) -> Result<HintValue, Wrong> {
        let word = String::from_utf8_lossy(self.word()).into_owned();
        if word.is_empty() {
            return Err((start, SYNTAX));
        }
        if !word.starts_with(|first: char| first.is_ascii_digit()) {
            return Ok(HintValue::Text(word));
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.word();
            return Ok(HintValue::Fraction);
        }
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match word[digits.len()..].to_ascii_uppercase().as_str() {
            "" => 0,
            "K" => 10,
            "M" => 20,
            "G" => 30,
            _ => return Err((start, SYNTAX)),
        };
        let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        number.map(HintValue::Integer).ok_or((start, SYNTAX))
    }

    /// Reads the limit behind MAX_EXECUTION_TIME.
    fn max_execution_time(&mut self, is_whole: bool, hints: &mut Hints) -> Result<(), Wrong> {
        self.expect(b'(')?;
        self.skip_blanks();
        let at = self.at;
        let digits = String::from_utf8_lossy(self.word()).into_owned();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err((at, SYNTAX));
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
}

#[cfg(test)]
mod tests {
    use crate::lexer::LexMode;
    use crate::parse::parse;

    fn hints(text: &str) -> (Option<u64>, Vec<String>) {
        let hints = parse(text.as_bytes(), LexMode::default()).unwrap().unwrap().hints;
        let warnings = hints.warnings.iter().map(|(code, text)| format!("{code} {text}"));
        (hints.max_execution_time_ms, warnings.collect())
    }

    /// The expected results are those of MySQL 9.7.
    #[test]
    fn limits_and_warnings_are_mysqls() {
        let none: Vec<String> = Vec::new();
        assert_eq!(hints("select /*+ MAX_EXECUTION_TIME(50) */ 1"), (Some(50), none.clone()));
        assert_eq!(
            hints("(select\n/*+ NO_ICP(t a)  max_execution_time( 7 )*/ 1) union select 2"),
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
