//! A document as a tree.

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    String(Vec<u8>),
    Array(Vec<Node>),
    /// Sorted by key length, then by key bytes, without duplicates: the order in which MySQL stores
    /// members.
    Object(Vec<(Vec<u8>, Node)>),
    /// An SQL value of this type, packed, which no JSON text makes.
    Opaque(u8, Vec<u8>),
}

/// Where an object has the member, or where it is to be inserted.
pub(super) fn member_place(members: &[(Vec<u8>, Node)], name: &[u8]) -> Result<usize, usize> {
    members.binary_search_by(|(key, _)| key.len().cmp(&name.len()).then_with(|| key.as_slice().cmp(name)))
}
