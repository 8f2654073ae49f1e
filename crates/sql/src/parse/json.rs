//! Parsing of JSON_VALUE and JSON_TABLE.

use super::Parser;
use crate::ast::{Expr, JsonTable, JsonTableColumn, JsonTableRows, JsonValue, Literal, OnResponse, TableRef};
use crate::error::{Result, SqlError};

impl Parser<'_> {
    /// Reads `JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])`.
    pub(super) fn json_value(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_symbol("(")?;
        let document = self.expr()?;
        self.expect_symbol(",")?;
        let path = self.bit_expr()?;
        if !matches!(path, Expr::Literal(Literal::Text(..))) {
            return Err(self.error());
        }
        let returning = if self.eat("RETURNING") { Some(self.cast_type()?) } else { None };
        let (on_empty, on_error) = self.on_responses()?;
        self.expect_symbol(")")?;
        Ok(Expr::JsonValue(Box::new(JsonValue { document, path, returning, on_empty, on_error })))
    }

    /// Reads the ON EMPTY and ON ERROR clauses.
    fn on_responses(&mut self) -> Result<(Option<OnResponse>, Option<OnResponse>)> {
        let (mut on_empty, mut on_error) = (None, None);
        while on_error.is_none() {
            let response = match () {
                _ if self.eat("NULL") => OnResponse::Null,
                _ if self.eat("ERROR") => OnResponse::Error,
                _ if self.eat("DEFAULT") => OnResponse::Default(self.signed_literal()?),
                _ => break,
            };
            self.expect("ON")?;
            match () {
                _ if on_empty.is_none() && self.eat("EMPTY") => on_empty = Some(response),
                _ => {
                    self.expect("ERROR")?;
                    on_error = Some(response);
                }
            }
        }
        Ok((on_empty, on_error))
    }
}

impl Parser<'_> {
    /// Reads `JSON_TABLE(...)` as a table.
    pub(super) fn json_table(&mut self) -> Result<TableRef> {
        self.expect("JSON_TABLE")?;
        self.expect_symbol("(")?;
        let document = self.expr()?;
        self.expect_symbol(",")?;
        let rows = self.json_table_rows()?;
        self.expect_symbol(")")?;
        self.eat("AS");
        if !self.is_name() {
            return Err(SqlError::new(3667, "Every table function must have an alias"));
        }
        let alias = self.name()?;
        Ok(TableRef::JsonTable(Box::new(JsonTable { document, rows, alias })))
    }

    /// Reads a path and its columns. Among the columns there may be further paths with columns.
    fn json_table_rows(&mut self) -> Result<JsonTableRows> {
        self.enter()?;
        let path = self.text_literal()?;
        self.expect("COLUMNS")?;
        let columns = self.parenthesized(Self::json_table_column)?;
        self.leave();
        Ok(JsonTableRows { path, columns })
    }

    fn json_table_column(&mut self) -> Result<JsonTableColumn> {
        if self.is("NESTED") && self.token_is(self.ahead(1), "PATH") {
            self.advance();
            self.advance();
            return self.json_table_rows().map(JsonTableColumn::Nested);
        }
        let name = self.name()?;
        if self.eat("FOR") {
            self.expect("ORDINALITY")?;
            return Ok(JsonTableColumn::Ordinality { name });
        }
        let mut ty = self.type_spec()?;
        if self.eat("COLLATE") {
            ty.collation = Some(self.collation_name()?);
        }
        if self.eat("EXISTS") {
            self.expect("PATH")?;
            return Ok(JsonTableColumn::Exists { name, ty, path: self.text_literal()? });
        }
        self.expect("PATH")?;
        let path = self.text_literal()?;
        let (on_empty, on_error) = self.on_responses()?;
        Ok(JsonTableColumn::Value { name, ty, path, on_empty, on_error })
    }
}
