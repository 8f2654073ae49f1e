//! `slipstream status`: the state of a server on one screen.
//!
//! In: the address of a Slipstream or MySQL server, and its answers over SQL ([`look`]). Out: text
//! of at most 120 columns ([`screen`]) or JSON ([`json`]), again and again with `--watch`
//! ([`watch`]), and an exit code that says whether all is well.
//!
//! ```text
//! answers -> look (channels, replicas, figures, time accounts) -> rates between two looks
//!         -> screen or JSON
//! ```
//!
//! Invariants:
//! - The server is only read.
//! - What a server does not have or the account may not see is left out, except the status
//!   variables and the replication channels: without these the command fails, because a channel
//!   that cannot be seen must not be taken for one that is well.

pub mod channel;
mod command_line;
pub mod json;
pub mod look;
pub mod rates;
pub mod screen;
pub mod terminal;
mod watch;

use std::ffi::OsString;

pub use command_line::command;

const EXIT_OK: u8 = 0;
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream status` with the words that follow it. Returns the process's exit code: 0 when
/// all is well, 1 when a channel has stopped or the server cannot be asked, and 2 when the words
/// are wrong.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    match command_line::parse(words) {
        Ok(request) => watch::run(&request),
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            if error.use_stderr() { EXIT_USAGE } else { EXIT_OK }
        }
    }
}
