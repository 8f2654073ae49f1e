//! The checks whether a session may do what a statement says, made before it is done.
//!
//! `wanted` names the privileges, `sight` decides what an account sees, and `holder` is the account
//! whose rights are checked. The others are the checks: `administration` of everything about the
//! server, `objects` of everything in it.

mod administration;
mod holder;
mod objects;
mod sight;
mod wanted;

pub use holder::Holder;
pub use wanted::bits;
