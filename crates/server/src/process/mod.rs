//! The process: its log, its signals, its panics, its messages to systemd, and its version.

pub mod allocator;
pub mod error_log;
pub mod panic_hook;
pub mod service;
pub mod signals;
pub mod version;
