//! Queries and changes of rows that MySQL has and this server lacks: before such a text is refused,
//! the privileges are checked that MySQL would demand.
//!
//! The text could not be parsed, so it is read word by word for the tables behind FROM and JOIN and
//! for the changed table. Columns are not looked for: an account that may read any column of each
//! table gets the error that tells what is missing here.

use super::Session;
use crate::ast::TableName;
use crate::error::{Result, SqlError};
use crate::host::{Privilege, VariableScope};
use crate::lexer::{LexMode, Token, TokenKind, tokenize, unquote};
use types::Value;

/// A word, name or sign of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// The word in upper case, if it may be a keyword. Empty for a quoted name.
    word: String,
    /// The name, if it may be one.
    name: Option<String>,
    /// The character of a sign such as `(`, `)`, `,` or `.`. Literals and other tokens are `0`,
    /// words and names have 0.
    sign: u8,
}

impl Piece {
    fn of(token: &Token, text: &[u8], mode: LexMode) -> Piece {
        let raw = &text[token.start as usize..token.end as usize];
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match token.kind {
            TokenKind::Word => {
                Piece { word: lossy(raw).to_ascii_uppercase(), name: Some(lossy(raw)), sign: 0 }
            }
            TokenKind::QuotedName => {
                Piece { word: String::new(), name: Some(lossy(&unquote(raw, mode, false))), sign: 0 }
            }
            TokenKind::Symbol if raw.len() == 1 => Piece { word: String::new(), name: None, sign: raw[0] },
            _ => Piece { word: String::new(), name: None, sign: b'0' },
        }
    }
}

/// The tables that a text mentions.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Mentioned {
    /// The table that is changed or created, and the privileges that this takes.
    changed: Option<(TableName, Vec<Privilege>)>,
    /// The tables that are read, in the order of the text.
    read: Vec<TableName>,
}

/// Functions that may have a FROM within their parentheses which names no table.
const WITH_FROM: &[&str] = &["EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "MID"];

/// The keywords that end a list of tables.
const BEHIND_TABLES: &[&str] = &[
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "WINDOW",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "SELECT",
    "SET",
    "FOR",
    "INTO",
    "VALUES",
];

/// The words of a text, one after the other.
struct Words<'p> {
    pieces: &'p [Piece],
}

