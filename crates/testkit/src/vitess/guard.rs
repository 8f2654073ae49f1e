//! The guard of a directory: it ends the processes there when the test has ended in any way.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Waits until the end of its input, and then kills every process that works in the directory `$0`
/// until none is left, and removes the directory. The servers are no children of the test, and
/// their working directory is what tells that they belong to the cluster.
const SCRIPT: &str = r#"cat >/dev/null
found=yes
while [ "$found" = yes ]; do
  found=no
  for link in /proc/[0-9]*/cwd; do
    case "$(readlink "$link" 2>/dev/null)" in
      "$0" | "$0"/*) pid=${link#/proc/}; kill -KILL "${pid%/cwd}" 2>/dev/null && found=yes ;;
    esac
  done
done
rm -rf "$0""#;

/// A shell beside the test. When this value is dropped, or the test's process is killed, the shell
/// ends every process whose working directory is in the guarded one, and removes that directory.
pub(super) struct Guard {
    shell: Child,
    /// The shell's input, which ends with this process at the latest.
    lifeline: Option<ChildStdin>,
}

impl Guard {
    /// Guards this directory, whose path must have no links in it.
    pub(super) fn of(directory: &Path) -> Guard {
        // A process group of its own lets the shell outlive a test that the terminal interrupts.
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .arg(directory)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let lifeline = shell.stdin.take();
        assert!(lifeline.is_some(), "the guard has an input");
        Guard { shell, lifeline }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.lifeline = None;
        let _status = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use os::clock::{Stopwatch, sleep};

    use super::*;
    use crate::running::Running;
    use crate::server::SOON;

    /// Names the directory for the process that is to be killed.
    const HELD: &str = "SLIPSTREAM_GUARDED";

    fn soon(what: &str, holds: impl Fn() -> bool) {
        let clock = Stopwatch::start();
        while !holds() {
            assert!(clock.elapsed() < SOON, "never: {what}");
            sleep(Duration::from_millis(5));
        }
    }

    /// Does nothing, unless the other test runs it in a process of its own.
    #[test]
    fn holds_a_directory() {
        let Some(directory) = std::env::var_os(HELD).map(PathBuf::from) else { return };
        let _guard = Guard::of(&directory);
        // The shell ends at once, and what it has started is nobody's child, like a server.
        let script = "sleep 1000 & echo $! >pid.new && mv pid.new pid";
        let status = Command::new("/bin/sh").args(["-c", script]).current_dir(&directory).status();
        assert!(status.expect("a shell").success());
        sleep(Duration::from_secs(1000));
    }

    #[test]
    fn what_a_killed_test_has_started_ends_and_its_directory_goes() {
        let name = format!("slipstream-guarded-{}", std::process::id());
        let directory = std::env::temp_dir().canonicalize().expect("a path").join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args(["holds_a_directory", "--nocapture"]).env(HELD, &directory);
        let killed = Running::start(&mut command);
        let file = directory.join("pid");
        soon("the process has started another one", || file.exists());
        let pid = std::fs::read_to_string(&file).expect("a file");
        let process = PathBuf::from(format!("/proc/{}/cwd", pid.trim()));
        assert_eq!(process.read_link().expect("it runs"), directory);
        drop(killed);
        soon("the other one has ended", || process.read_link().is_err());
        soon("the directory is gone", || !directory.exists());
    }
}
