//! The steps of a measurement: fill source and replica, attach the replica, load the source,
//! receive, apply, compare.
//!
//! Invariant of every figure: source and replica are idle except for the step that is timed, and
//! the step ends when the replica itself reports that it has applied the source's last event.

use std::time::Duration;

use os::clock::{Stopwatch, sleep};
use protocol::client::ClientError;

use crate::error::{MeasureError, STALLED_AFTER};
use crate::instance::{Flavor, Instance, Settings, Usage};
use crate::progress::{Progress, grouped};
use crate::replication::{self, LogEnd, Position, StartFrom, Status, Thread};
use crate::sbtest::{self, Checksum, Load, Loaded, Workload};
use crate::server::Server;

/// A source or a replica that the kit has started.
pub struct Node {
    /// The server, and the kit's session with it.
    pub server: Server,
    flavor: Flavor,
    role: &'static str,
}

impl Node {
    /// Starts a server and connects to it.
    pub fn start(
        flavor: Flavor,
        role: &'static str,
        settings: &Settings,
        progress: &mut Progress,
    ) -> Result<Node, MeasureError> {
        progress.step(format!("{flavor} {role}: starting"));
        let node = Node { server: Server::start(flavor, settings)?, flavor, role };
        progress.done(node.version());
        Ok(node)
    }

    /// Returns a node for a replica that was started otherwise.
    pub fn replica(server: Server, flavor: Flavor) -> Node {
        Node { server, flavor, role: "replica" }
    }

    /// Returns the flavor of the server.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Returns the instance that the server is.
    pub fn instance(&self) -> &Instance {
        self.server.instance().expect("a node is started by the kit")
    }

    /// Returns the flavor and the version.
    pub fn version(&self) -> String {
        format!("{} {}", self.flavor, self.server.version())
    }

    /// Returns the flavor and the role, for messages.
    pub fn name(&self) -> String {
        format!("{} {}", self.flavor, self.role)
    }

    fn refused(&self, what: &str) -> impl FnOnce(ClientError) -> MeasureError + use<> {
        let (name, what) = (self.name(), what.to_string());
        move |error| MeasureError::Refused(name, what, error)
    }

    /// Runs a load on this server, and returns how many transactions it took how long for.
    pub fn load(&mut self, load: &Load, progress: &mut Progress) -> Result<Loaded, MeasureError> {
        progress.step(format!("{}: {} from {} clients", self.name(), load.workload, load.clients));
        let clock = Stopwatch::start();
        let loaded = sbtest::run_workload(self.server.options(), load, &mut |committed| {
            progress.tell(|| {
                let rate = committed as f64 / clock.elapsed().as_secs_f64();
                format!(
                    "{} of {}, {}/s",
                    grouped(committed),
                    grouped(load.transactions),
                    grouped(rate as u64)
                )
            });
        })?;
        progress.done(format!(
            "{} commits, {}/s",
            grouped(loaded.transactions),
            grouped(loaded.rate() as u64)
        ));
        Ok(loaded)
    }

    /// Returns the end of this server's binary log.
    pub fn position(&mut self) -> Result<Position, MeasureError> {
        let refused = self.refused("its position");
        replication::source_position(self.server.client(), self.flavor).map_err(refused)
    }

    /// Returns what `SHOW REPLICA STATUS` tells.
    pub fn status(&mut self) -> Result<Status, MeasureError> {
        let refused = self.refused("its replica status");
        replication::status(self.server.client(), self.flavor).map_err(refused)
    }

    /// Makes this server a replica of `source`, and starts its receiver.
    pub fn attach(&mut self, source: &Node) -> Result<(), MeasureError> {
        let flavor = self.flavor();
        let refused = self.refused("CHANGE REPLICATION SOURCE");
        let port = source.instance().port();
        replication::change_source(self.server.client(), flavor, source.flavor(), port, &StartFrom::Gtid)
            .map_err(refused)?;
        self.start_thread(Thread::Io)
    }

    /// Returns the end of this server's binary log in the form that a replica can begin at.
    pub fn end_of_log(&mut self) -> Result<LogEnd, MeasureError> {
        let refused = self.refused("the end of its log");
        replication::end_of_log(self.server.client(), self.flavor).map_err(refused)
    }

    /// Stops this server's replication, makes it forget all that it has received and executed, and
    /// starts its receiver at `end`.
    pub fn begin_anew(&mut self, source: &Node, end: &LogEnd) -> Result<(), MeasureError> {
        self.stop_thread(Thread::Io)?;
        self.stop_thread(Thread::Sql)?;
        let (flavor, refused) = (self.flavor(), self.refused("beginning anew"));
        let source = (source.flavor(), source.instance().port());
        replication::begin_anew(self.server.client(), flavor, source, end).map_err(refused)?;
        self.start_thread(Thread::Io)
    }

    /// Makes this server, which holds what the source held there, its replica from `end` on.
    pub fn follow_from(&mut self, source: &Node, end: &LogEnd) -> Result<(), MeasureError> {
        let (flavor, refused) = (self.flavor(), self.refused("beginning at a position"));
        let source = (source.flavor(), source.instance().port());
        replication::begin_anew(self.server.client(), flavor, source, end).map_err(refused)?;
        self.start_thread(Thread::Io)?;
        self.start_thread(Thread::Sql)
    }

