//! Parsing of SELECT, its tables and joins.

use super::hints;
use super::{LEVELS_OF_A_QUERY, MOST_QUERY_LEVELS, Parser};
use crate::SqlError;
use crate::ast::{
    Block, Expr, Hint, IndexHint, IndexHintKind, IndexHintUse, JoinKind, Limit, LockClause, LockStrength,
    LockWait, OrderItem, Query, QueryBody, Select, SelectItem, TableRef, With,
};
use crate::error::Result;
use crate::lexer::{self, TokenKind};
use std::sync::Arc;

/// MySQL's limit for the number of tables in a join.
const MOST_TABLES: usize = 61;

/// The number of bytes of an expression's text that are kept to name its column. The name itself is
/// shorter.
const MOST_NAMING_BYTES: usize = 1024;

impl Parser<'_> {
    /// Reads the hints behind the word that was read last, if there are any, for the block with
    /// this number. Returns the block and its hints.
    pub(super) fn read_hints(&mut self, number: u32) -> (Block, Vec<Hint>) {
        let from = self.tokens[self.at - 1].end as usize;
        let between = &self.text[from..(self.token().start as usize).max(from)];
        let blanks = between.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let mut found = (Block { number, name: None }, Vec::new());
        if between[blanks..].starts_with(b"/*+") {
            // The SELECT is the whole statement even if it is in parentheses, or explained.
            let is_select = self.raw(self.tokens[self.at - 1]).eq_ignore_ascii_case(b"SELECT");
            let before = &self.tokens[self.begins_at..self.at - 1];
            let is_whole = is_select && before.iter().all(|token| self.raw(*token) == b"(");
            let reader = hints::Reader::at(self.text, from + blanks + 3, number);
            found = reader.read(is_whole, &mut self.blocks, &mut self.hints);
        }
        self.blocks.add(&found.0);
        found
    }

    pub(super) fn query(&mut self) -> Result<Query> {
        self.query_behind(None)
    }

    /// Reads a query. `with` is its WITH clause, if that has been read already.
    pub(super) fn query_behind(&mut self, with: Option<Arc<With>>) -> Result<Query> {
        let around = (self.depth, std::mem::take(&mut self.highest));
        self.depth += LEVELS_OF_A_QUERY;
        self.enter()?;
        let query = self.query_inner(with)?;
        let height = self.highest + LEVELS_OF_A_QUERY;
        self.check_height(height)?;
        (self.depth, self.highest) = (around.0, around.1.max(height));
        Ok(query)
    }

    fn query_inner(&mut self, with: Option<Arc<With>>) -> Result<Query> {
        let around = self.lay_into_aside();
        let with = if with.is_some() { with } else { self.with_clause()? };
        let mut body = self.set_operations()?;
        let calls_before = self.window_calls;
        let order_by = self.order_by()?;
        let limit = self.limit()?;
        if let QueryBody::Select(select) = &mut body {
            select.most_window_calls += self.window_calls - calls_before;
        }
        self.eat_into(0)?;
        let locks = self.lock_clauses()?;
        self.eat_into(0)?;
        let into = self.into.take();
        if let Some(around) = around {
            self.take_into_up(around);
        }
        Ok(Query { with, body, order_by, limit, locks, into })
    }

    pub(super) fn order_item(&mut self) -> Result<OrderItem> {
        let expr = self.expr()?;
        let descending = self.eat("DESC");
        if !descending {
            self.eat("ASC");
        }
        Ok(OrderItem { expr, descending })
    }

    pub(super) fn order_by(&mut self) -> Result<Vec<OrderItem>> {
        if self.eat_all(&["ORDER", "BY"]) { self.list(Self::order_item) } else { Ok(Vec::new()) }
    }

    pub(super) fn limit(&mut self) -> Result<Option<Limit>> {
        if !self.eat("LIMIT") {
            return Ok(None);
        }
        let first = self.limit_number()?;
        if self.eat_symbol(",") {
            let count = self.limit_number()?;
            return Ok(Some(Limit { count, offset: Some(first) }));
        }
        let offset = if self.eat("OFFSET") { Some(self.limit_number()?) } else { None };
        Ok(Some(Limit { count: first, offset }))
    }

    fn limit_number(&mut self) -> Result<Expr> {
        match self.token().kind {
            TokenKind::Parameter => self.bit_expr(),
            TokenKind::Integer => Ok(Expr::Literal(self.literal()?)),
            _ if self.body.is_some() => self.variable_of_body()?.ok_or_else(|| self.error()),
            _ => Err(self.error()),
        }
    }

    fn lock_clauses(&mut self) -> Result<Vec<LockClause>> {
        let mut locks = Vec::new();
        if self.eat_all(&["LOCK", "IN", "SHARE", "MODE"]) {
            // The old form has no further words.
            locks.push(LockClause {
                strength: LockStrength::Share,
                tables: Vec::new(),
                wait: LockWait::Wait,
            });
            return Ok(locks);
        }
        loop {
            let strength = if self.eat_all(&["FOR", "UPDATE"]) {
                LockStrength::Update
            } else if self.eat_all(&["FOR", "SHARE"]) {
                LockStrength::Share
            } else {
                return Ok(locks);
            };
            let tables = if self.eat("OF") { self.list(Self::table_name)? } else { Vec::new() };
            let wait = if self.eat("NOWAIT") {
                LockWait::NoWait
            } else if self.eat_all(&["SKIP", "LOCKED"]) {
                LockWait::SkipLocked
            } else {
                LockWait::Wait
            };
            locks.push(LockClause { strength, tables, wait });
        }
    }

    pub(super) fn select(&mut self) -> Result<Select> {
        self.expect("SELECT")?;
        self.queries += 1;
        if self.queries > MOST_QUERY_LEVELS {
            return Err(SqlError::new(1473, "Too high level of nesting for select"));
        }
        let tables = std::mem::take(&mut self.tables);
        let calls_before = self.window_calls;
        let mut select = self.select_clauses()?;
        select.most_window_calls = self.window_calls - calls_before;
        self.tables = tables;
        self.queries -= 1;
        Ok(select)
    }

    fn select_clauses(&mut self) -> Result<Select> {
        let number = self.blocks.begin();
        let (block, hints) = self.read_hints(number);
        let mut select = Select { hints, block, ..Select::default() };
        self.select_options(&mut select)?;
        select.items = self.list(Self::select_item)?;
        self.eat_into(1)?;
        if self.eat("FROM") && !self.eat("DUAL") {
            select.from = Some(self.table_references()?);
        }
        if self.eat("WHERE") {
            select.filter = Some(self.expr()?);
        }
        if self.eat_all(&["GROUP", "BY"]) {
            self.group_by(&mut select)?;
        }
        if self.eat("HAVING") {
            select.having = Some(self.expr()?);
        }
        select.windows = self.named_windows()?;
        if self.is("QUALIFY") {
            let text = "'QUALIFY clause' can be used only if the hypergraph optimizer is enabled.";
            return Err(SqlError::new(6037, text));
        }
        Ok(select)
    }

    fn group_by(&mut self, select: &mut Select) -> Result<()> {
        if self.is("CUBE") || self.are(&["GROUPING", "SETS"]) {
            return Err(SqlError::not_supported(format!("GROUP BY {}", self.upper())));
        }
        if self.is("ROLLUP") && self.symbol_ahead(1, "(") {
            self.advance();
            select.rollup = true;
            select.group_by = self.parenthesized(Self::expr)?;
            return Ok(());
        }
        // Statements of older servers may have ASC and DESC here.
        let may_order = self.mode.of_source;
        select.group_by = self.list(|parser| match may_order {
            true => parser.order_item().map(|item| item.expr),
            false => parser.expr(),
        })?;
        select.rollup = self.eat_all(&["WITH", "ROLLUP"]);
        Ok(())
    }

    fn select_options(&mut self, select: &mut Select) -> Result<()> {
        loop {
            if self.eat_any(&["DISTINCT", "DISTINCTROW"]) {
                select.distinct = true;
            } else if self.eat("SQL_CALC_FOUND_ROWS") {
                select.calc_found_rows = true;
                self.warn_of_calc_found_rows();
            } else if self.eat("STRAIGHT_JOIN") {
                select.straight = true;
            } else if self.eat("HIGH_PRIORITY") {
                select.words.high_priority = true;
            } else if self.eat("SQL_SMALL_RESULT") {
                select.words.small_result = true;
            } else if self.eat("SQL_BIG_RESULT") {
                select.words.big_result = true;
            } else if self.eat("SQL_BUFFER_RESULT") {
                select.words.buffer_result = true;
            } else if self.eat("SQL_NO_CACHE") {
                self.warn_of_no_cache();
            } else if !self.eat("ALL") {
                return Ok(());
            }
        }
    }

    /// Reads `*`, `t.*` or an expression.
    fn select_item(&mut self) -> Result<SelectItem> {
        if self.eat_symbol("*") {
            return Ok(SelectItem::All);
        }
        if self.is_name()
            && self.symbol_ahead(1, ".")
            && self.symbol_ahead(3, ".")
            && self.symbol_ahead(4, "*")
        {
            let schema = Some(self.name()?);
            self.advance();
            let table = self.any_name()?;
            self.at += 2;
            return Ok(SelectItem::AllOf { schema, table });
        }
        if self.is_name() && self.symbol_ahead(1, ".") && self.symbol_ahead(2, "*") {
            let table = self.name()?;
            self.at += 2;
            return Ok(SelectItem::AllOf { schema: None, table });
        }
        let (first, start) = (self.at, self.token().start as usize);
        let expr = self.expr()?;
        let end = self.tokens[self.at - 1].end as usize;
        let alias = self.select_alias()?;
        let first_text;
        let text = match &expr {
            Expr::Literal(crate::ast::Literal::Text(..)) => {
                // Of texts that are written one behind the other, the first one is the name.
                let mut tokens = self.tokens[first..self.at].iter();
                let text = tokens.find(|token| token.kind == TokenKind::Text);
                first_text = text.map_or(Vec::new(), |text| lexer::unquote(self.raw(*text), self.mode, true));
                &first_text
            }
            _ => &self.text[start..end],
        };
        // The text only serves to name the column.
        let text = String::from_utf8_lossy(&text[..text.len().min(MOST_NAMING_BYTES)]).into_owned();
        Ok(SelectItem::Expr { expr, alias, text })
    }

    /// Reads the alias of a column and cuts it where MySQL does, which is later than the limit of
    /// other names.
    fn select_alias(&mut self) -> Result<Option<String>> {
        const MOST_BYTES: usize = 256;
        let is_written = self.eat("AS") || self.is_name() || self.token().kind == TokenKind::Text;
        if !is_written {
            return Ok(None);
        }
        let mut alias = match self.token().kind {
            TokenKind::Text => self.string()?,
            _ => self.word()?,
        };
        alias.truncate(alias.floor_char_boundary(MOST_BYTES));
        alias.shrink_to_fit();
        Ok(Some(alias))
    }

    pub(super) fn table_references(&mut self) -> Result<TableRef> {
        let mut left = self.table_reference()?;
        while self.eat_symbol(",") {
            let right = self.table_reference()?;
            left = join(JoinKind::Inner, left, right, None);
            self.highest += 1;
            self.check_height(self.highest)?;
        }
        Ok(left)
    }

    /// Reads one table factor with the joins behind it.
    pub(super) fn table_reference(&mut self) -> Result<TableRef> {
        let mut left = self.table_factor()?;
        while let Some((kind, natural)) = self.join_words()? {
            let right = self.table_factor()?;
            let mut on = None;
            let mut using = Vec::new();
            if !natural && self.eat("ON") {
                on = Some(self.expr()?);
            } else if !natural && self.eat("USING") {
                using = self.parenthesized(Self::name)?;
            } else if !natural && matches!(kind, JoinKind::Left | JoinKind::Right) {
                return Err(self.error());
            }
            left = TableRef::Join { kind, left: Box::new(left), right: Box::new(right), on, using, natural };
            self.highest += 1;
            self.check_height(self.highest)?;
        }
        Ok(left)
    }

    fn join_words(&mut self) -> Result<Option<(JoinKind, bool)>> {
        let natural = self.eat("NATURAL");
        let kind = if self.eat("LEFT") || self.eat("RIGHT") {
            let left = self.token_is(self.tokens[self.at - 1], "LEFT");
            self.eat("OUTER");
            self.expect("JOIN")?;
            if left { JoinKind::Left } else { JoinKind::Right }
        } else if self.eat("INNER") || self.eat("CROSS") {
            self.expect("JOIN")?;
            JoinKind::Inner
        } else if !natural && self.eat("STRAIGHT_JOIN") {
            JoinKind::Straight
        } else if self.eat("JOIN") {
            JoinKind::Inner
        } else if natural {
            return Err(self.error());
        } else {
            return Ok(None);
        };
        Ok(Some((kind, natural)))
    }

    fn table_factor(&mut self) -> Result<TableRef> {
        self.enter()?;
        let factor = self.table_factor_inner();
        self.leave();
        factor
    }

    fn table_factor_inner(&mut self) -> Result<TableRef> {
        if self.is("JSON_TABLE") && self.symbol_ahead(1, "(") {
            self.count_table()?;
            return self.json_table();
        }
        let lateral = self.eat("LATERAL");
        if lateral && !self.is_symbol("(") {
            return Err(self.error());
        }
        if self.is_symbol("(") {
            let mut ahead = 1;
            while self.symbol_ahead(ahead, "(") {
                ahead += 1;
            }
            let is_query = self.query_follows(ahead) && !self.derived_table_follows(ahead);
            self.advance();
            if !is_query && lateral {
                return Err(self.error());
            }
            if !is_query {
                let inside = self.table_references()?;
                self.expect_symbol(")")?;
                return Ok(inside);
            }
            self.count_table()?;
            let query = Box::new(self.query()?);
            self.expect_symbol(")")?;
            self.eat("AS");
            if !self.is_name() {
                return Err(SqlError::new(1248, "Every derived table must have its own alias"));
            }
            let alias = self.name()?;
            let columns = if self.is_symbol("(") { self.parenthesized(Self::name)? } else { Vec::new() };
            return Ok(TableRef::Derived { query, lateral, alias, columns });
        }
        self.count_table()?;
        let name = self.table_name()?;
        let partitions = self.partition_selection()?;
        let system_time = self.system_time()?;
        let alias = match self.eat("AS") || self.is_name() {
            true if self.token().kind == TokenKind::Text => Some(self.string()?),
            true => Some(self.name()?),
            false => None,
        };
        let mut hints = Vec::new();
        while let Some(hint) = self.index_hint()? {
            hints.push(hint);
        }
        Ok(TableRef::Table { name, alias, partitions, hints, system_time })
    }

    /// Counts one more table of the present FROM.
    pub(super) fn count_table(&mut self) -> Result<()> {
        self.tables += 1;
        if self.tables > MOST_TABLES {
            return Err(SqlError::new(
                1116,
                format!("Too many tables; MySQL can only use {MOST_TABLES} tables in a join"),
            ));
        }
        Ok(())
    }

    fn index_hint(&mut self) -> Result<Option<IndexHint>> {
        let kind = match self.upper().as_str() {
            "USE" => IndexHintKind::Use,
            "FORCE" => IndexHintKind::Force,
            "IGNORE" => IndexHintKind::Ignore,
            _ => return Ok(None),
        };
        self.advance();
        if !self.eat_any(&["INDEX", "KEY"]) {
            return Err(self.error());
        }
        let purpose = match () {
            _ if !self.eat("FOR") => None,
            _ if self.eat("JOIN") => Some(IndexHintUse::Join),
            _ if self.eat_all(&["ORDER", "BY"]) => Some(IndexHintUse::Order),
            _ => {
                self.expect_all(&["GROUP", "BY"])?;
                Some(IndexHintUse::Group)
            }
        };
        self.expect_symbol("(")?;
        let mut indexes = Vec::new();
        // MariaDB takes an empty list for each kind.
        if !self.is_symbol(")") || (kind != IndexHintKind::Use && !self.mode.of_source) {
            indexes =
                self.list(|parser| if parser.is("PRIMARY") { parser.any_name() } else { parser.name() })?;
        }
        self.expect_symbol(")")?;
        Ok(Some(IndexHint { kind, purpose, indexes }))
    }
}

fn join(kind: JoinKind, left: TableRef, right: TableRef, on: Option<Expr>) -> TableRef {
    TableRef::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        on,
        using: Vec::new(),
        natural: false,
    }
}
