//! A server's process: started, waited for, ended, and what it has used.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use os::clock::{Stopwatch, sleep};

/// Ticks a second of the times in `/proc/PID/stat`; fixed for all programs on Linux (`USER_HZ`).
const USER_HZ: u64 = 100;
const POLL: Duration = Duration::from_millis(20);

/// What a process has used since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time of all its threads, user and system.
    pub cpu_ms: u64,
    /// The most memory that was ever resident at once (`VmHWM`).
    pub peak_rss_bytes: u64,
}

/// Why a server did not get ready.
pub(super) enum Refusal {
    Ended(ExitStatus),
    Silent,
}

pub(super) fn is_root() -> bool {
    // The first number is the real user's id, the second the effective one's.
    status_field("self", "Uid:").is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0"))
}

/// Starts a command with its console in a file. The shell only opens the file and then becomes the command, so that
/// the process id is the server's own.
pub(super) fn spawn(command: Vec<String>, console: &Path) -> io::Result<Child> {
    Command::new("/bin/sh")
        .arg("-c")
        .arg("exec \"$@\" >>\"$0\" 2>&1")
        .arg(console)
        .args(command)
        .stdin(Stdio::null())
        .spawn()
}

/// Waits until the server sends its greeting. A server that only listens, or that answers with an error packet
/// (0xff), is not ready.
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
    let mut head = [0u8; 5];
    stream.read_exact(&mut head)?;
    // Four bytes of packet header, then protocol version 10.
    Ok(head[4] == 10)
}

/// Sends SIGTERM, the polite request of every service manager.
pub(super) fn terminate(child: &Child) -> io::Result<()> {
    Command::new("/bin/sh").arg("-c").arg(format!("kill -TERM {}", child.id())).status().map(|_| ())
}

/// Waits for the end of a process; None when it takes longer than `within`.
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

pub(super) fn usage(pid: u32) -> Option<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name stands in parentheses and may hold anything; the numbers follow the last one.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let peak_kb: u64 = status_field(&pid.to_string(), "VmHWM:")?.split_whitespace().next()?.parse().ok()?;
    Some(Usage { cpu_ms: ticks * 1000 / USER_HZ, peak_rss_bytes: peak_kb << 10 })
}

/// Makes the peak of resident memory start anew from what is resident now. False where the kernel has no such switch.
pub(super) fn forget_peak(pid: u32) -> bool {
    let command = format!("echo 5 >/proc/{pid}/clear_refs");
    Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|done| done.success())
}

fn status_field(pid: &str, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix(name))?.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_ourselves() {
        let before = usage(std::process::id()).expect("our own /proc entry");
        assert!(before.peak_rss_bytes > 100_000);
        let mut sum = 0u64;
        while usage(std::process::id()).expect("our own /proc entry").cpu_ms < before.cpu_ms + 20 {
            for n in 0..100_000u64 {
                sum = sum.wrapping_mul(31).wrapping_add(std::hint::black_box(n));
            }
        }
        std::hint::black_box(sum);
        assert_eq!(usage(0), None);
    }

    #[test]
    fn a_process_that_ends_is_not_ready() {
        let console = std::env::temp_dir().join(format!("slipstream-console-{}", std::process::id()));
        let mut child = spawn(vec!["false".to_string()], &console).expect("a shell");
        assert!(matches!(wait_ready(&mut child, 1, Duration::from_secs(20)), Err(Refusal::Ended(_))));
        std::fs::remove_file(console).expect("the console's file");
    }
}
