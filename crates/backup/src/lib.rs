//! `slipstream backup`, and the part of `slipstream restore` that needs no server: files, checksums
//! and the search for the point in the binary logs.
//!
//! **In.** The address of a Slipstream server on this machine, and a directory. **Out.** A backup:
//! a physical copy that the server has made (`CLONE LOCAL DATA DIRECTORY`), the binary log that
//! came since (by later `--incremental` runs), and a manifest with the checksum of each file and
//! the place in the log where the copy stands. [`lay_down`] puts the copy's files into a new data
//! directory, and [`LogPlan`] says which events of the logs lead to the wanted point.
//!
//! Invariants:
//! - A directory is a backup once it has its manifest, which is written last and replaced in one
//!   step. What the manifest does not name does not count.
//! - No byte is laid down or applied whose checksum is not the manifest's.
//! - The logs of a backup follow each other without a gap, from the place of the copy on.

mod command_line;
mod error;
mod full;
mod incremental;
mod lay_down;
mod log_file;
mod log_plan;
mod manifest;
mod stored;

use std::ffi::OsString;

pub use command_line::{RestorePlan, backup_command, parse_restore, restore_command};
pub use error::BackupError;
pub use lay_down::lay_down;
pub use log_plan::{LogPlan, Piece, Point};
pub use manifest::Place;

const EXIT_OK: u8 = 0;
const EXIT_FAILED: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream backup` with the words that follow it, and returns the process's exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let plan = match command_line::parse_backup(words) {
        Ok(plan) => plan,
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            return if error.use_stderr() { EXIT_USAGE } else { EXIT_OK };
        }
    };
    let made = if plan.incremental { incremental::run(&plan) } else { full::run(&plan) };
    match made {
        Ok(summary) => {
            println!("{summary}");
            EXIT_OK
        }
        Err(error) => {
            eprintln!("slipstream backup: {error}");
            EXIT_FAILED
        }
    }
}
