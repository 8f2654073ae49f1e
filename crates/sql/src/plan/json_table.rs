//! JSON_TABLE: a document, and the rows that its paths make of it.

use crate::expr::Expr;
use types::json::Path;
use types::{ColumnType, Value};

/// A table that is computed from a document. The document depends on the tables before it.
#[derive(Debug)]
pub(crate) struct JsonTable {
    /// The call that yields the document.
    pub document: Expr,
    pub rows: JsonRows,
}

/// A path, and the columns that are computed from each value that it selects.
#[derive(Debug)]
pub(crate) struct JsonRows {
    pub path: Path,
    /// The columns, each with its position in the row.
    pub columns: Vec<(usize, JsonColumn)>,
    /// Paths within a selected value. Each of their values yields rows of its own.
    pub nested: Vec<JsonRows>,
}

impl JsonRows {
    /// Returns the name of the column at this position in the row.
    pub fn column_at(&self, at: usize) -> Option<&String> {
        let own = self.columns.iter().find(|(place, _)| *place == at).map(|(_, column)| &column.name);
        own.or_else(|| self.nested.iter().find_map(|nested| nested.column_at(at)))
    }
}

#[derive(Debug)]
pub(crate) struct JsonColumn {
    pub name: String,
    pub ty: ColumnType,
    pub kind: JsonColumnKind,
}

#[derive(Debug)]
pub(crate) enum JsonColumnKind {
    Ordinality,
    Exists(Path),
    Value { path: Path, on_empty: JsonResponse, on_error: JsonResponse },
}

/// The value of a column whose path selects nothing, or nothing that fits.
#[derive(Debug)]
pub(crate) enum JsonResponse {
    Null,
    Error,
    Default(Value),
}
