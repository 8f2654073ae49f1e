//! Comparison of secrets.

/// Compares in a time that does not depend on where the first difference is.
pub(super) fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |acc, (x, y)| acc | (x ^ y)) == 0
}
