//! The tree of a parsed pattern.

use regex_syntax::hir::ClassUnicode;

/// The flags of a pattern or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Flags {
    /// `i`: letters match in any case.
    pub case_insensitive: bool,
    /// `m`: `^` and `$` match at every line.
    pub multi_line: bool,
    /// MySQL's `n` and ICU's `s`: `.` matches line ends too.
    pub dot_all: bool,
    /// MySQL's `u` and ICU's `d`: the line feed is the only line end.
    pub unix_lines: bool,
    /// ICU's `x`: white space and comments in a pattern are ignored.
    pub comments: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    /// `^`. Without the flag `m` also `\A`.
    LineStart,
    /// `$`. Without the flag `m` also `\Z`.
    LineEnd,
    TextEnd,
    MatchStart,
    WordBoundary,
    NoWordBoundary,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Empty,
    /// Characters that are compared together.
    Literal {
        text: Vec<char>,
        case_insensitive: bool,
    },
    /// One character of a set, which is closed under case already.
    Set(ClassUnicode),
    Dot(Flags),
    /// `\R`: a line end of one character or two.
    LineBreak,
    Assert(Assertion, Flags),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Capture(Box<Node>),
    Atomic(Box<Node>),
    Look {
        behind: bool,
        negative: bool,
        inner: Box<Node>,
    },
    Repeat {
        inner: Box<Node>,
        min: u32,
        max: Option<u32>,
        greed: Greed,
    },
    BackReference {
        group: usize,
        case_insensitive: bool,
    },
}

impl Node {
    /// Returns the length, in characters, of the longest text that a look-behind with this node has
    /// to look at. `None` means that ICU finds no limit.
    pub fn longest(&self) -> Option<u64> {
        match self {
            Node::Empty | Node::Assert(..) => Some(0),
            Node::Literal { text, .. } => Some(text.len() as u64),
            Node::Set(_) => Some(1),
            Node::Dot(_) | Node::LineBreak => Some(2),
            Node::BackReference { .. } => None,
            Node::Concat(parts) => {
                parts.iter().try_fold(0u64, |sum, part| Some(sum.saturating_add(part.longest()?)))
            }
            Node::Alternate(parts) => parts.iter().try_fold(0, |most, part| Some(part.longest()?.max(most))),
            // ICU counts the text of a look-ahead too.
            Node::Capture(inner) | Node::Atomic(inner) | Node::Look { inner, .. } => inner.longest(),
            Node::Repeat { max: Some(0), .. } => Some(0),
            // ICU takes a lazy `??` for a loop.
            Node::Repeat { min: 0, max: Some(1), greed: Greed::Lazy, .. } => None,
            Node::Repeat { inner, max, .. } => Some(inner.longest()?.saturating_mul(u64::from((*max)?))),
        }
    }

    /// Reports whether the node matches the empty text alone.
    pub fn has_no_length(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(..) | Node::Look { .. } => true,
            Node::Repeat { max: Some(0), .. } => true,
            Node::Concat(parts) | Node::Alternate(parts) => parts.iter().all(Node::has_no_length),
            Node::Capture(inner) | Node::Atomic(inner) | Node::Repeat { inner, .. } => inner.has_no_length(),
            _ => false,
        }
    }

    /// Returns the highest number of a group that a back reference names. A part that is repeated 0
    /// times does not count.
    pub fn last_reference(&self) -> usize {
        let last = |parts: &[Node]| parts.iter().map(Node::last_reference).max().unwrap_or(0);
        match self {
            Node::BackReference { group, .. } => *group,
            Node::Concat(parts) | Node::Alternate(parts) => last(parts),
            Node::Repeat { max: Some(0), .. } => 0,
            Node::Capture(inner)
            | Node::Atomic(inner)
            | Node::Look { inner, .. }
            | Node::Repeat { inner, .. } => inner.last_reference(),
            _ => 0,
        }
    }

    /// Reports whether a group may match another text than in ICU: one in a loop whose last round
    /// is empty, or one in a look-behind, which ICU tries from the shortest text on.
    pub fn groups_may_differ(&self) -> bool {
        match self {
            Node::Repeat { max: Some(0), .. } => false,
            Node::Repeat { inner, max, .. } => {
                let is_loop = *max != Some(1);
                is_loop && inner.may_be_empty() && inner.has_group() || inner.groups_may_differ()
            }
            Node::Look { behind, inner, .. } => *behind && inner.has_group() || inner.groups_may_differ(),
            Node::Capture(inner) | Node::Atomic(inner) => inner.groups_may_differ(),
            Node::Concat(parts) | Node::Alternate(parts) => parts.iter().any(Node::groups_may_differ),
            _ => false,
        }
    }

    fn has_group(&self) -> bool {
        match self {
            Node::Capture(_) => true,
            Node::Repeat { inner, .. } | Node::Look { inner, .. } | Node::Atomic(inner) => inner.has_group(),
            Node::Concat(parts) | Node::Alternate(parts) => parts.iter().any(Node::has_group),
            _ => false,
        }
    }

    fn may_be_empty(&self) -> bool {
        match self {
            Node::Literal { .. } | Node::Set(_) | Node::Dot(_) | Node::LineBreak => false,
            Node::Repeat { min: 1.., inner, .. } | Node::Capture(inner) | Node::Atomic(inner) => {
                inner.may_be_empty()
            }
            Node::Concat(parts) => parts.iter().all(Node::may_be_empty),
            Node::Alternate(parts) => parts.iter().any(Node::may_be_empty),
            _ => true,
        }
    }

    /// Reports whether a part of the node gives nothing back of what it has matched.
    pub fn takes_all_it_can(&self) -> bool {
        match self {
            Node::Atomic(_) | Node::LineBreak => true,
            Node::Dot(flags) => flags.dot_all,
            Node::Repeat { greed: Greed::Possessive, .. } => true,
            Node::Repeat { inner, .. } | Node::Capture(inner) => inner.takes_all_it_can(),
            Node::Concat(parts) | Node::Alternate(parts) => parts.iter().any(Node::takes_all_it_can),
            _ => false,
        }
    }
}
