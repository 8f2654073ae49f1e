//! What a session may do: the checks that it asks for before it does what a statement says.
//!
//! `wanted` names the privileges, `sight` says what an account sees, `holder` whose rights are
//! asked for. The others are the checks: `administration` of what concerns the server, `objects` of
//! what is in it.

mod administration;
mod holder;
mod objects;
mod sight;
mod wanted;

pub use holder::Holder;
pub use wanted::bits;
