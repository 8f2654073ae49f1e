//! Bound expressions: names are slots of a row, types are known, and a value comes out.
//!
//! A row is a slice of values, one slot a column of the statement's tables, in the order of the
//! tables; behind them, in a grouped query, the results of the aggregates. `Expr::eval` borrows
//! what it can from the row, so that comparing two columns copies nothing.

mod aggregate;
mod arithmetic;
mod cast;
mod compare;
mod context;
mod date_arithmetic;
mod diagnostics;
pub(crate) mod documents;
mod eval;
pub(crate) mod functions;
mod infer;
mod json_aggregate;
pub(crate) mod like;
mod reading;
mod rewrite;
mod sorting;
mod subquery;
mod text;
mod user_variables;

pub(crate) use aggregate::{Accumulator, Aggregate, AggregateKind, is_aggregate};
pub(crate) use arithmetic::{Number, decimal_of, double_of, number};
pub(crate) use cast::{cast, conform, conforms, datetime_of, fraction_digits};
pub(crate) use compare::{compare, group_key, sort_compare};
pub(crate) use context::{
    Context, NoPrograms, Programs, RunSubqueries, SharedTransaction, StoredFunction, SubqueryRows, TriggerRow,
};
pub(crate) use diagnostics::{Diagnostics, Level, Warning};
pub(crate) use eval::truth;
pub(crate) use functions::{Function, TEXT_FOR_VECTOR, TEXT_ORDER, no_vector};
pub(crate) use infer::{
    Coercibility, NumericClass, common_type, comparison_collation, decimal_type, integer_digits, is_number,
    numeric_class, scale_of, text_collation,
};
pub(crate) use like::like;
pub(crate) use reading::Reading;
pub(crate) use sorting::{scratch_bytes, sort_by};
pub(crate) use subquery::{MayEqual, Quantified, RowSubquery, SubqueryCall, SubqueryUse};
pub(crate) use text::text_of;
pub(crate) use user_variables::UserVariables;

use crate::ast::{BinaryOp, Scope, TimeUnit, TruthValue};
use std::sync::Arc;
use types::{ColumnType, NumberForm, TypeCode, Value};

/// The form of what is true or false by itself.
pub(crate) fn truth_form() -> NumberForm {
    NumberForm::new(1, None, false)
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

impl Expr {
    /// A constant of its value's natural type.
    pub fn constant(value: Value) -> Expr {
        let ty = value.natural_type();
        let nullable = value.is_null();
        Expr { node: Node::Constant(value), ty, nullable, coercibility: Coercibility::Literal }
    }

    /// This expression in numeric context, where `x'1F'` is a number. One of more than eight bytes
    /// is 0, as MySQL's.
    pub fn numeric(self) -> Expr {
        const MOST_BYTES: usize = 8;
        let Node::HexLiteral(Value::Bytes(bytes)) = &self.node else { return self };
        let number = match bytes.len() {
            0..=MOST_BYTES => bytes.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte)),
            _ => 0,
        };
        Expr { coercibility: Coercibility::Numeric, ..Expr::constant(Value::UInt(number)) }
            .with_type(ColumnType::bigint(true))
    }

    /// This expression beside another in a comparison: `x'1F'` is a number there if the other is
    /// one.
    pub fn beside(self, other: &ColumnType) -> Expr {
        if matches!(self.node, Node::HexLiteral(_)) && infer::is_number(other) {
            self.numeric()
        } else {
            self
        }
    }

    /// This expression as a value for a column of this type: a VECTOR takes no text. Whether a
    /// parameter or a user variable is one is not known here.
    pub fn for_column(self, column: &ColumnType) -> Expr {
        let is_refused = column.code == TypeCode::Vector
            && self.ty.code != TypeCode::Vector
            && infer::is_text(&self.ty)
            && self.ty.collation != types::collation::BINARY
            && !matches!(self.node, Node::UserVariable(_))
            && !self.has_parameter();
        match is_refused {
            true => Expr {
                ty: self.ty.clone(),
                nullable: self.nullable,
                coercibility: self.coercibility,
                node: Node::Call { function: &TEXT_FOR_VECTOR, args: vec![self] },
            },
            false => self.beside(column).read_from_json(column, None),
        }
    }

    /// Whether its values are documents.
    pub fn is_json(&self) -> bool {
        self.ty.code == TypeCode::Json
    }

    /// A document as a value of the kind that a type is of; anything else as it is. `column` is its
    /// name, where it is a column.
    pub fn read_from_json(self, ty: &ColumnType, column: Option<&str>) -> Expr {
        if !self.is_json() || ty.code == TypeCode::Json || documents::Kind::of(ty) == documents::Kind::Text {
            return self;
        }
        // What messages call it: the function or the column that it is.
        let name = match &self.node {
            Node::Call { function, .. } => function.name,
            _ => column.unwrap_or_default(),
        };
        let name = Expr { ty: ty.clone(), ..Expr::constant(Value::text(name)) };
        Expr {
            ty: ty.clone(),
            nullable: true,
            coercibility: Coercibility::Numeric,
            node: Node::Call { function: &functions::json::AS_VALUE, args: vec![self, name] },
        }
    }

    /// A value of SQL as a document, to be compared with one; a document as it is.
    pub fn into_json(self) -> Expr {
        if self.is_json() || self.ty.code == TypeCode::Null {
            return self;
        }
        Expr {
            ty: ColumnType::json(),
            nullable: self.nullable,
            coercibility: Coercibility::Implicit,
            node: Node::Call { function: &functions::json::AS_JSON, args: vec![self] },
        }
    }

    fn with_type(self, ty: ColumnType) -> Expr {
        Expr { ty, ..self }
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

    fn for_children(&self, f: &mut dyn FnMut(&Expr)) {
        match &self.node {
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
            | Node::IsNull { operand, .. }
            | Node::IsTruth { operand, .. }
            | Node::Extract { operand, .. } => f(operand),
            Node::And(operands) | Node::Or(operands) | Node::Coalesce(operands) => {
                operands.iter().for_each(f)
            }
            Node::CompareRows { pairs, .. } => pairs.iter().for_each(f),
            Node::Xor(operands) => operands.iter().for_each(f),
            Node::Compare { operands, .. }
            | Node::Arithmetic { operands, .. }
            | Node::Like { operands, .. }
            | Node::NullIf { operands, .. }
            | Node::DateAdd { operands, .. }
            | Node::TimestampDiff { operands, .. }
            | Node::Trim { operands, .. } => operands.iter().for_each(f),
            Node::Between { operands, .. } => operands.iter().for_each(f),
            Node::If(operands) => operands.iter().for_each(f),
            Node::In { operand, list, .. } => {
                f(operand);
                list.iter().for_each(f);
            }
            Node::Case { operand, whens, otherwise, .. } => {
                operand.iter().for_each(|operand| f(operand));
                for (when, then) in whens {
                    f(when);
                    f(then);
                }
                otherwise.iter().for_each(|otherwise| f(otherwise));
            }
            Node::Call { args, .. } | Node::Stored { args, .. } => args.iter().for_each(f),
            Node::Subquery { call, .. } => call.args.iter().for_each(f),
            Node::Quantified(quantified) => {
                quantified.operands.iter().chain(&quantified.call.args).for_each(f);
            }
            Node::RowSubquery(compared) => {
                compared.operands.iter().chain(&compared.call.args).for_each(f);
            }
            Node::MayEqual(equal) => equal.operands.iter().for_each(f),
        }
    }
}
