//! Listener, sessions, system variables, SHOW; the slipstream binary.

pub mod options;
pub mod variables;
