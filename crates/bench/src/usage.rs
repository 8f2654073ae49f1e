//! Reads from `/proc` what a process has used, and computes what one operation has cost.

use std::path::Path;
use std::process::{Command, Stdio};

/// The ticks a second of the times in `/proc/PID/stat`. The number is the same for all programs on
/// Linux (`USER_HZ`).
const USER_HZ: u64 = 100;

/// What a process has used since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The CPU time of all its threads in milliseconds, user and system, including threads that
    /// have ended.
    pub cpu_ms: u64,
    /// The peak of resident memory in bytes (`VmHWM`).
    pub peak_rss_bytes: u64,
    /// The number of context switches, voluntary or not, of the threads that exist. The difference
    /// of two readings is right if no thread has ended between them.
    pub context_switches: u64,
    /// The bytes that the machine's disks have read for all processes. `iostat` and the Insert
    /// Benchmark count in the same way.
    pub read_bytes: u64,
    /// The bytes that the machine's disks have written for all processes. The process's own count
    /// in `/proc/PID/io` is of no use: it takes a small write into a cached file for the whole
    /// group of pages that the kernel keeps together, which can be 2 MB.
    pub written_bytes: u64,
}

/// Returns what the process `pid` has used; `None` when there is no such process.
pub fn of(pid: u32) -> Option<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the command is in parentheses and may contain parentheses itself, so the numbers
    // begin after the last one.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let peak_kb = number_after(&format!("/proc/{pid}/status"), "VmHWM:")?;
    let (read_bytes, written_bytes) = disks();
    Some(Usage {
        cpu_ms: ticks * 1000 / USER_HZ,
        peak_rss_bytes: peak_kb << 10,
        context_switches: context_switches(pid),
        read_bytes,
        written_bytes,
    })
}

fn context_switches(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|task| switches_of_task(&task.path())).sum()
}

fn switches_of_task(task: &Path) -> u64 {
    let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
    let count = |line: &str| line.split_once("_ctxt_switches:")?.1.trim().parse::<u64>().ok();
    status.lines().filter_map(count).sum()
}

/// Returns the bytes read and written by all disks. Devices that consist of other devices are left
/// out.
fn disks() -> (u64, u64) {
    /// The unit of the kernel's counts in bytes, whatever the size of the disk's own sectors is.
    const SECTOR_BYTES: u64 = 512;
    const MADE_OF_OTHERS: [&str; 5] = ["loop", "ram", "zram", "dm-", "md"];
    let devices = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let of_device = |stat: String| {
        let counts: Vec<u64> = stat.split_whitespace().map_while(|count| count.parse().ok()).collect();
        let bytes = |at: usize| counts.get(at).map_or(0, |sectors| sectors * SECTOR_BYTES);
        (bytes(2), bytes(6))
    };
    devices
        .filter(|device| {
            let name = device.file_name().to_string_lossy().into_owned();
            !MADE_OF_OTHERS.iter().any(|prefix| name.starts_with(prefix))
        })
        .filter_map(|device| std::fs::read_to_string(device.path().join("stat")).ok().map(of_device))
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

/// Returns the text after `name` on the first line of the file that begins with `name`. The files
/// are those under `/proc`.
pub(crate) fn text_after(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.lines().find_map(|line| line.strip_prefix(name))?.trim().to_string())
}

fn number_after(file: &str, name: &str) -> Option<u64> {
    text_after(file, name)?.split_whitespace().next()?.parse().ok()
}

/// Resets the peak of resident memory to what is resident now. It returns false when the kernel
/// does not support this.
pub(crate) fn forget_peak(pid: u32) -> bool {
    let command = format!("echo 5 >/proc/{pid}/clear_refs");
    Command::new("/bin/sh")
        .arg("-c")
        .arg(command)
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|done| done.success())
}

/// What one operation has cost a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerOperation {
    /// The CPU time in microseconds.
    pub cpu_us: f64,
    /// The number of context switches.
    pub context_switches: f64,
    /// What the machine's disks have read, in KB of 1024 bytes.
    pub read_kb: f64,
    /// What the machine's disks have written, in KB of 1024 bytes.
    pub written_kb: f64,
}

impl PerOperation {
    /// Returns what was used between two readings, divided by `operations`; `None` when there were
    /// no operations.
    pub fn between(before: &Usage, after: &Usage, operations: f64) -> Option<PerOperation> {
        let each = |now: u64, then: u64| now.saturating_sub(then) as f64 / operations;
        (operations > 0.0).then(|| PerOperation {
            cpu_us: each(after.cpu_ms, before.cpu_ms) * 1000.0,
            context_switches: each(after.context_switches, before.context_switches),
            read_kb: each(after.read_bytes, before.read_bytes) / 1024.0,
            written_kb: each(after.written_bytes, before.written_bytes) / 1024.0,
        })
    }

    /// Returns the mean of several measurements; `None` when there are none.
    pub fn mean(all: impl IntoIterator<Item = PerOperation>) -> Option<PerOperation> {
        let all: Vec<PerOperation> = all.into_iter().collect();
        let mean = |of: fn(&PerOperation) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        (!all.is_empty()).then(|| PerOperation {
            cpu_us: mean(|one| one.cpu_us),
            context_switches: mean(|one| one.context_switches),
            read_kb: mean(|one| one.read_kb),
            written_kb: mean(|one| one.written_kb),
        })
    }
}

impl PerOperation {
    /// Returns the figures as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "cpu_us": self.cpu_us,
            "context_switches": self.context_switches,
            "read_kb": self.read_kb,
            "written_kb": self.written_kb,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_of_ourselves() {
        let before = of(std::process::id()).expect("our own /proc entry");
        assert!(before.peak_rss_bytes > 100_000);
        let mut sum = 0u64;
        while of(std::process::id()).expect("our own /proc entry").cpu_ms < before.cpu_ms + 20 {
            for n in 0..100_000u64 {
                sum = sum.wrapping_mul(31).wrapping_add(std::hint::black_box(n));
            }
        }
        std::hint::black_box(sum);
        assert_eq!(of(0), None);
    }

    #[test]
    fn a_thread_that_sleeps_switches() {
        let us = Path::new("/proc/thread-self");
        let before = switches_of_task(us);
        for _ in 0..20 {
            os::clock::sleep(std::time::Duration::from_millis(1));
        }
        assert!(switches_of_task(us) >= before + 20);
        // Other threads of this process may end at any time, so the test checks only that their
        // switches are counted.
        assert!(context_switches(std::process::id()) > 0);
    }

    #[test]
    fn a_span_is_shared_by_its_operations() {
        let before = Usage { cpu_ms: 10, written_bytes: 1 << 20, context_switches: 5, ..Usage::default() };
        let after = Usage { cpu_ms: 30, written_bytes: 3 << 20, context_switches: 25, ..Usage::default() };
        let each = PerOperation::between(&before, &after, 10.0).expect("ten operations");
        assert_eq!((each.cpu_us, each.context_switches), (2_000.0, 2.0));
        assert_eq!((each.read_kb, each.written_kb), (0.0, 204.8));
        assert_eq!(PerOperation::between(&before, &after, 0.0), None);
        let mean = PerOperation::mean([each, PerOperation::default()]).expect("two");
        assert_eq!(mean.cpu_us, 1_000.0);
        assert_eq!(PerOperation::mean([]), None);
    }
}
