//! Versions of the Unicode Collation Algorithm.

/// Which version of the algorithm's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V400,
    V520,
    V900,
}
