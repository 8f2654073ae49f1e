//! The comparison of secrets.

/// Compares two byte strings in a time that does not depend on the place of the first difference.
pub(super) fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}