    /// Starts one of the replica's threads.
    pub fn start_thread(&mut self, thread: Thread) -> Result<(), MeasureError> {
        let (flavor, refused) = (self.flavor(), self.refused("START REPLICA"));
        replication::start(self.server.client(), flavor, thread).map_err(refused)
    }

    /// Stops one of the replica's threads.
    pub fn stop_thread(&mut self, thread: Thread) -> Result<(), MeasureError> {
        let (flavor, refused) = (self.flavor(), self.refused("STOP REPLICA"));
        replication::stop(self.server.client(), flavor, thread).map_err(refused)
    }

    /// Waits until everything up to `target` is in the relay log.
    pub fn receive(&mut self, target: &Position, progress: &mut Progress) -> Result<(), MeasureError> {
        progress.step(format!("{}: receiving", self.name()));
        let of = |status: &Status| status.received.clone();
        self.wait_for(target, of, progress)?;
        progress.done("received");
        Ok(())
    }

    /// Waits until a running replica has applied everything up to `target`.
    pub fn catch_up(&mut self, target: &Position, progress: &mut Progress) -> Result<(), MeasureError> {
        self.wait_for(target, |status| status.applied.clone(), progress)
    }

    /// Waits until the position that `of` reads has reached `target`. The pause between two looks
    /// is a two-hundredth of the time that has passed, so that looking costs little and the end is
    /// known to half a percent.
    fn wait_for(
        &mut self,
        target: &Position,
        of: impl Fn(&Status) -> Option<Position>,
        progress: &mut Progress,
    ) -> Result<(), MeasureError> {
        let clock = Stopwatch::start();
        let mut moved = Stopwatch::start();
        let mut last = None;
        loop {
            let status = self.status()?;
            if let Some(error) = status.error() {
                return Err(MeasureError::Broken(self.name(), error.to_string()));
            }
            let now = of(&status);
            if now.as_ref().is_some_and(|now| now >= target) {
                return Ok(());
            }
            if now != last {
                moved = Stopwatch::start();
                last = now;
            } else if moved.elapsed() > STALLED_AFTER {
                return Err(MeasureError::Stalled(self.name(), format!("{last:?}")));
            }
            progress.tell(|| match &last {
                Some(at) => format!("{} of {} MB", at.offset >> 20, target.offset >> 20),
                None => "nothing yet".to_string(),
            });
            sleep((clock.elapsed() / 200).clamp(Duration::from_millis(1), Duration::from_millis(50)));
        }
    }

    /// Starts the applier, waits until it has applied everything up to `target`, and stops it.
    pub fn apply(&mut self, target: &Position, progress: &mut Progress) -> Result<Applied, MeasureError> {
        progress.step(format!("{}: applying", self.name()));
        self.instance().forget_peak_rss();
        let before = self.usage()?;
        let pages_before = self.pages()?;
        let clock = Stopwatch::start();
        self.start_thread(Thread::Sql)?;
        self.wait_for(target, |status| status.applied.clone(), progress)?;
        let seconds = clock.elapsed().as_secs_f64();
        let after = self.usage()?;
        self.stop_thread(Thread::Sql)?;
        progress.done("applied");
        let pages = self.pages()?;
        let grown = |at: usize| Some(pages[at]?.saturating_sub(pages_before[at]?));
        Ok(Applied {
            seconds,
            cpu_ms: after.cpu_ms - before.cpu_ms,
            peak_rss_bytes: after.peak_rss_bytes,
            pages_read: grown(0),
            pages_waited_for: grown(1),
        })
    }

    /// Returns how many pages the server has read from its disk, and how many of them a thread
    /// waited for.
    fn pages(&mut self) -> Result<[Option<u64>; 2], MeasureError> {
        let mut count = |name: &str| -> Result<Option<u64>, MeasureError> {
            Ok(self.server.status(name)?.and_then(|text| text.parse().ok()))
        };
        Ok([count("Innodb_pages_read")?, count("Innodb_buffer_pool_reads")?])
    }

    /// Stops the server and starts it again.
    pub fn start_anew(&mut self, progress: &mut Progress) -> Result<(), MeasureError> {
        self.server.start_anew(progress)
    }

    fn usage(&self) -> Result<Usage, MeasureError> {
        let gone = || {
            MeasureError::Broken(self.name(), format!("the process is gone\n{}", self.instance().log_tail()))
        };
        self.server.usage().ok_or_else(gone)
    }

    /// Returns the checksums of the tables that a load of this kind changes.
    pub fn checksums(&mut self, workload: Workload, tables: u32) -> Result<Vec<Checksum>, MeasureError> {
        let client = self.server.client();
        Ok(match workload {
            Workload::Mysqlslap => vec![sbtest::slap::rows(client)?],
            _ => sbtest::checksums(client, tables)?,
        })
    }
}

/// What a replica needed to apply what it had received.
#[derive(Clone, Copy, Debug)]
pub struct Applied {
    /// The seconds from the start of the applier to the last transaction.
    pub seconds: f64,
    /// The CPU time of the whole process in that time, in milliseconds.
    pub cpu_ms: u64,
    /// The peak of resident memory in that time, in bytes.
    pub peak_rss_bytes: u64,
    /// The number of pages that were read from the disk in that time, if the server counts them.
    pub pages_read: Option<u64>,
    /// How many of these pages a thread waited for (`Innodb_buffer_pool_reads`).
    pub pages_waited_for: Option<u64>,
}
