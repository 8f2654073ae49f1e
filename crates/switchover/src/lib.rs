//! `slipstream switchover`: a planned hand-over from a source that works to one of its replicas.
//!
//! In: the addresses of the old source, of the replica that is to take its place, and of further
//! replicas ([`Plan`]). Out: servers that have changed their places, a line of text for each step,
//! and an exit code.
//!
//! ```text
//! gather (the members) -> check (everything that is in the way, at once)
//!   -> hand_over: old source read-only -> replica has all GTIDs -> promoted -> all follow it
//! ```
//!
//! Invariants:
//! - Until the replica is promoted, every failure puts everything back as it was. Afterwards
//!   nothing is put back, because two servers must never take writes at the same time.
//! - The replica is promoted only when it has every transaction that the old source has, and the
//!   old source takes no more.
//! - Nothing is changed before all checks have passed.

mod channel;
mod checks;
mod command_line;
mod error;
mod gather;
mod hand_over;
mod interruption;
mod member;
mod rights;
mod semi_sync;

use std::ffi::OsString;

pub use command_line::{Plan, command};

use error::Outcome;

const EXIT_OK: u8 = 0;
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream switchover` with the words that follow it. Returns the process's exit code: 0
/// when the replica has taken the source's place or could do so (`--dry-run`), 1 when nothing has
/// changed, 2 when the words are wrong, and 3 when the replica was promoted, or may have been, and
/// something is left to be done by hand.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let plan = match command_line::parse(words) {
        Ok(plan) => plan,
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            return if error.use_stderr() { EXIT_USAGE } else { EXIT_OK };
        }
    };
    match run(&plan) {
        Ok(()) => EXIT_OK,
        Err(outcome) => {
            eprintln!("slipstream switchover: {outcome}");
            outcome.exit_code()
        }
    }
}

fn run(plan: &Plan) -> Result<(), Outcome> {
    let mut members = gather::gather(plan)?;
    checks::check(plan, &mut members)?;
    if plan.dry_run {
        hand_over::describe(&members);
        return Ok(());
    }
    hand_over::hand_over(plan, members)
}
