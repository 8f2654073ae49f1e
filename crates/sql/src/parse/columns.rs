//! A column and its attributes.

use super::Parser;
use crate::SqlError;
use crate::ast::{ColumnSpec, Expr, Literal, TypeSpec};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn column_spec(&mut self) -> Result<ColumnSpec> {
        let name = self.column_name_unqualified()?;
        self.column_spec_of(name)
    }

    pub(super) fn column_spec_of(&mut self, name: String) -> Result<ColumnSpec> {
        let mut spec = ColumnSpec {
            name,
            ty: TypeSpec::default(),
            nullable: None,
            default: None,
            on_update_fsp: None,
            auto_increment: false,
            unique: false,
            primary: false,
            comment: String::new(),
            invisible: false,
            references: None,
        };
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
                return Ok(true);
            }
            "DEFAULT" => {
                self.advance();
                spec.default = Some(self.default_value()?);
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
                spec.comment = self.string()?;
                return Ok(true);
            }
            "COLLATE" => {
                self.advance();
                spec.ty.collation = Some(self.string_or_name()?.to_ascii_lowercase());
                return Ok(true);
            }
            "COLUMN_FORMAT" | "STORAGE" => {
                self.advance();
                self.advance();
                return Ok(true);
            }
            "CHECK" | "CONSTRAINT" if self.mode.of_source => return self.eat_check(),
            "GENERATED" | "AS" => return Err(SqlError::not_supported("generated columns")),
            "REFERENCES" => {
                spec.references = Some(self.references(None, None, vec![spec.name.clone()], true)?);
                return Ok(true);
            }
            "CHECK" | "CONSTRAINT" => return Err(SqlError::not_supported("CHECK constraints")),
            "SRID" => return Err(SqlError::not_supported("spatial types")),
            _ => {}
        }
        match () {
            _ if self.eat("NULL") => spec.nullable = Some(true),
            _ if self.eat("AUTO_INCREMENT") => spec.auto_increment = true,
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

    /// A literal with its sign, NULL, or CURRENT_TIMESTAMP; an expression in parentheses is
    /// refused.
    pub(super) fn default_value(&mut self) -> Result<Expr> {
        if self.is_symbol("(") {
            // MariaDB writes its defaults in parentheses where they are functions.
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
                    return self.bit_expr();
                }
                if self.symbol_ahead(1, "(") {
                    return Err(SqlError::not_supported("expressions as DEFAULT values"));
                }
                Err(self.error())
            }
            _ => self.signed_literal(),
        }
    }

    /// A literal with its sign; stops before `NOT NULL`.
    pub(super) fn signed_literal(&mut self) -> Result<Expr> {
        if self.eat_symbol("-") {
            let literal = self.literal()?;
            return Ok(Expr::Unary(crate::ast::UnaryOp::Minus, Box::new(Expr::Literal(literal))));
        }
        self.eat_symbol("+");
        self.bit_expr()
    }

    /// `CURRENT_TIMESTAMP[(n)]` and its synonyms.
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
