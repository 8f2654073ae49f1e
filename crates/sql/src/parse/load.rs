//! Parsing of LOAD DATA and LOAD XML.

use super::Parser;
use crate::ast::{FileLayout, Load, LoadTarget, OnDuplicate, Statement};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;

/// The element that is a row in LOAD XML without ROWS IDENTIFIED BY.
const ROW_ELEMENT: &[u8] = b"<row>";

impl Parser<'_> {
    pub(super) fn load(&mut self) -> Result<Statement> {
        self.expect("LOAD")?;
        let is_xml = self.eat("XML");
        if !is_xml {
            self.expect("DATA")?;
        }
        let _ = self.eat_any(&["LOW_PRIORITY", "CONCURRENT"]);
        self.eat("FROM");
        let is_local = self.eat("LOCAL");
        let path = self.source_file()?;
        let on_duplicate = match () {
            _ if self.eat("REPLACE") => OnDuplicate::Replace,
            _ if self.eat("IGNORE") => OnDuplicate::Ignore,
            _ => OnDuplicate::Error,
        };
        self.expect_all(&["INTO", "TABLE"])?;
        let table = self.table_name()?;
        let partitions = self.partition_selection()?;
        if self.is("COMPRESSION") {
            return Err(only_in_bulk("COMPRESSION specified!"));
        }
        let charset = match self.eat_charset_word() {
            true => Some(self.charset_name()?),
            false => None,
        };
        let row = match is_xml && self.eat_all(&["ROWS", "IDENTIFIED", "BY"]) {
            true => self.text_or_bytes()?,
            false => ROW_ELEMENT.to_vec(),
        };
        let format = self.text_format()?;
        let layout = if is_xml { FileLayout::Xml { row } } else { FileLayout::Text(format) };
        let skipped = self.skipped_lines()?;
        let targets = self.load_targets()?;
        let assignments = if self.eat("SET") { self.list(Self::assignment)? } else { Vec::new() };
        self.bulk_options(is_local)?;
        Ok(Statement::Load(Box::new(Load {
            path,
            is_local,
            on_duplicate,
            table,
            partitions,
            charset,
            layout,
            skipped,
            targets,
            assignments,
        })))
    }

    /// Reads `INFILE 'path'`, and the words of bulk loads, which MySQL reads and refuses.
    fn source_file(&mut self) -> Result<Vec<u8>> {
        let is_url = self.eat("URL");
        if !is_url && !self.eat("S3") {
            self.expect("INFILE")?;
        }
        if self.token().kind != TokenKind::Text {
            return Err(self.error());
        }
        let first = self.advance();
        let path = crate::lexer::unquote(self.raw(first), self.mode, true);
        match () {
            _ if is_url => Err(only_in_bulk("URI/URL source")),
            _ if self.is("COUNT") => Err(only_in_bulk("multiple files")),
            _ if self.is("IN") => Err(only_in_bulk("primary key order")),
            _ => Ok(path),
        }
    }

    /// Reads `IGNORE n LINES`.
    fn skipped_lines(&mut self) -> Result<u64> {
        if !self.eat("IGNORE") {
            return Ok(0);
        }
        let lines = self.unsigned()?;
        if self.eat_any(&["LINES", "ROWS"]) { Ok(lines) } else { Err(self.error()) }
    }

    fn load_targets(&mut self) -> Result<Vec<LoadTarget>> {
        if !self.eat_symbol("(") || self.eat_symbol(")") {
            return Ok(Vec::new());
        }
        let targets = self.list(Self::load_target)?;
        self.expect_symbol(")")?;
        Ok(targets)
    }

    fn load_target(&mut self) -> Result<LoadTarget> {
        if self.token().kind == TokenKind::UserVariable {
            let written = self.user_variable_as_written()?;
            return Ok(LoadTarget::Variable { name: written.to_lowercase(), written });
        }
        let token = self.token();
        if token.kind == TokenKind::SystemVariable {
            // MySQL reads an `@` here and then the name of a variable, so the error points behind
            // the `@`.
            return Err(crate::lexer::syntax_error(self.text, token.start as usize + 1));
        }
        let (mut schema, mut table) = (None, None);
        let mut name = self.name()?;
        while schema.is_none() && self.eat_symbol(".") {
            schema = table.take();
            table = Some(std::mem::replace(&mut name, self.any_name()?));
        }
        Ok(LoadTarget::Column { schema, table, name })
    }

    /// Reads `PARALLEL = n`, `MEMORY = n` and `ALGORITHM = BULK`. The first two have no effect
    /// without the last.
    fn bulk_options(&mut self, is_local: bool) -> Result<()> {
        for word in ["PARALLEL", "MEMORY"] {
            if self.eat(word) {
                self.eat_symbol("=");
                self.unsigned()?;
            }
        }
        if self.eat("ALGORITHM") {
            self.eat_symbol("=");
            self.expect("BULK")?;
            let text = "Incorrect usage of LOAD DATA with BULK Algorithm and LOCAL client file";
            return Err(match is_local {
                true => SqlError::new(1221, text),
                false => SqlError::not_supported("Bulk Load"),
            });
        }
        Ok(())
    }
}

/// Builds the error for a word that MySQL allows in bulk loads only.
fn only_in_bulk(what: &str) -> SqlError {
    SqlError::new(1221, format!("Incorrect usage of LOAD DATA without BULK Algorithm and {what}"))
}
