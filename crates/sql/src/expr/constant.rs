//! Expressions that have the same value for each row, and texts that calls make of constants alone.

use super::functions::AS_TEXT;
use super::node::{Expr, Node};
use super::value_type::is_text;

/// The most parts of an expression that is looked at. It is copied, so it must not be large.
const MOST_PARTS: usize = 64;

/// Reports whether the expression is a call, not a literal, whose text follows from constants.
/// MySQL computes such a text before the first row.
pub(crate) fn is_constant_text(expr: &Expr) -> bool {
    if !is_text(&expr.ty) || expr.is_json() || matches!(expr.node, Node::Constant(_)) {
        return false;
    }
    let (mut parts, mut are_constant) = (0usize, true);
    expr.visit(&mut |part| {
        parts += 1;
        are_constant &= is_constant_part(part);
    });
    are_constant && parts <= MOST_PARTS
}

/// Reports whether the expression has the same value for each row of a statement, and computing
/// it does nothing else.
pub(crate) fn is_same_for_each_row(expr: &Expr) -> bool {
    let mut is_same = true;
    expr.visit(&mut |part| {
        is_same &= match &part.node {
            Node::Slot(_)
            | Node::Outer(_)
            | Node::InsertedValue(_)
            | Node::UserVariable(_)
            | Node::AssignVariable(..)
            | Node::Stored { .. }
            | Node::Subquery { .. }
            | Node::Quantified(_)
            | Node::RowSubquery(_)
            | Node::MayEqual(_)
            | Node::Match(_) => false,
            Node::Call { function, .. } => !function.varies,
            _ => true,
        };
    });
    is_same
}

/// Reports whether a part of an expression has the same value in each row and each execution, as
/// far as its operands have.
fn is_constant_part(part: &Expr) -> bool {
    match &part.node {
        Node::Constant(_)
        | Node::HexLiteral(..)
        | Node::If(_)
        | Node::Coalesce(_)
        | Node::Case { .. }
        | Node::Cast(_)
        | Node::Recollate(_)
        | Node::Negate(_)
        | Node::Trim { .. } => true,
        Node::Call { function, .. } => **function == AS_TEXT || FUNCTIONS.contains(&function.name),
        _ => false,
    }
}

/// The functions whose values follow from their arguments alone.
const FUNCTIONS: &[&str] = &[
    "bin",
    "char",
    "concat",
    "concat_ws",
    "conv",
    "date_format",
    "elt",
    "export_set",
    "format",
    "from_base64",
    "hex",
    "inet6_ntoa",
    "inet_ntoa",
    "insert",
    "json_unquote",
    "lcase",
    "left",
    "lower",
    "lpad",
    "ltrim",
    "make_set",
    "md5",
    "mid",
    "oct",
    "quote",
    "regexp_replace",
    "regexp_substr",
    "repeat",
    "replace",
    "reverse",
    "right",
    "rpad",
    "rtrim",
    "sha",
    "sha1",
    "sha2",
    "soundex",
    "space",
    "substr",
    "substring",
    "substring_index",
    "to_base64",
    "ucase",
    "unhex",
    "upper",
];
