//! JSON_TABLE: a document, and the rows that its paths make of it.

use crate::expr::Expr;
use types::json::Path;
use types::{ColumnType, Value};

/// A table that is computed from a document, which depends on the tables before it.
#[derive(Debug)]
pub(crate) struct JsonTable {
    /// The call that makes the document.
    pub document: Expr,
    pub rows: JsonRows,
}

/// A path, and what a row gets for each value that it means.
#[derive(Debug)]
pub(crate) struct JsonRows {
    pub path: Path,
    /// With their places in the row.
    pub columns: Vec<(usize, JsonColumn)>,
    /// Paths within the values: for each of these there are rows of their own.
    pub nested: Vec<JsonRows>,
}

impl JsonRows {
    /// The name of a column by its place in the row.
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

/// What a column gets where a path means nothing, or nothing that fits.
#[derive(Debug)]
pub(crate) enum JsonResponse {
    Null,
    Error,
    Default(Value),
}
