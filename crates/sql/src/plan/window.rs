//! Windows: values that are computed for each row from the rows around it.

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
    /// The arguments. An aggregate has its own instead.
    pub args: Vec<Expr>,
    /// An expression with the type of the value. `slot` is where the value goes.
    pub result: Expr,
    pub slot: usize,
}

/// The start or the end of a frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FrameEdge {
    Unbounded,
    /// With ROWS the row itself, with RANGE its peers.
    CurrentRow,
    /// `offset` rows before the row, or with `follows` behind it.
    Rows {
        offset: Expr,
        follows: bool,
    },
    /// The key of the last row within the frame must not go beyond `limit`, an expression over the
    /// row.
    Range {
        limit: Expr,
        offset: Expr,
    },
}

/// The rows around a row that a function over a window computes its value from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    /// The frame counts rows (ROWS). Otherwise it goes by keys and peers (RANGE).
    pub rows: bool,
    pub start: FrameEdge,
    pub end: FrameEdge,
}

/// A window, with the functions over it.
#[derive(Debug)]
pub(crate) struct WindowPlan {
    /// The window's name in messages.
    pub name: String,
    /// The keys by which the rows are sorted, those of PARTITION BY first.
    pub keys: Vec<SortKey>,
    /// The number of keys that are from PARTITION BY.
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
    /// Calls `f` for each argument.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        self.args.iter().for_each(&mut *f);
        if let WindowKind::Aggregate(aggregate) = &self.kind {
            aggregate.args.iter().for_each(f);
        }
    }
}

impl WindowPlan {
    /// Calls `f` for each expression that defines the window.
    pub fn visit_definition(&self, f: &mut dyn FnMut(&Expr)) {
        self.keys.iter().for_each(|key| f(&key.expr));
        self.frame.start.visit(f);
        self.frame.end.visit(f);
    }

    /// Calls `f` for each expression over the rows, so that it can change it.
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
