//! Parsing of keys and constraints of tables, and of CREATE INDEX.

use super::Parser;
use crate::SqlError;
use crate::ast::{AlterAlgorithm, AlterDemands, AlterLock, KeyKind, KeyPart, KeySpec, Statement};
use crate::error::Result;

impl Parser<'_> {
    /// Reads a key or constraint. `None` if a column follows.
    pub(super) fn key_spec(&mut self) -> Result<Option<KeySpec>> {
        let mut name = if self.eat("CONSTRAINT") { self.constraint_name()? } else { None };
        let kind = match self.upper().as_str() {
            "PRIMARY" => KeyKind::Primary,
            "UNIQUE" => KeyKind::Unique,
            "INDEX" | "KEY" => KeyKind::Index,
            "FULLTEXT" => KeyKind::FullText,
            "SPATIAL" => KeyKind::Spatial,
            _ => return Ok(None),
        };
        self.advance();
        if kind == KeyKind::Primary {
            self.expect("KEY")?;
        } else if kind != KeyKind::Index {
            let _ = self.eat_any(&["INDEX", "KEY"]);
        }
        self.if_not_exists_of_key = self.mariadb_if_not_exists();
        if self.is_name() && !self.is("USING") {
            let written = self.name()?;
            if kind != KeyKind::Primary {
                name = Some(written);
            }
        }
        if kind == KeyKind::Primary {
            name = None;
        }
        self.key_rest(kind, name).map(Some)
    }

    /// Reads the name behind the word CONSTRAINT. `None` if the constraint has none.
    pub(super) fn constraint_name(&mut self) -> Result<Option<String>> {
        match self.is_any(&["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"]) {
            true => Ok(None),
            false => self.name().map(Some),
        }
    }

    /// Reads the rest of a key: `[USING BTREE] (parts) [options]`.
    pub(super) fn key_rest(&mut self, kind: KeyKind, name: Option<String>) -> Result<KeySpec> {
        let (comment, invisible, parser) = (String::new(), false, None);
        let (parts, without_overlaps) = (Vec::new(), None);
        let is_rtree = false;
        let mut key = KeySpec { kind, name, parts, comment, invisible, is_rtree, parser, without_overlaps };
        let is_plain = !matches!(kind, KeyKind::FullText | KeyKind::Spatial);
        key.is_rtree = is_plain && self.key_using() == Some(true);
        let mut period = None;
        key.parts = self.parenthesized(|parser| {
            let part = parser.key_part()?;
            if parser.eat_all(&["WITHOUT", "OVERLAPS"]) {
                period = Some(part.column.clone());
            }
            Ok(part)
        })?;
        if period.is_some() {
            key.parts.pop();
            key.without_overlaps = period;
        }
        loop {
            let is_hash = self.token_is(self.ahead(1), "HASH");
            if is_plain && let Some(is_rtree) = self.key_using() {
                key.is_rtree = is_rtree;
                if is_hash && self.mode.of_source && !self.mode.of_mysql {
                    // MariaDB forgets the order of a hash index, of which InnoDB makes a tree.
                    key.parts.iter_mut().for_each(|part| part.descending = false);
                }
            } else if kind == KeyKind::FullText && self.eat_all(&["WITH", "PARSER"]) {
                key.parser = Some(self.name()?);
            } else if self.eat("COMMENT") {
                self.eat_symbol("=");
                key.comment = self.comment()?;
            } else if self.eat("KEY_BLOCK_SIZE") {
                self.eat_symbol("=");
                self.unsigned()?;
            } else if self.eat("INVISIBLE") || self.mode.of_source && self.eat("IGNORED") {
                key.invisible = true;
            } else if self.mode.of_source && self.eat_all(&["NOT", "IGNORED"]) {
            } else if !self.eat("VISIBLE") {
                return Ok(key);
            }
        }
    }

    /// Skips `USING BTREE` or the like, and returns whether it says RTREE. `None` if it is not
    /// there. HASH becomes BTREE, as in InnoDB, and every index over a geometry is an RTREE.
    pub(super) fn key_using(&mut self) -> Option<bool> {
        if self.is_any(&["USING", "TYPE"])
            && ["BTREE", "HASH", "RTREE"].iter().any(|kind| self.token_is(self.ahead(1), kind))
        {
            let is_rtree = self.token_is(self.ahead(1), "RTREE");
            self.at += 2;
            return Some(is_rtree);
        }
        None
    }

    pub(super) fn key_part(&mut self) -> Result<KeyPart> {
        let (mut prefix, mut column, mut expression) = (None, String::new(), None);
        if self.is_symbol("(") {
            expression = Some(self.written_expr()?);
        } else {
            column = self.name()?;
        }
        if expression.is_none() && self.eat_symbol("(") {
            prefix = Some(self.unsigned32()?);
            self.expect_symbol(")")?;
        }
        let descending = self.eat("DESC");
        let ordered = descending || self.eat("ASC");
        Ok(KeyPart { column, expression, prefix, descending, ordered })
    }

    pub(super) fn create_index(&mut self, or_replace: bool) -> Result<Statement> {
        let kind = match self.upper().as_str() {
            "UNIQUE" => {
                self.advance();
                KeyKind::Unique
            }
            "FULLTEXT" => {
                self.advance();
                KeyKind::FullText
            }
            "SPATIAL" => {
                self.advance();
                KeyKind::Spatial
            }
            _ => KeyKind::Index,
        };
        self.expect("INDEX")?;
        let if_not_exists = self.mariadb_if_not_exists();
        let name = self.name()?;
        let is_rtree = self.key_using();
        self.expect("ON")?;
        let table = self.table_name()?;
        self.mariadb_wait()?;
        let mut key = self.key_rest(kind, Some(name))?;
        key.is_rtree |= is_rtree == Some(true);
        self.mariadb_wait()?;
        let mut demands = AlterDemands::default();
        self.algorithm_and_lock(&mut demands)?;
        Ok(Statement::CreateIndex { table, key, if_not_exists, or_replace, demands })
    }

    /// Reads `ALGORITHM [=] x` and `LOCK [=] x` in any order. The last of each counts.
    pub(super) fn algorithm_and_lock(&mut self, demands: &mut AlterDemands) -> Result<()> {
        loop {
            if self.eat("ALGORITHM") {
                self.eat_symbol("=");
                let name = self.any_name()?;
                demands.algorithm = match name.to_ascii_uppercase().as_str() {
                    "DEFAULT" => AlterAlgorithm::Default,
                    "INSTANT" => AlterAlgorithm::Instant,
                    // NOCOPY is MariaDB's.
                    "INPLACE" | "NOCOPY" => AlterAlgorithm::Inplace,
                    "COPY" => AlterAlgorithm::Copy,
                    _ => return Err(SqlError::new(1800, format!("Unknown ALGORITHM '{name}'"))),
                };
            } else if self.eat("LOCK") {
                self.eat_symbol("=");
                let name = self.any_name()?;
                demands.lock = match name.to_ascii_uppercase().as_str() {
                    "DEFAULT" => AlterLock::Default,
                    "NONE" => AlterLock::None,
                    "SHARED" => AlterLock::Shared,
                    "EXCLUSIVE" => AlterLock::Exclusive,
                    _ => return Err(SqlError::new(1801, format!("Unknown LOCK type '{name}'"))),
                };
            } else {
                return Ok(());
            }
        }
    }
}
