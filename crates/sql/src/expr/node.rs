//! The tree of a bound expression: its nodes with their types, and the native functions and
//! subqueries that nodes name.
//!
//! Other modules use this tree to compute values, to list the functions there are, and to derive
//! types.

use super::Context;
use super::context::StoredFunction;
use super::value_type::is_text;
use crate::ast::{BinaryOp, Scope, SearchMode, TimeUnit, TruthValue};
use crate::error::Result;
use engine::{IndexRef, Table};
use std::borrow::Cow;
use std::sync::Arc;
use types::words::WordSizes;
use types::{ColumnType, TypeCode, Value};

/// How strongly an operand's collation holds against another's (MySQL's manual, "Collation
/// Coercibility in Expressions"). Smaller is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coercibility {
    Explicit = 0,
    Implicit = 2,
    SystemConstant = 3,
    Literal = 4,
    /// Text of a number or a temporal value.
    Numeric = 5,
    Null = 6,
    /// Text that combines texts whose collations hold equally. Its collation compares bytes, and it
    /// cannot be compared before another operand gives it a collation.
    None = 7,
}

impl Coercibility {
    /// Returns how strongly the collation of a column, or of what stands for one, holds.
    pub fn of_type(ty: &ColumnType) -> Coercibility {
        // The bits of a BIT are bytes as a text.
        if is_text(ty) || ty.code == TypeCode::Bit { Coercibility::Implicit } else { Coercibility::Numeric }
    }
}

/// An expression and what is known of its value before it is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub node: Node,
    /// The type of the value. Its collation is the expression's collation.
    pub ty: ColumnType,
    pub nullable: bool,
    /// How strongly the collation holds against another operand's.
    pub coercibility: Coercibility,
}

/// The operation that computes an expression's value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Constant(Value),
    /// `x'1F'`, `0x1F`, `b'101'`: the literal's bytes, and whether it is one of bits. In numeric
    /// context it becomes a number ([`Expr::numeric`]).
    HexLiteral(Value, bool),
    Parameter(usize),
    /// The index of a column in the row, or in a grouped query of an aggregate's result.
    Slot(usize),
    /// The index of an argument of the subquery that the expression is in: a column of a query
    /// around it.
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
    /// `(a, b) = (c, d)` and its relatives. `op` is Equal, NotEqual or NullSafeEqual, and `pairs`
    /// is a, c, b, d.
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
    Match(Box<Match>),
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
    /// A call of a stored function.
    Stored {
        function: Arc<StoredFunction>,
        args: Vec<Expr>,
    },
    /// A cast to the expression's own type. Casts of integers to `unsigned` wrap as MySQL's do.
    Cast(Box<Expr>),
    /// The same text under another collation or in another character set.
    Recollate(Box<Expr>),
    /// A TIMESTAMP as the date and time in the session's time zone.
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
    /// `VALUES(column)`: the value that the row was to have. The slot is in the second half of the
    /// row.
    InsertedValue(usize),
}

/// A use of one of the statement's subqueries, with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SubqueryCall {
    /// The subquery's number in the statement.
    pub number: usize,
    /// The columns of the queries around the subquery that it names, as expressions over the row at
    /// hand.
    pub args: Vec<Expr>,
}

/// The use that is made of a subquery's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubqueryUse {
    /// The value of `(SELECT ...)`: one column of at most one row.
    Scalar,
    Exists,
}

/// A value or row that is compared with the rows of a subquery: `IN`, `= ANY`, `<> ALL` and their
/// like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantified {
    pub op: BinaryOp,
    /// True for ALL, false for ANY.
    pub all: bool,
    /// Whether the answer is negated.
    pub negated: bool,
    /// The value, or the values of the row.
    pub operands: Vec<Expr>,
    /// The collation in which each operand is compared with its column.
    pub collations: Vec<u16>,
    pub call: SubqueryCall,
    /// Whether equal rows can be found by [`super::group_key`], because operands and columns have
    /// the same kinds of values.
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

/// The condition that `needle = column` is true or unknown. A row for which it holds may be the one
/// that an IN looks for; if the needle is NULL, every row may be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MayEqual {
    /// The column and the needle.
    pub operands: [Expr; 2],
    pub collation: u16,
}

/// `MATCH (...) AGAINST (...)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Match {
    /// The columns, and last what is searched for.
    pub operands: Vec<Expr>,
    pub mode: SearchMode,
    /// What is searched, once the tables of the query are known.
    pub index: Option<SearchedIndex>,
}

/// A FULLTEXT index.
#[derive(Debug, Clone)]
pub(crate) struct SearchedIndex {
    pub table: Arc<Table>,
    /// The name of the index.
    pub name: String,
    /// Its columns, in the order in which MATCH names them.
    pub columns: Vec<usize>,
    /// The collation in which the index compares words, which is that of its first column.
    pub collation: u16,
    /// Whether the index was made WITH PARSER ngram.
    pub is_ngram: bool,
    /// What the index takes for words, and the tree with its entries. `None` means that it has no
    /// entries.
    pub entries: Option<(WordSizes, IndexRef)>,
}

