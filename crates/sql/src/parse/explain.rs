//! Parsing of EXPLAIN and DESCRIBE.

use super::Parser;
use crate::ast::{Explain, ExplainFormat, ExplainOf, Show, ShowFilter, Statement};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;

/// The words with which a statement begins that EXPLAIN shows.
const EXPLAINED: &[&str] = &["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "WITH", "TABLE", "VALUES"];

impl ExplainFormat {
    /// Returns the format with this name.
    ///
    /// # Errors
    /// Returns 1791 (`ER_UNKNOWN_EXPLAIN_FORMAT`) if there is none.
    pub(crate) fn named(name: &str) -> Result<ExplainFormat> {
        match name {
            _ if name.eq_ignore_ascii_case("traditional") => Ok(ExplainFormat::Traditional),
            _ if name.eq_ignore_ascii_case("tree") => Ok(ExplainFormat::Tree),
            _ if name.eq_ignore_ascii_case("json") => Ok(ExplainFormat::Json),
            _ => Err(SqlError::new(1791, format!("Unknown EXPLAIN format name: '{name}'"))),
        }
    }
}

impl Parser<'_> {
    /// Reads DESCRIBE of a table, or EXPLAIN of a statement.
    pub(super) fn explain(&mut self) -> Result<Statement> {
        self.advance();
        let analyze = self.eat("ANALYZE");
        let format = match self.eat("FORMAT") {
            true => {
                self.expect_symbol("=")?;
                Some(ExplainFormat::named(&self.string_or_name()?)?)
            }
            false => None,
        };
        let into = if self.eat("INTO") { Some(self.explained_into(format)?) } else { None };
        let of = if self.are(&["FOR", "CONNECTION"]) {
            self.expect_all(&["FOR", "CONNECTION"])?;
            Some(ExplainOf::Connection(self.unsigned()?))
        } else {
            let is_for_schema = self.are(&["FOR", "SCHEMA"]) || self.are(&["FOR", "DATABASE"]);
            let schema = match is_for_schema {
                true => {
                    self.advance();
                    self.advance();
                    Some(self.any_name()?)
                }
                false => None,
            };
            self.begins_at = self.at;
            match self.is_any(EXPLAINED) || self.is_symbol("(") {
                true => Some(ExplainOf::Statement { statement: Box::new(self.statement()?), schema }),
                false if is_for_schema => return Err(self.error()),
                false => None,
            }
        };
        match of {
            Some(of) => explained(Explain { of, analyze, format, into }),
            None if analyze || format.is_some() || into.is_some() => Err(self.error()),
            None => self.describe(),
        }
    }

    /// Reads the variable behind INTO.
    ///
    /// # Errors
    /// Returns 6006 if no format is given, and 6007 if the format is not JSON.
    fn explained_into(&mut self, format: Option<ExplainFormat>) -> Result<String> {
        let variable = self.user_variable()?;
        let refused = match format {
            Some(ExplainFormat::Json) => return Ok(variable),
            None => SqlError::new(6006, "EXPLAIN INTO does not support implicit FORMAT."),
            Some(ExplainFormat::Tree) => SqlError::new(6007, "EXPLAIN INTO does not support FORMAT=TREE."),
            Some(ExplainFormat::Traditional) => {
                SqlError::new(6007, "EXPLAIN INTO does not support FORMAT=TRADITIONAL.")
            }
        };
        Err(refused)
    }

    /// Reads the table, and the columns of it, that DESCRIBE is about.
    fn describe(&mut self) -> Result<Statement> {
        let table = self.table_name()?;
        let filter = match self.token().kind {
            TokenKind::Text => ShowFilter::Like(self.text_literal()?),
            TokenKind::Word | TokenKind::QuotedName => ShowFilter::Like(self.any_name()?.into_bytes()),
            _ => ShowFilter::None,
        };
        Ok(Statement::Show { show: Show::Columns { table, full: false }, filter })
    }
}

/// Returns the statement, if its parts go together.
///
/// # Errors
/// Returns 1235 for EXPLAIN ANALYZE of what it does not show, and 6009 for INTO with FOR
/// CONNECTION.
fn explained(explain: Explain) -> Result<Statement> {
    let is_of_connection = matches!(explain.of, ExplainOf::Connection(_));
    if explain.into.is_some() && is_of_connection {
        return Err(SqlError::new(6009, "EXPLAIN FOR CONNECTION does not support the INTO clause."));
    }
    if explain.analyze && is_of_connection {
        return Err(SqlError::not_supported("EXPLAIN ANALYZE FOR CONNECTION"));
    }
    if explain.analyze && explain.format == Some(ExplainFormat::Traditional) {
        return Err(SqlError::not_supported("EXPLAIN ANALYZE with TRADITIONAL format"));
    }
    Ok(Statement::Explain(Box::new(explain)))
}
