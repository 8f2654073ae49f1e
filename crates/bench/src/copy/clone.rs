//! A new replica by `CLONE INSTANCE FROM` of MySQL's clone plugin. Its time begins with that
//! statement in a fresh server, and includes the start on the cloned data: a server without a
//! supervisor ends when it has cloned (error 3707), and the kit starts it again.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use protocol::client::Client;

use super::copied::Copied;
use crate::error::MeasureError;
use crate::instance::{Flavor, Settings, USER};
use crate::measure::Node;
use crate::progress::Progress;
use crate::replication::Thread;

/// The option with which source and replica have the plugin.
pub(super) const PLUGIN: &str = "--plugin-load-add=mysql_clone.so";
/// `ER_RESTART_SERVER_FAILED`: the clone is complete, and the server ends.
const NOT_RESTARTED: u16 = 3707;
/// The pause between two readings of the memory of the server that clones.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Returns the reason why a source of this flavor cannot be cloned; `None` means that it can.
pub(super) fn unavailable(flavor: Flavor) -> Option<String> {
    (!flavor.has_clone_plugin()).then(|| format!("{flavor} has no clone plugin"))
}

/// Makes the replica.
pub(super) fn copy(
    source: &Node,
    settings: &Settings,
    progress: &mut Progress,
) -> Result<Copied, MeasureError> {
    let flavor = source.flavor();
    let settings = Settings { extra: vec![PLUGIN.to_string()], ..settings.clone() };
    let mut replica = Node::start(flavor, "replica", &settings, progress)?;
    let port = source.instance().port();
    replica.server.run(&format!("SET GLOBAL clone_valid_donor_list = '127.0.0.1:{port}'"))?;
    let refused = replica.server.refused("connecting");
    let mut client = Client::connect(replica.server.options()).map_err(refused)?;
    progress.step(format!("{}: CLONE INSTANCE", replica.name()));
    let clock = Stopwatch::start();
    let statement = format!("CLONE INSTANCE FROM '{USER}'@'127.0.0.1':{port} IDENTIFIED BY '{USER}'");
    let cloning = os::thread::spawn("clone", move || client.query_discard(&statement).map(|_| ()));
    let mut peak_rss_bytes = 0;
    while !cloning.is_finished() {
        let usage = replica.server.usage().unwrap_or_default();
        peak_rss_bytes = usage.peak_rss_bytes.max(peak_rss_bytes);
        progress.tell(|| format!("{} s", clock.elapsed().as_secs()));
        sleep(LOOK_EVERY);
    }
    match cloning.join().expect("the session does not panic") {
        Err(error) if error.server_code() == Some(NOT_RESTARTED) => {}
        Err(error) => return Err(replica.server.refused("CLONE INSTANCE")(error)),
        // A server with a supervisor answers before it starts again, which this one has not.
        Ok(()) => {
            return Err(MeasureError::Program("CLONE INSTANCE".into(), "the server did not end".into()));
        }
    }
    replica.server.start_after_end()?;
    progress.done("cloned");
    let seconds = clock.elapsed().as_secs_f64();
    replica.attach(source)?;
    replica.start_thread(Thread::Sql)?;
    Ok(Copied { seconds, ..Copied::now(replica, clock, peak_rss_bytes) })
}
