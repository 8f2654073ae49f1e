//! Regular expressions in ICU's syntax, as in MySQL, implemented over the library fancy-regex.
//!
//! ```text
//! a pattern's text -> parse (ICU's grammar and errors) -> tree -> translate -> fancy-regex
//!                       set (bracket expressions)
//! ```
//!
//! The library sees no part of the text that a user wrote: literals become code points, sets become
//! ranges, and the effects of flags are written out. A pattern whose matches might differ from
//! ICU's is refused with the error that MySQL has for a feature missing in its library (3690).

mod cache;
mod class;
mod error;
mod fold;
mod parse;
mod pattern;
mod replace;
mod set;
mod translate;
mod tree;

pub(crate) use cache::PatternCache;
pub(crate) use error::RegexpError;
pub(crate) use pattern::{Limits, Match, Pattern};
pub(crate) use replace::Replacement;
pub(crate) use tree::Flags;
