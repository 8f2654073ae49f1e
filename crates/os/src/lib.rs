//! The operating system, as the rest of Slipstream sees it: files, a simulated disk, clock,
//! randomness, threads and their time accounts.
//!
//! Nothing else in the workspace opens a file, reads a clock, starts a thread or draws a random
//! number (`clippy.toml` bans the standard library's ways), so a test that uses a [`sim::SimDisk`]
//! has control of every byte that a crash could lose.
//!
//! - [`disk`]: the traits [`disk::Disk`] and [`disk::File`], and the real disk behind them. Paths
//!   and bytes go in; bytes come out, or an `io::Error` that names the path and what was tried.
//! - [`sim`]: a disk in memory that loses, tears and reorders what was not synced when its power is
//!   cut, and that can be told to fail.
//! - [`clock`]: wall time, monotonic time, sleep.
//! - [`mod@panic`]: panics that end one piece of work and not the process.
//! - [`random`]: the operating system's randomness, and a seeded generator for tests.
//! - [`event`]: events that threads wait for, all of which are woken at once.
//! - [`names`]: names and addresses of hosts.
//! - [`memory`]: hints about memory; [`aligned`]: memory for direct I/O.
//! - [`sync`]: atomics, mutexes and conditions, which a model checker can replace.
//! - [`thread`]: named threads, each with a time account.
//! - [`account`]: the state that each thread is in, and how much wall and CPU time it spent in each
//!   state.
//!
//! Invariants: a successful [`disk::File::sync_data`] makes every earlier write to that file
//! survive a power cut, a successful [`disk::Disk::sync_dir`] every earlier creation, renaming and
//! removal of a name in that directory; nothing else does. After a failed sync nobody may go on:
//! [`disk::Disk::fail_stop`] ends the process (or the simulated machine).

pub mod account;
pub mod aligned;
pub mod clock;
pub mod disk;
pub mod event;
pub mod memory;
pub mod names;
pub mod panic;
pub mod random;
pub mod sim;
pub mod sync;
pub mod thread;
