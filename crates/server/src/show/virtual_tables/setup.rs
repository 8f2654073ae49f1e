//! The tables of performance_schema that say what is measured, and the changes of their rows.
//!
//! What has an effect is kept beside what it switches, in `sql::measured`. Objects and background
//! threads are never measured: what is set for them is kept and shown, and has no effect.

use super::cells::{Cells, number, table, text, text_of, yes_no};
use super::performance::{background_threads, thread_of};
use crate::client::connection_host::ConnectionHost;
use crate::server::setup::{ONE_CONNECTION, SetupObject};
use sql::measured::{Actor, Measured, ThreadSettings};
use sql::{ComputedTable, SetupChange, SqlError};
use std::collections::BTreeSet;

/// Returns a table of the rows that `rows` finds where something is measured.
fn measured_table<'h, I>(
    host: &'h ConnectionHost,
    sample: Cells,
    rows: impl FnOnce(&'h Measured) -> I + 'h,
) -> ComputedTable<'h>
where
    I: IntoIterator<Item = Cells>,
{
    table(sample, move || {
        host.server().measured.as_deref().map(rows).into_iter().flatten().collect::<Vec<_>>()
    })
}

/// `setup_actors`: whose sessions are measured.
pub fn actors(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(actor: &Actor) -> Cells {
        let [host, user, role] = &actor.key;
        vec![
            text("HOST", host),
            text("USER", user),
            text("ROLE", role),
            yes_no("ENABLED", actor.settings.is_instrumented),
            yes_no("HISTORY", actor.settings.has_history),
        ]
    }
    let sample = Actor { key: Default::default(), settings: ThreadSettings::default() };
    measured_table(host, row(&sample), |measured| measured.actors.all().iter().map(row).collect::<Vec<_>>())
}

/// `setup_objects`, which has no effect.
pub fn objects(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(object: &SetupObject) -> Cells {
        let [kind, schema, name] = &object.key;
        vec![
            text("OBJECT_TYPE", kind),
            text("OBJECT_SCHEMA", schema),
            text("OBJECT_NAME", name),
            yes_no("ENABLED", object.is_enabled),
            yes_no("TIMED", object.is_timed),
        ]
    }
    let sample = SetupObject { key: Default::default(), is_enabled: false, is_timed: false };
    measured_table(host, row(&sample), move |_| {
        host.server().setup.objects().iter().map(row).collect::<Vec<_>>()
    })
}

/// `setup_consumers`: what is kept.
pub fn consumers(host: &ConnectionHost) -> ComputedTable<'_> {
    let row = |name: &str, is_on: bool| -> Cells { vec![text("NAME", name), yes_no("ENABLED", is_on)] };
    measured_table(host, row("", false), move |measured| {
        measured.consumers.all().map(move |(name, is_on)| row(name, is_on))
    })
}

/// `setup_instruments`: the kinds of statements and what else is measured.
pub fn instruments(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str, is_enabled: bool, is_timed: Option<bool>) -> Cells {
        // Statements begin as one of these, before their kind is known.
        let properties = if name.starts_with("statement/abstract/") { "mutable" } else { "" };
        vec![
            text("NAME", name),
            yes_no("ENABLED", is_enabled),
            text_of("TIMED", is_timed.map(|is_timed| if is_timed { "YES" } else { "NO" })),
            text("PROPERTIES", properties),
            text_of("FLAGS", None),
            number("VOLATILITY", 0),
            text_of("DOCUMENTATION", None),
        ]
    }
    measured_table(host, row("", true, None), |measured| {
        measured.instruments.all().map(|of| row(&of.name, of.is_enabled, of.is_timed))
    })
}

/// `setup_threads`: what new threads of each name get.
pub fn threads(host: &ConnectionHost) -> ComputedTable<'_> {
    fn row(name: &str, settings: ThreadSettings) -> Cells {
        vec![
            text("NAME", name),
            yes_no("ENABLED", settings.is_instrumented),
            yes_no("HISTORY", settings.has_history),
            text("PROPERTIES", if name == ONE_CONNECTION { "user" } else { "" }),
            number("VOLATILITY", 0),
            text_of("DOCUMENTATION", None),
        ]
    }
    measured_table(host, row("", ThreadSettings::default()), move |_| {
        let background = background_threads().into_iter().map(|thread| thread.name);
        let names: BTreeSet<String> = background.chain([ONE_CONNECTION.to_owned()]).collect();
        names.into_iter().map(move |name| row(&name, host.server().setup.of_name(&name)))
    })
}

/// Empties `setup_actors` or `setup_objects`. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    match table {
        "setup_actors" => host.server().measured.iter().for_each(|measured| measured.actors.clear()),
        "setup_objects" => host.server().setup.change_objects(Vec::clear),
        _ => return false,
    }
    true
}

