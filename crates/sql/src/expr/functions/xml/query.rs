//! The tree of an XPath expression, with those parts of XPath 1.0 that MySQL supports.

use crate::ast::BinaryOp;
use types::Value;

#[derive(Debug, Clone)]
pub(super) enum Query {
    Constant(Value),
    /// `$@x`, with the variable's name.
    UserVariable(String),
    Or(Box<[Query; 2]>),
    And(Box<[Query; 2]>),
    Compare(BinaryOp, Box<[Query; 2]>),
    Arithmetic(BinaryOp, Box<[Query; 2]>),
    Negate(Box<Query>),
    Union(Box<[Query; 2]>),
    Call(Xpath, Vec<Query>),
    Path(Path),
}

/// The node at which a path begins.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    Root,
    Here,
    Of(Box<Query>),
}

#[derive(Debug, Clone)]
pub(super) struct Path {
    pub origin: Origin,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub axis: Axis,
    /// The name of the nodes. `None` stands for every name.
    pub name: Option<Vec<u8>>,
    pub predicates: Vec<Query>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Itself,
    Attribute,
    /// The axis of `text()` and its relatives, which stays at the nodes, because a node is shown as
    /// its text.
    Stay,
}

/// A function of XPath.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Xpath {
    Sum,
    Not,
    Last,
    True,
    Count,
    False,
    Floor,
    Round,
    Concat,
    Number,
    Boolean,
    Ceiling,
    Contains,
    Position,
    Substring,
    StringLength,
}

/// The functions, with the fewest and the most arguments that are used.
pub(super) const CALLS: [(&str, Xpath, usize, usize); 16] = [
    ("sum", Xpath::Sum, 1, 1),
    ("not", Xpath::Not, 1, 1),
    ("last", Xpath::Last, 0, 0),
    ("true", Xpath::True, 0, 0),
    ("count", Xpath::Count, 1, 1),
    ("false", Xpath::False, 0, 0),
    ("floor", Xpath::Floor, 1, 1),
    ("round", Xpath::Round, 1, 1),
    ("concat", Xpath::Concat, 2, 255),
    ("number", Xpath::Number, 0, 1),
    ("boolean", Xpath::Boolean, 1, 1),
    ("ceiling", Xpath::Ceiling, 1, 1),
    ("contains", Xpath::Contains, 2, 2),
    ("position", Xpath::Position, 0, 0),
    ("substring", Xpath::Substring, 2, 3),
    ("string-length", Xpath::StringLength, 0, 1),
];

/// The axes whose names MySQL knows. It treats those that it does not support as `child`.
pub(super) const AXES: [(&str, Axis); 13] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("self", Axis::Itself),
    ("attribute", Axis::Attribute),
    ("following", Axis::Child),
    ("following-sibling", Axis::Child),
    ("preceding", Axis::Child),
    ("preceding-sibling", Axis::Child),
    ("namespace", Axis::Child),
];

/// The tests of a node's kind, which are written like calls.
pub(super) const KINDS: [&str; 4] = ["text", "node", "comment", "processing-instruction"];

impl Query {
    /// Reports whether the value is a set of nodes.
    pub fn is_of_nodes(&self) -> bool {
        matches!(self, Query::Path(_) | Query::Union(_))
    }
}
