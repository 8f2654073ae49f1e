//! What a bound expression is: a tree of nodes with their types, and the native functions and
//! subqueries that nodes name.
//!
//! Everything else of expressions is above: how values are computed, which functions there are, and
//! how types follow from types.

use super::Context;
use super::context::StoredFunction;
use crate::ast::{BinaryOp, Scope, TimeUnit, TruthValue};
use crate::error::Result;
use std::borrow::Cow;
use std::sync::Arc;
use types::{ColumnType, TypeCode, Value};

/// How strongly a collation holds (manual, "Collation Coercibility in Expressions"); smaller is
/// stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coercibility {
    Explicit = 0,
    Implicit = 2,
    SystemConstant = 3,
    Literal = 4,
    /// Numbers and temporal values turned into text.
    Numeric = 5,
    Null = 6,
    /// Text that is put together of texts whose collations hold equally: it has the bytes' order,
    /// and cannot be compared before another operand gives it a collation.
    None = 7,
}

/// An expression and what is known of its value before it is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub node: Node,
    /// Type of the value; its collation is the expression's.
    pub ty: ColumnType,
    pub nullable: bool,
    /// How strongly the collation holds against another operand's.
    pub coercibility: Coercibility,
}

/// What computes the value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Constant(Value),
    /// `x'1F'`, `0x1F`, `b'101'`: its bytes, but a number where a number is wanted
    /// ([`Expr::numeric`]).
    HexLiteral(Value),
    Parameter(usize),
    /// A column, or in a grouped query an aggregate's result.
    Slot(usize),
    /// An argument of the subquery that the expression is in: a column of a query around it.
    Outer(usize),
    UserVariable(String),
    AssignVariable(String, Box<Expr>),
    SystemVariable {
        scope: Scope,
        name: String,
    },
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Xor(Box<[Expr; 2]>),
    Not(Box<Expr>),
    Compare {
        op: BinaryOp,
        operands: Box<[Expr; 2]>,
        collation: u16,
    },
    /// `(a, b) = (c, d)` and its relatives; `op` is Equal, NotEqual or NullSafeEqual.
    CompareRows {
        op: BinaryOp,
        pairs: Vec<Expr>,
    },
    Between {
        negated: bool,
        operands: Box<[Expr; 3]>,
        collation: u16,
    },
    In {
        negated: bool,
        operand: Box<Expr>,
        list: Vec<Expr>,
        collation: u16,
    },
    Quantified(Box<Quantified>),
    RowSubquery(Box<RowSubquery>),
    MayEqual(Box<MayEqual>),
    Subquery {
        call: SubqueryCall,
        what: SubqueryUse,
    },
    Like {
        negated: bool,
        operands: Box<[Expr; 2]>,
        escape: Option<u8>,
        collation: u16,
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
    Negate(Box<Expr>),
    BitNot(Box<Expr>),
    Arithmetic {
        op: BinaryOp,
        operands: Box<[Expr; 2]>,
    },
    Case {
        operand: Option<Box<Expr>>,
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
        collation: u16,
    },
    If(Box<[Expr; 3]>),
    Coalesce(Vec<Expr>),
    NullIf {
        operands: Box<[Expr; 2]>,
        collation: u16,
    },
    Call {
        function: &'static Function,
        args: Vec<Expr>,
    },
    /// A stored function.
    Stored {
        function: Arc<StoredFunction>,
        args: Vec<Expr>,
    },
    /// To the expression's own type; `unsigned` casts of integers wrap as MySQL's do.
    Cast(Box<Expr>),
    /// The same value under another collation, or in another character set.
    Recollate(Box<Expr>),
    /// A moment as the date and time that the session's clocks show.
    OnClocks(Box<Expr>),
    DateAdd {
        operands: Box<[Expr; 2]>,
        unit: TimeUnit,
        subtract: bool,
    },
    Extract {
        unit: TimeUnit,
        operand: Box<Expr>,
    },
    TimestampDiff {
        unit: TimeUnit,
        operands: Box<[Expr; 2]>,
    },
    Trim {
        leading: bool,
        trailing: bool,
        operands: Box<[Expr; 2]>,
    },
    /// `VALUES(column)`: the value that the row was to have; the slot is in the second half of the
    /// row.
    InsertedValue(usize),
}

