//! Runs the server under a memory limit.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::slipstream;

/// Returns the path of a script in `dir` that sets the limit and becomes the server, for
/// [`bench::instance::Settings::slipstream`]. The limit RLIMIT_DATA counts writable memory,
/// including the stacks of threads, but not memory that is only reserved.
///
/// A separate process writes the script. If this process had it open for writing, a child that
/// another test forks meanwhile would keep it open until the child's exec, and the kernel refuses
/// to run a file that is open for writing (ETXTBSY).
///
/// # Panics
/// Panics when the script cannot be written.
pub fn binary(dir: &Path, memory_kb: u64) -> PathBuf {
    let name = format!("limited-slipstream-{}-{memory_kb}", std::process::id());
    let path = dir.join(name);
    let binary = slipstream().canonicalize().expect("the binary's path");
    let text = format!("#!/bin/sh\nulimit -d {memory_kb}\nexec '{}' \"$@\"\n", binary.display());
    // The script is renamed into place, so that two tests that want the same script both find it
    // whole.
    let status = Command::new("sh")
        .args(["-c", r#"printf '%s' "$2" >"$1.$$" && chmod 755 "$1.$$" && mv "$1.$$" "$1""#, "sh"])
        .arg(&path)
        .arg(text)
        .status()
        .expect("a shell is there");
    assert!(status.success(), "{} cannot be written: {status}", path.display());
    path
}
