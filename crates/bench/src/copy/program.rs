//! Runs a program to its end, and passes on the lines that it prints.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::error::MeasureError;

/// The last lines of a program that failed, so many of which are told.
const LINES_TOLD: usize = 20;

/// Runs the program of this name with these words, among them its path, and calls `line` with each
/// line of its output and of its messages. It fails when the program or `line` does.
pub(super) fn run(
    name: &str,
    words: Vec<String>,
    line: &mut dyn FnMut(&str) -> Result<(), MeasureError>,
) -> Result<(), MeasureError> {
    let failed = |said: String| MeasureError::Program(name.to_string(), said);
    // The shell joins the messages to the output and then replaces itself with the program.
    let mut child = Command::new("/bin/sh")
        .args(["-c", "exec \"$@\" 2>&1", "sh"])
        .args(&words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let output = child.stdout.take().expect("the output was asked for");
    let (mut told, mut refused) = (Vec::new(), Ok(()));
    for text in BufReader::new(output).lines() {
        let text = text.map_err(|error| failed(error.to_string()))?;
        if refused.is_ok() {
            refused = line(&text);
        }
        told.push(text);
    }
    let status = child.wait().map_err(|error| failed(error.to_string()))?;
    refused?;
    if status.success() {
        return Ok(());
    }
    let last = &told[told.len().saturating_sub(LINES_TOLD)..];
    Err(failed(format!("{status}\n{}", last.join("\n"))))
}