/// Changes a row of one of these tables, or of `threads`.
///
/// # Errors
/// Returns 1022 (`ER_DUP_KEY`) for a row that is there already, 1452
/// (`ER_NO_REFERENCED_ROW_2`) for a setting that is neither YES nor NO, and 1683
/// (`ER_WRONG_PERFSCHEMA_USAGE`) where nothing is measured.
pub fn change(host: &ConnectionHost, table: &str, change: SetupChange<'_>) -> sql::Result<()> {
    let Some(measured) = host.server().measured.as_deref() else {
        return Err(SqlError::new(1683, "Invalid performance_schema usage."));
    };
    match (table, change) {
        ("setup_actors", change) => change_actors(measured, change),
        ("setup_objects", change) => change_objects(host, change),
        (_, SetupChange::Set { key: [name], column, value }) => {
            // As in MySQL, what is no member of YES and NO switches off.
            change_setting(host, measured, (table, name), column, value == "YES");
            Ok(())
        }
        _ => Err(SqlError::not_supported(format!("this change of {table}"))),
    }
}

fn change_setting(
    host: &ConnectionHost,
    measured: &Measured,
    (table, name): (&str, &str),
    column: &str,
    on: bool,
) {
    let set = |settings: &mut ThreadSettings| match column {
        "HISTORY" => settings.has_history = on,
        _ => settings.is_instrumented = on,
    };
    match (table, column) {
        ("setup_consumers", _) => {
            measured.consumers.switch(name, on);
        }
        ("setup_instruments", "ENABLED") => measured.instruments.enable(name, on),
        ("setup_instruments", "TIMED") => measured.instruments.time(name, on),
        ("setup_threads", _) => {
            let running = background_threads();
            let of_name = running.iter().filter(|thread| thread.name == name);
            host.server().setup.change_name(name, of_name.filter_map(|thread| thread.tid), set);
        }
        ("threads", _) => {
            let Ok(id) = name.parse::<u64>() else { return };
            let session = host.server().sessions.with_measured(|sessions| {
                sessions.iter().find(|(of, _)| thread_of(*of) == id).map(|(_, session)| session.clone())
            });
            match (session, background_threads().get((id as usize).wrapping_sub(1))) {
                (Some(session), _) => session.change_settings(set),
                (None, Some(thread)) => host.server().setup.change_thread(&thread.name, thread.tid, set),
                // It has ended.
                (None, None) => {}
            }
        }
        // The flags of what takes memory, which is not measured.
        _ => {}
    }
}

/// Reads YES or NO, which MySQL wants to be right in the tables that have rows of users.
fn yes(value: &str) -> sql::Result<bool> {
    match value {
        "YES" => Ok(true),
        "NO" => Ok(false),
        _ => Err(SqlError::new(1452, "Cannot add or update a child row: a foreign key constraint fails ()")),
    }
}

fn duplicate(table: &str) -> SqlError {
    SqlError::new(1022, format!("Can't write; duplicate key in table '{table}'"))
}

fn change_actors(measured: &Measured, change: SetupChange<'_>) -> sql::Result<()> {
    match change {
        SetupChange::Insert { row: [host, user, role, enabled, history] } => {
            let settings = ThreadSettings { is_instrumented: yes(enabled)?, has_history: yes(history)? };
            let key = [host, user, role].map(String::clone);
            match measured.actors.insert(Actor { key, settings }) {
                true => Ok(()),
                false => Err(duplicate("setup_actors")),
            }
        }
        SetupChange::Set { key, column, value } => {
            let on = yes(value)?;
            measured.actors.change(key, |settings| match column {
                "HISTORY" => settings.has_history = on,
                _ => settings.is_instrumented = on,
            });
            Ok(())
        }
        SetupChange::Delete { key } => {
            measured.actors.remove(key);
            Ok(())
        }
        SetupChange::Insert { .. } => Err(SqlError::not_supported("this row of setup_actors")),
    }
}

fn change_objects(host: &ConnectionHost, change: SetupChange<'_>) -> sql::Result<()> {
    host.server().setup.change_objects(|objects| match change {
        SetupChange::Insert { row: [kind, schema, name, enabled, timed] } => {
            let (is_enabled, is_timed) = (yes(enabled)?, yes(timed)?);
            let key = [kind, schema, name].map(String::clone);
            if objects.iter().any(|object| object.key == key) {
                return Err(duplicate("setup_objects"));
            }
            objects.push(SetupObject { key, is_enabled, is_timed });
            Ok(())
        }
        SetupChange::Set { key, column, value } => {
            let on = yes(value)?;
            if let Some(object) = objects.iter_mut().find(|object| object.key == key) {
                *(if column == "TIMED" { &mut object.is_timed } else { &mut object.is_enabled }) = on;
            }
            Ok(())
        }
        SetupChange::Delete { key } => {
            objects.retain(|object| object.key != key);
            Ok(())
        }
        SetupChange::Insert { .. } => Err(SqlError::not_supported("this row of setup_objects")),
    })
}
