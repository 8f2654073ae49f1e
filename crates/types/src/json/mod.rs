//! MySQL's binary JSON, the documents that row images hold, and its conversion to text and back.
//!
//! A document is a type byte and a value. Objects and arrays start with their count, their size and
//! a table of offsets, in two-byte numbers ("small") or four-byte ones ("large"). The layout is
//! that of MySQL's internal documentation of `json_binary.h`, checked against documents that MySQL
//! wrote.

mod binary;
mod change;
mod contains;
mod diff;
mod lookup;
pub mod mariadb;
mod members;
mod node;
mod opaque;
mod order;
mod parse;
mod path;
mod read;
mod text;
mod write;

pub use binary::MAX_DEPTH;
pub use change::Change;
pub use contains::{GoesOn, contains, overlaps};
pub use diff::{JsonDiffError, apply_diffs};
pub use lookup::{is_container, is_zero, read_at};
pub use members::{Member, is_object, member, merge_patch, object};
pub use node::Node;
pub use parse::{JsonError, parse_node, parse_text};
pub use path::{Cell, Leg, Path, write_leg};
pub use read::read_document;
pub use text::{most_text_bytes, write_node_text, write_pretty, write_quoted, write_text, write_unquoted};
pub use write::{normalized, write_document};

#[cfg(test)]
mod tests;
