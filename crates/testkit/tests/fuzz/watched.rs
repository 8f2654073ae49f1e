//! A Slipstream server under a limit of memory, whose log is looked through for what must not be
//! there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
fn wrapper() -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("limited-slipstream-{}", std::process::id()));
    if !path.exists() {
        let binary = binary::slipstream().canonicalize().expect("the binary's path");
        let text = format!("#!/bin/sh\nulimit -d {MEMORY_KB}\nexec '{}' \"$@\"\n", binary.display());
        let partial = path.with_extension(format!("{:?}", std::thread::current().id()));
        os::disk::real()
            .write_atomically(&partial, text.as_bytes())
            .expect("the target's directory can be written");
        fs::set_permissions(&partial, fs::Permissions::from_mode(0o755)).expect("it is ours");
        fs::rename(&partial, &path).expect("the same directory");
    }
    path
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
