//! The words of EXPLAIN.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainFormat {
    Traditional,
    Tree,
    Json,
}
