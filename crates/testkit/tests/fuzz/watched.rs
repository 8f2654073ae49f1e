//! A Slipstream server under a limit of memory, whose log is searched for what must not be there.

use std::path::Path;

use os::disk::OpenMode;
use testkit::{Flavor, Server, Settings};

/// The memory in KB that a server under test may take. Its pool and log are small, but the stack of
/// each thread counts too.
const MEMORY_KB: u64 = 1 << 20;

/// Returns settings of a server that ends when it asks for more than [`MEMORY_KB`].
pub fn limited(settings: Settings) -> Settings {
    Settings {
        slipstream: Some(testkit::limited::binary(Path::new(env!("CARGO_TARGET_TMPDIR")), MEMORY_KB)),
        ..settings
    }
}

/// Starts a server under the limit.
pub fn start(settings: Settings) -> Server {
    Server::start(Flavor::Slipstream, &limited(settings))
}

/// Returns the line of a server's log that must never be there, such as a panic or an abort for
/// lack of memory.
pub fn disgrace(server: &Server) -> Option<String> {
    // A log that was emptied while the server has it open begins with a hole.
    let log = server.log_tail().replace('\0', "");
    let at = ["panicked", "memory allocation of", "overflowed its stack", "is gone: the server ends"]
        .into_iter()
        .find_map(|words| log.find(words))?;
    // The text begins at the start of the line and has the next line, which says where the panic
    // was.
    let begin = log[..at].rfind('\n').map_or(0, |newline| newline + 1);
    Some(log[begin..].lines().take(2).collect::<Vec<_>>().join(" "))
}

/// Empties the files that [`disgrace`] reads.
pub fn forget_log(server: &Server) {
    for path in [server.error_log(), server.error_log().with_file_name("console.log")] {
        // The file is not removed, because the server may have it open.
        if path.exists() {
            let emptied = os::disk::real().open(&path, OpenMode::ReadWrite).and_then(|file| file.set_len(0));
            emptied.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}
