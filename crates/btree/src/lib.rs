//! B+trees on pages: lookup, scan, structure changes.
