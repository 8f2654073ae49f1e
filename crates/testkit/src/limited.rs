//! The server under a limit of its memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::slipstream;

/// A script in `dir` that sets the limit and becomes the server, for
/// [`bench::instance::Settings::slipstream`]. RLIMIT_DATA counts what can be written to, stacks of
/// threads too, and not what is only reserved.
///
/// A process of its own writes the script: had this one opened it for writing, a child that another
/// test forks meanwhile would keep it open until its exec, and the kernel runs no file that is open
/// for writing (ETXTBSY).
///
/// # Panics
/// When the script cannot be written: the test cannot go on.
pub fn binary(dir: &Path, memory_kb: u64) -> PathBuf {
    let name = format!("limited-slipstream-{}-{memory_kb}", std::process::id());
    let path = dir.join(name);
    let binary = slipstream().canonicalize().expect("the binary's path");
    let text = format!("#!/bin/sh\nulimit -d {memory_kb}\nexec '{}' \"$@\"\n", binary.display());
    // Two tests that want the same script put it in place whole, one after the other.
    let status = Command::new("sh")
        .args(["-c", r#"printf '%s' "$2" >"$1.$$" && chmod 755 "$1.$$" && mv "$1.$$" "$1""#, "sh"])
        .arg(&path)
        .arg(text)
        .status()
        .expect("a shell is there");
    assert!(status.success(), "{} cannot be written: {status}", path.display());
    path
}
