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

/// Reads DESCRIBE of a table, or EXPLAIN of a statement.
pub(super) fn explain(parser: &mut Parser<'_>) -> Result<Statement> {
    parser.advance();
    let analyze = parser.eat("ANALYZE");
    let format = match parser.eat("FORMAT") {
        true => {
            parser.expect_symbol("=")?;
            Some(ExplainFormat::named(&parser.string_or_name()?)?)
        }
        false => None,
    };
    let into = if parser.eat("INTO") { Some(explained_into(parser, format)?) } else { None };
    let of = if parser.are(&["FOR", "CONNECTION"]) {
        parser.expect_all(&["FOR", "CONNECTION"])?;
        Some(ExplainOf::Connection(parser.unsigned()?))
    } else {
        let is_for_schema = parser.are(&["FOR", "SCHEMA"]) || parser.are(&["FOR", "DATABASE"]);
        let schema = match is_for_schema {
            true => {
                parser.advance();
                parser.advance();
                Some(parser.any_name()?)
            }
            false => None,
        };
        parser.begins_at = parser.at;
        match parser.is_any(EXPLAINED) || parser.is_symbol("(") {
            true => Some(ExplainOf::Statement { statement: Box::new(parser.statement()?), schema }),
            false if is_for_schema => return Err(parser.error()),
            false => None,
        }
    };
    match of {
        Some(of) => explained(Explain { of, analyze, format, into }),
        None if analyze || format.is_some() || into.is_some() => Err(parser.error()),
        None => describe(parser),
    }
}

/// Reads the variable behind INTO.
///
/// # Errors
/// Returns 6006 if no format is given, and 6007 if the format is not JSON.
fn explained_into(parser: &mut Parser<'_>, format: Option<ExplainFormat>) -> Result<String> {
    let variable = parser.user_variable()?;
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
fn describe(parser: &mut Parser<'_>) -> Result<Statement> {
    let table = parser.table_name()?;
    let filter = match parser.token().kind {
        TokenKind::Text => ShowFilter::Like(parser.text_literal()?),
        TokenKind::Word | TokenKind::QuotedName => ShowFilter::Like(parser.name()?.into_bytes()),
        _ => ShowFilter::None,
    };
    Ok(Statement::Show { show: Show::Columns { table, full: false }, filter })
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