/// A subquery of the statement, and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SubqueryCall {
    /// Its number in the statement.
    pub number: usize,
    /// The values of the columns around it that it names, as expressions over the row at hand.
    pub args: Vec<Expr>,
}

/// What a subquery's result is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubqueryUse {
    /// One column of at most one row.
    Scalar,
    Exists,
}

/// A row that is compared with the rows of a subquery: `IN`, `= ANY`, `<> ALL` and their like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantified {
    pub op: BinaryOp,
    /// ALL; else ANY.
    pub all: bool,
    /// The answer is the other one.
    pub negated: bool,
    /// One, or those of a row.
    pub operands: Vec<Expr>,
    /// Of each operand with its column.
    pub collations: Vec<u16>,
    pub call: SubqueryCall,
    /// Rows that are equal are found by [`super::group_key`]: the kinds of the values are the same.
    pub hashes: bool,
}

/// `(a, b) = (SELECT ...)` and its relatives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowSubquery {
    pub op: BinaryOp,
    pub operands: Vec<Expr>,
    pub collations: Vec<u16>,
    pub call: SubqueryCall,
}

/// `needle = column` or not known: a row for which it holds may be what an IN looks for. Where the
/// needle is NULL, each row is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MayEqual {
    /// The column, and the needle.
    pub operands: [Expr; 2],
    pub collation: u16,
}

/// A call that is being computed.
pub(crate) struct Call<'c> {
    /// The arguments' values.
    pub values: &'c [Cow<'c, Value>],
    /// The function's name.
    pub name: &'static str,
    /// The arguments.
    pub args: &'c [Expr],
    pub ctx: &'c Context<'c>,
}

/// What a result's type is made from.
pub(crate) type Infer = fn(&[Expr]) -> Result<(ColumnType, Coercibility)>;

/// A native function.
pub(crate) struct Function {
    /// In lower case.
    pub name: &'static str,
    pub least_args: usize,
    pub most_args: usize,
    /// Two calls with the same arguments in one statement may differ.
    pub varies: bool,
    /// A NULL argument makes the result NULL without a call.
    pub null_in_null_out: bool,
    /// The result is never NULL, whatever the arguments are.
    pub never_null: bool,
    pub infer: Infer,
    pub run: fn(&Call<'_>) -> Result<Value>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.name == other.name
    }
}

impl Function {
    /// A function of so many arguments that is NULL when one of them is.
    pub const fn new(
        name: &'static str,
        args: std::ops::RangeInclusive<usize>,
        infer: Infer,
        run: fn(&Call<'_>) -> Result<Value>,
    ) -> Function {
        let (least_args, most_args) = (*args.start(), *args.end());
        Function {
            name,
            least_args,
            most_args,
            varies: false,
            null_in_null_out: true,
            never_null: false,
            infer,
            run,
        }
    }

    /// The function is called with a NULL argument too.
    pub const fn sees_nulls(self) -> Function {
        Function { null_in_null_out: false, ..self }
    }

    /// The result is never NULL.
    pub const fn never_null(self) -> Function {
        Function { never_null: true, ..self }
    }

    /// The function may have another value at each call, whose arguments may be NULL.
    pub const fn varies(self) -> Function {
        Function { varies: true, null_in_null_out: false, ..self }
    }
}

/// Calls a function for each operand of a node, whose operands stand here once for the two walks:
/// `iter` or `iter_mut` says how lists of them are gone through.
macro_rules! each_operand {
    ($node:expr, $iter:ident, $f:expr) => {
        match $node {
            Node::Constant(_)
            | Node::HexLiteral(_)
            | Node::Parameter(_)
            | Node::Slot(_)
            | Node::Outer(_)
            | Node::UserVariable(_)
            | Node::SystemVariable { .. }
            | Node::InsertedValue(_) => {}
            Node::AssignVariable(_, operand)
            | Node::Not(operand)
            | Node::Negate(operand)
            | Node::BitNot(operand)
            | Node::Cast(operand)
            | Node::Recollate(operand)
            | Node::OnClocks(operand)
            | Node::IsNull { operand, .. }
            | Node::IsTruth { operand, .. }
            | Node::Extract { operand, .. } => $f(operand),
            Node::And(operands) | Node::Or(operands) | Node::Coalesce(operands) => {
                operands.$iter().for_each($f)
            }
            Node::CompareRows { pairs, .. } => pairs.$iter().for_each($f),
            Node::Xor(operands) => operands.$iter().for_each($f),
            Node::Compare { operands, .. }
            | Node::Arithmetic { operands, .. }
            | Node::Like { operands, .. }
            | Node::NullIf { operands, .. }
            | Node::DateAdd { operands, .. }
            | Node::TimestampDiff { operands, .. }
            | Node::Trim { operands, .. } => operands.$iter().for_each($f),
            Node::Between { operands, .. } => operands.$iter().for_each($f),
            Node::If(operands) => operands.$iter().for_each($f),
            Node::In { operand, list, .. } => {
                $f(operand);
                list.$iter().for_each($f);
            }
            Node::Case { operand, whens, otherwise, .. } => {
                operand.$iter().for_each(|operand| $f(operand));
                for (when, then) in whens {
                    $f(when);
                    $f(then);
                }
                otherwise.$iter().for_each(|otherwise| $f(otherwise));
            }
            Node::Call { args, .. } | Node::Stored { args, .. } => args.$iter().for_each($f),
            Node::Subquery { call, .. } => call.args.$iter().for_each($f),
            Node::Quantified(quantified) => {
                quantified.operands.$iter().chain(quantified.call.args.$iter()).for_each($f);
            }
            Node::RowSubquery(compared) => {
                compared.operands.$iter().chain(compared.call.args.$iter()).for_each($f);
            }
            Node::MayEqual(equal) => equal.operands.$iter().for_each($f),
        }
    };
}

impl Expr {
    /// A constant of its value's natural type.
    pub fn constant(value: Value) -> Expr {
        let ty = value.natural_type();
        let nullable = value.is_null();
        Expr { node: Node::Constant(value), ty, nullable, coercibility: Coercibility::Literal }
    }

