//! Listener, sessions, system variables, SHOW; the slipstream binary.

pub mod accounts;
pub mod authenticate;
pub mod cells;
pub mod error_log;
pub mod options;
pub mod sessions;
pub mod signals;
pub mod status;
pub mod variables;
pub mod version;
pub mod wire_sink;
