//! The report for people.

use std::fmt::Write as _;

use bench::progress::grouped;
use bench::table::{Align, Table};

use super::content::Report;
use crate::facts::{LARGE_CHANGES, SHOWN, key_words};
use crate::history::{History, KeySource};
use crate::schedule::{Point, Policy, Schedule};

/// Returns the report as text.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing into a string does not fail.
    let _ = write!(
        out,
        "{}\n{}\n{}{}{}{}",
        overview(report),
        sizes(report),
        tables(report),
        large(report),
        hot_rows(report),
        schedules(report)
    );
    out
}

fn overview(report: &Report) -> String {
    let (history, facts) = (&report.history, &report.facts);
    let mut out = String::new();
    let files = match history.files.as_slice() {
        [] => "nothing".to_string(),
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}, {} files", history.files.len()),
    };
    let _ = writeln!(out, "{files}; server {}", history.server_version);
    let _ = write!(
        out,
        "{} transactions, {} row changes, {} bytes",
        grouped(history.transactions.len() as u64),
        grouped(facts.changes.sum),
        grouped(facts.bytes.sum)
    );
    if let Some((first, last)) = history.seconds {
        let seconds = u64::from(last.saturating_sub(first));
        let _ = write!(out, ", over {} s by their timestamps", grouped(seconds));
    }
    let _ = writeln!(out);
    let mut note = |count: usize, what: &str| {
        if count > 0 {
            let _ = writeln!(out, "{} transactions {what}", grouped(count as u64));
        }
    };
    note(
        facts.statements,
        "are or hold statements: by writeset they keep the commit order, by row they run alone",
    );
    note(facts.opaque, "are compressed or hold partial JSON and are not looked into: they run alone");
    note(facts.unordered, "come without a commit order: LOGICAL_CLOCK takes them one after the other");
    if history.is_cut {
        let _ = writeln!(out, "Reading stopped here, at --limit.");
    }
    if history.is_open_at_end {
        let _ = writeln!(out, "The last transaction has no end in the log and is left out.");
    }
    out
}

fn sizes(report: &Report) -> String {
    let columns = [
        ("of a transaction", Align::Left),
        ("median", Align::Right),
        ("p95", Align::Right),
        ("p99", Align::Right),
        ("largest", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for (name, spread) in [("row changes", report.facts.changes), ("bytes", report.facts.bytes)] {
        let figures = [spread.median, spread.p95, spread.p99, spread.max];
        table.row(std::iter::once(name.to_string()).chain(figures.map(grouped)).collect());
    }
    table.to_string()
}

fn tables(report: &Report) -> String {
    let columns = [
        ("table", Align::Left),
        ("inserts", Align::Right),
        ("updates", Align::Right),
        ("deletes", Align::Right),
        ("bytes", Align::Right),
        ("transactions", Align::Right),
        ("rows are told apart by", Align::Left),
    ];
    let mut shown = Table::new(&columns);
    let mut left_out = 0;
    for (rank, &number) in report.facts.tables.iter().enumerate() {
        let table = &report.history.tables[number];
        // A table without a key is always shown, however small it is.
        if rank >= SHOWN && table.keys != KeySource::None {
            left_out += 1;
            continue;
        }
        let figures = [table.inserts, table.updates, table.deletes, table.bytes, table.transactions];
        let mut cells = vec![table.name.clone()];
        cells.extend(figures.map(grouped));
        cells.push(key_words(table).to_string());
        shown.row(cells);
    }
    let more = if left_out > 0 { format!("and {left_out} tables more\n") } else { String::new() };
    format!("{shown}{more}\n")
}

fn large(report: &Report) -> String {
    if report.facts.large.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "{} transactions of more than {LARGE_CHANGES} row changes; the largest:\n",
        grouped(report.facts.large.len() as u64)
    );
    for &number in report.facts.large.iter().take(SHOWN) {
        let _ = writeln!(out, "  {}", transaction_line(&report.history, number));
    }
    out + "\n"
}

/// Returns the position of a transaction and a summary of it.
fn transaction_line(history: &History, number: usize) -> String {
    let transaction = &history.transactions[number];
    let tables: Vec<&str> = history
        .tables_of(transaction)
        .iter()
        .map(|&table| history.tables[table as usize].name.as_str())
        .collect();
    let tables = if tables.is_empty() { "no rows".to_string() } else { tables.join(", ") };
    format!(
        "{}: {} row changes, {} bytes: {tables}",
        history.place(transaction.place),
        grouped(u64::from(transaction.changes)),
        grouped(transaction.bytes)
    )
}

fn hot_rows(report: &Report) -> String {
    if report.history.hot_rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[("changes", Align::Right), ("table", Align::Left), ("row", Align::Left)]);
    for row in report.history.hot_rows.iter().take(SHOWN) {
        table.row(vec![grouped(row.changes.into()), row.table.clone(), row.key.clone()]);
    }
    format!("The rows that are changed most:\n{table}\n")
}

fn schedules(report: &Report) -> String {
    let model = &report.model;
    let mut out = format!(
        "Speed-up over one worker, by simulation (a transaction costs {}, a row change {}; commit order {}; by row, {} transactions \
         are looked ahead):\n",
        model.costs.transaction,
        model.costs.row,
        if model.preserve_commit_order { "preserved" } else { "not preserved" },
        grouped(model.window as u64)
    );
    let _ = writeln!(out, "{}", speedups(&report.schedules, "no limit", |point| point.speedup, true));
    let _ = writeln!(out, "Efficiency, the speed-up by the number of workers:");
    let _ = writeln!(out, "{}", speedups(&report.schedules, "", Point::efficiency, false));
    out.push_str("What no number of workers makes shorter:\n");
    for schedule in &report.schedules {
        out.push_str(&path(report, schedule));
    }
    out
}

fn speedups(schedules: &[Schedule], last: &str, figure: impl Fn(&Point) -> f64, with_limit: bool) -> String {
    let names: Vec<String> =
        schedules[0].points.iter().map(|point| format!("{} workers", point.workers)).collect();
    let mut columns = vec![("policy", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    if with_limit {
        columns.push((last, Align::Right));
    }
    let mut table = Table::new(&columns);
    for schedule in schedules {
        let mut cells = vec![schedule.policy.name().to_string()];
        cells.extend(schedule.points.iter().map(|point| format!("{:.2}", figure(point))));
        if with_limit {
            cells.push(format!("{:.2}", schedule.limit));
        }
        table.row(cells);
    }
    table.to_string()
}

fn path(report: &Report, schedule: &Schedule) -> String {
    let path = &schedule.path;
    let tables: Vec<String> =
        path.tables.iter().take(3).map(|(name, share)| format!("{name} {:.0}%", share * 100.0)).collect();
    let mut out = format!(
        "{}: a chain of {} transactions ({})\n",
        schedule.policy.name(),
        grouped(path.transactions as u64),
        tables.join(", ")
    );
    // In a chain of many equal transactions none of them holds the others up.
    let even = path.time / path.transactions.max(1) as u64;
    for holdup in path.holdups.iter().filter(|holdup| holdup.time > 2 * even) {
        let share = holdup.time as f64 / path.time.max(1) as f64 * 100.0;
        let _ = writeln!(out, "  {share:.1}% {}", transaction_line(&report.history, holdup.transaction));
    }
    if schedule.policy == Policy::CommitOrder && report.facts.unordered == report.history.transactions.len() {
        out.push_str("  (the log says no commit order)\n");
    }
    out
}
