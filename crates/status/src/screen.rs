//! A look as text: one screen.

use std::fmt::Write as _;

use bench::table::{Align, Table};
use protocol::client::{Address, ConnectOptions};

use crate::channel::Channel;
use crate::look::Look;
use crate::rates::{Rates, Share};

/// The number of states of a thread's time that are shown.
const MOST_STATES: usize = 3;
/// The number of threads whose time is shown.
const MOST_THREADS: usize = 12;
/// The states of threads that have nothing to do. Threads that were in no other state for a
/// noticeable part of the time are not shown.
const AT_REST: [&str; 5] = ["idle", "sleep", "client_wait", "source_wait", "relay_log_wait"];
/// The part of its time that a thread has to be at work to be shown.
const NOTICEABLE: f64 = 0.001;

/// Returns the text of a look and its rates. No line has more than `columns` characters.
pub fn text(look: &Look, rates: &Rates, columns: usize) -> String {
    let mut out = String::new();
    head(&mut out, look);
    channels(&mut out, look);
    replicas(&mut out, look);
    figures(&mut out, look, rates);
    times(&mut out, rates);
    let cut = |line: &str| match line.char_indices().nth(columns) {
        Some((end, _)) => line[..end].to_owned(),
        None => line.to_owned(),
    };
    out.lines().map(|line| cut(line.trim_end()) + "\n").collect()
}

/// Returns the place of a server in words.
pub fn place(server: &ConnectOptions) -> String {
    match &server.address {
        Address::Tcp { host, port } => format!("{host}:{port}"),
        Address::Unix(path) => path.display().to_string(),
    }
}

fn head(out: &mut String, look: &Look) {
    let server = &look.server;
    let read_only = if server.is_read_only { ", read only" } else { "" };
    let _infallible = writeln!(
        out,
        "{}:{}  {}  {}{read_only}  server id {}  up {}",
        server.host,
        server.port,
        server.version,
        look.role(),
        server.server_id,
        span(server.uptime_s)
    );
    let problems = look.problems();
    if problems.is_empty() {
        out.push_str("all is well\n");
    }
    for problem in problems {
        let _infallible = writeln!(out, "! {}", problem.replace(['\n', '\r'], " "));
    }
}

fn channels(out: &mut String, look: &Look) {
    if look.channels.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("channel", Align::Left),
        ("source", Align::Left),
        ("receiver", Align::Left),
        ("applier", Align::Left),
        ("lag", Align::Right),
        ("to apply", Align::Right),
    ]);
    let row = |channel: &Channel| {
        vec![
            channel.shown_name().to_owned(),
            format!("{}:{}", channel.source_host, channel.source_port),
            channel.receiver.word().to_owned(),
            channel.applier.word().to_owned(),
            channel.lag_ms.map_or_else(|| "?".to_owned(), |ms| format!("{ms:.0} ms")),
            channel.to_apply.map_or_else(|| "?".to_owned(), |count| count.to_string()),
        ]
    };
    look.channels.iter().for_each(|channel| table.row(row(channel)));
    let _infallible = write!(out, "\n{table}");
    for channel in &look.channels {
        let (name, state) = (channel.shown_name(), &channel.applier_state);
        let _infallible = match channel.held_back_by.as_str() {
            "" if state.is_empty() => Ok(()),
            "" => writeln!(out, "{name}: {state}"),
            words => writeln!(out, "{name}: held back by {words}"),
        };
    }
}

fn replicas(out: &mut String, look: &Look) {
    if look.replicas.is_empty() {
        return;
    }
    let named = look.replicas.iter().map(|replica| match replica.host.as_str() {
        "" => format!("id {}", replica.server_id),
        host => format!("id {} at {host}:{}", replica.server_id, replica.port),
    });
    let _infallible =
        writeln!(out, "\nreplicas  {}: {}", look.replicas.len(), named.collect::<Vec<_>>().join(", "));
}

