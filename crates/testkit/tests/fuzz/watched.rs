//! A Slipstream server under a limit of memory, whose log is looked through for what must not be
//! there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use os::disk::OpenMode;
use testkit::{Flavor, Server, Settings, binary};

/// What a server under test may take. Its pool and log are small; a stack of each thread counts
/// too.
const MEMORY_KB: u64 = 1 << 20;

/// Settings of a server that ends when it asks for more than [`MEMORY_KB`].
pub fn limited(settings: Settings) -> Settings {
    Settings { slipstream: Some(wrapper()), ..settings }
}

/// Starts a server under the limit.
pub fn start(settings: Settings) -> Server {
    Server::start(Flavor::Slipstream, &limited(settings))
}

/// A script that sets the limit and becomes the server. RLIMIT_DATA counts what can be written to,
/// not what is only reserved.
///
/// A process of its own writes the script: had this one opened it for writing, a child that another
/// test forks meanwhile would keep it open until its exec, and the kernel runs no file that is open
/// for writing (ETXTBSY).
fn wrapper() -> PathBuf {
    static SCRIPT: OnceLock<PathBuf> = OnceLock::new();
    let written = SCRIPT.get_or_init(|| {
        let name = format!("limited-slipstream-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let binary = binary::slipstream().canonicalize().expect("the binary's path");
        let text = format!("#!/bin/sh\nulimit -d {MEMORY_KB}\nexec '{}' \"$@\"\n", binary.display());
        let status = Command::new("sh")
            .args(["-c", r#"printf '%s' "$2" >"$1" && chmod 755 "$1""#, "sh"])
            .arg(&path)
            .arg(text)
            .status()
            .expect("a shell is there");
        assert!(status.success(), "{} cannot be written: {status}", path.display());
        path
    });
    written.clone()
}

/// What a server's log says that it must never say: a panic, an abort for want of memory.
pub fn disgrace(server: &Server) -> Option<String> {
    // A log that was emptied while the server has it open begins with a hole.
    let log = server.log_tail().replace('\0', "");
    let at = ["panicked", "memory allocation of", "overflowed its stack", "is gone: the server ends"]
        .into_iter()
        .find_map(|words| log.find(words))?;
    // From the beginning of the line, and where the panic was.
    let begin = log[..at].rfind('\n').map_or(0, |newline| newline + 1);
    Some(log[begin..].lines().take(2).collect::<Vec<_>>().join(" "))
}

/// Empties what [`disgrace`] reads.
pub fn forget_log(server: &Server) {
    for path in [server.error_log(), server.error_log().with_file_name("console.log")] {
        // Not removed: the server may have it open.
        if path.exists() {
            let emptied = os::disk::real().open(&path, OpenMode::ReadWrite).and_then(|file| file.set_len(0));
            emptied.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}
