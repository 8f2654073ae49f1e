//! A program that runs beside a test and ends with it.

use std::process::{Child, Command, Stdio};

/// A running program. Dropping it kills it.
pub struct Running(Child);

impl Running {
    /// Starts a program without input and output.
    pub fn start(command: &mut Command) -> Running {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(quiet.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}
