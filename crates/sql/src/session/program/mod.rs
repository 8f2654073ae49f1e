//! Stored programs in a session: CALL, stored functions and triggers.
//!
//! A procedure that is called with CALL has the session to itself: its statements are statements of
//! the session, each in the session's transaction or in one of its own. A function or a trigger
//! runs within a statement: in a session of its own ([`within`]), which has the settings of the
//! calling one, and in the calling statement's transaction.

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
