//! Parsing of windows, and of the functions over them.

use super::Parser;
use crate::ast::{
    Expr, FrameBound, FrameOffset, FunctionCall, Over, Window, WindowCall, WindowFrame, Written,
};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;

/// The functions that exist over windows only.
const ONLY_WINDOW_FUNCTIONS: &[&str] = &[
    "ROW_NUMBER",
    "RANK",
    "DENSE_RANK",
    "PERCENT_RANK",
    "CUME_DIST",
    "NTILE",
    "LAG",
    "LEAD",
    "FIRST_VALUE",
    "LAST_VALUE",
    "NTH_VALUE",
];

/// Reports whether a function exists over windows only. The word is in upper case.
pub(super) fn is_only_window_function(word: &str) -> bool {
    ONLY_WINDOW_FUNCTIONS.contains(&word)
}

impl Parser<'_> {
    /// Reads a call of a function that exists over windows only.
    pub(super) fn window_function(&mut self) -> Result<Expr> {
        let name = self.upper().to_ascii_lowercase();
        self.advance();
        self.expect_symbol("(")?;
        let mut args = Vec::new();
        match name.as_str() {
            "ntile" => args.push(self.stable_integer()?),
            "lag" | "lead" => {
                args.push(self.expr()?);
                if self.eat_symbol(",") {
                    args.push(self.stable_integer()?);
                    if self.eat_symbol(",") {
                        args.push(self.expr()?);
                    }
                }
            }
            "first_value" | "last_value" => args.push(self.expr()?),
            "nth_value" => {
                args.push(self.expr()?);
                self.expect_symbol(",")?;
                args.push(self.bit_expr()?);
            }
            _ => {}
        }
        self.expect_symbol(")")?;
        if name == "nth_value" && self.eat("FROM") && !self.eat("FIRST") {
            self.expect("LAST")?;
            return Err(SqlError::not_supported("FROM LAST"));
        }
        if matches!(name.as_str(), "lag" | "lead" | "first_value" | "last_value" | "nth_value")
            && self.is_any(&["IGNORE", "RESPECT"])
        {
            let ignores = self.eat("IGNORE");
            if !ignores {
                self.expect("RESPECT")?;
            }
            self.expect("NULLS")?;
            if ignores {
                return Err(SqlError::not_supported("IGNORE NULLS"));
            }
        }
        if !self.is("OVER") {
            return Err(self.error());
        }
        let written = Written(name.clone());
        self.over(FunctionCall {
            schema: None,
            name,
            written,
            args,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
        })
    }

    /// Reads a number, a parameter or a user variable.
    fn stable_integer(&mut self) -> Result<Expr> {
        match self.token().kind {
            TokenKind::Integer => Ok(Expr::Literal(self.literal()?)),
            TokenKind::Parameter | TokenKind::UserVariable => self.bit_expr(),
            TokenKind::Word | TokenKind::QuotedName if self.is_name() => {
                let name = self.name()?;
                Err(SqlError::new(1327, format!("Undeclared variable: {name}")))
            }
            _ => Err(self.error()),
        }
    }

    /// Returns the call of an aggregate, which is over a window if OVER follows.
    pub(super) fn maybe_over(&mut self, call: FunctionCall) -> Result<Expr> {
        if self.is("OVER") { self.over(call) } else { Ok(Expr::Function(Box::new(call))) }
    }

    fn over(&mut self, call: FunctionCall) -> Result<Expr> {
        self.expect("OVER")?;
        if call.name == "group_concat" {
            return Err(SqlError::not_supported("group_concat as window function"));
        }
        self.window_calls += 1;
        let over = match self.is_symbol("(") {
            true => Over::Window(Box::new(self.window()?)),
            false => Over::Name(self.name()?),
        };
        Ok(Expr::Window(Box::new(WindowCall { call, over })))
    }

    /// Reads `WINDOW name AS (...), ...`. Empty if something else follows.
    pub(super) fn named_windows(&mut self) -> Result<Vec<(String, Window)>> {
        if !self.eat("WINDOW") {
            return Ok(Vec::new());
        }
        self.list(|parser| {
            let name = parser.name()?;
            parser.expect("AS")?;
            Ok((name, parser.window()?))
        })
    }

    fn window(&mut self) -> Result<Window> {
        self.expect_symbol("(")?;
        let mut window = Window::default();
        if self.is_name() && !self.is("PARTITION") {
            window.base = Some(self.name()?);
        }
        if self.eat_all(&["PARTITION", "BY"]) {
            window.partition_by = self.list(|parser| parser.order_item().map(|item| item.expr))?;
        }
        window.order_by = self.order_by()?;
        if self.is("GROUPS") {
            return Err(SqlError::not_supported("GROUPS"));
        }
        if self.is_any(&["ROWS", "RANGE"]) {
            window.frame = Some(self.window_frame()?);
        }
        self.expect_symbol(")")?;
        Ok(window)
    }

    fn window_frame(&mut self) -> Result<WindowFrame> {
        let rows = self.eat("ROWS");
        if !rows {
            self.expect("RANGE")?;
        }
        let frame = if self.eat("BETWEEN") {
            let start = self.frame_bound(true)?;
            self.expect("AND")?;
            WindowFrame { rows, start, end: self.frame_bound(true)? }
        } else {
            WindowFrame { rows, start: self.frame_bound(false)?, end: FrameBound::CurrentRow }
        };
        if self.is("EXCLUDE") {
            return Err(SqlError::not_supported("EXCLUDE"));
        }
        Ok(frame)
    }

    /// Reads a bound of a frame. Only a frame with two bounds may reach beyond the current row
    /// (`may_follow`).
    fn frame_bound(&mut self, may_follow: bool) -> Result<FrameBound> {
        if self.eat("UNBOUNDED") {
            if may_follow && self.eat("FOLLOWING") {
                return Ok(FrameBound::UnboundedFollowing);
            }
            self.expect("PRECEDING")?;
            return Ok(FrameBound::UnboundedPreceding);
        }
        if self.eat_all(&["CURRENT", "ROW"]) {
            return Ok(FrameBound::CurrentRow);
        }
        let offset = match self.token().kind {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float => {
                FrameOffset { amount: Expr::Literal(self.literal()?), unit: None }
            }
            TokenKind::Parameter => FrameOffset { amount: self.bit_expr()?, unit: None },
            TokenKind::Word if self.is("INTERVAL") => {
                let (amount, unit) = self.interval()?;
                FrameOffset { amount: *amount, unit: Some(unit) }
            }
            _ => return Err(self.error()),
        };
        if may_follow && self.eat("FOLLOWING") {
            return Ok(FrameBound::Following(offset));
        }
        self.expect("PRECEDING")?;
        Ok(FrameBound::Preceding(offset))
    }
}