impl PartialEq for SearchedIndex {
    fn eq(&self, other: &SearchedIndex) -> bool {
        self.table.id == other.table.id && self.columns == other.columns
    }
}

/// A call of a native function that is being computed.
pub(crate) struct Call<'c> {
    /// The arguments' values.
    pub values: &'c [Cow<'c, Value>],
    /// The function's name.
    pub name: &'static str,
    /// The arguments.
    pub args: &'c [Expr],
    pub ctx: &'c Context<'c>,
}

/// A function that derives the type of a function's result from its arguments.
pub(crate) type Infer = fn(&[Expr]) -> Result<(ColumnType, Coercibility)>;

/// A native function.
pub(crate) struct Function {
    /// The name in lower case.
    pub name: &'static str,
    pub least_args: usize,
    pub most_args: usize,
    /// Whether two calls with the same arguments in one statement may have different results.
    pub varies: bool,
    /// Whether a NULL argument makes the result NULL without a call.
    pub null_in_null_out: bool,
    /// Whether the last argument is computed as often as the first one says, as by BENCHMARK().
    pub repeats_last: bool,
    /// Whether the result is never NULL, whatever the arguments are.
    pub never_null: bool,
    /// Whether the result is NULL only where an argument is.
    pub null_by_arguments: bool,
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
    /// Makes a function that takes a number of arguments within `args` and whose result is NULL
    /// when an argument is NULL.
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
            repeats_last: false,
            never_null: false,
            null_by_arguments: false,
            infer,
            run,
        }
    }

    /// Makes the function be called with NULL arguments too.
    pub const fn sees_nulls(self) -> Function {
        Function { null_in_null_out: false, ..self }
    }

    /// Declares that the last argument is computed as often as the first one says.
    pub const fn repeats_last(self) -> Function {
        Function { repeats_last: true, ..self }
    }

    /// Declares that the result is never NULL.
    pub const fn never_null(self) -> Function {
        Function { never_null: true, ..self }
    }

    /// Declares that the result is NULL only where an argument is.
    pub const fn null_by_arguments(self) -> Function {
        Function { null_by_arguments: true, ..self }
    }

    /// Reports whether a call with these arguments may be NULL.
    pub fn may_be_null(&self, args: &[Expr]) -> bool {
        !self.never_null && (!self.null_by_arguments || args.iter().any(|arg| arg.nullable))
    }

    /// Declares that each call may have another value, and makes the function be called with NULL
    /// arguments too.
    pub const fn varies(self) -> Function {
        Function { varies: true, null_in_null_out: false, ..self }
    }
}

/// Calls a function for each operand of a node. The two walks share this list of every node's
/// operands: `iter` or `iter_mut` says how the lists of operands are gone through.
macro_rules! each_operand {
    ($node:expr, $iter:ident, $f:expr) => {
        match $node {
            Node::Constant(_)
            | Node::HexLiteral(..)
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
            Node::Match(searched) => searched.operands.$iter().for_each($f),
        }
    };
}

impl Expr {
    /// Makes a constant of its value's natural type.
    pub fn constant(value: Value) -> Expr {
        let ty = value.natural_type();
        let nullable = value.is_null();
        Expr { node: Node::Constant(value), ty, nullable, coercibility: Coercibility::Literal }
    }

    /// Reports whether the values are JSON documents.
    pub fn is_json(&self) -> bool {
        self.ty.code == TypeCode::Json
    }

    /// Appends the slots that the value depends on.
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

    /// Reports whether the expression contains a parameter.
    pub fn has_parameter(&self) -> bool {
        let mut found = false;
        self.visit(&mut |expr| found |= matches!(expr.node, Node::Parameter(_)));
        found
    }

    /// Reports whether the value is the same for all rows of a statement: no column and nothing
    /// that varies is in it.
    pub fn is_same_for_all_rows(&self) -> bool {
        let mut names_rows = false;
        self.visit(&mut |expr| {
            names_rows |= matches!(expr.node, Node::Slot(_) | Node::InsertedValue(_) | Node::Outer(_))
        });
        !names_rows && !self.varies()
    }

    /// Reports whether each evaluation may have another value or has an effect: RAND(), `@a := 1`.
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

    /// Returns the bytes that the value of a constant takes on the heap; 0 for other nodes.
    pub fn constant_bytes(&self) -> usize {
        match &self.node {
            Node::Constant(value) | Node::HexLiteral(value, _) => crate::memory::heap_bytes(value),
            _ => 0,
        }
    }

    /// Returns the number of levels of the tree.
    pub fn height(&self) -> usize {
        let mut highest = 0;
        self.for_children(&mut |child| highest = highest.max(child.height()));
        highest + 1
    }

    /// Calls `f` for all expressions below this one and then for this one.
    pub fn change(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.for_children_mut(&mut |child| child.change(f));
        f(self);
    }

    /// Calls `f` for this expression. Where `f` returns false, because it has not put another
    /// expression in its place, the same happens to the operands.
    pub fn replace(&mut self, f: &mut dyn FnMut(&mut Expr) -> bool) {
        if !f(self) {
            self.for_children_mut(&mut |child| child.replace(f));
        }
    }

    /// Appends the operands.
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
