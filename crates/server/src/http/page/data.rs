//! `/page.json`: what the page shows, as one object. Its form is the page's own and may change.

use super::history::{BETWEEN_SAMPLES, History, KEPT, Point, Sample, point};
use super::login::Reader;
use super::sampler;
use crate::server::Server;
use os::account::{State, ThreadTime};
use parking_lot::Mutex;
use replica::error::ThreadError;
use replica::status::ReplicaStatus;
use serde_json::{Map, Value, json};
use sql::measured::{DigestRow, Measured, sum};
use std::collections::BTreeMap;
use std::time::Duration;

/// The span that is shown when a request names none.
const USUAL_SPAN: Duration = Duration::from_secs(15 * 60);
/// The shortest span that may be shown.
const LEAST_SPAN: Duration = Duration::from_secs(60);
/// The largest number of points of a chart.
const MOST_POINTS: usize = 360;
/// The largest number of statements in the list of those that took most time.
const MOST_STATEMENTS: usize = 20;
/// The largest number of characters of a statement that is sent.
const MOST_TEXT_CHARS: usize = 2000;

/// The states in which a thread waits for somebody to give it work.
const RESTING: [State; 9] = [
    State::Idle,
    State::ClientWait,
    State::SourceWait,
    State::RelayLogWait,
    State::WorkerWait,
    State::CleanerWait,
    State::BinlogWait,
    State::ReplicaAckWait,
    State::Sleep,
];

/// Reads the span that a request asks for.
///
/// # Errors
/// Returns in words which parameter is unknown or has no valid value.
pub fn span(parameters: &[(String, String)]) -> Result<Duration, &'static str> {
    parameters.iter().try_fold(USUAL_SPAN, |_, (name, value)| match (name.as_str(), value.parse()) {
        ("span_s", Ok(seconds)) => Ok(Duration::from_secs(seconds).clamp(LEAST_SPAN, KEPT)),
        ("span_s", Err(_)) => Err("span_s must be a number of seconds"),
        _ => Err("the parameter is span_s"),
    })
}

/// Returns the text of the object.
pub fn text(server: &Server, history: &Mutex<History>, reader: &Reader, span: Duration) -> String {
    let (channels, threads) = (server.replica.statuses(), os::account::snapshot());
    let now = sampler::take(server, &channels, &threads);
    let (points, latest) = {
        let history = history.lock();
        (history.points(&now, span, MOST_POINTS), latest(&history, &now))
    };
    json!({
        "at_ms": os::clock::now_us() / 1000,
        "sample_s": BETWEEN_SAMPLES.as_secs(),
        "server": about(server),
        "now": present(server, &now, latest.as_ref(), &channels),
        "channels": channels.iter().map(channel).collect::<Vec<_>>(),
        "replicas": reader.sees_replicas.then(|| replicas(server)),
        "history": series(&points),
        "resting": RESTING.map(State::name),
        "threads": of_threads(&threads),
        "statements": if reader.sees_statements { statements(server) } else { None },
        "sees_statements": reader.sees_statements,
        "measures_statements": server.measured.is_some(),
    })
    .to_string()
}

/// Returns the rates of the last samples. `None` means that there was no sample yet.
fn latest(history: &History, now: &Sample) -> Option<Point> {
    let before = history.before(now, BETWEEN_SAMPLES / 2)?;
    point(before, &[now], now)
}

fn about(server: &Server) -> Value {
    let of = |name: &str| server.globals.named(name).to_string();
    json!({
        "version": of("version"),
        "comment": of("version_comment"),
        "host": of("hostname"),
        "port": server.globals.named("port").uint(),
        "server_id": server.globals.named("server_id").uint(),
        "server_uuid": of("server_uuid"),
        "read_only": server.globals.is_read_only(),
        "gtid_mode": of("gtid_mode"),
        "gtid_executed": server.engine.gtid_executed().to_string(),
        "uptime_s": os::clock::now_us().saturating_sub(server.status.started_us) / 1_000_000,
        "binary_log": server.open_binlog().is_some(),
    })
}

/// The key figures. A rate is null as long as there was only one sample.
fn present(server: &Server, now: &Sample, latest: Option<&Point>, channels: &[ReplicaStatus]) -> Value {
    let (log, pool) = (server.engine.log().status(), server.engine.pool().status());
    let rate = |of: fn(&Point) -> f64| latest.map(of);
    json!({
        "lag_ms": now.lag_us.map(|us| us as f64 / 1000.0),
        "is_replica": !channels.is_empty(),
        "applied_per_s": rate(|point| point.applied),
        "commits_per_s": rate(|point| point.commits),
        "statements_per_s": rate(|point| point.statements),
        "log_bytes_per_s": rate(|point| point.log_bytes),
        "connections": now.connections,
        "max_connections": server.globals.named("max_connections").uint(),
        "running": now.running,
        "checkpoint_age_bytes": now.checkpoint_age_bytes,
        "log_capacity_bytes": log.resized_bytes,
        "unsynced_bytes": log.current_lsn.saturating_sub(log.durable_lsn),
        "log_syncs": log.syncs,
        "log_space_waits": log.space_waits,
        "dirty_bytes": now.dirty_bytes,
        "pool_bytes": pool.pages_total * pool.page_size,
        "pool_free_bytes": pool.pages_free * pool.page_size,
    })
}

