//! The comparison of strings as if the shorter one were padded with spaces.

use std::cmp::Ordering;

/// The weight of a space in collations where that is its code.
pub(super) const SPACE: u32 = b' ' as u32;

/// The byte after a space's weight. It says whether the first weight after the run of spaces is
/// below a space, whether there is none (the string ends), or whether it is above a space. So a
/// string that ends compares as one that goes on with spaces.
pub(super) const SPACES_THEN_LESS: u8 = 1;
pub(super) const SPACES_THEN_END: u8 = 2;
pub(super) const SPACES_THEN_MORE: u8 = 3;

/// Compares weights, as if the shorter string went on with spaces.
pub(super) fn compare_padded<W: Ord + Copy>(
    mut a: impl Iterator<Item = W>,
    mut b: impl Iterator<Item = W>,
    space: W,
) -> Ordering {
    loop {
        let (left, right) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (left, right) => (left.unwrap_or(space), right.unwrap_or(space)),
        };
        if left != right {
            return left.cmp(&right);
        }
    }
}
