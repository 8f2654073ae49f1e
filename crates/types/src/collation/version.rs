//! Versions of the Unicode Collation Algorithm.

/// The version of the algorithm that weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V400,
    V520,
    V900,
}