fn channel(channel: &ReplicaStatus) -> Value {
    let error = |error: &Option<ThreadError>| {
        error.as_ref().map(|error| json!({ "number": error.number, "message": error.message }))
    };
    json!({
        "name": channel.channel,
        "host": channel.config.host,
        "port": channel.config.port,
        "user": channel.config.user,
        "source_uuid": channel.source_uuid,
        "source_server_id": channel.source_server_id,
        "receiver": channel.io_running.word(),
        "applier": channel.sql_running.word(),
        "receiver_error": error(&channel.io_error),
        "applier_error": error(&channel.sql_error),
        "lag_ms": channel.lag_us.map(|us| us as f64 / 1000.0),
        "held_back_by": channel.held_back_by(),
        "retrieved_gtids": channel.retrieved_gtid_set,
        "mariadb_gtids": channel.gtid_slave_pos,
        "received": format!("{}:{}", channel.read_file, channel.read_pos),
        "executed": format!("{}:{}", channel.exec_file, channel.exec_pos),
        "relay_bytes": channel.relay_space_bytes,
        "applied": channel.applied_transactions,
        "retries": channel.transaction_retries,
        "workers": channel.workers,
    })
}

fn replicas(server: &Server) -> Vec<Value> {
    let object = |replica: crate::server::replicas::RegisteredReplica| {
        json!({
            "server_id": replica.server_id,
            "host": replica.host,
            "port": replica.port,
            "server_uuid": replica.server_uuid,
        })
    };
    server.replicas.list().into_iter().map(object).collect()
}

/// Returns the points as one list of numbers for each figure.
fn series(points: &[Point]) -> Value {
    let list = |of: &dyn Fn(&Point) -> Value| Value::Array(points.iter().map(of).collect());
    let rounded = |value: f64| json!((value * 1000.0).round() / 1000.0);
    let mut states = Map::new();
    for (number, state) in State::ALL.iter().enumerate() {
        if points.iter().any(|point| point.states[number] >= 0.0005) {
            states.insert(state.name().to_owned(), list(&|point| rounded(point.states[number])));
        }
    }
    json!({
        "before_s": list(&|point| rounded(point.before_s)),
        "lag_ms": list(&|point| point.lag_us.map_or(Value::Null, |us| rounded(us as f64 / 1000.0))),
        "applied": list(&|point| rounded(point.applied)),
        "commits": list(&|point| rounded(point.commits)),
        "statements": list(&|point| rounded(point.statements)),
        "connections": list(&|point| json!(point.connections)),
        "running": list(&|point| json!(point.running)),
        "log_bytes": list(&|point| rounded(point.log_bytes)),
        "page_bytes": list(&|point| rounded(point.page_bytes)),
        "checkpoint_age": list(&|point| json!(point.checkpoint_age_bytes)),
        "dirty": list(&|point| json!(point.dirty_bytes)),
        "states": states,
    })
}

/// Returns the time accounts since the start, added up for threads of one name. The page shows the
/// differences between two answers.
fn of_threads(threads: &[ThreadTime]) -> Vec<Value> {
    let mut sums: BTreeMap<&str, (u64, BTreeMap<State, [u64; 2]>)> = BTreeMap::new();
    for thread in threads {
        let (running, states) = sums.entry(&thread.name).or_default();
        *running += u64::from(thread.tid.is_some());
        for time in &thread.states {
            let sum = states.entry(time.state).or_default();
            *sum = [sum[0] + time.wall_ns / 1000, sum[1] + time.cpu_ns / 1000];
        }
    }
    let object = |(name, (running, states)): (&str, (u64, BTreeMap<State, [u64; 2]>))| {
        let states: Map<String, Value> =
            states.into_iter().map(|(state, us)| (state.name().to_owned(), json!(us))).collect();
        json!({ "name": name, "running": running, "states": states })
    };
    sums.into_iter().map(object).collect()
}

/// Returns the digests of statements that took most time. `None` means that nothing is measured.
fn statements(server: &Server) -> Option<Vec<Value>> {
    let measured = server.measured.as_ref()?;
    let digests = server.sessions.with_measured(|sessions| {
        let sessions: Vec<_> = sessions.iter().map(|(_, session)| session.clone()).collect();
        Measured::by_digest(measured, &sessions)
    });
    let mut rows: Vec<DigestRow> = digests.iter().filter_map(|digest| digest.row()).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.figures.wait_ns));
    rows.truncate(MOST_STATEMENTS);
    Some(rows.iter().map(statement).collect())
}

fn statement(row: &DigestRow) -> Value {
    let figures = &row.figures;
    let text = row.text.as_ref().map(|text| text.chars().take(MOST_TEXT_CHARS).collect::<String>());
    json!({
        "schema": row.schema.as_deref(),
        "text": text,
        "count": figures.count,
        "total_ms": figures.wait_ns as f64 / 1e6,
        "average_ms": figures.wait_ns as f64 / 1e6 / figures.count.max(1) as f64,
        "p95_ms": row.histogram.quantile_ps(0.95) as f64 / 1e9,
        "rows_sent": figures.sums[sum::ROWS_SENT],
        "rows_examined": figures.sums[sum::ROWS_EXAMINED],
        "rows_affected": figures.sums[sum::ROWS_AFFECTED],
        "errors": figures.sums[sum::ERRORS],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_or_refused_and_bounded() {
        let asked = |name: &str, value: &str| span(&[(name.to_owned(), value.to_owned())]);
        assert_eq!(span(&[]), Ok(USUAL_SPAN));
        assert_eq!(asked("span_s", "3600"), Ok(Duration::from_secs(3600)));
        assert_eq!([asked("span_s", "0"), asked("span_s", "99999999999")], [Ok(LEAST_SPAN), Ok(KEPT)]);
        for (name, value) in [("span_s", "-1"), ("span_s", ""), ("span", "60")] {
            assert!(asked(name, value).is_err(), "{name}={value}");
        }
    }
}
