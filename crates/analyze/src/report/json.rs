//! The report for programs: the same figures as in the text, under fixed names.

use serde_json::{Value, json};

use super::content::Report;
use crate::facts::{SHOWN, Spread};
use crate::history::{History, KeySource, Nature};
use crate::schedule::Schedule;

/// Returns the report as JSON.
pub fn json(report: &Report) -> Value {
    let (history, facts) = (&report.history, &report.facts);
    json!({
        "files": history.files,
        "server_version": history.server_version,
        "transactions": history.transactions.len(),
        "row_changes": facts.changes.sum,
        "bytes": facts.bytes.sum,
        "first_timestamp": history.seconds.map(|(first, _)| first),
        "last_timestamp": history.seconds.map(|(_, last)| last),
        "is_cut": history.is_cut,
        "is_open_at_end": history.is_open_at_end,
        "statement_transactions": facts.statements,
        "opaque_transactions": facts.opaque,
        "transactions_without_commit_order": facts.unordered,
        "row_changes_of_a_transaction": spread(&facts.changes),
        "bytes_of_a_transaction": spread(&facts.bytes),
        "tables": facts.tables.iter().map(|&number| table(history, number)).collect::<Vec<_>>(),
        "large_transactions":
            facts.large.iter().take(SHOWN).map(|&number| transaction(history, number)).collect::<Vec<_>>(),
        "large_transactions_count": facts.large.len(),
        "hot_rows": history.hot_rows.iter().take(SHOWN).map(|row| json!({
            "table": row.table, "key": row.key, "changes": row.changes,
        })).collect::<Vec<_>>(),
        "model": {
            "transaction_cost": report.model.costs.transaction,
            "row_cost": report.model.costs.row,
            "preserve_commit_order": report.model.preserve_commit_order,
            "window_transactions": report.model.window,
        },
        "policies": report.schedules.iter().map(|one| schedule(history, one)).collect::<Vec<_>>(),
    })
}

fn spread(spread: &Spread) -> Value {
    json!({ "median": spread.median, "p95": spread.p95, "p99": spread.p99, "max": spread.max })
}

fn table(history: &History, number: usize) -> Value {
    let table = &history.tables[number];
    json!({
        "table": table.name,
        "inserts": table.inserts,
        "updates": table.updates,
        "deletes": table.deletes,
        "bytes": table.bytes,
        "transactions": table.transactions,
        "keys": match table.keys {
            KeySource::Metadata => "table map",
            KeySource::Server => "server",
            KeySource::BeforeImages => "before-images",
            KeySource::Unknown => "unknown",
            KeySource::None => "none",
        },
    })
}

fn transaction(history: &History, number: usize) -> Value {
    let transaction = &history.transactions[number];
    let tables: Vec<&str> = history
        .tables_of(transaction)
        .iter()
        .map(|&table| history.tables[table as usize].name.as_str())
        .collect();
    json!({
        "file": history.files.get(transaction.place.file as usize),
        "position": transaction.place.pos,
        "row_changes": transaction.changes,
        "bytes": transaction.bytes,
        "kind": match transaction.nature {
            Nature::Rows => "rows",
            Nature::Statement => "statement",
            Nature::Opaque => "opaque",
        },
        "tables": tables,
    })
}

fn schedule(history: &History, schedule: &Schedule) -> Value {
    let path = &schedule.path;
    json!({
        "policy": schedule.policy.name(),
        "workers": schedule.points.iter().map(|point| json!({
            "workers": point.workers,
            "time": point.time,
            "speedup": point.speedup,
            "efficiency": point.efficiency(),
        })).collect::<Vec<_>>(),
        "speedup_without_limit": schedule.limit,
        "critical_path": {
            "time": path.time,
            "transactions": path.transactions,
            "tables": path.tables.iter().map(|(name, share)| json!({ "table": name, "share": share })).collect::<Vec<_>>(),
            "held_back_by": path.holdups.iter().map(|holdup| {
                let mut named = transaction(history, holdup.transaction);
                named["time"] = holdup.time.into();
                named
            }).collect::<Vec<_>>(),
        },
    })
}
