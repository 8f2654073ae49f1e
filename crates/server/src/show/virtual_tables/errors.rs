//! The tables of performance_schema about errors: how often statements have raised each error and
//! warning, and how often stored programs have handled it.

use super::columns::{Kind, columns};
use super::statements::reading::{read, sessions};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::{text_or_null, time_value};
use sql::measured::{ErrorFigures, ErrorSums, Level, Measured};
use sql::{ComputedRows, ComputedTable};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use types::Value;

/// The errors and warnings that MySQL's sessions may raise: number, name and SQLSTATE.
const NAMES: &str = include_str!("errors/names.txt");

/// An error that MySQL has a name for.
struct Named {
    code: u16,
    name: &'static str,
    state: &'static str,
}

static NAMED: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let of_line = |line: &'static str| {
        let mut cells = line.split('\t');
        let code = cells.next()?.parse().ok()?;
        Some(Named { code, name: cells.next()?, state: cells.next()? })
    };
    NAMES.lines().filter_map(of_line).collect()
});

const USER: (&str, Kind) = ("USER", Kind::UserOrNull);
const HOST: (&str, Kind) = ("HOST", Kind::HostOrNull);

/// Returns a table whose rows begin with these columns. `fill` finds the sums of each beginning.
fn of_sums<'h>(
    keys: &[(&str, Kind)],
    fill: impl FnOnce() -> Vec<(Vec<Value>, ErrorSums)> + 'h,
) -> ComputedTable<'h> {
    let mut all = columns(keys);
    all.extend(columns(&[
        ("ERROR_NUMBER", Kind::IntOrNull),
        ("ERROR_NAME", Kind::TextOrNull(64)),
        ("SQL_STATE", Kind::TextOrNull(5)),
        ("SUM_ERROR_RAISED", Kind::Number),
        ("SUM_ERROR_HANDLED", Kind::Number),
        ("FIRST_SEEN", Kind::Moment),
        ("LAST_SEEN", Kind::Moment),
    ]));
    ComputedTable::new(all, move |rows| fill().iter().try_for_each(|(keys, sums)| put(rows, keys, sums)))
}

/// Puts a row for each error, and before them one for all errors that have no name.
fn put(rows: &mut dyn ComputedRows, keys: &[Value], sums: &ErrorSums) -> sql::Result<()> {
    let mut unnamed = ErrorFigures::default();
    let mut named: BTreeMap<u16, ErrorFigures> = BTreeMap::new();
    for (code, figures) in sums.all() {
        match NAMED.binary_search_by_key(&code, |named| named.code) {
            Ok(_) => named.entry(code).or_default().merge(&figures),
            Err(_) => unnamed.merge(&figures),
        }
    }
    rows.put(row(keys, None, &unnamed))?;
    NAMED.iter().try_for_each(|error| {
        rows.put(row(keys, Some(error), &named.get(&error.code).copied().unwrap_or_default()))
    })
}

fn row(keys: &[Value], error: Option<&Named>, figures: &ErrorFigures) -> Vec<Value> {
    let mut row = keys.to_vec();
    row.extend([
        error.map_or(Value::Null, |error| Value::Int(error.code.into())),
        text_or_null(error.map(|error| error.name)),
        text_or_null(error.map(|error| error.state)),
        Value::UInt(figures.raised),
        Value::UInt(figures.handled),
    ]);
    let (first_us, last_us) = figures.seen_us;
    let happened = figures.raised + figures.handled > 0;
    row.extend([first_us, last_us].map(|at_us| if happened { time_value(at_us) } else { Value::Null }));
    row
}

/// `events_errors_summary_global_by_error`
pub fn global(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[], || match host.server().measured {
        Some(_) => vec![(Vec::new(), read(host, Measured::all_errors))],
        None => Vec::new(),
    })
}

/// `events_errors_summary_by_thread_by_error`
pub fn by_thread(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[("THREAD_ID", Kind::Number)], || {
        let all = sessions(host).into_iter();
        all.map(|(thread, session)| (vec![Value::UInt(thread)], session.errors().1)).collect()
    })
}

/// `events_errors_summary_by_account_by_error`
pub fn by_account(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[USER, HOST], || {
        let mut all = read(host, Measured::errors_by_account);
        // Accounts without errors have their rows, too.
        for account in read(host, Measured::by_account).into_keys() {
            all.entry(account).or_default();
        }
        let keys = |user: &Option<String>, host: &Option<String>| {
            vec![text_or_null(user.as_deref()), text_or_null(host.as_deref())]
        };
        all.into_iter().map(|((user, host), sums)| (keys(&user, &host), sums)).collect()
    })
}

fn by_one(
    mut all: BTreeMap<Option<String>, ErrorSums>,
    known: impl Iterator<Item = Option<String>>,
) -> Vec<(Vec<Value>, ErrorSums)> {
    for name in known {
        all.entry(name).or_default();
    }
    all.into_iter().map(|(name, sums)| (vec![text_or_null(name.as_deref())], sums)).collect()
}

/// `events_errors_summary_by_user_by_error`
pub fn by_user(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[USER], || {
        by_one(read(host, Measured::errors_by_user), read(host, Measured::by_user).into_keys())
    })
}

/// `events_errors_summary_by_host_by_error`
pub fn by_host(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[HOST], || {
        by_one(read(host, Measured::errors_by_host), read(host, Measured::by_host).into_keys())
    })
}

/// Empties one of these tables. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    let level = match table {
        "events_errors_summary_by_thread_by_error" => Level::Session,
        "events_errors_summary_by_account_by_error" => Level::Account,
        "events_errors_summary_by_user_by_error" => Level::User,
        "events_errors_summary_by_host_by_error" => Level::Host,
        "events_errors_summary_global_by_error" => Level::All,
        _ => return false,
    };
    read(host, |measured, sessions| measured.clear_errors(sessions, level));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_order() {
        assert_eq!(NAMED.len(), NAMES.lines().count());
        assert!(NAMED.is_sorted_by(|one, other| one.code < other.code));
        assert!(NAMED.iter().all(|error| error.state.len() == 5));
    }
}
