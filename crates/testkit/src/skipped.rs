//! Reports tests as skipped that cannot run because a peer or a right is missing.

use std::path::Path;
use std::process::Command;

use bench::instance::Flavor;

/// Reports whether all these servers can be started on this machine. If not, it reports the calling
/// test as skipped, and the test should return.
#[must_use]
pub fn available(test: &str, flavors: &[Flavor]) -> bool {
    let missing: Vec<String> =
        flavors.iter().filter_map(|flavor| Some(format!("{flavor}: {}", flavor.unavailable()?))).collect();
    if !missing.is_empty() {
        tell(test, &missing.join("; "));
    }
    missing.is_empty()
}

/// Reports whether this program is in PATH. If not, it reports the calling test as skipped, and the
/// test should return.
#[must_use]
pub fn tool_available(test: &str, program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !found {
        tell(test, &format!("{program} is not in PATH"));
    }
    found
}

/// Reports whether `scripts/peers.sh` has installed this reader. If not, it reports the calling
/// test as skipped, and the test should return.
#[must_use]
pub fn reader_available(test: &str, program: &Path) -> bool {
    let found = program.exists();
    if !found {
        tell(test, &format!("{} is not there (scripts/peers.sh puts it there)", program.display()));
    }
    found
}

/// Reports whether this process may mount file systems. If not, it reports the calling test as
/// skipped, and the test should return.
#[must_use]
pub fn may_mount(test: &str) -> bool {
    // SAFETY: the call takes no arguments and returns a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        tell(test, "only root may mount a small file system");
    }
    is_root
}

/// Reports whether instructions that are counted here compare with the figures of the documents,
/// which are those of x86-64 and of the release profile's own optimisation. If not, it reports the
/// calling test as skipped, and the test should return.
#[must_use]
pub fn counts_compare(test: &str) -> bool {
    let level = env!("COMPILED_AT_OPT_LEVEL");
    let compares = cfg!(target_arch = "x86_64") && level == "3";
    if !compares {
        let arch = std::env::consts::ARCH;
        tell(test, &format!("counts of {arch} at optimisation level {level} compare with no figure"));
    }
    compares
}

/// Prints that a test is skipped. The line is also added to the file that `SLIPSTREAM_SKIPPED`
/// names, for the summary of `make test`, because the output of a test that passes is not shown.
pub(crate) fn tell(test: &str, why: &str) {
    let line = format!("SKIPPED: {test}: {why}");
    println!("{line}");
    if let Some(summary) = std::env::var_os("SLIPSTREAM_SKIPPED") {
        // The shell appends the line in one write, so that the lines of concurrent tests do not
        // mix.
        let status = Command::new("/bin/sh")
            .args(["-c", "printf '%s\\n' \"$1\" >>\"$0\""])
            .arg(summary)
            .arg(&line)
            .status();
        assert!(status.is_ok_and(|status| status.success()), "could not note: {line}");
    }
}