impl Words<'_> {
    fn word(&self, at: usize) -> &str {
        self.pieces.get(at).map_or("", |piece| &piece.word)
    }

    fn sign(&self, at: usize) -> u8 {
        self.pieces.get(at).map_or(0, |piece| piece.sign)
    }

    /// Returns the table that is named at this position, and the position behind the name.
    fn table(&self, at: usize) -> Option<(TableName, usize)> {
        let first = self.pieces.get(at)?.name.clone()?;
        if self.sign(at + 1) != b'.' {
            return Some((TableName { schema: None, name: first }, at + 1));
        }
        let name = self.pieces.get(at + 2)?.name.clone()?;
        Some((TableName { schema: Some(first), name }, at + 3))
    }

    /// Returns the first position from `at` on that has none of these optional words.
    fn behind(&self, mut at: usize, words: &[&str]) -> usize {
        while words.contains(&self.word(at)) {
            at += 1;
        }
        at
    }

    /// Returns the names of common table expressions: `name AS (` and `name (a, b) AS (`.
    fn local_names(&self) -> Vec<&str> {
        let named = |at: usize| {
            let mut before = at.checked_sub(1)?;
            if self.sign(before) == b')' {
                before = (0..before).rev().find(|at| self.sign(*at) == b'(')?.checked_sub(1)?;
            }
            self.pieces[before].name.as_deref()
        };
        let starts = (1..self.pieces.len()).filter(|at| self.word(*at) == "AS" && self.sign(at + 1) == b'(');
        starts.filter_map(named).collect()
    }

    /// Returns the tables behind FROM, JOIN and TABLE.
    fn read(&self) -> Vec<TableName> {
        /// What is known within a pair of parentheses.
        #[derive(Clone, Copy, Default)]
        struct Level {
            /// Whether a comma is followed by another table.
            lists_tables: bool,
            /// Whether a table comes next.
            is_due: bool,
            /// Whether FROM belongs to a function.
            is_function: bool,
        }
        let local = self.local_names();
        let mut levels = vec![Level::default()];
        let (mut found, mut at) = (Vec::new(), 0);
        while at < self.pieces.len() {
            let piece = &self.pieces[at];
            let before = at.checked_sub(1).map_or("", |before| self.word(before));
            let depth = levels.len();
            let level = levels.last_mut().expect("the outermost level stays");
            match (piece.word.as_str(), piece.sign) {
                (_, b'(') => {
                    let is_list = std::mem::take(&mut level.is_due);
                    levels.push(Level {
                        lists_tables: is_list,
                        is_due: is_list,
                        is_function: WITH_FROM.contains(&before),
                    });
                }
                (_, b')') if depth > 1 => drop(levels.pop()),
                (_, b',') => level.is_due = level.lists_tables,
                ("FROM", _) if !level.is_function => (level.lists_tables, level.is_due) = (true, true),
                ("JOIN" | "STRAIGHT_JOIN", _) => level.is_due = true,
                ("TABLE", _) if !matches!(before, "CREATE" | "TEMPORARY" | "INTO" | "LOCK") => {
                    level.is_due = true;
                }
                (word, _) if BEHIND_TABLES.contains(&word) => {
                    (level.lists_tables, level.is_due) = (false, false);
                }
                ("LATERAL", _) => {}
                _ if level.is_due => {
                    level.is_due = false;
                    if let Some((table, end)) = self.table(at) {
                        let is_local = table.schema.is_none()
                            && local.iter().any(|name| name.eq_ignore_ascii_case(&table.name));
                        if self.sign(end) != b'(' && !is_local {
                            found.push(table);
                        }
                        at = end;
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// Returns the table behind the INSERT, REPLACE, UPDATE or DELETE at this position, and the
    /// privileges that the statement takes.
    fn changed(&self, at: usize) -> Option<(TableName, Vec<Privilege>)> {
        const MODIFIERS: &[&str] =
            &["LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE", "INTO", "FROM"];
        let mut needed = match self.word(at) {
            "INSERT" => vec![Privilege::Insert],
            "REPLACE" => vec![Privilege::Insert, Privilege::Delete],
            "UPDATE" => vec![Privilege::Update],
            "DELETE" => vec![Privilege::Delete],
            _ => return None,
        };
        if self.word(at) == "INSERT" && self.pieces.iter().any(|piece| piece.word == "DUPLICATE") {
            needed.push(Privilege::Update);
        }
        Some((self.table(self.behind(at + 1, MODIFIERS))?.0, needed))
    }

    /// Returns the position of the statement's verb, which may stand behind a WITH clause.
    fn main_verb(&self) -> Option<usize> {
        let mut depth = 0;
        self.pieces.iter().enumerate().find_map(|(at, piece)| {
            match piece.sign {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            let is_verb =
                matches!(piece.word.as_str(), "INSERT" | "REPLACE" | "UPDATE" | "DELETE" | "SELECT");
            (depth == 0 && is_verb).then_some(at)
        })
    }

    fn mentioned(&self) -> Option<Mentioned> {
        let start = self.pieces.iter().position(|piece| piece.sign != b'(')?;
        match self.word(start) {
            "SELECT" | "TABLE" | "VALUES" => Some(Mentioned { changed: None, read: self.read() }),
            "WITH" | "INSERT" | "REPLACE" => {
                let changed = self.main_verb().and_then(|at| self.changed(at));
                let mut read = self.read();
                if let Some((table, needed)) = &changed
                    && needed.contains(&Privilege::Delete)
                    && let Some(at) = read.iter().position(|name| name == table)
                {
                    // The FROM of a DELETE names the changed table.
                    read.remove(at);
                }
                Some(Mentioned { changed, read })
            }
            "CREATE" => {
                let at = self.behind(start + 1, &["TABLE", "IF", "NOT", "EXISTS"]);
                let (table, _) = self.table(at).filter(|_| self.word(start + 1) == "TABLE")?;
                let needed = vec![Privilege::Create, Privilege::Insert];
                Some(Mentioned { changed: Some((table, needed)), read: self.read() })
            }
            _ => None,
        }
    }
}

fn pieces(text: &[u8], mode: LexMode) -> Vec<Piece> {
    let tokens = tokenize(text, mode).unwrap_or_default();
    let tokens = tokens.iter().take_while(|token| token.kind != TokenKind::End);
    tokens.map(|token| Piece::of(token, text, mode)).collect()
}

/// The checks that a session makes before it refuses something.
pub(super) struct Checks<'s>(pub &'s Session);

impl Checks<'_> {
    /// Checks the privileges for a query or a change of rows that could not be parsed.
    pub(super) fn check_mentioned(&self, text: &[u8]) -> Result<()> {
        let pieces = pieces(text, self.0.settings.variables.sql_mode.lex());
        let words = Words { pieces: &pieces };
        if words.word(0) == "LOAD" && matches!(words.word(1), "DATA" | "XML") {
            return self.check_load(&words);
        }
        let Some(Mentioned { changed, read }) = words.mentioned() else { return Ok(()) };
        if let Some((table, needed)) = &changed {
            self.check_use(table, needed)?;
        }
        read.iter().try_for_each(|table| self.check_use(table, &[Privilege::Select]))
    }

    /// Checks the privileges for LOAD DATA and LOAD XML.
    fn check_load(&self, words: &Words<'_>) -> Result<()> {
        let is_local = words.pieces.iter().any(|piece| piece.word == "LOCAL");
        if !is_local {
            self.0.server.host.check_file_access()?;
        } else if !self.reads_local_files()? {
            let text =
                "Loading local data is disabled; this must be enabled on both the client and server sides";
            return Err(SqlError::new(3948, text));
        }
        let into =
            (1..words.pieces.len()).find(|at| words.word(at - 1) == "INTO" && words.word(*at) == "TABLE");
        let Some((table, _)) = into.and_then(|at| words.table(at + 1)) else { return Ok(()) };
        let replaces = into.is_some_and(|at| at >= 2 && words.word(at - 2) == "REPLACE");
        match replaces {
            true => self.check_use(&table, &[Privilege::Insert, Privilege::Delete]),
            false => self.check_use(&table, &[Privilege::Insert]),
        }
    }

    /// Reports whether `local_infile` allows files of the client.
    fn reads_local_files(&self) -> Result<bool> {
        let value = self.0.server.host.variable(VariableScope::Global, "local_infile")?;
        Ok(matches!(value, Some(Value::Int(1) | Value::UInt(1))))
    }

    /// Checks privileges on a table. A privilege on some of its columns is enough.
    fn check_use(&self, table: &TableName, needed: &[Privilege]) -> Result<()> {
        let schema = self.0.settings.schema_of(table)?;
        let Err(error) = self.0.server.host.check_table(needed, &schema, &table.name) else { return Ok(()) };
        let holds = |privilege: &Privilege| {
            self.0.server.host.check_table(&[*privilege], &schema, &table.name).is_ok()
                || self.0.server.host.has_column_privilege(*privilege, &schema, &table.name)
        };
        if needed.iter().all(holds) { Ok(()) } else { Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mentioned(text: &str) -> String {
        let pieces = pieces(text.as_bytes(), LexMode::default());
        let Some(Mentioned { changed, read }) = (Words { pieces: &pieces }).mentioned() else {
            return "nothing".into();
        };
        let shown = |table: &TableName| match &table.schema {
            Some(schema) => format!("{schema}.{}", table.name),
            None => table.name.clone(),
        };
        let changed = changed.map(|(table, needed)| format!("{needed:?} {} <- ", shown(&table)));
        changed.unwrap_or_default() + &read.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn tables_are_found_wherever_they_stand() {
        for (text, want) in [
            ("SELECT a FROM d.t", "d.t"),
            (
                "SELECT TRIM(BOTH 'x' FROM y), EXTRACT(DAY FROM z) FROM t1, `t 2` AS b JOIN t3 ON 1, t4",
                "t1 t 2 t3 t4",
            ),
            (
                "SELECT * FROM (t1 JOIN t2 USING (a)), (SELECT 1 FROM t3 WHERE x IN (1, y)) q, t4",
                "t1 t2 t3 t4",
            ),
            (
                "SELECT (SELECT MAX(a) FROM t1) FROM t2 WHERE EXISTS (SELECT 1 FROM t3) ORDER BY 1, 2",
                "t1 t2 t3",
            ),
            ("WITH c AS (SELECT * FROM t1), e (a, b) AS (SELECT 1, 2) SELECT * FROM c, e, d.c", "t1 d.c"),
            ("WITH c AS (SELECT * FROM u) UPDATE LOW_PRIORITY d.t SET v = 1", "[Update] d.t <- u"),
            (
                "WITH c AS (SELECT * FROM u) DELETE FROM d.t WHERE a IN (SELECT 1 FROM w)",
                "[Delete] d.t <- u w",
            ),
            ("INSERT IGNORE INTO t (a) WITH c AS (SELECT 1 FROM u) SELECT * FROM c", "[Insert] t <- u"),
            ("REPLACE t TABLE u", "[Insert, Delete] t <- u"),
            (
                "CREATE TABLE IF NOT EXISTS n AS WITH c AS (SELECT 1 FROM u) TABLE c",
                "[Create, Insert] n <- u",
            ),
            ("TABLE d.t ORDER BY a", "d.t"),
            ("SELECT 1 FROM t1 INTERSECT SELECT 1 FROM t2", "t1 t2"),
            (
                "SELECT * FROM JSON_TABLE(x, '$' COLUMNS (a INT PATH '$')) j, LATERAL (SELECT 1 FROM t1) k",
                "t1",
            ),
            ("SELECT SUM(a) OVER w FROM t1 WINDOW w AS (ORDER BY a)", "t1"),
            ("DROP TABLE t", "nothing"),
            ("SELECT 'unclosed", "nothing"),
        ] {
            assert_eq!(mentioned(text), want, "{text}");
        }
    }
}
