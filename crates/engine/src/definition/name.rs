//! The names of columns, indexes, constraints and partitions.

/// Reports whether two names are the same. They are compared without regard to case.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}
