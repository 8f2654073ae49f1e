//! An expression where another type is wanted: in numeric context, beside another in a comparison,
//! for a column, and as a document or out of one.

use super::documents;
use super::eval::converted;
use super::functions::AS_TEXT;
use super::functions::json::{AS_JSON, AS_VALUE};
use super::functions::vector::TEXT_FOR_VECTOR;
use super::node::{Coercibility, Expr, Node};
use super::text::{text_as, text_of};
use super::value_type::{is_number, is_text, length_in, text_length, text_type};
use types::collation::{Charset, charset_of};
use types::{ColumnType, TypeCode, Value, Zone};

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

    /// A moment becomes the date and time that the session's clocks show; anything else stays.
    pub fn show_on_clocks(&mut self) {
        if self.ty.code == TypeCode::Timestamp2 && !matches!(self.node, Node::OnClocks(_)) {
            let ty = ColumnType::datetime(self.ty.fsp());
            let (nullable, coercibility) = (self.nullable, self.coercibility);
            let shown = Expr { node: Node::Constant(Value::Null), ty, nullable, coercibility };
            let moment = std::mem::replace(self, shown);
            self.node = Node::OnClocks(Box::new(moment));
        }
    }

    /// This expression beside another in a comparison: `x'1F'` is a number there if the other is
    /// one.
    pub fn beside(self, other: &ColumnType) -> Expr {
        if matches!(self.node, Node::HexLiteral(_)) && is_number(other) { self.numeric() } else { self }
    }

    /// This text where an operation has a collation: as the bytes that its own character set stores
    /// if that is `binary`, and the characters of its bytes if they are `binary` and the collation
    /// is not. Texts are in utf8mb4 here, so no other conversion changes a value.
    pub fn in_characters_of(self, id: u16) -> Expr {
        if is_stored_otherwise(&self.ty, id) { self.recollated(id) } else { self }
    }

    /// This text in the character set of a collation, with room for what that makes of it.
    pub fn recollated(self, id: u16) -> Expr {
        let ty = text_type(length_in(&self.ty, id), id);
        let (nullable, coercibility) = (self.nullable, self.coercibility);
        let node = match &self.node {
            Node::Constant(Value::Bytes(bytes)) | Node::HexLiteral(Value::Bytes(bytes)) => {
                let converted = converted(bytes, &self.ty, &ty);
                Node::Constant(Value::Bytes(converted.unwrap_or_else(|| bytes.clone())))
            }
            _ => Node::Recollate(Box::new(self)),
        };
        Expr { node, ty, nullable, coercibility }
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
            false => {
                let value = self.beside(column).read_from_json(column, None);
                match is_text(column) {
                    true if value.ty.fsp() > 0 => value.shown(),
                    true => value.in_characters_of(column.collation),
                    false => value,
                }
            }
        }
    }

    /// This expression where a text is wanted: a date or a time with the digits that its type gives
    /// the fraction, and a number as its column shows it. Any other expression stays as it is.
    pub fn into_text(mut self) -> Expr {
        self.show_on_clocks();
        if self.ty.fsp() == 0 && (self.ty.form.is_none() || is_text(&self.ty)) { self } else { self.shown() }
    }

    /// The text that shows this value: of a moment what the session's clocks show, of a date or a
    /// time the digits that its type gives the fraction.
    pub fn shown(mut self) -> Expr {
        self.show_on_clocks();
        let ty = text_type(text_length(&self.ty), types::collation::UTF8MB4_0900_AI_CI);
        let (nullable, coercibility) = (self.nullable, self.coercibility);
        Expr { node: Node::Call { function: &AS_TEXT, args: vec![self] }, ty, nullable, coercibility }
    }

    /// An operand of an operation whose result is of this type.
    pub fn for_result(self, ty: &ColumnType) -> Expr {
        if is_text(ty) { self.into_text().in_characters_of(ty.collation) } else { self }
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

/// A value of one type where a text of another type is stored: a date or a time with the digits
/// that its own type gives the fraction, and bytes where texts of one of the two are bytes and the
/// other's are not. `None` where the value is stored as it is.
pub(crate) fn text_for(value: &Value, from: &ColumnType, to: &ColumnType, zone: Zone) -> Option<Value> {
    if !is_text(to) {
        return None;
    }
    match value {
        Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. } => {
            let changes = is_stored_otherwise(from, to.collation);
            changes.then(|| converted(&text_of(value), from, to)).flatten().map(Value::Bytes)
        }
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => {
            Some(Value::Bytes(text_as(value, from).into_owned()))
        }
        Value::Timestamp { .. } => {
            let local = value.clone().in_zone(zone);
            Some(Value::Bytes(text_as(&local, from).into_owned()))
        }
        _ => None,
    }
}

/// Whether values of a type are other bytes in a collation: one of the two is `binary`, and the
/// other has characters that are not stored as in utf8mb4.
pub(crate) fn is_stored_otherwise(ty: &ColumnType, id: u16) -> bool {
    let other = match (charset_of(ty.collation), charset_of(id)) {
        (Charset::Binary, other) | (other, Charset::Binary) => other,
        _ => return false,
    };
    let is_same = other.is_stored_as_utf8mb4() || other == Charset::Binary;
    !is_same && is_text(ty) && ty.code != TypeCode::Json
}
