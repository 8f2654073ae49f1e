//! Constructors of expressions, and the expressions of definitions, which keep their text.

use super::{Expr, FunctionCall, Written};

impl Expr {
    /// Builds `left AND right`.
    pub fn and(left: Expr, right: Expr) -> Expr {
        match left {
            Expr::And(mut operands) => {
                operands.push(right);
                Expr::And(operands)
            }
            _ => Expr::And(vec![left, right]),
        }
    }

    /// Builds `left OR right`.
    pub fn or(left: Expr, right: Expr) -> Expr {
        match left {
            Expr::Or(mut operands) => {
                operands.push(right);
                Expr::Or(operands)
            }
            _ => Expr::Or(vec![left, right]),
        }
    }

    /// Builds a plain call of the function `name`, which is in lower case.
    pub fn call(name: &str, args: Vec<Expr>) -> Expr {
        Expr::call_as_written(name, args)
    }

    /// Builds a plain call of the function `name`, which may be in any case.
    pub fn call_as_written(name: &str, args: Vec<Expr>) -> Expr {
        Expr::Function(Box::new(FunctionCall::plain(name, args)))
    }
}

impl FunctionCall {
    /// Builds a plain call of the function `name`, which may be in any case.
    pub fn plain(name: &str, args: Vec<Expr>) -> FunctionCall {
        FunctionCall {
            schema: None,
            name: name.to_ascii_lowercase(),
            written: Written(name.to_owned()),
            args,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
        }
    }
}

/// An expression in a definition. If a source has accepted it and this server's grammar does not
/// know it, only the text is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenExpr {
    pub tree: Option<Expr>,
    /// The text as it is written, without the parentheses around it.
    pub text: String,
}
