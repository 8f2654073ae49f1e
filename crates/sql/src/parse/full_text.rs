//! MATCH ... AGAINST.

use super::Parser;
use crate::ast::{Expr, Match, SearchMode};
use crate::error::Result;

impl Parser<'_> {
    /// `MATCH columns AGAINST (text [mode])`; the columns may stand in parentheses.
    pub(super) fn match_against(&mut self) -> Result<Expr> {
        self.expect("MATCH")?;
        let columns = match self.eat_symbol("(") {
            true => {
                let columns = self.list(Self::searched_column)?;
                self.expect_symbol(")")?;
                columns
            }
            false => self.list(Self::searched_column)?,
        };
        self.expect("AGAINST")?;
        self.expect_symbol("(")?;
        let text = self.bit_expr()?;
        let mode = match () {
            _ if self.eat_all(&["IN", "BOOLEAN", "MODE"]) => SearchMode::Boolean,
            _ => {
                self.eat_all(&["IN", "NATURAL", "LANGUAGE", "MODE"]);
                match self.eat_all(&["WITH", "QUERY", "EXPANSION"]) {
                    true => SearchMode::Expanded,
                    false => SearchMode::NaturalLanguage,
                }
            }
        };
        self.expect_symbol(")")?;
        Ok(Expr::Match(Box::new(Match { columns, text, mode })))
    }

    fn searched_column(&mut self) -> Result<Expr> {
        match self.column()? {
            column @ Expr::Column { .. } => Ok(column),
            _ => Err(self.error()),
        }
    }
}
