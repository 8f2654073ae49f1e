//! Parsing of combined queries: UNION, INTERSECT, EXCEPT, VALUES, TABLE, and WITH before them.

use super::into::misplaced_into;
use super::{MOST_QUERY_LEVELS, Parser};
use crate::ast::{
    CommonTable, Delete, Expr, QueryBody, Select, SelectItem, SetBranch, SetOperator, Statement, TableRef,
    Update, With,
};
use crate::error::Result;
use crate::lexer::TokenKind;
use std::sync::Arc;

impl Parser<'_> {
    /// Reports whether a query begins at the token `ahead` tokens from here.
    pub(super) fn query_follows(&self, ahead: usize) -> bool {
        let token = self.ahead(ahead);
        self.token_is(token, "SELECT")
            || self.token_is(token, "WITH")
            || self.token_is(token, "TABLE")
            || (self.token_is(token, "VALUES") && self.token_is(self.ahead(ahead + 1), "ROW"))
    }

    /// Reports whether the query behind this many parentheses is a derived table of the FROM within
    /// the parenthesis here. It is if an alias stands behind it or behind a parenthesis around it,
    /// as in `((SELECT 1) a JOIN t)`.
    pub(super) fn derived_table_follows(&self, parentheses: usize) -> bool {
        let (mut depth, mut closed) = (parentheses, parentheses);
        let mut at = parentheses;
        while closed > 1 {
            let token = self.ahead(at);
            if token.kind == TokenKind::End {
                return false;
            }
            if self.symbol_ahead(at, "(") {
                depth += 1;
            } else if self.symbol_ahead(at, ")") {
                depth -= 1;
            }
            at += 1;
            if depth < closed {
                closed = depth;
                let behind = self.ahead(at);
                let is_alias = match behind.kind {
                    TokenKind::QuotedName => true,
                    TokenKind::Word => self.token_is(behind, "AS") || !self.is_reserved(self.raw(behind)),
                    _ => false,
                };
                if is_alias {
                    return true;
                }
            }
        }
        false
    }

    /// Reports whether the parenthesis here contains combined queries of which the first is in
    /// parentheses of its own, as in `((SELECT 1) UNION SELECT 2)`.
    pub(super) fn set_operation_follows(&self) -> bool {
        self.is_symbol("(") && self.set_operation_from(1)
    }

    /// Reports whether a query in parentheses begins `ahead` tokens from here and is combined with
    /// others behind it, or has an ORDER BY or LIMIT behind its parentheses.
    fn set_operation_from(&self, ahead: usize) -> bool {
        let inner = (ahead..ahead + MOST_QUERY_LEVELS).find(|ahead| !self.symbol_ahead(*ahead, "("));
        if !inner.is_some_and(|inner| inner > ahead && self.query_follows(inner)) {
            return false;
        }
        let (mut open, mut at) = (0usize, ahead);
        loop {
            match self.ahead(at) {
                token if token.kind == TokenKind::End => return false,
                _ if self.symbol_ahead(at, "(") => open += 1,
                _ if self.symbol_ahead(at, ")") => open -= 1,
                _ => {}
            }
            at += 1;
            if open == 0 {
                let words = ["UNION", "INTERSECT", "EXCEPT", "ORDER", "LIMIT"];
                return words.iter().any(|word| self.token_is(self.ahead(at), word));
            }
        }
    }

    /// Reports what [`Parser::set_operation_follows`] does, at a place behind the parenthesis.
    pub(super) fn set_operation_is_next(&self) -> bool {
        self.set_operation_from(0)
    }

    /// Reads `WITH [RECURSIVE] name [(columns)] AS (query), ...`. `None` if something else follows.
    pub(super) fn with_clause(&mut self) -> Result<Option<Arc<With>>> {
        if !self.eat("WITH") {
            return Ok(None);
        }
        let recursive = self.eat("RECURSIVE");
        // The block of the query itself comes before those of its common tables.
        let number = self.blocks.begin();
        let tables = self.list(Self::common_table)?;
        self.blocks.resume(number);
        Ok(Some(Arc::new(With { recursive, tables })))
    }

    /// Reads WITH and the query, UPDATE or DELETE behind it.
    pub(super) fn statement_with(&mut self) -> Result<Statement> {
        let with = self.with_clause()?;
        Ok(match self.upper().as_str() {
            "UPDATE" => match self.update()? {
                Statement::Update(update) => Statement::Update(Update { with, ..update }),
                other => other,
            },
            "DELETE" => match self.delete()? {
                Statement::Delete(delete) => Statement::Delete(Delete { with, ..delete }),
                other => other,
            },
            _ => Statement::Query(self.query_behind(with)?),
        })
    }

    fn common_table(&mut self) -> Result<CommonTable> {
        let name = self.name()?;
        let columns = if self.is_symbol("(") { self.parenthesized(Self::name)? } else { Vec::new() };
        self.expect("AS")?;
        self.expect_symbol("(")?;
        self.queries += 1;
        let query = self.query()?;
        self.queries -= 1;
        self.expect_symbol(")")?;
        Ok(CommonTable { name, columns, query })
    }

    /// Reads UNION and EXCEPT, whose operands may be combined by INTERSECT, which binds more
    /// tightly.
    pub(super) fn set_operations(&mut self) -> Result<QueryBody> {
        let first = self.intersections()?;
        let mut rest = Vec::new();
        loop {
            let operator = match () {
                _ if self.eat("UNION") => SetOperator::Union,
                _ if self.eat("EXCEPT") => SetOperator::Except,
                _ => break,
            };
            self.check_into_comes_last()?;
            let all = self.set_quantifier();
            rest.push(SetBranch { operator, all, body: self.intersections()? });
        }
        Ok(chain(first, rest))
    }

    fn intersections(&mut self) -> Result<QueryBody> {
        let first = self.query_term()?;
        let mut rest = Vec::new();
        while self.eat("INTERSECT") {
            self.check_into_comes_last()?;
            let all = self.set_quantifier();
            rest.push(SetBranch { operator: SetOperator::Intersect, all, body: self.query_term()? });
        }
        Ok(chain(first, rest))
    }

    /// Refuses an INTO before the last of the combined queries.
    fn check_into_comes_last(&self) -> Result<()> {
        if self.has_into() { Err(misplaced_into()) } else { Ok(()) }
    }

    /// Reads ALL or DISTINCT. Returns whether it is ALL.
    fn set_quantifier(&mut self) -> bool {
        let all = self.eat("ALL");
        if !all {
            self.eat("DISTINCT");
        }
        all
    }

    fn query_term(&mut self) -> Result<QueryBody> {
        if self.eat_symbol("(") {
            let query = self.query()?;
            self.expect_symbol(")")?;
            if query.into.is_some() {
                return Err(misplaced_into());
            }
            return Ok(QueryBody::Nested(Box::new(query)));
        }
        if self.eat("VALUES") {
            return self.list(Self::constructed_row).map(QueryBody::Values);
        }
        if self.eat("TABLE") {
            let name = self.table_name()?;
            let table = TableRef::Table {
                name,
                alias: None,
                partitions: Vec::new(),
                hints: Vec::new(),
                system_time: None,
            };
            let select = Select { items: vec![SelectItem::All], from: Some(table), ..Select::default() };
            return Ok(QueryBody::Select(Box::new(select)));
        }
        Ok(QueryBody::Select(Box::new(self.select()?)))
    }

    /// Reads `ROW(...)` of VALUES.
    fn constructed_row(&mut self) -> Result<Vec<Expr>> {
        self.expect("ROW")?;
        self.expect_symbol("(")?;
        if self.eat_symbol(")") {
            return Ok(Vec::new());
        }
        let values = self.list(|parser| match parser.eat("DEFAULT") {
            true => Ok(Expr::Default),
            false => parser.expr(),
        })?;
        self.expect_symbol(")")?;
        Ok(values)
    }
}

fn chain(first: QueryBody, rest: Vec<SetBranch>) -> QueryBody {
    match rest.is_empty() {
        true => first,
        false => QueryBody::Union { first: Box::new(first), rest },
    }
}
