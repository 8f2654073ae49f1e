//! Runs stored programs: the steps of a body over a frame of values, with handlers and cursors.
//!
//! A [`Routine`] is a body with the types of its slots, a [`Frame`] has their values, and the
//! [`Machine`] goes from step to step. It leaves the expressions and statements of the steps to its
//! [`Surroundings`], which is the session (`session/program`), so that nothing here depends on
//! plans or transactions.

mod conditions;
mod frame;
mod machine;
mod routine;

use conditions::handler_for;
use frame::Handling;
pub(crate) use frame::{Frame, OpenCursor};
pub(crate) use machine::{Machine, Surroundings};
pub(crate) use routine::{Mode, Routine, Signature};
