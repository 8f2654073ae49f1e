//! Parsing of the INTO clause of a SELECT: user variables and files.

use super::Parser;

use crate::ast::{Outfile, SelectInto, Target, TextFormat};
use crate::error::{Result, SqlError};
use crate::lexer::TokenKind;

/// The INTO of the queries around one that is being read.
pub(super) struct AroundInto {
    into: Option<SelectInto>,
    /// The variables of a stored program.
    of_body: Vec<Target>,
}

impl Parser<'_> {
    /// Reads INTO if it follows here. INTO is misplaced if there are more than `queries` queries
    /// around this place.
    pub(super) fn eat_into(&mut self, queries: usize) -> Result<()> {
        if !self.is("INTO") {
            return Ok(());
        }
        if self.queries > queries {
            return Err(misplaced_into());
        }
        if self.has_into() {
            return Err(SqlError::new(3953, "Multiple INTO clauses in one query block."));
        }
        self.advance();
        if self.body.is_some() && !self.is_any(&["OUTFILE", "DUMPFILE"]) {
            return self.variables_of_into();
        }
        self.into = Some(match () {
            _ if self.eat("OUTFILE") => SelectInto::Outfile(self.outfile()?),
            _ if self.eat("DUMPFILE") => SelectInto::Dumpfile(self.text_literal()?),
            _ => SelectInto::Variables(self.list(Self::variable_to_set)?),
        });
        Ok(())
    }

    /// Reports whether the present query has had its INTO.
    pub(super) fn has_into(&self) -> bool {
        self.into.is_some() || self.body_has_into()
    }

    /// Lays the INTO of the queries around aside before a query within them is read, since INTO may
    /// stand before FROM. `None` means that there are no queries around this place.
    pub(super) fn lay_into_aside(&mut self) -> Option<AroundInto> {
        if self.queries == 0 {
            return None;
        }
        Some(AroundInto { into: self.into.take(), of_body: self.replace_into_of_body(Vec::new()) })
    }

    /// Makes what [`Parser::lay_into_aside`] returned the present INTO again.
    pub(super) fn take_into_up(&mut self, around: AroundInto) {
        self.into = around.into;
        self.replace_into_of_body(around.of_body);
    }

    fn variable_to_set(&mut self) -> Result<String> {
        match self.token().kind {
            TokenKind::UserVariable => self.user_variable(),
            _ => {
                let name = self.name()?;
                Err(SqlError::new(1327, format!("Undeclared variable: {name}")))
            }
        }
    }

    fn outfile(&mut self) -> Result<Outfile> {
        let path = self.text_literal()?;
        let charset = match self.eat_charset_word() {
            true => Some(self.charset_name()?),
            false => None,
        };
        let format = self.text_format()?;
        if format.enclosed.len() > 1 || format.escaped.as_ref().is_some_and(|escaped| escaped.len() > 1) {
            return Err(wrong_separator());
        }
        Ok(Outfile { path, charset, format })
    }

    /// Reads the FIELDS and LINES clauses if they follow here.
    pub(super) fn text_format(&mut self) -> Result<TextFormat> {
        let mut format = TextFormat::default();
        if self.eat_any(&["FIELDS", "COLUMNS"]) {
            self.fields(&mut format)?;
        }
        if self.eat("LINES") {
            self.lines(&mut format)?;
        }
        Ok(format)
    }

    fn fields(&mut self, format: &mut TextFormat) -> Result<()> {
        let first = self.at;
        loop {
            if self.eat_all(&["TERMINATED", "BY"]) {
                format.between_fields = self.text_or_bytes()?;
            } else if self.are(&["OPTIONALLY", "ENCLOSED", "BY"]) || self.are(&["ENCLOSED", "BY"]) {
                format.optionally = self.eat("OPTIONALLY");
                self.expect_all(&["ENCLOSED", "BY"])?;
                format.enclosed = self.text_or_bytes()?;
            } else if self.eat_all(&["ESCAPED", "BY"]) {
                format.escaped = Some(self.text_or_bytes()?);
            } else {
                return if self.at > first { Ok(()) } else { Err(self.error()) };
            }
        }
    }

    fn lines(&mut self, format: &mut TextFormat) -> Result<()> {
        let first = self.at;
        loop {
            if self.eat_all(&["STARTING", "BY"]) {
                format.before_line = self.text_or_bytes()?;
            } else if self.eat_all(&["TERMINATED", "BY"]) {
                format.behind_line = self.text_or_bytes()?;
            } else {
                return if self.at > first { Ok(()) } else { Err(self.error()) };
            }
        }
    }
}

/// Builds error 1083, because quotes and escape characters are one byte each.
fn wrong_separator() -> SqlError {
    SqlError::new(1083, "Field separator argument is not what is expected; check the manual")
}

/// Builds error 3954 (`ER_MISPLACED_INTO`).
pub(super) fn misplaced_into() -> SqlError {
    let text = "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.";
    SqlError::new(3954, text)
}
