//! A new replica by mydumper and myloader. Its time begins with mydumper, when the fresh server
//! runs already.
//!
//! The position of the dump is asked for by the kit. mydumper 0.10, which Debian has, asks with a
//! statement that MySQL has had no more since 8.4. So the kit holds a global read lock from before
//! mydumper takes its own until mydumper says that it has let it go.

use os::clock::Stopwatch;
use protocol::client::Client;

use super::copied::Copied;
use super::program;
use crate::error::MeasureError;
use crate::instance::{Flavor, Place, Settings, USER};
use crate::measure::Node;
use crate::progress::Progress;
use crate::sbtest::SCHEMA;

/// What mydumper says when all of its sessions have their snapshots, and its lock is gone.
const UNLOCKED: &str = "unlocking tables";
/// The number of rows in a file, so that several threads have a part of one table.
const ROWS_A_FILE: u64 = 250_000;

/// Returns the reason why a source of this flavor cannot be dumped; `None` means that it can.
pub(super) fn unavailable(flavor: Flavor) -> Option<String> {
    let missing = ["mydumper", "myloader"].into_iter().find(|name| flavor.program(name).is_none())?;
    Some(format!("no {missing} beside {flavor} (scripts/peers.sh puts it there)"))
}

/// Makes the replica.
pub(super) fn copy(
    source: &mut Node,
    settings: &Settings,
    threads: Option<u32>,
    progress: &mut Progress,
) -> Result<Copied, MeasureError> {
    let flavor = source.flavor();
    let mut replica = Node::start(flavor, "replica", settings, progress)?;
    let place = Place::create(flavor)?;
    let directory = place.inside("dump");
    progress.step(format!("{}: mydumper", source.name()));
    let clock = Stopwatch::start();
    let mut lock = Some(Lock::take(source)?);
    let end = source.end_of_log()?;
    let mut words = command(source, "mydumper", threads);
    words.extend(["--outputdir", &directory, "--database", SCHEMA, "--verbose", "3"].map(str::to_string));
    words.extend(["--rows".to_string(), ROWS_A_FILE.to_string()]);
    program::run("mydumper", words, &mut |line| match lock.take_if(|_| line.contains(UNLOCKED)) {
        Some(lock) => lock.release(),
        None => Ok(()),
    })?;
    if lock.is_some() {
        return Err(MeasureError::Program("mydumper".into(), format!("it did not say '{UNLOCKED}'")));
    }
    progress.done("dumped");
    progress.step(format!("{}: myloader", replica.name()));
    let mut words = command(&replica, "myloader", threads);
    words.extend(["--directory", &directory].map(str::to_string));
    program::run("myloader", words, &mut |_| Ok(()))?;
    progress.done("loaded");
    let seconds = clock.elapsed().as_secs_f64();
    replica.follow_from(source, &end)?;
    Ok(Copied { seconds, ..Copied::now(replica, clock, 0) })
}

/// Returns the words that run one of the programs at a server.
fn command(server: &Node, name: &str, threads: Option<u32>) -> Vec<String> {
    let mut words = server.flavor().program(name).expect("a program that is there");
    let socket = server.instance().socket_inside();
    words.extend(["--user", USER, "--password", USER, "--socket", &socket].map(str::to_string));
    words.extend(threads.iter().flat_map(|threads| ["--threads".to_string(), threads.to_string()]));
    words
}

/// A session that holds the source's global read lock.
struct Lock {
    client: Client,
    name: String,
}

impl Lock {
    fn take(source: &Node) -> Result<Lock, MeasureError> {
        let refused = source.server.refused("connecting");
        let client = Client::connect(source.server.options()).map_err(refused)?;
        let mut lock = Lock { client, name: source.name() };
        lock.run("FLUSH TABLES WITH READ LOCK")?;
        Ok(lock)
    }

    fn release(mut self) -> Result<(), MeasureError> {
        self.run("UNLOCK TABLES")
    }

    fn run(&mut self, sql: &str) -> Result<(), MeasureError> {
        let refused = |error| MeasureError::Refused(self.name.clone(), sql.to_string(), error);
        self.client.query_discard(sql).map(|_| ()).map_err(refused)
    }
}
