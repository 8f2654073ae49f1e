//! JSON documents as trees.

use super::opaque::{Scalar, packed_datetime, packed_day, packed_decimal, packed_time, scalar_of};
use crate::temporal::{Date, DateTime, Time};
use crate::{Decimal, TypeCode};

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true` and `false`
    Bool(bool),
    /// A whole number within the range of i64.
    Int(i64),
    /// A larger whole number, or one that was unsigned in SQL.
    UInt(u64),
    /// A number with a fraction or an exponent.
    Double(f64),
    /// Characters, in UTF-8.
    String(Vec<u8>),
    /// `[...]`
    Array(Vec<Node>),
    /// `{...}`, sorted by key length, then by key bytes, without duplicates. MySQL stores members
    /// in this order.
    Object(Vec<(Vec<u8>, Node)>),
    /// A packed SQL value of the type with this number. No JSON text makes such a value.
    Opaque(u8, Vec<u8>),
}

/// Returns the place of an object's member, or as the error the place where it would be inserted.
pub(super) fn member_place(members: &[(Vec<u8>, Node)], name: &[u8]) -> Result<usize, usize> {
    members.binary_search_by(|(key, _)| key.len().cmp(&name.len()).then_with(|| key.as_slice().cmp(name)))
}

impl Node {
    /// Makes an object of these members. Of several members with the same name the last one stays.
    pub fn object(mut members: Vec<(Vec<u8>, Node)>) -> Node {
        // A stable sort of the reversed members puts the last one of each name first.
        members.reverse();
        members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        members.dedup_by(|later, kept| later.0 == kept.0);
        Node::Object(members)
    }

    /// Returns the value of an object's member.
    pub fn member(&self, name: &[u8]) -> Option<&Node> {
        match self {
            Node::Object(members) => member_place(members, name).ok().map(|at| &members[at].1),
            _ => None,
        }
    }

    /// Returns the number of members of an object or of elements of an array, 1 for all other
    /// values.
    pub fn length(&self) -> usize {
        match self {
            Node::Array(elements) => elements.len(),
            Node::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// Returns the number of levels of the tree, 1 for a scalar and for an empty container.
    pub fn depth(&self) -> usize {
        let deepest = match self {
            Node::Array(elements) => elements.iter().map(Node::depth).max(),
            Node::Object(members) => members.iter().map(|(_, value)| value.depth()).max(),
            _ => None,
        };
        1 + deepest.unwrap_or(0)
    }

    /// Returns the number of levels of nested arrays and objects, which MySQL limits.
    pub fn containers(&self) -> usize {
        match self {
            Node::Array(elements) => 1 + elements.iter().map(Node::containers).max().unwrap_or(0),
            Node::Object(members) => {
                1 + members.iter().map(|(_, value)| value.containers()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Reports whether the value is neither an array nor an object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Node::Array(_) | Node::Object(_))
    }

    /// Returns the name of the value's type as JSON_TYPE has it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Node::Null => "NULL",
            Node::Bool(_) => "BOOLEAN",
            Node::Int(_) => "INTEGER",
            Node::UInt(_) => "UNSIGNED INTEGER",
            Node::Double(_) => "DOUBLE",
            Node::String(_) => "STRING",
            Node::Array(_) => "ARRAY",
            Node::Object(_) => "OBJECT",
            Node::Opaque(code, _) => match TypeCode::from_u8(*code) {
                Some(TypeCode::NewDecimal) => "DECIMAL",
                Some(TypeCode::Date) => "DATE",
                Some(TypeCode::Time) => "TIME",
                Some(TypeCode::Datetime | TypeCode::Timestamp) => "DATETIME",
                Some(TypeCode::Bit) => "BIT",
                Some(TypeCode::Geometry) => "GEOMETRY",
                Some(TypeCode::Varchar | TypeCode::String | TypeCode::Blob) => "BLOB",
                _ if (249..=251).contains(code) || *code == 253 => "BLOB",
                _ => "OPAQUE",
            },
        }
    }

    /// Returns about how many bytes the tree takes on the heap. A statement is charged this much
    /// for it.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Node::String(bytes) | Node::Opaque(_, bytes) => bytes.len(),
            Node::Array(elements) => {
                elements.iter().map(|element| size_of::<Node>() + element.heap_bytes()).sum()
            }
            Node::Object(members) => {
                let bytes = |(name, value): &(Vec<u8>, Node)| {
                    size_of::<(Vec<u8>, Node)>() + name.len() + value.heap_bytes()
                };
                members.iter().map(bytes).sum()
            }
            _ => 0,
        }
    }

    /// Makes a node of a decimal, or of a double if the decimal cannot be packed.
    pub fn decimal(value: &Decimal) -> Node {
        match packed_decimal(value) {
            Some(bytes) => Node::Opaque(TypeCode::NewDecimal as u8, bytes),
            None => Node::Double(value.to_f64()),
        }
    }

    /// Makes a node of a date.
    pub fn date(date: &Date) -> Node {
        Node::Opaque(TypeCode::Date as u8, packed_day(date))
    }

    /// Makes a node of a date with a time of day.
    pub fn datetime(at: &DateTime) -> Node {
        Node::Opaque(TypeCode::Datetime as u8, packed_datetime(at))
    }

    /// Makes a node of a time.
    pub fn time(time: &Time) -> Node {
        Node::Opaque(TypeCode::Time as u8, packed_time(time))
    }

    /// Returns the decimal, if the node is one.
    pub fn as_decimal(&self) -> Option<Decimal> {
        match self.scalar()? {
            Scalar::Decimal(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the point in time, if the node is one. A date is its midnight.
    pub fn as_datetime(&self) -> Option<DateTime> {
        match self.scalar()? {
            Scalar::Date(date, _) => Some(DateTime::midnight(date)),
            Scalar::DateTime(at, _) => Some(at),
            _ => None,
        }
    }

    /// Returns the time, if the node is one.
    pub fn as_time(&self) -> Option<Time> {
        match self.scalar()? {
            Scalar::Time(time, _) => Some(time),
            _ => None,
        }
    }

    fn scalar(&self) -> Option<Scalar> {
        match self {
            Node::Opaque(code, bytes) => scalar_of(*code, bytes),
            _ => None,
        }
    }
}
