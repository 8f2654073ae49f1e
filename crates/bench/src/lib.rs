//! The benchmark kit; speaks to servers over the wire only.
//!
//! Flows in: a command line (`slipstream bench apply`, `slipstream bench demo`). Flows out: a table on the terminal
//! and, when asked for, JSON. The kit starts every server that it measures itself, on temporary directories, with
//! the same settings for all ([`instance`]); nothing is measured that was not started in the same run.

pub mod instance;
