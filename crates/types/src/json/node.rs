//! A document as a tree.

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
    /// A whole number that is no larger than a signed one can be.
    Int(i64),
    /// A larger one, or one that was unsigned in SQL.
    UInt(u64),
    /// A number with a fraction or an exponent.
    Double(f64),
    /// Characters, in UTF-8.
    String(Vec<u8>),
    /// `[...]`
    Array(Vec<Node>),
    /// `{...}`, sorted by key length, then by key bytes, without duplicates: the order in which
    /// MySQL stores members.
    Object(Vec<(Vec<u8>, Node)>),
    /// An SQL value of this type, packed, which no JSON text makes.
    Opaque(u8, Vec<u8>),
}

/// Where an object has the member, or where it is to be inserted.
pub(super) fn member_place(members: &[(Vec<u8>, Node)], name: &[u8]) -> Result<usize, usize> {
    members.binary_search_by(|(key, _)| key.len().cmp(&name.len()).then_with(|| key.as_slice().cmp(name)))
}

impl Node {
    /// An object of these members; of several of one name the last one stays.
    pub fn object(mut members: Vec<(Vec<u8>, Node)>) -> Node {
        // A stable sort of the reverse puts the last of a name first.
        members.reverse();
        members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        members.dedup_by(|later, kept| later.0 == kept.0);
        Node::Object(members)
    }

    /// The value of an object's member.
    pub fn member(&self, name: &[u8]) -> Option<&Node> {
        match self {
            Node::Object(members) => member_place(members, name).ok().map(|at| &members[at].1),
            _ => None,
        }
    }

    /// Members of an object, elements of an array, 1 of everything else.
    pub fn length(&self) -> usize {
        match self {
            Node::Array(elements) => elements.len(),
            Node::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// Levels of the tree: 1 for a scalar and for what is empty.
    pub fn depth(&self) -> usize {
        let deepest = match self {
            Node::Array(elements) => elements.iter().map(Node::depth).max(),
            Node::Object(members) => members.iter().map(|(_, value)| value.depth()).max(),
            _ => None,
        };
        1 + deepest.unwrap_or(0)
    }

    /// Arrays and objects within each other: what the depth that MySQL allows is about.
    pub fn containers(&self) -> usize {
        match self {
            Node::Array(elements) => 1 + elements.iter().map(Node::containers).max().unwrap_or(0),
            Node::Object(members) => {
                1 + members.iter().map(|(_, value)| value.containers()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Neither array nor object.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Node::Array(_) | Node::Object(_))
    }

    /// What JSON_TYPE calls it.
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

    /// What the tree takes, about: what a statement is charged for it.
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

    /// A decimal.
    pub fn decimal(value: &Decimal) -> Node {
        match packed_decimal(value) {
            Some(bytes) => Node::Opaque(TypeCode::NewDecimal as u8, bytes),
            None => Node::Double(value.to_f64()),
        }
    }

    /// A date.
    pub fn date(date: &Date) -> Node {
        Node::Opaque(TypeCode::Date as u8, packed_day(date))
    }

    /// A date with a time of day.
    pub fn datetime(at: &DateTime) -> Node {
        Node::Opaque(TypeCode::Datetime as u8, packed_datetime(at))
    }

    /// A time.
    pub fn time(time: &Time) -> Node {
        Node::Opaque(TypeCode::Time as u8, packed_time(time))
    }

    /// The decimal that it is.
    pub fn as_decimal(&self) -> Option<Decimal> {
        match self.scalar()? {
            Scalar::Decimal(value) => Some(value),
            _ => None,
        }
    }

    /// The point in time that it is, a date being its midnight.
    pub fn as_datetime(&self) -> Option<DateTime> {
        match self.scalar()? {
            Scalar::Date(date, _) => Some(DateTime::midnight(date)),
            Scalar::DateTime(at, _) => Some(at),
            _ => None,
        }
    }

    /// The time that it is.
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
