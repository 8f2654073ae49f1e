//! Columns of a table.

use super::expression::Generated;
use super::temporal::ColumnRoles;
use types::{ColumnType, TypeCode, Value};

/// Where a column's value comes from when an INSERT does not give one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDefault {
    /// `DEFAULT NULL`, written or implied.
    Null,
    /// A literal, in text form (UTF-8; raw bytes for the binary types, the number's digits for
    /// BIT). What is to be converted to the column's type on use is [`ColumnDef::default_literal`].
    Literal(Vec<u8>),
    /// `CURRENT_TIMESTAMP` with the column's fractional digits.
    CurrentTimestamp,
    /// `DEFAULT (expression)`, the expression's SQL text.
    Expression(String),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// Name as written; compared without regard to case.
    pub name: String,
    /// Type, with collation.
    pub ty: ColumnType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// `None`: no default ([`ColumnDef::demands_value`] says what an INSERT does then).
    pub default: Option<ColumnDefault>,
    /// `AUTO_INCREMENT`
    pub auto_increment: bool,
    /// `ON UPDATE CURRENT_TIMESTAMP`
    pub on_update_now: bool,
    /// `COMMENT`
    pub comment: String,
    /// `INVISIBLE`
    pub invisible: bool,
    /// `GENERATED ALWAYS AS (expression)`
    pub generated: Option<Generated>,
    /// What it is to the periods of a table of MariaDB.
    pub roles: ColumnRoles,
}

impl ColumnDef {
    /// A nullable column with no default but NULL.
    pub fn new(name: &str, ty: ColumnType) -> ColumnDef {
        ColumnDef {
            name: name.to_string(),
            ty,
            nullable: true,
            default: Some(ColumnDefault::Null),
            auto_increment: false,
            on_update_now: false,
            comment: String::new(),
            invisible: false,
            generated: None,
            roles: ColumnRoles::default(),
        }
    }

    /// Whether an INSERT that leaves the column out is refused in strict mode (error 1364). An ENUM
    /// without a default is given its first member, so it never demands a value.
    pub fn demands_value(&self) -> bool {
        let has_none = self.default.is_none() || self.default == Some(ColumnDefault::Null) && !self.nullable;
        has_none && self.ty.code != TypeCode::Enum
    }

    /// The literal of its DEFAULT, as a value to be assigned to the column. `None`: the default is
    /// none, NULL, or no literal.
    pub fn default_literal(&self) -> Option<Value> {
        let Some(ColumnDefault::Literal(text)) = &self.default else { return None };
        // A BIT column takes the bytes of a text for its bits, and the literal is the number's
        // text.
        if self.ty.code == TypeCode::Bit {
            return Some(Value::UInt(types::number::integer_prefix(text).value as u64));
        }
        Some(Value::Bytes(text.clone()))
    }

    /// The column with `NOT NULL` and no default.
    pub fn not_null(mut self) -> ColumnDef {
        self.nullable = false;
        self.default = None;
        self
    }

    /// The column with `AUTO_INCREMENT`.
    pub fn auto_increment(mut self) -> ColumnDef {
        self.auto_increment = true;
        self.not_null()
    }
}
