//! Dump sessions, each of which serves one replica (or `mysqlbinlog`) from the files.
//!
//! A session reads whole blocks of a file up to the published end, and sends event by event. At the
//! end it sleeps until the writer publishes more, a heartbeat is due, or it has to end. Any number
//! of sessions run at once, and share only the files.

mod for_mariadb;
mod request;
mod sender;
mod session;
mod sink;

use crate::files::LogFiles;

pub use binlog::semi_sync::Acknowledgement;
pub use request::{Checksum, DumpClient, DumpRequest, DumpStart};
pub use sink::{DumpEnd, DumpSink};

/// Serves a dump until it ends.
pub(crate) fn serve(files: &LogFiles, request: &DumpRequest, sink: &mut dyn DumpSink) -> DumpEnd {
    match session::serve(files, request, sink) {
        Ok(end) => end,
        Err(end) => end,
    }
}
