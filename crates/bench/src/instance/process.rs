//! The process of a server: its start, the wait until it is ready, and its end.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use crate::usage::text_after;

const POLL: Duration = Duration::from_millis(20);

/// The reason why a server did not get ready.
pub(super) enum Refusal {
    Ended(ExitStatus),
    Silent,
}

pub(super) fn is_root() -> bool {
    // The first number is the real user id, the second is the effective one.
    text_after("/proc/self/status", "Uid:").is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0"))
}

/// Starts a command whose console output goes to a file. The shell opens the file and then replaces
/// itself with the command, so that the process id is the server's own.
pub(super) fn spawn(
    command: Vec<String>,
    environment: &[(String, String)],
    console: &Path,
) -> io::Result<Child> {
    Command::new("/bin/sh")
        .arg("-c")
        .arg("exec \"$@\" >>\"$0\" 2>&1")
        .arg(console)
        .args(command)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .spawn()
}

/// Waits until the server sends its greeting. A server that only listens, or that answers with an
/// error, is not ready, unless the error says that the client's host may not connect.
pub(super) fn wait_ready(child: &mut Child, port: u16, within: Duration) -> Result<(), Refusal> {
    let started = Stopwatch::start();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(Refusal::Ended(status));
        }
        if greets(port).unwrap_or(false) {
            return Ok(());
        }
        if started.elapsed() > within {
            return Err(Refusal::Silent);
        }
        sleep(POLL);
    }
}

fn greets(port: u16) -> io::Result<bool> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut head = [0u8; 7];
    stream.read_exact(&mut head)?;
    // The packet header of four bytes is followed by protocol version 10, or by error 1130 of a
    // server that has no account for clients from this address yet.
    let [low, high] = 1130u16.to_le_bytes();
    Ok(head[4] == 10 || head[4..] == [0xff, low, high])
}

/// Sends SIGTERM, with which service managers ask a server to shut down.
pub(super) fn terminate(child: &Child) -> io::Result<()> {
    Command::new("/bin/sh").arg("-c").arg(format!("kill -TERM {}", child.id())).status().map(|_| ())
}

/// Waits for the end of a process. It returns `None` when the process takes longer than `within`.
pub(super) fn wait_ended(child: &mut Child, within: Duration) -> io::Result<Option<ExitStatus>> {
    let started = Stopwatch::start();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if started.elapsed() > within {
            return Ok(None);
        }
        sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ends_is_not_ready() {
        let console = std::env::temp_dir().join(format!("slipstream-console-{}", std::process::id()));
        let mut child = spawn(vec!["false".to_string()], &[], &console).expect("a shell");
        assert!(matches!(wait_ready(&mut child, 1, Duration::from_secs(20)), Err(Refusal::Ended(_))));
        std::fs::remove_file(console).expect("the console's file");
    }
}
