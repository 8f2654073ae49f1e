//! Parsing of keys and constraints of tables, and of CREATE INDEX.

use super::Parser;
use crate::SqlError;
use crate::ast::{AlterAlgorithm, AlterDemands, AlterLock, KeyKind, KeyPart, KeySpec, Statement};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::quoting::{quoted, text_literal};

/// The kind of index that a statement asks for with USING.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyUsing {
    Btree,
    Hash,
    Rtree,
}

impl KeySpec {
    fn used(&mut self, using: KeyUsing) {
        self.is_rtree = using == KeyUsing::Rtree;
        self.using_btree = using == KeyUsing::Btree;
    }
}

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
            // A column may have the name.
            "VECTOR" if self.vector_key_follows() => KeyKind::Vector,
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

    /// Reports whether the word VECTOR begins a key and is not the name of a column.
    fn vector_key_follows(&self) -> bool {
        ["INDEX", "KEY"].iter().any(|word| self.token_is(self.ahead(1), word)) || self.symbol_ahead(1, "(")
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
        let (is_rtree, using_btree) = (false, false);
        let vector_options = String::new();
        let mut key = KeySpec {
            kind,
            name,
            parts,
            comment,
            invisible,
            is_rtree,
            using_btree,
            parser,
            without_overlaps,
            vector_options,
        };
        let is_plain = !matches!(kind, KeyKind::FullText | KeyKind::Spatial | KeyKind::Vector);
        if is_plain && let Some(using) = self.key_using() {
            key.used(using);
        }
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
            if is_plain && let Some(using) = self.key_using() {
                key.used(using);
                if using == KeyUsing::Hash && self.mode.of_source && !self.mode.of_mysql {
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
            } else if let Some(option) = self.engine_option_of_key(kind)? {
                key.vector_options.push_str(&option);
            } else if !self.eat("VISIBLE") {
                return Ok(key);
            }
        }
    }

    /// Reads `name = value`, which MariaDB hands to the storage engine whatever the name is, and
    /// returns it as MariaDB shows it. `None` if something else follows.
    fn engine_option_of_key(&mut self, kind: KeyKind) -> Result<Option<String>> {
        let is_name = matches!(self.token().kind, TokenKind::Word | TokenKind::QuotedName);
        let may_be_there = self.mode.of_source || kind == KeyKind::Vector;
        if !may_be_there || !is_name || !self.symbol_ahead(1, "=") || self.is_any(&["ALGORITHM", "LOCK"]) {
            return Ok(None);
        }
        let name = self.any_name()?;
        self.expect_symbol("=")?;
        let value = match self.token().kind {
            TokenKind::Text => self.string()?,
            _ => self.option_value()?,
        };
        Ok(Some(format!(" {}={}", quoted(&name), text_literal(&value))))
    }

    /// Reads `USING BTREE` or the like. `None` if it is not there. HASH becomes a BTREE, as in
    /// InnoDB, and every index over a geometry is an RTREE.
    pub(super) fn key_using(&mut self) -> Option<KeyUsing> {
        let kinds = [("BTREE", KeyUsing::Btree), ("HASH", KeyUsing::Hash), ("RTREE", KeyUsing::Rtree)];
        if !self.is_any(&["USING", "TYPE"]) {
            return None;
        }
        let (_, using) = kinds.into_iter().find(|(word, _)| self.token_is(self.ahead(1), word))?;
        self.at += 2;
        Some(using)
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
            "VECTOR" => {
                self.advance();
                KeyKind::Vector
            }
            _ => KeyKind::Index,
        };
        self.expect("INDEX")?;
        let if_not_exists = self.mariadb_if_not_exists();
        let name = self.name()?;
        let using = self.key_using();
        self.expect("ON")?;
        let table = self.table_name()?;
        self.mariadb_wait()?;
        let mut key = self.key_rest(kind, Some(name))?;
        // What stands behind the parts counts.
        if let Some(using) = using.filter(|_| !key.is_rtree && !key.using_btree) {
            key.used(using);
        }
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
