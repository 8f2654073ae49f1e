//! Running stored programs: the steps of a body over a frame of values, its handlers and its
//! cursors.
//!
//! A [`Routine`] is a body with the types of its slots; a [`Frame`] has their values; the
//! [`Machine`] goes from step to step. What a step's expressions and statements mean it leaves to
//! its [`Surroundings`], which is the session (`session/program`): nothing here knows of plans or
//! transactions.

mod conditions;
mod frame;
mod machine;
mod routine;

use conditions::handler_for;
use frame::Handling;
pub(crate) use frame::{Frame, OpenCursor};
pub(crate) use machine::{Machine, Surroundings};
pub(crate) use routine::{Mode, Routine, Signature};
