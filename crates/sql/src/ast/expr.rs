//! How expressions are put together, and those of definitions, which keep their text.

use super::{Expr, FunctionCall, Written};

impl Expr {
    /// `left AND right`.
    pub fn and(left: Expr, right: Expr) -> Expr {
        match left {
            Expr::And(mut operands) => {
                operands.push(right);
                Expr::And(operands)
            }
            _ => Expr::And(vec![left, right]),
        }
    }

    /// `left OR right`.
    pub fn or(left: Expr, right: Expr) -> Expr {
        match left {
            Expr::Or(mut operands) => {
                operands.push(right);
                Expr::Or(operands)
            }
            _ => Expr::Or(vec![left, right]),
        }
    }

    /// A plain call; `name` in lower case.
    pub fn call(name: &str, args: Vec<Expr>) -> Expr {
        Expr::call_as_written(name, args)
    }

    /// A plain call; `name` in any case.
    pub fn call_as_written(name: &str, args: Vec<Expr>) -> Expr {
        Expr::Function(Box::new(FunctionCall {
            schema: None,
            name: name.to_ascii_lowercase(),
            written: Written(name.to_owned()),
            args,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
        }))
    }
}

/// An expression of a definition. Of what a source has accepted and this grammar does not have
/// there is the text alone.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenExpr {
    pub tree: Option<Expr>,
    /// As written, without the parentheses around it.
    pub text: String,
}
