//! Parsing of function calls, including those with a syntax of their own.

use super::counted::argument_counts;
use super::window::is_only_window_function;
use super::{Parser, reserved};
use crate::ast::{CastType, Expr, FunctionCall, Literal, Written};
use crate::error::Result;
use crate::lexer::TokenKind;

/// The reserved words that are functions when a parenthesis follows.
const RESERVED_FUNCTIONS: &[&str] = &[
    "CHAR",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "DATABASE",
    "GROUPING",
    "IF",
    "INSERT",
    "INTERVAL",
    "LEFT",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "MOD",
    "REPEAT",
    "REPLACE",
    "RIGHT",
    "SCHEMA",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
    "VALUES",
];

/// Reports whether a word with a parenthesis behind it is a call.
pub(super) fn may_be_function(word: &[u8]) -> bool {
    !reserved::is_reserved(word) || RESERVED_FUNCTIONS.iter().any(|f| word.eq_ignore_ascii_case(f.as_bytes()))
}

impl Parser<'_> {
    /// Reads a function whose arguments are not a plain list, or one without parentheses. `None` if
    /// something else follows.
    pub(super) fn special_function(&mut self) -> Result<Option<Expr>> {
        const NO_PARENTHESES: &[(&str, &str)] = &[
            ("CURRENT_TIMESTAMP", "now"),
            ("LOCALTIME", "now"),
            ("LOCALTIMESTAMP", "now"),
            ("CURRENT_DATE", "curdate"),
            ("CURRENT_TIME", "curtime"),
            ("UTC_TIMESTAMP", "utc_timestamp"),
            ("UTC_DATE", "utc_date"),
            ("UTC_TIME", "utc_time"),
            ("CURRENT_USER", "current_user"),
        ];
        if let Some((_, name)) = NO_PARENTHESES.iter().find(|(word, _)| self.is(word)) {
            self.advance();
            let args = match (self.is_symbol("("), *name) {
                (true, "current_user" | "curdate" | "utc_date") => self.counted_arguments(0, 0)?,
                (true, _) => self.counted_arguments(0, 1)?,
                (false, _) => Vec::new(),
            };
            return Ok(Some(Expr::call(name, args)));
        }
        if self.is("MATCH") {
            return self.match_against().map(Some);
        }
        if !self.symbol_ahead(1, "(") {
            if self.is("TIMESTAMP") && self.ahead(1).kind == TokenKind::Text {
                self.advance();
                return Ok(Some(Expr::Literal(Literal::Timestamp(self.text_literal()?))));
            }
            return Ok(None);
        }
        let word = self.upper();
        let expr = match word.as_str() {
            "CAST" => self.cast()?,
            "CONVERT" => self.convert()?,
            "SUBSTRING" | "SUBSTR" | "MID" => self.substring()?,
            "TRIM" => self.trim()?,
            "EXTRACT" => self.extract()?,
            "POSITION" => self.position()?,
            "VALUES" => {
                self.call_start();
                let name = self.column_name_unqualified()?;
                self.expect_symbol(")")?;
                Expr::Values(name)
            }
            "DATE_ADD" | "DATE_SUB" | "ADDDATE" | "SUBDATE" => {
                self.date_add(word.ends_with("SUB") || word == "SUBDATE")?
            }
            "TIMESTAMPDIFF" | "TIMESTAMPADD" => self.timestamp_function(word == "TIMESTAMPADD")?,
            "GROUP_CONCAT" => self.group_concat()?,
            "COUNT" | "SUM" | "AVG" | "MIN" | "MAX" | "BIT_XOR" | "BIT_AND" | "BIT_OR" | "STD" | "STDDEV"
            | "STDDEV_POP" | "STDDEV_SAMP" | "VARIANCE" | "VAR_POP" | "VAR_SAMP" | "ST_COLLECT" => {
                self.aggregate()?
            }
            "JSON_ARRAYAGG" | "JSON_OBJECTAGG" => self.json_aggregate()?,
            "CHAR" => self.char_function()?,
            _ if is_only_window_function(&word) => self.window_function()?,
            "JSON_VALUE" => self.json_value()?,
            "GET_FORMAT" => self.get_format()?,
            "WEIGHT_STRING" => self.weight_string()?,
            _ => return Ok(None),
        };
        Ok(Some(expr))
    }

    /// Skips the name and the opening parenthesis.
    pub(super) fn call_start(&mut self) {
        self.advance();
        self.advance();
    }

    /// Reads `(a, b, ...)`, which may be empty.
    fn arguments(&mut self) -> Result<Vec<Expr>> {
        self.expect_symbol("(")?;
        if self.eat_symbol(")") {
            return Ok(Vec::new());
        }
        let args = self.list(Self::expr)?;
        self.expect_symbol(")")?;
        Ok(args)
    }

    pub(super) fn function_call(&mut self) -> Result<Expr> {
        let is_word = self.token().kind != TokenKind::QuotedName;
        let name = self.any_name()?;
        let mode = self.mode;
        // A source logs a program's variable so, whose empty text is none of NULL in any mode.
        self.mode.empty_is_null &= !name.eq_ignore_ascii_case("name_const");
        let args = match argument_counts(&name).filter(|_| is_word) {
            Some((least, most)) => self.counted_arguments(least, most)?,
            None => self.arguments()?,
        };
        self.mode = mode;
        if name.eq_ignore_ascii_case("found_rows") {
            self.warn_of_found_rows();
        }
        Ok(Expr::call_as_written(&name, args))
    }

    /// Reads the rest of a call of a stored function, behind its schema and name.
    pub(super) fn qualified_call(&mut self, schema: String, name: String) -> Result<Expr> {
        Ok(Expr::Function(Box::new(FunctionCall {
            schema: Some(schema),
            written: Written(name.clone()),
            name,
            args: self.arguments()?,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
        })))
    }

    fn aggregate(&mut self) -> Result<Expr> {
        let name = self.upper().to_ascii_lowercase();
        self.call_start();
        let mut call = FunctionCall {
            schema: None,
            written: Written(name.clone()),
            name,
            args: Vec::new(),
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
        };
        if call.name == "count" && self.eat_symbol("*") {
            call.star = true;
        } else {
            let may_be_distinct =
                matches!(&*call.name, "count" | "sum" | "avg" | "min" | "max" | "st_collect");
            call.distinct = may_be_distinct && self.eat("DISTINCT");
            self.eat("ALL");
            // Only with DISTINCT, as in COUNT(DISTINCT a, b), may there be several arguments.
            call.args = if call.distinct { self.list(Self::expr)? } else { vec![self.expr()?] };
        }
        self.expect_symbol(")")?;
        self.maybe_over(call)
    }

    fn json_aggregate(&mut self) -> Result<Expr> {
        let name = self.upper();
        self.call_start();
        let mut args = vec![self.expr()?];
        if name == "JSON_OBJECTAGG" {
            self.expect_symbol(",")?;
            args.push(self.expr()?);
        }
        self.expect_symbol(")")?;
        self.maybe_over(FunctionCall::plain(&name, args))
    }

    fn group_concat(&mut self) -> Result<Expr> {
        self.call_start();
        let distinct = self.eat("DISTINCT");
        let args = self.list(Self::expr)?;
        let order_by = if self.eat_all(&["ORDER", "BY"]) { self.list(Self::order_item)? } else { Vec::new() };
        let separator = if self.eat("SEPARATOR") { Some(self.text_literal()?) } else { None };
        self.expect_symbol(")")?;
        let name = "group_concat".to_owned();
        self.maybe_over(FunctionCall {
            schema: None,
            written: Written(name.clone()),
            name,
            args,
            star: false,
            distinct,
            order_by,
            separator,
        })
    }

    fn cast(&mut self) -> Result<Expr> {
        self.call_start();
        let operand = Box::new(self.expr()?);
        self.expect("AS")?;
        let ty = self.cast_type()?;
        let is_array = self.eat("ARRAY");
        self.expect_symbol(")")?;
        Ok(if is_array { Expr::CastArray { operand, ty } } else { Expr::Cast { operand, ty } })
    }

    fn convert(&mut self) -> Result<Expr> {
        self.call_start();
        let operand = Box::new(self.expr()?);
        let expr = if self.eat("USING") {
            Expr::ConvertUsing { operand, charset: self.charset_name()? }
        } else {
            self.expect_symbol(",")?;
            Expr::Cast { operand, ty: self.cast_type()? }
        };
        self.expect_symbol(")")?;
        Ok(expr)
    }

    /// Reads `(n)`. `None` if it is not written.
    fn optional_length(&mut self) -> Result<Option<u64>> {
        if !self.eat_symbol("(") {
            return Ok(None);
        }
        let length = self.unsigned()?;
        self.expect_symbol(")")?;
        Ok(Some(length))
    }

    pub(super) fn cast_type(&mut self) -> Result<CastType> {
        let word = self.upper();
        self.advance();
        Ok(match word.as_str() {
            "SIGNED" | "UNSIGNED" => {
                let _ = self.eat_any(&["INTEGER", "INT"]);
                if word == "SIGNED" { CastType::Signed } else { CastType::Unsigned }
            }
            "CHAR" | "CHARACTER" | "NCHAR" | "VARCHAR" => {
                let length = self.optional_length()?;
                let charset = match () {
                    _ if self.eat_charset_word() => Some(self.charset_name()?),
                    _ if word == "NCHAR" => Some("utf8mb3".to_owned()),
                    _ if self.eat("ASCII") => Some("latin1".to_owned()),
                    _ if self.eat("UNICODE") => Some("ucs2".to_owned()),
                    _ => None,
                };
                match charset.map(|name| name.to_ascii_lowercase()) {
                    Some(charset) if charset == "binary" => CastType::Binary { length },
                    charset => CastType::Char { length, charset },
                }
            }
            "BINARY" => CastType::Binary { length: self.optional_length()? },
            "DECIMAL" | "DEC" => {
                let (mut precision, mut scale) = (10, 0);
                if self.eat_symbol("(") {
                    precision = self.unsigned()?;
                    if self.eat_symbol(",") {
                        scale = self.unsigned()?;
                    }
                    self.expect_symbol(")")?;
                }
                CastType::Decimal { precision, scale }
            }
            "DOUBLE" => {
                self.eat("PRECISION");
                CastType::Double
            }
            "REAL" if self.mode.real_as_float => CastType::Float,
            "REAL" => CastType::Double,
            "FLOAT" => match self.optional_length()? {
                Some(25..) => CastType::Double,
                _ => CastType::Float,
            },
            "DATE" => CastType::Date,
            "TIME" => CastType::Time { fsp: self.fsp()? },
            "DATETIME" => CastType::DateTime { fsp: self.fsp()? },
            "YEAR" => CastType::Year,
            "JSON" => CastType::Json,
            _ => {
                self.at -= 1;
                return Err(self.error());
            }
        })
    }

    pub(super) fn fsp(&mut self) -> Result<u8> {
        match self.optional_length()? {
            None => Ok(0),
            Some(digits @ 0..=6) => Ok(digits as u8),
            Some(digits) => Err(crate::SqlError::new(
                1426,
                format!("Too-big precision {digits} specified for 'CAST'. Maximum is 6."),
            )),
        }
    }

    fn substring(&mut self) -> Result<Expr> {
        self.call_start();
        let mut args = vec![self.expr()?];
        if self.eat("FROM") {
            args.push(self.expr()?);
            if self.eat("FOR") {
                args.push(self.expr()?);
            }
        } else {
            self.expect_symbol(",")?;
            args.push(self.expr()?);
            if self.eat_symbol(",") {
                args.push(self.expr()?);
            }
        }
        self.expect_symbol(")")?;
        Ok(Expr::call("substring", args))
    }

    fn trim(&mut self) -> Result<Expr> {
        self.call_start();
        let mut says_both = false;
        let (leading, trailing) = match () {
            _ if self.eat("LEADING") => (true, false),
            _ if self.eat("TRAILING") => (false, true),
            _ => {
                says_both = self.eat("BOTH");
                (true, true)
            }
        };
        let mut remove = None;
        let operand;
        if self.eat("FROM") {
            operand = self.expr()?;
        } else {
            let first = self.expr()?;
            if self.eat("FROM") {
                remove = Some(Box::new(first));
                operand = self.expr()?;
            } else {
                operand = first;
            }
        }
        self.expect_symbol(")")?;
        Ok(Expr::Trim { leading, trailing, says_both, remove, operand: Box::new(operand) })
    }

    fn extract(&mut self) -> Result<Expr> {
        self.call_start();
        let unit = self.time_unit()?;
        self.expect("FROM")?;
        let operand = Box::new(self.expr()?);
        self.expect_symbol(")")?;
        Ok(Expr::Extract { unit, operand })
    }

    /// Reads `POSITION(a IN b)`. `a` is a bit expression, so that IN is not taken for the
    /// predicate.
    fn position(&mut self) -> Result<Expr> {
        self.call_start();
        let needle = self.bit_expr()?;
        self.expect("IN")?;
        let haystack = self.expr()?;
        self.expect_symbol(")")?;
        Ok(Expr::call("locate", vec![needle, haystack]))
    }

    fn date_add(&mut self, subtract: bool) -> Result<Expr> {
        self.call_start();
        let date = Box::new(self.expr()?);
        self.expect_symbol(",")?;
        let (amount, unit) = if self.is_interval() {
            self.interval()?
        } else {
            (Box::new(self.expr()?), crate::ast::TimeUnit::Day)
        };
        self.expect_symbol(")")?;
        Ok(Expr::DateAdd { date, amount, unit, subtract })
    }

    fn timestamp_function(&mut self, add: bool) -> Result<Expr> {
        self.call_start();
        let unit = self.time_unit()?;
        self.expect_symbol(",")?;
        let first = Box::new(self.expr()?);
        self.expect_symbol(",")?;
        let second = Box::new(self.expr()?);
        self.expect_symbol(")")?;
        Ok(Expr::TimestampFunction { add, unit, first, second })
    }
}
