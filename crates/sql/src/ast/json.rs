//! What JSON_VALUE and JSON_TABLE say beside their arguments.

use super::{CastType, Expr, TypeSpec};

/// `JSON_VALUE(document, path [RETURNING type] [... ON EMPTY] [... ON ERROR])`.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonValue {
    pub document: Expr,
    pub path: Expr,
    pub returning: Option<CastType>,
    pub on_empty: Option<OnResponse>,
    pub on_error: Option<OnResponse>,
}

/// What happens where a path means nothing, or nothing that fits.
#[derive(Debug, Clone, PartialEq)]
pub enum OnResponse {
    /// As where nothing is written.
    Null,
    Error,
    Default(Expr),
}

/// `JSON_TABLE(document, path COLUMNS (...)) alias`.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTable {
    pub document: Expr,
    pub rows: JsonTableRows,
    pub alias: String,
}

/// A path, and the columns of a row for each value that it means.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTableRows {
    pub path: Vec<u8>,
    pub columns: Vec<JsonTableColumn>,
}

/// A column of JSON_TABLE.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonTableColumn {
    Ordinality {
        name: String,
    },
    Exists {
        name: String,
        ty: TypeSpec,
        path: Vec<u8>,
    },
    Value {
        name: String,
        ty: TypeSpec,
        path: Vec<u8>,
        on_empty: Option<OnResponse>,
        on_error: Option<OnResponse>,
    },
    Nested(JsonTableRows),
}
