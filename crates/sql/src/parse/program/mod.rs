//! Parsing of the body of a trigger, routine or event.
//!
//! One pass turns the body into a flat program (`ast::program::Program`): the statements of a block
//! are steps, and branches and loops are jumps whose targets are filled in when they are known. The
//! statements in between are read by the other grammar. A name that is declared as a variable means
//! that variable wherever an expression may stand.

mod blocks;
mod body;
mod conditions;
mod extent;
mod statements;

pub(in crate::parse) use blocks::BodyParser;
pub(in crate::parse) use body::Body;
pub(crate) use body::Owner;

use super::Parser;
use crate::ast::Target;
use crate::ast::program::{NamedVariable, Program};
use crate::ast::{Expr, RoutineParameter};
use crate::error::Result;
use crate::lexer::{LexMode, TokenKind, tokenize_program};

impl Parser<'_> {
    /// Skips the body that begins here.
    ///
    /// # Errors
    /// Returns the errors of a body that MySQL refuses. A body with statements that this server
    /// lacks is kept as text, and so is one that a source has sent.
    pub(super) fn program_body(&mut self, owner: &Owner, parameters: &str) -> Result<()> {
        if self.mode.of_source {
            return self.body_extent();
        }
        const NOT_SUPPORTED: u16 = 1235;
        let before = (self.at, self.depth, self.highest, self.hints.clone());
        let parameters = super::object::read_parameters(parameters, owner.kind, self.mode)?;
        match self.read_body(owner, &parameters) {
            Err(error) if error.code == NOT_SUPPORTED => {
                (self.at, self.depth, self.highest, self.hints) = before;
                self.body_extent()
            }
            read => read.map(|_| ()),
        }
    }

    fn read_body(&mut self, owner: &Owner, parameters: &[RoutineParameter]) -> Result<Program> {
        assert!(self.body.is_none(), "bodies are not within one another");
        self.body = Some(Box::new(Body::new(owner)));
        let read = BodyParser { parser: self }.whole(parameters);
        let body = self.body.take().expect("it was put there");
        read.map(|()| body.program)
    }

    /// Reads the name of a variable, or of a column of a trigger's row. `None` if something else
    /// follows, which is not read.
    pub(super) fn variable_of_body(&mut self) -> Result<Option<Expr>> {
        let token = self.token();
        if !matches!(token.kind, TokenKind::Word | TokenKind::QuotedName) {
            return Ok(None);
        }
        let name = self.word_text(token)?;
        let is_qualified = self.symbol_ahead(1, ".");
        let Some(body) = self.body.as_deref_mut() else { return Ok(None) };
        let is_row = body.trigger.is_some() && is_qualified;
        let (slot, tokens) = match () {
            _ if is_row && (name.eq_ignore_ascii_case("NEW") || name.eq_ignore_ascii_case("OLD")) => {
                let new = name.eq_ignore_ascii_case("NEW");
                body.check_row(new)?;
                let column = self.word_text(self.ahead(2))?;
                let body = self.body.as_deref_mut().expect("it is there");
                (body.column(new, &column), 3)
            }
            _ if is_qualified => return Ok(None),
            _ => match body.variable(&name) {
                Some(slot) => (slot, 1),
                None => return Ok(None),
            },
        };
        let end = self.ahead(tokens - 1).end as usize;
        let named = NamedVariable { start: token.start as usize, end, slot };
        self.body.as_deref_mut().expect("it is there").variables.push(named);
        self.at += tokens;
        Ok(Some(Expr::Parameter(slot)))
    }

    /// Reports whether the present SELECT, within a body, has had its INTO.
    pub(super) fn body_has_into(&self) -> bool {
        self.body.as_deref().is_some_and(|body| !body.into.is_empty())
    }

    /// Replaces the variables of the present SELECT's INTO, and returns the ones from before.
    /// Outside of a body there are none.
    pub(super) fn replace_into_of_body(&mut self, into: Vec<Target>) -> Vec<Target> {
        self.body.as_deref_mut().map_or_else(Vec::new, |body| std::mem::replace(&mut body.into, into))
    }

    /// Reads the variables behind INTO of a SELECT within a body.
    pub(super) fn variables_of_into(&mut self) -> Result<()> {
        let targets = self.list(|parser| BodyParser { parser }.target())?;
        let body = self.body.as_deref_mut().expect("it is asked before");
        body.into = targets;
        Ok(())
    }
}

/// Reads the body of a stored program that is kept as text.
///
/// # Errors
/// Returns 1064 and the errors of a body that MySQL refuses, and 1235 for statements that this
/// server lacks.
pub(crate) fn parse_body(
    text: &[u8],
    owner: &Owner,
    parameters: &[RoutineParameter],
    mode: LexMode,
) -> Result<Program> {
    let tokens = tokenize_program(text, mode)?;
    let mut parser = Parser::new(text, &tokens, None, mode);
    let program = parser.read_body(owner, parameters)?;
    let _ = parser.eat_symbol(";");
    if parser.at_end() { Ok(program) } else { Err(parser.error()) }
}
