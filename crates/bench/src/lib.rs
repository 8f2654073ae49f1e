//! The benchmark kit. It talks to servers over the wire only.
//!
//! Flows in: a command line (`slipstream bench apply`, `lag`, `copy`, `demo`, `oltp`, `insert`,
//! `large`, `load`, `recovery`, `tpch`). Flows out: a table on the terminal and, when asked for,
//! JSON and one HTML page ([`html`]). The kit starts the servers that it measures on temporary
//! directories, with the same settings for all ([`instance`]). `oltp` and `insert` also measure
//! servers that run already ([`server`]).
//!
//! Invariants: figures are compared within one run only. Every measured apply ends with a
//! comparison of the checksums on source and replica, and a run whose checksums or row counts
//! differ ends with an exit code that says so. The report names the peers that are not on the
//! machine, and the settings of every server.

pub mod address;
pub mod apply;
mod beat;
mod command_line;
pub mod copy;
pub mod demo;
pub mod described;
pub mod error;
pub mod histogram;
pub mod html;
pub mod insert;
pub mod instance;
pub mod lag;
pub mod large;
pub mod load;
pub mod measure;
pub mod oltp;
pub mod progress;
pub mod recovery;
pub mod replication;
pub mod sbtest;
pub mod server;
pub mod table;
pub mod tpch;
pub mod usage;

use std::ffi::OsString;
use std::path::Path;

pub use command_line::command;
use command_line::{Files, Request};
use error::MeasureError;
use progress::Progress;

/// The exit code of a run that has measured everything, and whose servers hold the rows that they
/// should.
const EXIT_OK: u8 = 0;
/// The exit code of a run that was given up, or of one where a server does not hold the rows that
/// it should.
const EXIT_FAILED: u8 = 1;
/// The exit code for a command line that cannot be parsed.
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream bench` with the words that follow it, and returns the exit code of the process.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let request = match command_line::parse(words) {
        Ok(request) => request,
        Err(error) => {
            // Help goes to standard output and is no failure. An error of printing is ignored,
            // because there is no other place to report it to.
            let _ = error.print();
            return if error.use_stderr() { EXIT_USAGE } else { EXIT_OK };
        }
    };
    let outcome = match request {
        Request::Apply(plan, files) => apply::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&apply::text(&outcome), &files, || apply::json(&outcome))?;
            write_page(&files, || apply::page(&outcome))?;
            Ok(outcome.all_equal())
        }),
        Request::Lag(plan, files) => lag::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&lag::text(&outcome), &files, || lag::json(&outcome))?;
            write_page(&files, || lag::page(&outcome))?;
            Ok(outcome.all_equal())
        }),
        Request::Copy(plan, files) => copy::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&copy::text(&outcome), &files, || copy::json(&outcome))?;
            write_page(&files, || copy::page(&outcome))?;
            Ok(outcome.all_equal())
        }),
        Request::Oltp(plan, files) => oltp::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&oltp::text(&outcome), &files, || oltp::json(&outcome))?;
            write_page(&files, || oltp::page(&outcome))?;
            Ok(true)
        }),
        Request::Insert(plan, files) => insert::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&insert::text(&outcome), &files, || insert::json(&outcome))?;
            write_page(&files, || insert::page(&outcome))?;
            Ok(outcome.wrong.is_empty())
        }),
        Request::Large(plan, files) => large::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&large::text(&outcome), &files, || large::json(&outcome))?;
            Ok(true)
        }),
        Request::Load(plan, files) => load::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&load::text(&outcome), &files, || load::json(&outcome))?;
            Ok(outcome.wrong.is_empty())
        }),
        Request::Recovery(plan, files) => recovery::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&recovery::text(&outcome), &files, || recovery::json(&outcome))?;
            Ok(true)
        }),
        Request::Tpch(plan, files) => tpch::run(&plan, &mut Progress::new()).and_then(|outcome| {
            show(&tpch::text(&outcome), &files, || tpch::json(&outcome))?;
            Ok(outcome.wrong.is_empty())
        }),
        Request::Demo(plan) => demo::run(&plan, &mut Progress::new()).map(|outcome| {
            println!("\n{}", outcome.report);
            outcome.equal
        }),
    };
    match outcome {
        Ok(true) => EXIT_OK,
        Ok(false) => {
            eprintln!("slipstream bench: a server does not hold the rows that it has to hold");
            EXIT_FAILED
        }
        Err(error) => {
            eprintln!("\nslipstream bench: {error}");
            EXIT_FAILED
        }
    }
}

/// Prints a report, and writes it as JSON if the command line names a file.
fn show(text: &str, files: &Files, json: impl FnOnce() -> serde_json::Value) -> Result<(), MeasureError> {
    println!("\n{text}");
    files.json.as_deref().map_or(Ok(()), |file| write(file, &format!("{:#}\n", json())))
}

fn write_page(files: &Files, page: impl FnOnce() -> html::Page) -> Result<(), MeasureError> {
    files.html.as_deref().map_or(Ok(()), |file| write(file, &page().html()))
}

fn write(file: &Path, text: &str) -> Result<(), MeasureError> {
    let not_written = |error| MeasureError::NotWritten(file.display().to_string(), error);
    // A name without a directory is made absolute, because the directory has to be opened to sync
    // it.
    let path = std::path::absolute(file).map_err(not_written)?;
    os::disk::real().write_atomically(&path, text.as_bytes()).map_err(not_written)
}
