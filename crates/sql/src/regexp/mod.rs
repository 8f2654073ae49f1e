//! Regular expressions as MySQL has them: in the syntax of ICU, over the library fancy-regex.
//!
//! ```text
//! a pattern's text -> parse (ICU's grammar and errors) -> tree -> translate -> fancy-regex
//!                       set (bracket expressions)
//! ```
//!
//! The library sees no part of what a user wrote: literals become code points, sets become ranges,
//! and what depends on a flag is written out. What cannot be had exactly is refused with MySQL's
//! error of a feature that its library does not have (3690).

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
