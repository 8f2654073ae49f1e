//! Parsing of calls with words of their own between their arguments.

use super::Parser;
use crate::ast::{CastType, Expr, Literal};
use crate::error::Result;

impl Parser<'_> {
    /// Reads `GET_FORMAT(DATE, 'usa')`. The word becomes a text.
    pub(super) fn get_format(&mut self) -> Result<Expr> {
        self.call_start();
        let kind = match () {
            _ if self.eat("DATE") => "DATE",
            _ if self.eat("TIME") => "TIME",
            _ if self.eat("DATETIME") || self.eat("TIMESTAMP") => "DATETIME",
            _ => return Err(self.error()),
        };
        self.expect_symbol(",")?;
        let standard = self.expr()?;
        self.expect_symbol(")")?;
        let kind = Expr::Literal(Literal::Text(kind.into(), None));
        Ok(Expr::call("get_format", vec![kind, standard]))
    }

    /// Reads `WEIGHT_STRING(a [AS CHAR(n) | AS BINARY(n)])`. The number of characters becomes a
    /// second argument.
    pub(super) fn weight_string(&mut self) -> Result<Expr> {
        self.call_start();
        let mut args = vec![self.expr()?];
        if self.eat("AS") {
            let is_binary = self.eat("BINARY");
            if !is_binary {
                self.expect("CHAR")?;
            }
            self.expect_symbol("(")?;
            let error = self.error();
            let length = self.unsigned()?;
            self.expect_symbol(")")?;
            match length {
                0 => return Err(error),
                _ if is_binary => {
                    let ty = CastType::Binary { length: Some(length) };
                    args[0] = Expr::Cast { operand: Box::new(args[0].clone()), ty };
                }
                _ => args.push(Expr::Literal(Literal::Integer(length))),
            }
        }
        self.expect_symbol(")")?;
        Ok(Expr::call("weight_string", args))
    }

    /// Reads `CHAR(65, 66 [USING charset])`.
    pub(super) fn char_function(&mut self) -> Result<Expr> {
        self.call_start();
        let args = self.list(Self::expr)?;
        let charset = if self.eat("USING") { Some(self.charset_name()?) } else { None };
        self.expect_symbol(")")?;
        let call = Expr::call("char", args);
        Ok(match charset {
            Some(charset) => Expr::ConvertUsing { operand: Box::new(call), charset },
            None => call,
        })
    }
}
