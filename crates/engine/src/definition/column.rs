//! The columns of a table.

use super::expression::Generated;
use super::temporal::ColumnRoles;
use types::{ColumnType, TypeCode, Value};

/// The source of a column's value when an INSERT does not give one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDefault {
    /// `DEFAULT NULL`, written or implied.
    Null,
    /// A literal, in text form (UTF-8; raw bytes for the binary types, the number's digits for
    /// BIT). [`ColumnDef::default_literal`] is the value to be converted to the column's type.
    Literal(Vec<u8>),
    /// `CURRENT_TIMESTAMP` with the column's fractional digits.
    CurrentTimestamp,
    /// `DEFAULT (expression)`, with the expression's SQL text.
    Expression(String),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// The name as written. Names are compared without regard to case.
    pub name: String,
    /// The type, with the collation.
    pub ty: ColumnType,
    /// Whether the statement names the character set or the collation. They are shown then, even if
    /// they are the table's.
    pub names_collation: bool,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// The default. `None` means that there is none. [`ColumnDef::demands_value`] says what an
    /// INSERT without a value does then.
    pub default: Option<ColumnDefault>,
    /// Whether the column has `AUTO_INCREMENT`.
    pub auto_increment: bool,
    /// Whether the column has `ON UPDATE CURRENT_TIMESTAMP`.
    pub on_update_now: bool,
    /// The `COMMENT` of the column.
    pub comment: String,
    /// Whether the column is `INVISIBLE`.
    pub invisible: bool,
    /// The `GENERATED ALWAYS AS (expression)` clause.
    pub generated: Option<Generated>,
    /// The roles of the column in the periods of a MariaDB table, or in an index.
    pub roles: ColumnRoles,
    /// The type of the elements, if this is the hidden column of a multi-valued index. The column
    /// is a JSON array of such elements, and its index has an entry for each of them.
    pub elements: Option<ColumnType>,
}

impl ColumnDef {
    /// Returns a nullable column with no default but NULL.
    pub fn new(name: &str, ty: ColumnType) -> ColumnDef {
        ColumnDef {
            name: name.to_string(),
            ty,
            names_collation: false,
            nullable: true,
            default: Some(ColumnDefault::Null),
            auto_increment: false,
            on_update_now: false,
            comment: String::new(),
            invisible: false,
            generated: None,
            roles: ColumnRoles::default(),
            elements: None,
        }
    }

    /// Whether an INSERT that leaves the column out is refused in strict mode (error 1364). An ENUM
    /// without a default is given its first member, so it never demands a value.
    pub fn demands_value(&self) -> bool {
        let has_none = self.default.is_none() || self.default == Some(ColumnDefault::Null) && !self.nullable;
        has_none && self.ty.code != TypeCode::Enum
    }

    /// Reports whether the column is generated and computed whenever it is read.
    pub fn is_virtual(&self) -> bool {
        self.generated.as_ref().is_some_and(|generated| !generated.stored)
    }

    /// Reports whether this is the hidden column of an expression in an index. Such columns are the
    /// last ones of their table. No statement can name them, and the binary log does not have them.
    pub fn is_indexed_expression(&self) -> bool {
        self.roles.has(ColumnRoles::INDEXED_EXPRESSION)
    }

    /// Returns the literal of the column's DEFAULT, as a value to be assigned to the column. `None`
    /// means that there is no default or that it is NULL or no literal.
    pub fn default_literal(&self) -> Option<Value> {
        let Some(ColumnDefault::Literal(text)) = &self.default else { return None };
        // A BIT column would take the bytes of a text as its bits, but the literal is the text of a
        // number.
        if self.ty.code == TypeCode::Bit {
            return Some(Value::UInt(types::number::integer_prefix(text).value as u64));
        }
        Some(Value::Bytes(text.clone()))
    }

    /// Returns the column with `NOT NULL` and no default.
    pub fn not_null(mut self) -> ColumnDef {
        self.nullable = false;
        self.default = None;
        self
    }

    /// Returns the column with `AUTO_INCREMENT`.
    pub fn auto_increment(mut self) -> ColumnDef {
        self.auto_increment = true;
        self.not_null()
    }
}
