//! Parsing of expressions, by precedence climbing.

use super::{Parser, deprecated};
use crate::ast::{BinaryOp, Expr, Literal, Scope, TimeUnit, TruthValue, UnaryOp, Written};
use crate::error::{Result, SqlError};
use crate::lexer::{self, TokenKind};
use std::collections::HashSet;
use types::Zone;
use types::temporal::parse;

/// The strength with which an operator binds. A greater number binds more tightly. The order is
/// that of "Operator Precedence" in the manual.
mod power {
    pub const ASSIGN: u8 = 1;
    pub const OR: u8 = 2;
    pub const XOR: u8 = 3;
    pub const AND: u8 = 4;
    pub const NOT: u8 = 5;
    pub const COMPARE: u8 = 6;
    /// IN, LIKE and the like bind more tightly than comparisons: `1 = 2 IN (0)` is `1 = (2 IN
    /// (0))`.
    pub const PREDICATE: u8 = 7;
    pub const BIT_OR: u8 = 8;
    pub const BIT_AND: u8 = 9;
    pub const SHIFT: u8 = 10;
    pub const SUM: u8 = 11;
    pub const PRODUCT: u8 = 12;
    pub const BIT_XOR: u8 = 13;
    pub const UNARY: u8 = 14;
    pub const COLLATE: u8 = 16;
}

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Result<Expr> {
        self.expr_above(0)
    }

    /// Reads an expression of operators that bind more tightly than `least`.
    fn expr_above(&mut self, least: u8) -> Result<Expr> {
        self.enter()?;
        let others = std::mem::take(&mut self.highest);
        let expr = self.operators(least)?;
        self.highest = self.highest.max(others);
        self.leave();
        Ok(expr)
    }

    /// Reads an expression of operators that bind more tightly than `least`. Parentheses do not
    /// make the parser's recursion deeper, because the open ones are in a list. `highest` is 0
    /// before, and the height of the tree afterwards.
    fn operators(&mut self, mut least: u8) -> Result<Expr> {
        let mut open: Vec<OpenParenthesis> = Vec::new();
        loop {
            while self.is_symbol("(") && !self.query_follows(1) && !self.set_operation_follows() {
                self.advance();
                open.push(OpenParenthesis { least, items: Vec::new(), highest: 0 });
                least = 0;
            }
            self.highest = 0;
            let mut left = self.prefix()?;
            self.highest += 1;
            loop {
                left = self.infixes(left, least)?;
                let Some(inside) = open.last_mut() else { return Ok(left) };
                inside.highest = inside.highest.max(self.highest);
                if self.eat_symbol(",") {
                    inside.items.push(left);
                    least = 0;
                    break;
                }
                self.expect_symbol(")")?;
                let Some(mut closed) = open.pop() else { return Ok(left) };
                least = closed.least;
                if !closed.items.is_empty() {
                    closed.items.push(left);
                    left = Expr::Row(closed.items);
                    self.highest = closed.highest + 1;
                    self.check_height(self.highest)?;
                }
            }
        }
    }

    /// Reads the operators behind `left`. `highest` is the height of `left` before, and that of the
    /// result afterwards.
    fn infixes(&mut self, mut left: Expr, least: u8) -> Result<Expr> {
        while let Some((op, strength)) = self.infix() {
            if strength <= least {
                break;
            }
            // `a AND b AND c` is one node, however long the chain is.
            let extends = matches!((&left, op), (Expr::And(_), Infix::And) | (Expr::Or(_), Infix::Or));
            let height = std::mem::take(&mut self.highest);
            left = self.infix_expr(left, op, strength)?;
            self.highest = if extends { height.max(self.highest + 1) } else { height.max(self.highest) + 1 };
            self.check_height(self.highest)?;
        }
        Ok(left)
    }

    /// Reads an expression without comparisons and predicates.
    pub(super) fn bit_expr(&mut self) -> Result<Expr> {
        self.expr_above(power::PREDICATE)
    }

    fn prefix(&mut self) -> Result<Expr> {
        if self.eat("NOT") {
            let is_even = self.skip_pairs(|parser| parser.is("NOT"));
            let negated = Expr::Unary(UnaryOp::Not, Box::new(self.expr_above(power::NOT - 1)?));
            return Ok(if is_even { Expr::Unary(UnaryOp::Not, Box::new(negated)) } else { negated });
        }
        if self.token().kind == TokenKind::Symbol {
            let op = match self.raw(self.token()) {
                b"-" => Some(UnaryOp::Minus),
                b"+" => Some(UnaryOp::Plus),
                b"~" => Some(UnaryOp::BitNot),
                b"!" => Some(UnaryOp::Not),
                _ => None,
            };
            if let Some(op) = op {
                let operators = self.prefixes(op);
                let operand = Expr::Unary(op, Box::new(self.expr_above(power::UNARY)?));
                if op == UnaryOp::Not {
                    (0..operators).for_each(|_| self.warn_of_syntax("!", "NOT"));
                }
                return Ok(if operators.is_multiple_of(2) {
                    Expr::Unary(op, Box::new(operand))
                } else {
                    operand
                });
            }
        }
        if self.is("BINARY") {
            self.advance();
            let operand = Box::new(self.expr_above(power::UNARY)?);
            self.warn_of_syntax("BINARY expr", "CAST");
            return Ok(Expr::Unary(UnaryOp::Binary, operand));
        }
        self.primary()
    }

    /// Reads a prefix operator and returns how often it is written. Only `!` and `+` may be
    /// repeated. As in MySQL, `!!` without a space is one operator, which negates; for MariaDB it
    /// is two.
    // Its frame must not become a part of `prefix`, through which all expressions are read.
    #[inline(never)]
    fn prefixes(&mut self, op: UnaryOp) -> usize {
        let of_mariadb = self.mode.of_source && !self.mode.of_mysql;
        let repeated = match op {
            UnaryOp::Not => "!",
            UnaryOp::Plus => "+",
            _ => {
                self.advance();
                return 1;
            }
        };
        let mut operators = 0;
        while self.is_symbol(repeated) {
            operators += 1;
            let end = self.advance().end;
            let is_one = op == UnaryOp::Not && !of_mariadb && self.token().start == end;
            if is_one && self.is_symbol(repeated) {
                self.advance();
            }
        }
        operators
    }

    /// Skips repetitions of a prefix operator that has been read. Pairs of it have no effect, so
    /// that thousands of them are no deeper than one or two, as in MySQL. Returns whether the
    /// operator was written an even number of times.
    fn skip_pairs(&mut self, repeats: impl Fn(&Self) -> bool) -> bool {
        let mut is_even = false;
        while repeats(self) {
            self.advance();
            is_even = !is_even;
        }
        is_even
    }

    /// Returns the infix operator that follows here, without skipping it.
    fn infix(&self) -> Option<(Infix, u8)> {
        let token = self.token();
        match token.kind {
            TokenKind::Symbol => symbol_operator(self.raw(token), self.mode.pipes_as_concat),
            TokenKind::Word => word_operator(self.raw(token), |word| self.token_is(self.ahead(1), word)),
            _ => None,
        }
    }

    fn infix_expr(&mut self, left: Expr, op: Infix, strength: u8) -> Result<Expr> {
        match op {
            Infix::And | Infix::Or => {
                let written = self.advance();
                let right = self.expr_above(strength)?;
                if written.kind == TokenKind::Symbol {
                    match op {
                        Infix::And => self.warn_of_syntax("&&", "AND"),
                        _ => self.warn_of_syntax("|| as a synonym for OR", "OR"),
                    }
                }
                return Ok(match op {
                    Infix::And => Expr::and(left, right),
                    _ => Expr::or(left, right),
                });
            }
            Infix::Binary(op) => {
                self.advance();
                if strength == power::COMPARE {
                    let op_at = self.at - 1;
                    let all = self.is("ALL");
                    if all || (self.is_any(&["ANY", "SOME"]) && self.symbol_ahead(1, "(")) {
                        self.advance();
                        self.expect_symbol("(")?;
                        let query = Box::new(self.query()?);
                        self.expect_symbol(")")?;
                        if op == BinaryOp::NullSafeEqual {
                            self.at = op_at;
                            return Err(self.error());
                        }
                        return Ok(Expr::Quantified { op, all, operand: Box::new(left), query });
                    }
                }
                if matches!(op, BinaryOp::Add | BinaryOp::Subtract) && self.is_interval() {
                    let (amount, unit) = self.interval()?;
                    let subtract = op == BinaryOp::Subtract;
                    return Ok(Expr::DateAdd { date: Box::new(left), amount, unit, subtract });
                }
                let right = self.expr_above(strength)?;
                return Ok(Expr::Binary(op, Box::new(left), Box::new(right)));
            }
            Infix::Concat => {
                self.advance();
                let right = self.expr_above(strength)?;
                return Ok(Expr::call("concat", vec![left, right]));
            }
            Infix::Collate => {
                self.advance();
                let collation = self.string_or_name()?;
                return Ok(Expr::Collate { operand: Box::new(left), collation });
            }
            Infix::Assign => {
                self.advance();
                let Expr::UserVariable(name) = left else { return Err(self.error()) };
                return Ok(Expr::AssignVariable(name, Box::new(self.expr_above(power::ASSIGN - 1)?)));
            }
            Infix::Json => {
                if !matches!(left, Expr::Column { .. }) {
                    return Err(self.error());
                }
                let unquotes = self.is_symbol("->>");
                self.advance();
                let path = Expr::Literal(Literal::Text(self.text_literal()?, None));
                let extract = Expr::call("json_extract", vec![left, path]);
                return Ok(if unquotes { Expr::call("json_unquote", vec![extract]) } else { extract });
            }
            Infix::Is => return self.is_expr(left),
            Infix::Predicate => {}
        }
        let negated = self.eat("NOT");
        self.predicate(left, negated)
    }

    fn is_expr(&mut self, operand: Expr) -> Result<Expr> {
        self.expect("IS")?;
        let negated = self.eat("NOT");
        let operand = Box::new(operand);
        if self.eat("NULL") {
            return Ok(Expr::IsNull { negated, operand });
        }
        let value = match () {
            _ if self.eat("TRUE") => TruthValue::True,
            _ if self.eat("FALSE") => TruthValue::False,
            _ if self.eat("UNKNOWN") => TruthValue::Unknown,
            _ => return Err(self.error()),
        };
        Ok(Expr::IsTruth { negated, operand, value })
    }

    /// Reads BETWEEN, IN, LIKE, MEMBER OF, SOUNDS LIKE or REGEXP, with the operands behind it.
    fn predicate(&mut self, operand: Expr, negated: bool) -> Result<Expr> {
        let operand = Box::new(operand);
        if self.eat("BETWEEN") {
            let low = Box::new(self.bit_expr()?);
            self.expect("AND")?;
            let high = Box::new(self.expr_above(power::COMPARE)?);
            return Ok(Expr::Between { negated, operand, low, high });
        }
        if self.eat("IN") {
            self.expect_symbol("(")?;
            let is = if self.query_follows(0) || self.set_operation_is_next() {
                let query = Box::new(self.query()?);
                Expr::InQuery { negated, operand, query }
            } else {
                Expr::InList { negated, operand, list: self.list(Self::expr)? }
            };
            self.expect_symbol(")")?;
            return Ok(is);
        }
        if self.eat("LIKE") {
            let pattern = Box::new(self.bit_expr()?);
            let escape = if self.eat("ESCAPE") { Some(Box::new(self.bit_expr()?)) } else { None };
            return Ok(Expr::Like { negated, operand, pattern, escape });
        }
        if !negated && self.eat("MEMBER") {
            self.eat("OF");
            self.expect_symbol("(")?;
            let document = self.bit_expr()?;
            self.expect_symbol(")")?;
            return Ok(Expr::call("member of", vec![*operand, document]));
        }
        if !negated && self.eat_all(&["SOUNDS", "LIKE"]) {
            let other = self.bit_expr()?;
            let operands = [*operand, other].map(|text| Expr::call("soundex", vec![text]));
            let [left, right] = operands.map(Box::new);
            return Ok(Expr::Binary(BinaryOp::Equal, left, right));
        }
        if self.eat("REGEXP") || self.eat("RLIKE") {
            let pattern = Box::new(self.bit_expr()?);
            return Ok(Expr::Regexp { negated, operand, pattern });
        }
        Err(self.error())
    }

    pub(super) fn primary(&mut self) -> Result<Expr> {
        let token = self.token();
        match token.kind {
            TokenKind::Parameter if self.body.is_some() => Err(self.error()),
            TokenKind::Parameter => {
                self.advance();
                self.parameters += 1;
                Ok(Expr::Parameter(self.parameters - 1))
            }
            TokenKind::UserVariable => Ok(Expr::UserVariable(self.user_variable()?)),
            TokenKind::SystemVariable => {
                let (scope, name) = self.system_variable()?;
                // Only SET can name the scopes of kept values.
                match scope {
                    Scope::Persist => Err(SqlError::unknown_variable(&format!("persist.{name}"))),
                    Scope::PersistOnly => Err(SqlError::unknown_variable(&format!("persist_only.{name}"))),
                    scope => Ok(Expr::SystemVariable { scope, name }),
                }
            }
            TokenKind::Symbol if self.raw(token) == b"(" => self.query_in_parentheses(),
            TokenKind::Symbol if self.raw(token) == b"{" => self.odbc_escape(),
            TokenKind::Word | TokenKind::QuotedName => self.word_expr(),
            TokenKind::End | TokenKind::Symbol => Err(self.error()),
            _ => Ok(Expr::Literal(self.literal()?)),
        }
    }

    /// Reads a query in parentheses as an operand.
    #[inline(never)]
    fn query_in_parentheses(&mut self) -> Result<Expr> {
        self.expect_symbol("(")?;
        let query = self.query()?;
        self.expect_symbol(")")?;
        Ok(Expr::Subquery(Box::new(query)))
    }

    /// Reads an escape of ODBC: a date or a time such as `{d '2020-01-01'}`, or any other
    /// expression behind any other word, which means nothing. As in MySQL, a text that is no such
    /// date or time stays a text.
    #[inline(never)]
    fn odbc_escape(&mut self) -> Result<Expr> {
        self.expect_symbol("{")?;
        let word = self.any_name()?;
        let operand = self.expr()?;
        self.expect_symbol("}")?;
        let Expr::Literal(Literal::Text(text, None)) = operand else { return Ok(operand) };
        let date = || parse::datetime(&text).filter(|read| !read.trailing_garbage);
        let time = || parse::time(&text, Zone::UTC).filter(|read| !read.trailing_garbage);
        Ok(Expr::Literal(match word.to_ascii_lowercase().as_str() {
            "d" if date().is_some_and(|read| !read.has_time) => Literal::Date(text),
            "t" if time().is_some_and(|read| !read.value.out_of_range) => Literal::Time(text),
            "ts" if date().is_some_and(|read| read.has_time) => Literal::Timestamp(text),
            _ => Literal::Text(text, None),
        }))
    }

    /// Reads a text behind this introducer. In MariaDB's mode EMPTY_STRING_IS_NULL it is NULL if
    /// nothing is in its quotes; `x''` is not.
    fn text(&mut self, introducer: Option<String>) -> Result<Literal> {
        let bytes = self.text_literal()?;
        Ok(match bytes.is_empty() && self.mode.empty_is_null {
            true => Literal::Null,
            false => Literal::Text(bytes, introducer),
        })
    }

    pub(super) fn literal(&mut self) -> Result<Literal> {
        let token = self.token();
        let raw = self.raw(token);
        let digits = || String::from_utf8_lossy(raw).into_owned();
        let literal = match token.kind {
            TokenKind::Text => return self.text(None),
            TokenKind::Integer => match integer(raw) {
                Some(value) => Literal::Integer(value),
                None => Literal::Decimal(digits()),
            },
            TokenKind::Decimal => Literal::Decimal(digits()),
            TokenKind::Float => {
                let number: f64 = digits().parse().map_err(|_| self.error())?;
                if number.is_infinite() {
                    let text = format!("Illegal double '{}' value found during parsing", digits());
                    return Err(SqlError::new(1367, text));
                }
                Literal::Float(number, Written(digits()))
            }
            // MariaDB's X'...' is no number anywhere, other than its 0x....
            TokenKind::Hex if matches!(raw[0], b'x' | b'X') && self.mode.of_source && !self.mode.of_mysql => {
                Literal::HexText(lexer::number_bytes(raw, true))
            }
            TokenKind::Hex => Literal::Bytes(lexer::number_bytes(raw, true), None),
            TokenKind::Bits => Literal::Bits(lexer::number_bytes(raw, false)),
            _ => return Err(self.error()),
        };
        self.advance();
        Ok(literal)
    }

    /// Reads an expression that begins with a word: a literal, a function or a column.
    #[inline(never)]
    fn word_expr(&mut self) -> Result<Expr> {
        let token = self.token();
        let quoted = token.kind == TokenKind::QuotedName;
        if !quoted {
            let raw = self.raw(token);
            if raw.len() <= 8
                && let Some(expr) = self.word_literal()?
            {
                return Ok(expr);
            }
            if raw[0] == b'_' && self.ahead(1).kind == TokenKind::Text {
                let charset = self.word_text(token)?[1..].to_ascii_lowercase();
                self.hints.warnings.extend(deprecated::of_charset(&charset));
                self.advance();
                return Ok(Expr::Literal(self.text(Some(charset))?));
            }
            if raw[0] == b'_' && matches!(self.ahead(1).kind, TokenKind::Hex | TokenKind::Bits) {
                let charset = self.word_text(token)?[1..].to_ascii_lowercase();
                self.hints.warnings.extend(deprecated::of_charset(&charset));
                self.advance();
                return Ok(Expr::Literal(match self.literal()? {
                    Literal::Bytes(bytes, _) | Literal::Bits(bytes) | Literal::HexText(bytes) => {
                        Literal::Bytes(bytes, Some(charset))
                    }
                    other => other,
                }));
            }
            if let Some(expr) = self.special_function()? {
                return Ok(expr);
            }
        }
        if self.symbol_ahead(1, "(") && (quoted || super::function::may_be_function(self.raw(token))) {
            return self.function_call();
        }
        self.column()
    }

    /// Reads NULL, TRUE, FALSE, CASE, EXISTS, DATE '...' and the like. `None` if something else
    /// follows.
    fn word_literal(&mut self) -> Result<Option<Expr>> {
        let literal = match () {
            _ if self.eat("NULL") => Literal::Null,
            _ if self.eat("TRUE") => Literal::Bool(true),
            _ if self.eat("FALSE") => Literal::Bool(false),
            _ if self.is("CASE") => return self.case().map(Some),
            _ if self.is("EXISTS") => {
                self.advance();
                self.expect_symbol("(")?;
                let query = Box::new(self.query()?);
                self.expect_symbol(")")?;
                return Ok(Some(Expr::Exists(query)));
            }
            _ if self.is("DEFAULT") => return self.default().map(Some),
            _ if self.is_value_of_sequence() => return self.value_of_sequence().map(Some),
            _ if self.is("ROW") && self.symbol_ahead(1, "(") => {
                self.advance();
                return Ok(Some(Expr::Row(self.parenthesized(Self::expr)?)));
            }
            _ if self.is_interval() => {
                let (amount, unit) = self.interval()?;
                self.expect_symbol("+")?;
                let date = Box::new(self.expr_above(power::SUM)?);
                return Ok(Some(Expr::DateAdd { date, amount, unit, subtract: false }));
            }
            _ if self.ahead(1).kind == TokenKind::Text && self.is_any(&["DATE", "TIME"]) => {
                let is_date = self.is("DATE");
                self.advance();
                let text = self.text_literal()?;
                if is_date { Literal::Date(text) } else { Literal::Time(text) }
            }
            _ => return Ok(None),
        };
        Ok(Some(Expr::Literal(literal)))
    }

    fn default(&mut self) -> Result<Expr> {
        self.expect("DEFAULT")?;
        if !self.eat_symbol("(") {
            return Ok(Expr::Default);
        }
        let (mut schema, mut table, mut name) = (None, None, self.name()?);
        while self.eat_symbol(".") {
            schema = table.replace(name);
            name = self.any_name()?;
        }
        self.expect_symbol(")")?;
        Ok(Expr::DefaultOf(Box::new(Expr::Column { schema, table, name })))
    }

    /// Reads `[[schema.]table.]column` and returns the name of the column.
    pub(super) fn column_name_unqualified(&mut self) -> Result<String> {
        let mut name = self.name()?;
        while self.eat_symbol(".") {
            name = self.any_name()?;
        }
        Ok(name)
    }

    pub(super) fn column(&mut self) -> Result<Expr> {
        if self.body.is_some()
            && let Some(variable) = self.variable_of_body()?
        {
            return Ok(variable);
        }
        let first = self.name()?;
        if !self.eat_symbol(".") {
            return Ok(Expr::Column { schema: None, table: None, name: first });
        }
        let second = self.any_name()?;
        if self.is_symbol("(") {
            return self.qualified_call(first, second);
        }
        if !self.eat_symbol(".") {
            return Ok(Expr::Column { schema: None, table: Some(first), name: second });
        }
        Ok(Expr::Column { schema: Some(first), table: Some(second), name: self.any_name()? })
    }

    fn case(&mut self) -> Result<Expr> {
        self.expect("CASE")?;
        let operand = if self.is("WHEN") { None } else { Some(Box::new(self.expr()?)) };
        let mut whens = Vec::new();
        while self.eat("WHEN") {
            let when = self.expr()?;
            self.expect("THEN")?;
            whens.push((when, self.expr()?));
        }
        let otherwise = if self.eat("ELSE") { Some(Box::new(self.expr()?)) } else { None };
        self.expect("END")?;
        if whens.is_empty() {
            return Err(self.error());
        }
        Ok(Expr::Case { operand, whens, otherwise })
    }

    /// Reports whether INTERVAL of date arithmetic follows, not the function INTERVAL(a, b, c).
    pub(super) fn is_interval(&self) -> bool {
        self.is("INTERVAL") && !self.is_interval_function()
    }

    /// Reports whether the parentheses behind the word contain several arguments.
    fn is_interval_function(&self) -> bool {
        // The commas of a query do not separate arguments.
        if !self.symbol_ahead(1, "(") || self.query_follows(2) {
            return false;
        }
        self.lists.get_or_init(|| self.parentheses_with_commas()).contains(&(self.at + 1))
    }

    /// Returns the positions of the tokens that open parentheses with a comma of their own. They
    /// are found for the whole text at once, because nested INTERVALs would otherwise search the
    /// same tokens once for each level.
    fn parentheses_with_commas(&self) -> HashSet<usize> {
        let (mut open, mut found) = (Vec::new(), HashSet::new());
        for (at, token) in self.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Symbol)
        {
            match self.raw(*token) {
                b"(" => open.push(at),
                b")" => drop(open.pop()),
                b"," => found.extend(open.last()),
                _ => {}
            }
        }
        found
    }

    /// Reads `INTERVAL n unit`.
    pub(super) fn interval(&mut self) -> Result<(Box<Expr>, TimeUnit)> {
        self.expect("INTERVAL")?;
        let amount = Box::new(self.expr()?);
        Ok((amount, self.time_unit()?))
    }

    pub(super) fn time_unit(&mut self) -> Result<TimeUnit> {
        let word = self.upper();
        let unit = match word.strip_prefix("SQL_TSI_").unwrap_or(&word) {
            "MICROSECOND" => TimeUnit::Microsecond,
            "SECOND" => TimeUnit::Second,
            "MINUTE" => TimeUnit::Minute,
            "HOUR" => TimeUnit::Hour,
            "DAY" => TimeUnit::Day,
            "WEEK" => TimeUnit::Week,
            "MONTH" => TimeUnit::Month,
            "QUARTER" => TimeUnit::Quarter,
            "YEAR" => TimeUnit::Year,
            "SECOND_MICROSECOND" => TimeUnit::SecondMicrosecond,
            "MINUTE_MICROSECOND" => TimeUnit::MinuteMicrosecond,
            "MINUTE_SECOND" => TimeUnit::MinuteSecond,
            "HOUR_MICROSECOND" => TimeUnit::HourMicrosecond,
            "HOUR_SECOND" => TimeUnit::HourSecond,
            "HOUR_MINUTE" => TimeUnit::HourMinute,
            "DAY_MICROSECOND" => TimeUnit::DayMicrosecond,
            "DAY_SECOND" => TimeUnit::DaySecond,
            "DAY_MINUTE" => TimeUnit::DayMinute,
            "DAY_HOUR" => TimeUnit::DayHour,
            "YEAR_MONTH" => TimeUnit::YearMonth,
            _ => return Err(self.error()),
        };
        self.advance();
        Ok(unit)
    }

    /// Reads `@name` and returns it without the `@`, in lower case.
    pub(super) fn user_variable(&mut self) -> Result<String> {
        Ok(self.user_variable_as_written()?.to_lowercase())
    }

    /// Reads `@name` and returns the name in the case in which it is written.
    pub(super) fn user_variable_as_written(&mut self) -> Result<String> {
        let token = self.token();
        if token.kind != TokenKind::UserVariable {
            return Err(self.error());
        }
        let raw = &self.raw(token)[1..];
        let bytes = match raw.first() {
            Some(b'\'' | b'"') => lexer::unquote(raw, self.mode, true),
            Some(b'`') => lexer::unquote(raw, self.mode, false),
            _ => raw.to_vec(),
        };
        let name = String::from_utf8(bytes).map_err(|_| self.error())?;
        self.advance();
        Ok(name)
    }

    /// Reads `@@[global.|session.|...]name` and returns the name in lower case.
    pub(super) fn system_variable(&mut self) -> Result<(Scope, String)> {
        self.advance();
        let mut name = self.any_name()?.to_ascii_lowercase();
        let mut scope = Scope::Unwritten;
        if self.eat_symbol(".") {
            scope = match name.as_str() {
                "global" => Scope::Global,
                "session" | "local" => Scope::Session,
                "persist" => Scope::Persist,
                "persist_only" => Scope::PersistOnly,
                _ => return self.of_key_cache(&name).map(|name| (scope, name)),
            };
            name = self.any_name()?.to_ascii_lowercase();
            if self.eat_symbol(".") {
                name = self.of_key_cache(&name)?;
            }
        }
        Ok((scope, name))
    }

    /// Reads the part of `CACHE.NAME` behind the point: a parameter of a key cache. There is only
    /// one cache here, whatever its name.
    pub(super) fn of_key_cache(&mut self, cache: &str) -> Result<String> {
        const PARAMETERS: [&str; 4] = [
            "key_buffer_size",
            "key_cache_age_threshold",
            "key_cache_block_size",
            "key_cache_division_limit",
        ];
        let name = self.any_name()?.to_ascii_lowercase();
        match PARAMETERS.contains(&name.as_str()) {
            true => Ok(name),
            false => Err(crate::SqlError::unknown_variable(&format!("{cache}.{name}"))),
        }
    }
}

