//! The tables of performance_schema that say what is measured: statements of every thread, as MySQL
//! does by default. UPDATE switches the consumers, and nothing else in these tables.

use super::cells::{Cells, number, table, text, text_of};
use super::performance::background_threads;
use super::statements;
use crate::client::connection_host::ConnectionHost;
use sql::ComputedTable;
use std::collections::BTreeSet;

fn word(is_on: bool) -> &'static str {
    if is_on { "YES" } else { "NO" }
}

/// `setup_actors`: every account is measured.
pub fn actors(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = || {
        let names = ["HOST", "USER", "ROLE"].map(|name| text(name, "%"));
        Cells::from(names).into_iter().chain(["ENABLED", "HISTORY"].map(|name| text(name, "YES"))).collect()
    };
    table(row(), move || host.server().measured.iter().map(|_| row()).collect::<Vec<_>>())
}

/// `setup_consumers`, in which UPDATE switches what is collected.
pub fn consumers(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |name: &str, is_on: bool| -> Cells { vec![text("NAME", name), text("ENABLED", word(is_on))] };
    table(row("", false), move || {
        let consumers = host.server().measured.iter().flat_map(|measured| measured.consumers.all());
        consumers.map(|(name, is_on)| row(name, is_on)).collect::<Vec<_>>()
    })
}

/// Switches a consumer. Returns false where nothing is measured and for a name that is none.
pub fn switch_consumer(host: &ConnectionHost, name: &str, on: bool) -> bool {
    host.server().measured.as_ref().is_some_and(|measured| measured.consumers.switch(name, on))
}

/// `setup_instruments`: the kinds of statements.
pub fn instruments(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str) -> Cells {
        vec![
            text("NAME", name),
            text("ENABLED", "YES"),
            text("TIMED", "YES"),
            text("PROPERTIES", ""),
            text_of("FLAGS", None),
            number("VOLATILITY", 0),
            text_of("DOCUMENTATION", None),
        ]
    }
    table(row(""), move || statements::kinds(host).iter().map(|name| row(name)).collect::<Vec<_>>())
}

/// `setup_threads`: the names of the threads.
pub fn threads(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str, is_measured: bool) -> Cells {
        vec![
            text("NAME", name),
            text("ENABLED", word(is_measured)),
            text("HISTORY", word(is_measured)),
            text("PROPERTIES", ""),
            number("VOLATILITY", 0),
            text_of("DOCUMENTATION", None),
        ]
    }
    table(row("", false), move || {
        let names: BTreeSet<String> = background_threads().into_iter().map(|thread| thread.name).collect();
        let mut rows: Vec<Cells> = names.iter().map(|name| row(name, false)).collect();
        rows.push(row("thread/sql/one_connection", host.server().measured.is_some()));
        rows
    })
}
