//! Expressions.

use super::{
    BinaryOp, CastType, JsonValue, Literal, OrderItem, Query, Scope, TimeUnit, TruthValue, UnaryOp,
    WindowCall,
};

/// A name as it is written. How that is makes no difference to what is meant, so that all are
/// equal.
#[derive(Debug, Clone)]
pub struct Written(pub String);

impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// A stored function may be called with its schema.
    pub schema: Option<String>,
    /// In lower case, or with a schema as written.
    pub name: String,
    /// For messages.
    pub written: Written,
    pub args: Vec<Expr>,
    /// `COUNT(*)`.
    pub star: bool,
    pub distinct: bool,
    /// Of GROUP_CONCAT.
    pub order_by: Vec<OrderItem>,
    pub separator: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Literal(Literal),
    /// `?`, numbered from 0.
    Parameter(usize),
    Column {
        schema: Option<String>,
        table: Option<String>,
        name: String,
    },
    UserVariable(String),
    /// `@v := expr`.
    AssignVariable(String, Box<Expr>),
    SystemVariable {
        scope: Scope,
        name: String,
    },
    /// Two or more operands, so that a long chain is no deep tree.
    And(Vec<Expr>),
    /// As `And`.
    Or(Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Between {
        negated: bool,
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    InList {
        negated: bool,
        operand: Box<Expr>,
        list: Vec<Expr>,
    },
    InQuery {
        negated: bool,
        operand: Box<Expr>,
        query: Box<Query>,
    },
    /// `operand op ALL (query)`; else ANY or SOME.
    Quantified {
        op: BinaryOp,
        all: bool,
        operand: Box<Expr>,
        query: Box<Query>,
    },
    Like {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
    },
    Regexp {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
    },
    IsNull {
        negated: bool,
        operand: Box<Expr>,
    },
    IsTruth {
        negated: bool,
        operand: Box<Expr>,
        value: TruthValue,
    },
    Case {
        operand: Option<Box<Expr>>,
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Function(Box<FunctionCall>),
    /// A function over a window.
    Window(Box<WindowCall>),
    Cast {
        operand: Box<Expr>,
        ty: CastType,
    },
    /// `CAST(x AS type ARRAY)`, of multi-valued indexes.
    CastArray {
        operand: Box<Expr>,
        ty: CastType,
    },
    /// `CONVERT(x USING charset)`.
    ConvertUsing {
        operand: Box<Expr>,
        charset: String,
    },
    Collate {
        operand: Box<Expr>,
        collation: String,
    },
    /// `date + INTERVAL n unit`; `subtract` for `-`.
    DateAdd {
        date: Box<Expr>,
        amount: Box<Expr>,
        unit: TimeUnit,
        subtract: bool,
    },
    Extract {
        unit: TimeUnit,
        operand: Box<Expr>,
    },
    /// `TIMESTAMPDIFF` and `TIMESTAMPADD`.
    TimestampFunction {
        add: bool,
        unit: TimeUnit,
        first: Box<Expr>,
        second: Box<Expr>,
    },
    Trim {
        leading: bool,
        trailing: bool,
        remove: Option<Box<Expr>>,
        operand: Box<Expr>,
    },
    JsonValue(Box<JsonValue>),
    Row(Vec<Expr>),
    Subquery(Box<Query>),
    Exists(Box<Query>),
    /// `DEFAULT` as a value.
    Default,
    /// `DEFAULT(column)`.
    DefaultOf(String),
    /// `VALUES(column)` of ON DUPLICATE KEY UPDATE.
    Values(String),
}

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
