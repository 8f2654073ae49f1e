//! MySQL column types, values, row images and keys that compare by memcmp.
