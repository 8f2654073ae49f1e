//! A look as JSON. The names are stable: they are added to, and not changed.

use serde_json::{Value, json};

use crate::channel::{Channel, ThreadError};
use crate::look::Look;
use crate::rates::Rates;

/// Returns a look and its rates as an object. What the server does not tell is null.
pub fn object(look: &Look, rates: &Rates) -> Value {
    let server = &look.server;
    let per_second: serde_json::Map<String, Value> =
        rates.per_second.iter().map(|(name, rate)| ((*name).to_owned(), json!(rate))).collect();
    json!({
        "well": look.is_well(),
        "problems": look.problems(),
        "server": {
            "version": server.version,
            "host": server.host,
            "port": server.port,
            "server_id": server.server_id,
            "server_uuid": server.server_uuid,
            "role": look.role(),
            "read_only": server.is_read_only,
            "uptime_seconds": server.uptime_s,
        },
        "channels": look.channels.iter().map(channel).collect::<Vec<_>>(),
        "replicas": look.replicas.iter().map(|replica| json!({
            "server_id": replica.server_id,
            "host": replica.host,
            "port": replica.port,
            "server_uuid": replica.server_uuid,
        })).collect::<Vec<_>>(),
        "rates": {
            "seconds": rates.span_s,
            "since_start": rates.since_start,
            "per_second": per_second,
        },
        "buffer_pool": {
            "hit_rate": rates.hit_rate,
            "data_bytes": look.figure("innodb_buffer_pool_bytes_data"),
            "dirty_bytes": look.figure("innodb_buffer_pool_bytes_dirty"),
        },
        "redo_log": {
            "checkpoint_age_bytes": look.figure("innodb_redo_log_logical_size"),
            "capacity_bytes": look.figure("innodb_redo_log_capacity_resized"),
        },
        "threads": rates.shares.iter().map(|share| json!({
            "thread": share.thread,
            "state": share.state,
            "wall_share": share.wall,
            "processors": share.processors,
        })).collect::<Vec<_>>(),
    })
}

fn channel(channel: &Channel) -> Value {
    let error = |error: &Option<ThreadError>| {
        error.as_ref().map(|error| json!({ "number": error.number, "message": error.message }))
    };
    json!({
        "name": channel.name,
        "source_host": channel.source_host,
        "source_port": channel.source_port,
        "receiver": channel.receiver.word(),
        "applier": channel.applier.word(),
        "receiver_error": error(&channel.receiver_error),
        "applier_error": error(&channel.applier_error),
        "transactions_to_apply": channel.to_apply,
        "lag_milliseconds": channel.lag_ms,
        "applier_state": channel.applier_state,
        "held_back_by": Some(&channel.held_back_by).filter(|words| !words.is_empty()),
    })
}
