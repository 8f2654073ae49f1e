//! One expression of a table's definition, compiled from its text.

use crate::bind::{Binder, Place, Scope};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::lexer::LexMode;
use crate::parse::parse_expression;

/// An expression, or why it cannot be computed.
pub(super) type Compiled = Result<Expr>;

/// Compiles the text of an expression over the columns of a scope; `whose` it is stands in the
/// error of one that cannot be computed here.
pub(crate) fn compile(binder: &mut Binder<'_>, scope: &Scope, text: &str, whose: &str) -> Compiled {
    let mut bind = || {
        let tree = parse_expression(text.as_bytes(), LexMode::default())?;
        binder.expr(&tree, &mut Place::new(scope, "expression"))
    };
    bind().map_err(|error| SqlError::not_supported(format!("the expression of {whose} ({})", error.message)))
}
