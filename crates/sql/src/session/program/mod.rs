//! Stored programs in a session: CALL, stored functions, triggers.
//!
//! A procedure that CALL runs has the session to itself: its statements are statements of the
//! session, each in the session's transaction or in its own. A function or a trigger runs within a
//! statement: in a session of its own ([`within`]), which has what the session around has, and in
//! that statement's transaction.

mod around;
mod call;
mod conditions;
mod entered;
mod logged;
mod running;
mod steps;
mod values;
mod within;

pub(super) use call::{call_alone, check_body, known_procedure, run_event_body};
pub(super) use conditions::{get_diagnostics, signal};
pub(super) use values::{evaluate_one, evaluate_typed, evaluate_written};
