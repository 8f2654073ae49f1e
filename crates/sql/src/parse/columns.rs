//! Parsing of a column and its attributes.

use super::Parser;
use crate::SqlError;
use crate::ast::{ColumnSpec, Expr, GeneratedSpec, Literal, TypeSpec, WrittenExpr};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn column_spec(&mut self) -> Result<ColumnSpec> {
        let name = self.column_name_unqualified()?;
        self.column_spec_of(name)
    }

    pub(super) fn column_spec_of(&mut self, name: String) -> Result<ColumnSpec> {
        let mut spec = ColumnSpec::new(name, TypeSpec::default());
        if self.eat("SERIAL") {
            spec.ty = TypeSpec { name: "bigint".to_owned(), unsigned: true, ..TypeSpec::default() };
            spec.nullable = Some(false);
            spec.auto_increment = true;
            spec.unique = true;
        } else {
            spec.ty = self.type_spec()?;
        }
        while self.column_attribute(&mut spec)? {}
        Ok(spec)
    }

    pub(super) fn column_attribute(&mut self, spec: &mut ColumnSpec) -> Result<bool> {
        match self.upper().as_str() {
            "NOT" => {
                self.advance();
                self.expect("NULL")?;
                spec.nullable = Some(false);
                spec.null_behind_auto_increment = false;
                return Ok(true);
            }
            "DEFAULT" => {
                self.advance();
                match self.default_expression()? {
                    Some(expression) => spec.default_expression = Some(expression),
                    None => spec.default = Some(self.default_value()?),
                }
                return Ok(true);
            }
            "ON" => {
                self.expect_all(&["ON", "UPDATE"])?;
                let Expr::Function(now) = self.now_function()? else { return Err(self.error()) };
                spec.on_update_fsp = match now.args.first() {
                    None => Some(0),
                    Some(Expr::Literal(Literal::Integer(digits))) => Some(*digits),
                    Some(_) => return Err(self.error()),
                };
                return Ok(true);
            }
            "COMMENT" => {
                self.advance();
                spec.comment = self.comment()?;
                return Ok(true);
            }
            "COLLATE" => {
                self.advance();
                spec.ty.collation = Some(self.collation_name()?);
                return Ok(true);
            }
            // MariaDB has it among the attributes too. Values are stored uncompressed here.
            "COMPRESSED" if self.mode.of_source => {
                self.advance();
                if self.eat_symbol("=") {
                    self.string_or_name()?;
                }
                return Ok(true);
            }
            "COLUMN_FORMAT" | "STORAGE" => {
                self.advance();
                self.advance();
                return Ok(true);
            }
            "CHECK" | "CONSTRAINT" => {
                let Some(check) = self.check_spec(Some(&spec.name))? else { return Ok(false) };
                spec.checks.push(check);
                return Ok(true);
            }
            "GENERATED" | "AS" => {
                let ahead = if self.is("AS") { 1 } else { 3 };
                let is_edge = ["START", "END"].iter().any(|edge| self.token_is(self.ahead(ahead + 1), edge));
                if self.token_is(self.ahead(ahead), "ROW") && is_edge {
                    self.at += ahead;
                    spec.row_edge = self.row_edge();
                    return Ok(true);
                }
                spec.generated = Some(self.generated()?);
                return Ok(true);
            }
            "WITH" | "WITHOUT" => {
                let versioned = self.versioning();
                spec.versioned = versioned.or(spec.versioned);
                return Ok(versioned.is_some());
            }
            "REFERENCES" => {
                spec.references = Some(self.references(None, None, vec![spec.name.clone()], true)?);
                return Ok(true);
            }
            "SRID" => {
                self.advance();
                spec.ty.srid = Some(self.unsigned()?);
                return Ok(true);
            }
            _ => {}
        }
        match () {
            _ if self.eat("NULL") => {
                spec.nullable = Some(true);
                spec.null_behind_auto_increment = spec.auto_increment;
            }
            _ if self.eat("AUTO_INCREMENT") => {
                spec.auto_increment = true;
                spec.null_behind_auto_increment = false;
            }
            _ if self.eat("PRIMARY") => {
                self.expect("KEY")?;
                spec.primary = true;
            }
            _ if self.eat("KEY") => spec.primary = true,
            _ if self.eat("UNIQUE") => {
                self.eat("KEY");
                spec.unique = true;
            }
            _ if self.eat("INVISIBLE") => spec.invisible = true,
            _ if self.eat("VISIBLE") => {}
            _ if self.eat_all(&["SERIAL", "DEFAULT", "VALUE"]) => {
                spec.nullable = Some(false);
                spec.auto_increment = true;
                spec.unique = true;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED | PERSISTENT]`.
    fn generated(&mut self) -> Result<GeneratedSpec> {
        if self.eat("GENERATED") {
            self.expect("ALWAYS")?;
        }
        self.expect("AS")?;
        let expression = self.written_expr()?;
        let stored = self.eat("STORED") || self.eat("PERSISTENT");
        if !stored {
            self.eat("VIRTUAL");
        }
        Ok(GeneratedSpec { expression, stored })
    }

    /// Reads an expression in parentheses. If a source has accepted it and it is unknown here, only
    /// its text is kept.
    pub(super) fn written_expr(&mut self) -> Result<WrittenExpr> {
        if !self.is_symbol("(") {
            return Err(self.error());
        }
        let (start, depth) = (self.at, self.depth);
        let mut open = 0usize;
        let mut end = start;
        loop {
            let token = self.tokens[end];
            match self.raw(token) {
                _ if token.kind == TokenKind::End => break,
                b"(" if token.kind == TokenKind::Symbol => open += 1,
                b")" if token.kind == TokenKind::Symbol => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
            end += 1;
        }
        self.advance();
        let from = self.tokens[start].end as usize;
        let text = &self.text[from..(self.tokens[end].start as usize).max(from)];
        let text = String::from_utf8_lossy(text).trim().to_owned();
        let tree = match self.expr() {
            Ok(tree) if self.at == end => Some(tree),
            Err(error) if !self.mode.of_source => return Err(error),
            _ if !self.mode.of_source => return Err(self.error()),
            _ => None,
        };
        (self.at, self.depth) = (end, depth);
        self.expect_symbol(")")?;
        Ok(WrittenExpr { tree, text })
    }

    /// Reads the default of a column if it is an expression: one in parentheses, or in a source's
    /// statement a function, a column, or a CASE, which MariaDB takes without parentheses. `None`
    /// if a literal or the time of the statement follows.
    pub(super) fn default_expression(&mut self) -> Result<Option<WrittenExpr>> {
        const NOW: [&str; 4] = ["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"];
        if self.is_symbol("(") {
            // MariaDB writes defaults that are functions in parentheses. For MySQL the time of the
            // statement is an expression there, and it shows it as one.
            let is_now = NOW.iter().any(|word| self.token_is(self.ahead(1), word));
            let start = self.at;
            if is_now && self.mode.of_source && !self.mode.of_mysql {
                self.advance();
                let is_all = self.now_function().is_ok() && self.is_symbol(")");
                self.at = start;
                if is_all {
                    return Ok(None);
                }
            }
            return self.written_expr().map(Some);
        }
        let is_name = self.token().kind == TokenKind::QuotedName
            || self.token().kind == TokenKind::Word && self.raw(self.token())[0] != b'_';
        let is_plain = self.is_any(&NOW)
            || self.is_any(&["NULL", "TRUE", "FALSE"])
            || self.ahead(1).kind == TokenKind::Text;
        if !self.mode.of_source || !is_name || is_plain {
            return Ok(None);
        }
        let from = self.token().start as usize;
        let tree = self.primary()?;
        let text = &self.text[from..self.tokens[self.at - 1].end as usize];
        Ok(Some(WrittenExpr { tree: Some(tree), text: String::from_utf8_lossy(text).into_owned() }))
    }

    /// Reads a literal with its sign, NULL, or CURRENT_TIMESTAMP.
    pub(super) fn default_value(&mut self) -> Result<Expr> {
        if self.is_symbol("(") {
            // MariaDB writes defaults that are functions in parentheses.
            let start = self.at;
            self.advance();
            if self.is_any(&["CURRENT_TIMESTAMP", "NOW"]) {
                let expr = self.now_function()?;
                self.expect_symbol(")")?;
                return Ok(expr);
            }
            self.at = start;
            return Err(SqlError::not_supported("expressions as DEFAULT values"));
        }
        if self.is_any(&["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"]) {
            return self.now_function();
        }
        match self.token().kind {
            TokenKind::Word if !self.is_any(&["NULL", "TRUE", "FALSE", "DATE", "TIME", "TIMESTAMP"]) => {
                if self.raw(self.token())[0] == b'_' {
                    return self.primary();
                }
                if self.symbol_ahead(1, "(") {
                    return Err(SqlError::not_supported("expressions as DEFAULT values"));
                }
                Err(self.error())
            }
            _ => self.signed_literal(),
        }
    }

    /// Reads a literal with its sign. It ends before `NOT NULL` and `COLLATE`, which are attributes
    /// of the column.
    pub(super) fn signed_literal(&mut self) -> Result<Expr> {
        if self.eat_symbol("-") {
            let literal = self.literal()?;
            return Ok(Expr::Unary(crate::ast::UnaryOp::Minus, Box::new(Expr::Literal(literal))));
        }
        self.eat_symbol("+");
        self.primary()
    }

    /// Reads `CURRENT_TIMESTAMP[(n)]` or one of its synonyms.
    pub(super) fn now_function(&mut self) -> Result<Expr> {
        if !self.eat_any(&["CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP"]) {
            return Err(self.error());
        }
        let mut args = Vec::new();
        if self.eat_symbol("(") {
            if !self.is_symbol(")") {
                args.push(Expr::Literal(self.literal()?));
            }
            self.expect_symbol(")")?;
        }
        Ok(Expr::call("now", args))
    }
}
