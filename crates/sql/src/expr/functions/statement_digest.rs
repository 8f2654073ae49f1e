//! STATEMENT_DIGEST() and STATEMENT_DIGEST_TEXT().

use super::super::node::Node;
use super::{Call, Coercibility, Expr, Function, old_system_text, text};
use crate::digest::Digest;
use crate::error::{Result, SqlError};
use crate::host::VariableScope;
use types::{ColumnType, Value, collation};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("statement_digest", 1..=1, old_system_text::<64>, |call| {
        digest(call).map(|digest| text(digest.hash()))
    }),
    Function::new("statement_digest_text", 1..=1, digest_text, |call| {
        digest(call).map(|digest| text(digest.text))
    }),
];

fn digest_text(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::longtext(collation::UTF8MB3_GENERAL_CI), Coercibility::SystemConstant))
}

/// Returns the digest of the statement that the argument holds.
///
/// # Errors
/// Returns 3987 for binary text, and 3676 or 3677 for a text that is not one statement. The error
/// of the parser is told of a literal only, since a text that comes from elsewhere may be secret.
fn digest(call: &Call<'_>) -> Result<Digest> {
    if call.is_binary(0) {
        return Err(SqlError::new(
            3987,
            format!("The function {} does not support the character set 'binary'.", call.name),
        ));
    }
    let statement = call.bytes(0);
    call.check_room(statement.len())?;
    let mode = call.ctx.variables.lex_mode();
    check(&statement, call).map_err(|error| match &call.args[0].node {
        Node::Constant(_) => SqlError::new(
            3676,
            format!("Could not parse argument to digest function: \"{}\".", error.message),
        ),
        _ => SqlError::new(3677, "Could not parse argument to digest function."),
    })?;
    let most_bytes = match call.ctx.host.variable(VariableScope::Global, "max_digest_length")? {
        Some(Value::UInt(bytes)) => bytes as usize,
        Some(Value::Int(bytes)) => usize::try_from(bytes).unwrap_or(0),
        _ => 0,
    };
    Ok(Digest::of(&statement, mode, most_bytes))
}

/// Checks that a text is one statement.
fn check(statement: &[u8], call: &Call<'_>) -> Result<()> {
    let mode = call.ctx.variables.lex_mode();
    let mut charge = crate::memory::Charge::new(call.ctx.memory);
    let parsed = crate::parse::parse_watched(statement, mode, &mut |bytes| charge.add(bytes))?
        .ok_or_else(|| SqlError::new(1065, "Query was empty"))?;
    if parsed.parameters > 0 {
        let at = statement.iter().position(|byte| *byte == b'?').unwrap_or(0);
        return Err(crate::lexer::syntax_error(&statement[..parsed.end], at));
    }
    match statement[parsed.next..].iter().any(|byte| !byte.is_ascii_whitespace()) {
        true => Err(crate::lexer::syntax_error_after(statement, parsed.next)),
        false => Ok(()),
    }
}
