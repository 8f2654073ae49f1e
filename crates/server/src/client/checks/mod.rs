//! What a session may do: the checks that it asks for before it does what a statement says.
//!
//! `wanted` names the privileges, `sight` says what an account sees, and the others are the checks
//! of a connection: `administration` of what concerns the server, `objects` of what is in it.

mod administration;
mod objects;
mod sight;
mod wanted;

pub use wanted::bits;
