//! A new replica by `slipstream attach`. Its time begins with the start of the program, which makes
//! a data directory and starts a server in it.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};

use super::copied::Copied;
use crate::error::{MeasureError, STALLED_AFTER};
use crate::instance::{Flavor, Settings};
use crate::measure::Node;
use crate::progress::{Progress, grouped};
use crate::server::Server;

/// The pause between two looks at the copy's progress.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How far the copy is. The schema goes away at its end.
const STATE: &str =
    "SELECT COALESCE(SUM(is_done), 0), COALESCE(SUM(copied_rows), 0) FROM slipstream_attach.tables";

/// Makes the replica. The source has `tables` tables.
pub(super) fn copy(
    source: &Node,
    settings: &Settings,
    (tables, threads): (u64, Option<u32>),
    progress: &mut Progress,
) -> Result<Copied, MeasureError> {
    let clock = Stopwatch::start();
    let server = Server::attached(source.instance(), settings, threads)?;
    let mut copied = Copied::now(Node::replica(server, Flavor::Slipstream), clock, 0);
    let (mut moved, mut last) = (Stopwatch::start(), 0);
    let mut seconds = None;
    while !is_over(&mut copied.node.server)? {
        if let Some((done, rows)) = state(&mut copied.node.server)? {
            if done == tables && seconds.is_none() {
                seconds = Some(copied.clock.elapsed().as_secs_f64());
            }
            if (done, rows) != (tables, last) {
                (moved, last) = (Stopwatch::start(), rows);
            }
            progress.tell(|| format!("{} rows", grouped(rows)));
        }
        if !copied.node.server.is_running() || moved.elapsed() > STALLED_AFTER {
            let said = copied.node.instance().log_tail();
            return Err(MeasureError::Program("slipstream attach".into(), said));
        }
        sleep(LOOK_EVERY);
    }
    copied.seconds = seconds.unwrap_or_else(|| copied.clock.elapsed().as_secs_f64());
    Ok(copied)
}

/// Reports whether the command has done its work, after which the server is a replica like others.
fn is_over(server: &mut Server) -> Result<bool, MeasureError> {
    Ok(server.variable("replica_exec_mode")?.as_deref() == Some("STRICT"))
}

/// Returns how many tables are complete, and how many rows have been copied; `None` before and
/// after the copy.
fn state(server: &mut Server) -> Result<Option<(u64, u64)>, MeasureError> {
    let Some(found) = server.table(STATE)? else { return Ok(None) };
    let number = |column| found.cell(0, column).and_then(|text| text.parse().ok()).unwrap_or(0);
    Ok(Some((number(0), number(1))))
}
