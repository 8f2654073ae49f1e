//! Names of columns, indexes, constraints and partitions.

/// Whether two names are the same one: names are compared without regard to case.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}
