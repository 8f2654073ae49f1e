//! A program that runs beside a test and ends with it.

use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A running program. Dropping it kills it.
pub struct Running(Child);

impl Running {
    /// Starts a program without input and output.
    pub fn start(command: &mut Command) -> Running {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(quiet.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Starts a program without input, whose output and errors are appended to a file.
    #[expect(clippy::disallowed_methods, reason = "a child's output has to be a file")]
    pub fn start_into(command: &mut Command, output: &Path) -> Running {
        let file = || {
            let opened = OpenOptions::new().create(true).append(true).open(output);
            opened.unwrap_or_else(|error| panic!("{}: {error}", output.display()))
        };
        let heard = command.stdin(Stdio::null()).stdout(file()).stderr(file());
        Running(heard.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Asks the program to end by SIGTERM, and returns how it ended.
    pub fn terminate(mut self) -> ExitStatus {
        // SAFETY: kill takes no pointers. The process has not been waited for, so its number is its
        // own still.
        let sent = unsafe { libc::kill(self.0.id() as libc::pid_t, libc::SIGTERM) };
        assert_eq!(sent, 0, "a program of this process can be asked to end");
        self.0.wait().expect("it ends")
    }

    /// Kills the program.
    pub fn kill(self) {
        drop(self);
    }

    /// Returns how the program ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("it can be waited for")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}
