//! `slipstream backup`, and the part of `slipstream restore` that needs no server: files, checksums
//! and the search for the point in the binary logs.
//!
//! **In.** The address of a Slipstream server on this machine, and a place: a directory or a part
//! of an object store. **Out.** A backup: physical copies that the server has made (`CLONE LOCAL
//! DATA DIRECTORY`), the binary log that came since (by later `--incremental` runs, or by one that
//! follows), and a manifest with the checksum of each file and the places in the log where the
//! copies stand. [`lay_down`] puts a copy's files into a new data directory, and [`LogPlan`] says
//! which events of the logs lead to the wanted point.
//!
//! Invariants:
//! - A place has a backup once it has its manifest, which is written last and replaced in one step,
//!   on the condition that no other run has replaced it. What the manifest does not name does not
//!   count.
//! - No byte is laid down or applied whose checksum is not the manifest's.
//! - The logs of a backup follow each other without a gap, from the place of the oldest copy on.
//!
//! From the bottom up: `store.rs` is what a place can do, `directory.rs` and `object_place.rs` are
//! places, `seal.rs` encrypts, `vault.rs` is a place with a key, `stored.rs` and `manifest.rs` are
//! a backup's files; `full.rs`, `incremental.rs` over `dump.rs`, and `follow.rs` with
//! `merging.rs` make it. `stored_log.rs` reads its log for a replica that follows it.

mod command_line;
mod directory;
mod dump;
mod error;
mod follow;
mod full;
mod incremental;
mod lay_down;
mod location;
mod log_file;
mod log_plan;
mod manifest;
mod merging;
mod object_place;
mod retention;
mod seal;
mod sequential;
mod shipping;
mod store;
mod stored;
mod stored_log;
mod vault;

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

pub use command_line::{RestorePlan, backup_command, parse_restore, restore_command};
pub use error::BackupError;
pub use lay_down::lay_down;
pub use location::Location;
pub use log_plan::{LogPlan, Piece, Point};
pub use manifest::Place;
pub use stored_log::{Begin, StoredLog};

const EXIT_OK: u8 = 0;
const EXIT_FAILED: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream backup` with the words that follow it, and returns the process's exit code. A
/// run that follows the log calls `stop_on_signals`, which returns a flag that is set when the
/// process is told to stop. Other runs end by the signal itself.
pub fn main(
    words: impl IntoIterator<Item = OsString>,
    stop_on_signals: impl FnOnce() -> std::io::Result<&'static AtomicBool>,
) -> u8 {
    let plan = match command_line::parse_backup(words) {
        Ok(plan) => plan,
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            return if error.use_stderr() { EXIT_USAGE } else { EXIT_OK };
        }
    };
    match run(&plan, stop_on_signals) {
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

fn run(
    plan: &command_line::BackupPlan,
    stop_on_signals: impl FnOnce() -> std::io::Result<&'static AtomicBool>,
) -> error::Result<String> {
    // The signals are blocked before the first thread of a connection starts.
    static NEVER: AtomicBool = AtomicBool::new(false);
    let stop = match plan.follow {
        true => stop_on_signals().map_err(|error| BackupError::Io("signals".to_owned(), error))?,
        false => &NEVER,
    };
    let key = plan.key_file.as_ref().map(|file| seal::Key::read(&*os::disk::real(), file)).transpose()?;
    let open = {
        let to = plan.to.clone();
        // A run that follows tries again by itself, and looks at the signals meanwhile.
        let patience = if plan.follow { follow::STORE_PATIENCE } else { location::PATIENCE };
        move || Ok(vault::Vault::new(to.open(patience)?, key.clone()))
    };
    let vault = open()?;
    match (plan.incremental, plan.follow) {
        (true, _) => incremental::run(plan, &vault),
        (false, false) => full::run(plan, &vault, stop),
        (false, true) => {
            if manifest::Manifest::find(&vault)?.is_none() {
                println!("{}", full::run(plan, &vault, stop)?);
            }
            follow::run(plan, &vault, open, stop)
        }
    }
}
