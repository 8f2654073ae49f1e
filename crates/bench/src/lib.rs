//! The benchmark kit; speaks to servers over the wire only.
//!
//! Flows in: a command line (`slipstream bench apply`, `slipstream bench demo`). Flows out: a table on the terminal
//! and, when asked for, JSON. The kit starts every server that it measures itself, on temporary directories, with
//! the same settings for all ([`instance`]); nothing is measured that was not started in the same run.
//!
//! Invariants: every measured apply ends with the checksums of both sides, and a run whose checksums differ ends with
//! an exit code that says so; peers that are not on the machine are named in the report.

pub mod apply;
mod command_line;
pub mod demo;
pub mod instance;
pub mod measure;
pub mod progress;
pub mod replication;
pub mod report;
pub mod sbtest;
pub mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use command_line::Request;
use measure::MeasureError;
use progress::Progress;

/// Everything was measured, and the replicas hold what their sources hold.
const EXIT_OK: u8 = 0;
/// The run was given up, or a replica differs from its source.
const EXIT_FAILED: u8 = 1;
/// The command line is not understood.
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream bench` with the words that follow it, and returns the process's exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let request = match command_line::parse(words) {
        Ok(request) => request,
        Err(error) => {
            // Help goes to standard output and is no failure. A terminal that is gone cannot be told.
            let _ = error.print();
            return if error.use_stderr() { EXIT_USAGE } else { EXIT_OK };
        }
    };
    let outcome = match request {
        Request::Apply(plan, json) => apply_and_report(&plan, json),
        Request::Demo(plan) => demo::run(&plan, &mut Progress::new()).map(|outcome| {
            println!("\n{}", outcome.report);
            outcome.equal
        }),
    };
    match outcome {
        Ok(true) => EXIT_OK,
        Ok(false) => {
            eprintln!("slipstream bench: a replica does not hold what its source holds");
            EXIT_FAILED
        }
        Err(error) => {
            eprintln!("\nslipstream bench: {error}");
            EXIT_FAILED
        }
    }
}

fn apply_and_report(plan: &apply::Plan, json: Option<PathBuf>) -> Result<bool, MeasureError> {
    let outcome = apply::run(plan, &mut Progress::new())?;
    println!("\n{}", report::text(&outcome));
    if let Some(file) = json {
        write_json(&file, &report::json(&outcome))?;
    }
    Ok(outcome.all_equal())
}

fn write_json(file: &Path, report: &serde_json::Value) -> Result<(), MeasureError> {
    let not_written = |error| MeasureError::NotWritten(file.display().to_string(), error);
    // A name without a directory is a file of the current one, which has to be named to be synced.
    let path = std::path::absolute(file).map_err(not_written)?;
    os::disk::real().write_atomically(&path, format!("{report:#}\n").as_bytes()).map_err(not_written)
}
