//! Windows, and the functions over them.

use super::{Expr, FunctionCall, OrderItem, TimeUnit};

/// A call with OVER.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// Of an aggregate, or of a function that is one only over a window.
    pub call: FunctionCall,
    pub over: Over,
}

/// What stands behind OVER.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    Name(String),
    Window(Box<Window>),
}

/// `([name] [PARTITION BY ...] [ORDER BY ...] [frame])`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// The window that it goes on from.
    pub base: Option<String>,
    pub partition_by: Vec<Expr>,
    pub order_by: Vec<OrderItem>,
    pub frame: Option<WindowFrame>,
}

/// `ROWS` or `RANGE`.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowFrame {
    /// ROWS; else RANGE.
    pub rows: bool,
    pub start: FrameBound,
    pub end: FrameBound,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(FrameOffset),
    CurrentRow,
    Following(FrameOffset),
    UnboundedFollowing,
}

/// How far a frame goes: a number, or `INTERVAL amount unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameOffset {
    pub amount: Expr,
    pub unit: Option<TimeUnit>,
}
