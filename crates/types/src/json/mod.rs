//! MySQL's binary JSON (the documents that row images hold) to text and back.
//!
//! A document is a type byte and a value; objects and arrays start with their count and size and a
//! table of offsets, with two-byte numbers ("small") or four-byte ones ("large"). Layout: MySQL's
//! internal documentation of `json_binary.h`; checked against documents that MySQL wrote.

mod binary;
mod diff;
pub mod mariadb;
mod members;
mod node;
mod parse;
mod read;
mod text;
mod write;

pub use binary::MAX_DEPTH;
pub use diff::{JsonDiffError, apply_diffs};
pub use members::{Member, is_object, member, merge_patch, object};
pub use parse::{JsonError, parse_text};
pub use text::write_text;
pub use write::normalized;

#[cfg(test)]
mod tests;
