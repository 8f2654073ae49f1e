//! The series that only this server has: the true lag, where the threads' time goes, the redo log,
//! the buffer pool and the binary log.

use super::exposition::{Exposition, Kind};
use crate::server::Server;
use os::account::ThreadTime;
use replica::status::{ReplicaStatus, Running};
use std::collections::BTreeMap;

const NS_PER_S: f64 = 1e9;

/// Adds all series.
pub fn add(server: &Server, channels: &[ReplicaStatus], all: &mut Exposition) {
    channels.iter().for_each(|channel| add_channel(all, channel));
    let about = (Kind::Gauge, "The number of replicas that are connected to this server.");
    all.add("slipstream_connected_replicas", about, &[], server.replicas.list().len());
    add_threads(all, &os::account::snapshot());
    add_redo_log(server, all);
    add_buffer_pool(server, all);
    add_binary_log(server, all);
}

fn add_channel(all: &mut Exposition, channel: &ReplicaStatus) {
    let name = [("channel_name", channel.channel.as_str())];
    let about =
        (Kind::Gauge, "1 when the lag is known, 0 when nothing is pending and there is no connection.");
    all.add("slipstream_replica_lag_known", about, &name, u8::from(channel.lag_us.is_some()));
    if let Some(us) = channel.lag_us {
        let about = (
            Kind::Gauge,
            "The age in milliseconds of the oldest transaction of the source that readers here do not see.",
        );
        all.add("slipstream_replica_lag_milliseconds", about, &name, us as f64 / 1000.0);
    }
    let threads = [
        ("receiver", channel.io_running, &channel.io_error),
        ("applier", channel.sql_running, &channel.sql_error),
    ];
    for (thread, running, error) in threads {
        let labels = [name[0], ("thread", thread)];
        let about = (Kind::Gauge, "1 when the receiver is connected or the applier runs.");
        all.add("slipstream_replica_running", about, &labels, u8::from(running == Running::Yes));
        let about = (Kind::Gauge, "The number of the error that the thread stopped or waits with, or 0.");
        let number = error.as_ref().map_or(0, |error| error.number);
        all.add("slipstream_replica_error", about, &labels, number);
    }
    let about =
        (Kind::Counter, "How often transactions were tried again after a deadlock or a lock's timeout.");
    all.add("slipstream_replica_retries_total", about, &name, channel.transaction_retries);
    let about = (Kind::Gauge, "The bytes of the relay log.");
    all.add("slipstream_replica_relay_log_bytes", about, &name, channel.relay_space_bytes);
}

/// Adds the time accounts. Threads of one name are added up, and so are those that have ended.
fn add_threads(all: &mut Exposition, threads: &[ThreadTime]) {
    let mut sums: BTreeMap<(&str, &str), [u64; 3]> = BTreeMap::new();
    let mut running: BTreeMap<&str, u64> = BTreeMap::new();
    for thread in threads {
        *running.entry(&thread.name).or_default() += u64::from(thread.tid.is_some());
        for time in &thread.states {
            let sum = sums.entry((&thread.name, time.state.name())).or_default();
            for (sum, more) in sum.iter_mut().zip([time.wall_ns, time.cpu_ns, time.entered]) {
                *sum = sum.saturating_add(more);
            }
        }
    }
    for ((thread, state), [wall_ns, cpu_ns, entered]) in sums {
        let labels = [("thread", thread), ("state", state)];
        let about = (Kind::Counter, "The seconds that threads of a name have spent in a state.");
        all.add("slipstream_thread_seconds_total", about, &labels, wall_ns as f64 / NS_PER_S);
        let about = (Kind::Counter, "The seconds of processor time that threads have used in a state.");
        all.add("slipstream_thread_cpu_seconds_total", about, &labels, cpu_ns as f64 / NS_PER_S);
        let about = (Kind::Counter, "How often threads of a name have entered a state.");
        all.add("slipstream_thread_entered_total", about, &labels, entered);
    }
    for (thread, count) in running {
        let about = (Kind::Gauge, "The number of running threads of a name.");
        all.add("slipstream_threads", about, &[("thread", thread)], count);
    }
}

fn add_redo_log(server: &Server, all: &mut Exposition) {
    let log = server.engine.log().status();
    let mut add = |name: &'static str, about, value: f64| all.add(name, about, &[], value);
    let gauge = |text| (Kind::Gauge, text);
    let counter = |text| (Kind::Counter, text);
    let age = log.current_lsn.saturating_sub(log.checkpoint_lsn);
    add(
        "slipstream_redo_checkpoint_age_bytes",
        gauge("The bytes of log that recovery would read."),
        age as f64,
    );
    let about = gauge("The bytes that the log may have.");
    add("slipstream_redo_capacity_bytes", about, log.resized_bytes as f64);
    let about = gauge("The bytes of log that are not durable yet.");
    let unsynced = log.current_lsn.saturating_sub(log.durable_lsn);
    add("slipstream_redo_unsynced_bytes", about, unsynced as f64);
    let about = counter("The bytes that were written into the log.");
    add("slipstream_redo_written_bytes_total", about, log.written_bytes as f64);
    add("slipstream_redo_syncs_total", counter("The syncs of the log."), log.syncs as f64);
    let about = counter("The seconds that syncs of the log have taken.");
    add("slipstream_redo_sync_seconds_total", about, log.sync_ns as f64 / NS_PER_S);
    let about = counter("How often a record waited for room in the log's buffer.");
    add("slipstream_redo_buffer_waits_total", about, log.buffer_waits as f64);
    let about = counter("How often a thread waited for a checkpoint to free space of the log.");
    add("slipstream_redo_space_waits_total", about, log.space_waits as f64);
}

fn add_buffer_pool(server: &Server, all: &mut Exposition) {
    let pool = server.engine.pool().status();
    let about = (Kind::Gauge, "The bytes of the buffer pool by what is in them.");
    let clean = pool.pages_data.saturating_sub(pool.pages_dirty);
    for (state, pages) in [("clean", clean), ("dirty", pool.pages_dirty), ("free", pool.pages_free)] {
        all.add("slipstream_buffer_pool_bytes", about, &[("state", state)], pages * pool.page_size);
    }
    let about = (Kind::Counter, "The requests for pages, whether the pool had them or not.");
    all.add("slipstream_buffer_pool_requests_total", about, &[], pool.read_requests);
    let about =
        (Kind::Counter, "The pages that were read because the pool did not have them, by the reason.");
    let read_ahead = pool.read_ahead + pool.read_ahead_random;
    for (reason, pages) in [("request", pool.pages_read), ("read_ahead", read_ahead)] {
        all.add("slipstream_buffer_pool_reads_total", about, &[("reason", reason)], pages);
    }
    let about = (Kind::Counter, "The pages that were written.");
    all.add("slipstream_buffer_pool_writes_total", about, &[], pool.pages_written);
}

fn add_binary_log(server: &Server, all: &mut Exposition) {
    let Some(binlog) = server.open_binlog() else { return };
    let stats = binlog.compression_stats();
    for (compression, counts) in [("zstd", stats.zstd), ("none", stats.none)] {
        let label = [("compression", compression)];
        let about = (Kind::Counter, "The transactions that were written into the binary log.");
        all.add("slipstream_binary_log_transactions_total", about, &label, counts.transactions);
        let about = (Kind::Counter, "The bytes of transactions that were written into the binary log.");
        all.add("slipstream_binary_log_written_bytes_total", about, &label, counts.compressed_bytes);
    }
}