    /// Whether its values are documents.
    pub fn is_json(&self) -> bool {
        self.ty.code == TypeCode::Json
    }

    /// The slots that the value depends on.
    pub fn slots(&self, found: &mut Vec<usize>) {
        self.visit(&mut |expr| {
            if let Node::Slot(slot) | Node::InsertedValue(slot) = expr.node {
                found.push(slot);
            }
        });
    }

    /// Calls `f` for this expression and all below it.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        f(self);
        self.for_children(&mut |child| child.visit(f));
    }

    /// Whether a parameter is in it.
    pub fn has_parameter(&self) -> bool {
        let mut found = false;
        self.visit(&mut |expr| found |= matches!(expr.node, Node::Parameter(_)));
        found
    }

    /// Whether it may have another value each time, or does something: RAND(), `@a := 1`.
    pub fn varies(&self) -> bool {
        let mut varies = false;
        self.visit(&mut |expr| {
            varies |= match &expr.node {
                Node::Call { function, .. } => function.varies,
                Node::AssignVariable(..) => true,
                _ => false,
            };
        });
        varies
    }

    /// What the value of a constant takes beside itself.
    pub fn constant_bytes(&self) -> usize {
        match &self.node {
            Node::Constant(value) | Node::HexLiteral(value) => crate::memory::heap_bytes(value),
            _ => 0,
        }
    }

    /// Levels of the tree.
    pub fn height(&self) -> usize {
        let mut highest = 0;
        self.for_children(&mut |child| highest = highest.max(child.height()));
        highest + 1
    }

    /// Calls `f` for all below this expression and then for itself.
    pub fn change(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.for_children_mut(&mut |child| child.change(f));
        f(self);
    }

    /// Calls `f` for this expression, and for those below it where it says that it has not put
    /// another one in its place.
    pub fn replace(&mut self, f: &mut dyn FnMut(&mut Expr) -> bool) {
        if !f(self) {
            self.for_children_mut(&mut |child| child.replace(f));
        }
    }

    /// Adds the operands.
    pub fn children<'e>(&'e self, found: &mut Vec<&'e Expr>) {
        let mut add = |child: &'e Expr| found.push(child);
        each_operand!(&self.node, iter, add)
    }

    fn for_children(&self, f: &mut dyn FnMut(&Expr)) {
        each_operand!(&self.node, iter, f)
    }

    /// Calls `f` for each operand.
    pub fn for_children_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        each_operand!(&mut self.node, iter_mut, f)
    }
}
