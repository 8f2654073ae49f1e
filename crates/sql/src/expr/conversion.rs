//! An expression where another type is wanted: in numeric context, beside another in a comparison,
//! for a column, and as a document or out of one.

use super::documents;
use super::functions::json::{AS_JSON, AS_VALUE};
use super::functions::vector::TEXT_FOR_VECTOR;
use super::node::{Coercibility, Expr, Node};
use super::value_type::{is_number, is_text};
use types::{ColumnType, TypeCode, Value};

impl Expr {
    /// This expression in numeric context, where `x'1F'` is a number. One of more than eight bytes
    /// is 0, as MySQL's.
    pub fn numeric(self) -> Expr {
        const MOST_BYTES: usize = 8;
        let Node::HexLiteral(Value::Bytes(bytes)) = &self.node else { return self };
        let number = match bytes.len() {
            0..=MOST_BYTES => bytes.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte)),
            _ => 0,
        };
        let (ty, coercibility) = (ColumnType::bigint(true), Coercibility::Numeric);
        Expr { ty, coercibility, ..Expr::constant(Value::UInt(number)) }
    }

    /// This expression beside another in a comparison: `x'1F'` is a number there if the other is
    /// one.
    pub fn beside(self, other: &ColumnType) -> Expr {
        if matches!(self.node, Node::HexLiteral(_)) && is_number(other) { self.numeric() } else { self }
    }

    /// This expression as a value for a column of this type: a VECTOR takes no text. Whether a
    /// parameter or a user variable is one is not known here.
    pub fn for_column(self, column: &ColumnType) -> Expr {
        let is_refused = column.code == TypeCode::Vector
            && self.ty.code != TypeCode::Vector
            && is_text(&self.ty)
            && self.ty.collation != types::collation::BINARY
            && !matches!(self.node, Node::UserVariable(_))
            && !self.has_parameter();
        match is_refused {
            true => Expr {
                ty: self.ty.clone(),
                nullable: self.nullable,
                coercibility: self.coercibility,
                node: Node::Call { function: &TEXT_FOR_VECTOR, args: vec![self] },
            },
            false => self.beside(column).read_from_json(column, None),
        }
    }

    /// A document as a value of the kind that a type is of; anything else as it is. `column` is its
    /// name, where it is a column.
    pub fn read_from_json(self, ty: &ColumnType, column: Option<&str>) -> Expr {
        if !self.is_json() || ty.code == TypeCode::Json || documents::Kind::of(ty) == documents::Kind::Text {
            return self;
        }
        // What messages call it: the function or the column that it is.
        let name = match &self.node {
            Node::Call { function, .. } => function.name,
            _ => column.unwrap_or_default(),
        };
        let name = Expr { ty: ty.clone(), ..Expr::constant(Value::text(name)) };
        Expr {
            ty: ty.clone(),
            nullable: true,
            coercibility: Coercibility::Numeric,
            node: Node::Call { function: &AS_VALUE, args: vec![self, name] },
        }
    }

    /// A value of SQL as a document, to be compared with one; a document as it is.
    pub fn into_json(self) -> Expr {
        if self.is_json() || self.ty.code == TypeCode::Null {
            return self;
        }
        Expr {
            ty: ColumnType::json(),
            nullable: self.nullable,
            coercibility: Coercibility::Implicit,
            node: Node::Call { function: &AS_JSON, args: vec![self] },
        }
    }
}
