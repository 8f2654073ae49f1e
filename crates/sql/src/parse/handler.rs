//! Parsing of HANDLER ... OPEN, READ and CLOSE.

use super::Parser;
use crate::ast::{BinaryOp, Handler, HandlerRead, HandlerStep, Statement};
use crate::error::Result;
use crate::lexer::TokenKind;

impl Parser<'_> {
    pub(super) fn handler(&mut self) -> Result<Statement> {
        self.expect("HANDLER")?;
        let table = self.table_name()?;
        if self.eat("OPEN") {
            let alias = match self.eat("AS") || self.is_name() {
                true => Some(self.name()?),
                false => None,
            };
            return Ok(Statement::Handler(Box::new(Handler::Open { table, alias })));
        }
        if table.schema.is_some() {
            return Err(self.error());
        }
        if self.eat("CLOSE") {
            return Ok(Statement::Handler(Box::new(Handler::Close(table.name))));
        }
        self.expect("READ")?;
        let begin = self.at;
        let what = self.handler_read()?;
        let filter = if self.eat("WHERE") { Some(Box::new(self.expr()?)) } else { None };
        let limit = self.limit()?.map(Box::new);
        self.check_no_query_since(begin)?;
        Ok(Statement::Handler(Box::new(Handler::Read { alias: table.name, what, filter, limit })))
    }

    fn handler_read(&mut self) -> Result<HandlerRead> {
        let behind = self.ahead(1);
        let is_alone = behind.kind == TokenKind::End
            || self.symbol_ahead(1, ";")
            || self.token_is(behind, "WHERE")
            || self.token_is(behind, "LIMIT");
        if is_alone && self.is_any(&["FIRST", "NEXT"]) {
            return Ok(HandlerRead::Table(self.handler_step()?));
        }
        let index = self.name()?;
        const OPERATORS: [(&str, BinaryOp); 5] = [
            ("=", BinaryOp::Equal),
            (">=", BinaryOp::GreaterEqual),
            ("<=", BinaryOp::LessEqual),
            (">", BinaryOp::Greater),
            ("<", BinaryOp::Less),
        ];
        match OPERATORS.into_iter().find(|(symbol, _)| self.is_symbol(symbol)) {
            Some((symbol, op)) => {
                self.eat_symbol(symbol);
                Ok(HandlerRead::Key(index, op, self.parenthesized(Self::handler_value)?))
            }
            None => Ok(HandlerRead::Index(index, self.handler_step()?)),
        }
    }

    fn handler_value(&mut self) -> Result<crate::ast::Expr> {
        match self.eat("DEFAULT") {
            true => Ok(crate::ast::Expr::Default),
            false => self.expr(),
        }
    }

    fn handler_step(&mut self) -> Result<HandlerStep> {
        match () {
            () if self.eat("FIRST") => Ok(HandlerStep::First),
            () if self.eat("NEXT") => Ok(HandlerStep::Next),
            () if self.eat("PREV") => Ok(HandlerStep::Previous),
            () if self.eat("LAST") => Ok(HandlerStep::Last),
            () => Err(self.error()),
        }
    }

    /// Refuses subqueries in READ. The error points at the first one.
    fn check_no_query_since(&mut self, begin: usize) -> Result<()> {
        let end = std::mem::replace(&mut self.at, begin);
        while self.at < end {
            if self.is_symbol("(") && self.query_follows(1) {
                return Err(self.error());
            }
            self.at += 1;
        }
        Ok(())
    }
}
