//! Windows: what is computed for each row from the rows around it.

use crate::expr::{Aggregate, Expr};

/// A sort key.
#[derive(Debug, Clone)]
pub(crate) struct SortKey {
    pub expr: Expr,
    pub descending: bool,
}

/// A function over a window.
#[derive(Debug)]
pub(crate) enum WindowKind {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
    Aggregate(Box<Aggregate>),
}

/// A call of a function over a window.
#[derive(Debug)]
pub(crate) struct WindowFunction {
    pub kind: WindowKind,
    /// But for those of an aggregate, which has its own.
    pub args: Vec<Expr>,
    /// Where the value goes; its type is the value's.
    pub result: Expr,
    pub slot: usize,
}

/// Where a frame begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FrameEdge {
    Unbounded,
    /// ROWS: the row; RANGE: its peers.
    CurrentRow,
    /// So many rows before the row, or behind it.
    Rows {
        offset: Expr,
        follows: bool,
    },
    /// What the key of the last row that is within may be: an expression over the row.
    Range {
        limit: Expr,
        offset: Expr,
    },
}

/// The rows that an aggregate over a window is over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// Counted in rows; else in peers.
    pub rows: bool,
    pub start: FrameEdge,
    pub end: FrameEdge,
}

/// A window with the functions over it.
#[derive(Debug)]
pub(crate) struct WindowPlan {
    /// For messages.
    pub name: String,
    /// What the rows are sorted by: the parts first.
    pub keys: Vec<SortKey>,
    /// So many of the keys are what the rows are parted by.
    pub partition_keys: usize,
    pub frame: Frame,
    pub functions: Vec<WindowFunction>,
}

impl FrameEdge {
    fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            FrameEdge::Unbounded | FrameEdge::CurrentRow => {}
            FrameEdge::Rows { offset, .. } => f(offset),
            FrameEdge::Range { limit, offset } => {
                f(limit);
                f(offset);
            }
        }
    }
}

impl FrameEdge {
    fn change(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        if let FrameEdge::Range { limit, .. } = self {
            f(limit);
        }
    }
}

impl WindowFunction {
    /// Calls `f` for each of its arguments.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        self.args.iter().for_each(&mut *f);
        if let WindowKind::Aggregate(aggregate) = &self.kind {
            aggregate.args.iter().for_each(f);
        }
    }
}

impl WindowPlan {
    /// Calls `f` for what it is defined by.
    pub fn visit_definition(&self, f: &mut dyn FnMut(&Expr)) {
        self.keys.iter().for_each(|key| f(&key.expr));
        self.frame.start.visit(f);
        self.frame.end.visit(f);
    }

    /// Calls `f` for each expression over the rows, to be changed.
    pub fn change(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.keys.iter_mut().for_each(|key| f(&mut key.expr));
        self.frame.start.change(f);
        self.frame.end.change(f);
        for function in &mut self.functions {
            function.args.iter_mut().for_each(&mut *f);
            if let WindowKind::Aggregate(aggregate) = &mut function.kind {
                aggregate.args.iter_mut().for_each(&mut *f);
            }
        }
    }

    /// Calls `f` for each expression.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        self.visit_definition(f);
        self.functions.iter().for_each(|function| function.visit(f));
    }
}