fn figures(out: &mut String, look: &Look, rates: &Rates) {
    let of = match rates.since_start {
        true => "since the server's start".to_owned(),
        false => format!("in the last {:.1} s", rates.span_s),
    };
    let rate = |name: &str| rates.of(name).map_or_else(|| "?".to_owned(), number);
    let _infallible = writeln!(
        out,
        "\nrates     {} statements/s, {} commits/s, {} syncs of the log/s, {of}\n\
         rows      {} read/s, {} inserted/s, {} updated/s, {} deleted/s",
        rate("statements"),
        rate("commits"),
        rate("log_syncs"),
        rate("rows_read"),
        rate("rows_inserted"),
        rate("rows_updated"),
        rate("rows_deleted"),
    );
    let size = |name: &str| look.figure(name).map_or_else(|| "?".to_owned(), bytes);
    let hits =
        rates.hit_rate.map_or_else(|| "no requests".to_owned(), |hits| format!("{:.2} % hits", hits * 100.0));
    let _infallible = writeln!(
        out,
        "pool      {hits}, {} of pages, {} of them dirty\n\
         redo log  {} since the checkpoint, of {}",
        size("innodb_buffer_pool_bytes_data"),
        size("innodb_buffer_pool_bytes_dirty"),
        size("innodb_redo_log_logical_size"),
        size("innodb_redo_log_capacity_resized"),
    );
}

/// Writes where the time of the threads goes that were at work, the busiest threads first.
fn times(out: &mut String, rates: &Rates) {
    let mut threads: Vec<(&str, Vec<&Share>)> = Vec::new();
    for share in &rates.shares {
        match threads.last_mut() {
            Some((name, shares)) if *name == share.thread => shares.push(share),
            _ => threads.push((&share.thread, vec![share])),
        }
    }
    let processors = |shares: &[&Share]| shares.iter().map(|share| share.processors).sum::<f64>();
    let works = |shares: &[&Share]| {
        let at_work = shares.iter().filter(|share| !AT_REST.contains(&share.state.as_str()));
        at_work.map(|share| share.wall).sum::<f64>() >= NOTICEABLE
    };
    threads.retain(|(_, shares)| works(shares));
    threads.sort_by(|(_, a), (_, b)| processors(b).total_cmp(&processors(a)));
    if threads.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("thread", Align::Left),
        ("processors", Align::Right),
        ("where its time goes", Align::Left),
    ]);
    for (name, shares) in threads.into_iter().take(MOST_THREADS) {
        let states = shares.iter().take(MOST_STATES).filter(|share| share.wall >= NOTICEABLE);
        let states: Vec<String> =
            states.map(|share| format!("{} {:.1} %", share.state, share.wall * 100.0)).collect();
        table.row(vec![name.to_owned(), format!("{:.3}", processors(&shares)), states.join(", ")]);
    }
    let _infallible = write!(out, "\n{table}");
}

fn number(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// Writes a number of bytes with the largest unit that leaves at least one.
fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KB", "MB", "GB", "TB"];
    let mut amount = count as f64;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} bytes") } else { format!("{amount:.1} {}", UNITS[unit]) }
}

/// Writes a span of time.
fn span(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
    if days == 0 { clock } else { format!("{days} d {clock}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        assert_eq!(
            [bytes(0), bytes(1023), bytes(1024), bytes(3 << 30)],
            ["0 bytes", "1023 bytes", "1.0 KB", "3.0 GB"]
        );
        assert_eq!([span(59), span(3_661), span(90_000)], ["00:00:59", "01:01:01", "1 d 01:00:00"]);
        assert_eq!([number(1.25), number(1234.5)], ["1.2", "1234"]);
    }

    #[test]
    fn lines_are_cut_and_threads_at_rest_are_left_out() {
        let share = |thread: &str, state: &str, wall, processors| Share {
            thread: thread.into(),
            state: state.into(),
            wall,
            processors,
        };
        let rates = Rates {
            span_s: 2.0,
            since_start: false,
            per_second: vec![("statements", 5.0)],
            hit_rate: Some(0.5),
            shares: vec![
                share("a", "idle", 1.0, 0.0),
                share("b", "execute", 0.9, 0.5),
                share("b", "client_wait", 0.1, 0.0),
            ],
        };
        let mut look = Look::default();
        look.server.version = "9".repeat(200);
        let text = text(&look, &rates, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("all is well")
                && text.contains("5.0 statements/s")
                && text.contains("50.00 % hits")
        );
        assert!(text.contains("execute 90.0 %, client_wait 10.0 %") && !text.contains("idle"), "{text}");
    }
}