fn integer(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// A parenthesis that is open.
struct OpenParenthesis {
    /// The strength above which the operators around it have to bind.
    least: u8,
    /// The items before its commas.
    items: Vec<Expr>,
    /// The height of the highest tree in it so far.
    highest: usize,
}

/// The operation of an infix operator.
#[derive(Debug, Clone, Copy)]
enum Infix {
    And,
    Or,
    Binary(BinaryOp),
    Concat,
    Collate,
    Assign,
    Json,
    Is,
    /// BETWEEN, IN, LIKE, MEMBER OF, SOUNDS LIKE or REGEXP, with or without NOT.
    Predicate,
}

fn symbol_operator(symbol: &[u8], pipes_as_concat: bool) -> Option<(Infix, u8)> {
    use BinaryOp::*;
    let binary = |op, strength| Some((Infix::Binary(op), strength));
    match symbol {
        b"||" if pipes_as_concat => Some((Infix::Concat, power::BIT_XOR)),
        b"||" => Some((Infix::Or, power::OR)),
        b"&&" => Some((Infix::And, power::AND)),
        b":=" => Some((Infix::Assign, power::ASSIGN)),
        b"->" | b"->>" => Some((Infix::Json, power::COLLATE)),
        b"=" => binary(Equal, power::COMPARE),
        b"<=>" => binary(NullSafeEqual, power::COMPARE),
        b"<>" | b"!=" => binary(NotEqual, power::COMPARE),
        b"<" => binary(Less, power::COMPARE),
        b"<=" => binary(LessEqual, power::COMPARE),
        b">" => binary(Greater, power::COMPARE),
        b">=" => binary(GreaterEqual, power::COMPARE),
        b"|" => binary(BitOr, power::BIT_OR),
        b"&" => binary(BitAnd, power::BIT_AND),
        b"<<" => binary(ShiftLeft, power::SHIFT),
        b">>" => binary(ShiftRight, power::SHIFT),
        b"+" => binary(Add, power::SUM),
        b"-" => binary(Subtract, power::SUM),
        b"*" => binary(Multiply, power::PRODUCT),
        b"/" => binary(Divide, power::PRODUCT),
        b"%" => binary(Modulo, power::PRODUCT),
        b"^" => binary(BitXor, power::BIT_XOR),
        _ => None,
    }
}

fn word_operator(word: &[u8], next_is: impl Fn(&str) -> bool) -> Option<(Infix, u8)> {
    if word.len() > 7 {
        return None;
    }
    let is = |text: &str| word.eq_ignore_ascii_case(text.as_bytes());
    let predicates = ["BETWEEN", "IN", "LIKE", "REGEXP", "RLIKE"];
    match () {
        _ if is("AND") => Some((Infix::And, power::AND)),
        _ if is("OR") => Some((Infix::Or, power::OR)),
        _ if is("XOR") => Some((Infix::Binary(BinaryOp::Xor), power::XOR)),
        _ if is("DIV") => Some((Infix::Binary(BinaryOp::IntegerDivide), power::PRODUCT)),
        _ if is("MOD") => Some((Infix::Binary(BinaryOp::Modulo), power::PRODUCT)),
        _ if is("IS") => Some((Infix::Is, power::COMPARE)),
        _ if is("COLLATE") => Some((Infix::Collate, power::COLLATE)),
        _ if predicates.iter().any(|p| is(p)) => Some((Infix::Predicate, power::PREDICATE)),
        _ if is("SOUNDS") && next_is("LIKE") => Some((Infix::Predicate, power::PREDICATE)),
        _ if is("MEMBER") && next_is("OF") => Some((Infix::Predicate, power::PREDICATE)),
        _ if is("NOT") && predicates.iter().any(|p| next_is(p)) => Some((Infix::Predicate, power::PREDICATE)),
        _ => None,
    }
}
