//! Compiles one expression of a table's definition from its text.

use crate::bind::{Binder, Place, Scope};
use crate::error::{Result, SqlError};
use crate::expr::Expr;
use crate::lexer::LexMode;
use crate::parse::parse_expression;
use crate::plan::pad_columns;

/// A compiled expression, or the error that keeps it from being computed.
pub(super) type Compiled = Result<Expr>;

/// Compiles the text of an expression over the columns of a scope. `whose` names the owner of the
/// expression in the error text.
pub(crate) fn compile(binder: &mut Binder<'_>, scope: &Scope, text: &str, whose: &str) -> Compiled {
    let mut bind = || -> Compiled {
        let tree = parse_expression(text.as_bytes(), LexMode::default())?;
        let mut expr = binder.expr(&tree, &mut Place::new(scope, "expression"))?;
        if binder.variables.sql_mode.pad_char_to_full_length() {
            pad_columns(&mut expr);
        }
        Ok(expr)
    };
    bind().map_err(|error| SqlError::not_supported(format!("the expression of {whose} ({})", error.message)))
}
