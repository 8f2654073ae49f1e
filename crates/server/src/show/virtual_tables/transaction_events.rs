//! The tables of performance_schema about transactions, and how TRUNCATE empties them.

use super::columns::{Kind, columns};
use super::performance::thread_of;
use super::statements::events::NESTING;
use super::statements::reading::{read, sessions};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_or_null;
use binlog::Xid;
use engine::Isolation;
use sql::measured::{
    Level, Measured, NotedGtid, TransactionEvent, TransactionState, TransactionSums, TransactionTimes,
    XaState,
};
use sql::{ColumnMeta, ComputedTable};
use std::collections::BTreeMap;
use types::Value;

const STATES: &[&str] = &["ACTIVE", "COMMITTED", "ROLLED BACK"];
const MODES: &[&str] = &["READ ONLY", "READ WRITE"];
const USER: (&str, Kind) = ("USER", Kind::UserOrNull);
const HOST: (&str, Kind) = ("HOST", Kind::HostOrNull);

fn of_event() -> Vec<ColumnMeta> {
    columns(&[
        ("THREAD_ID", Kind::Number),
        ("EVENT_ID", Kind::Number),
        ("END_EVENT_ID", Kind::NumberOrNull),
        ("EVENT_NAME", Kind::Text(128)),
        ("STATE", Kind::OneOfOrNull(STATES)),
        ("TRX_ID", Kind::NumberOrNull),
        ("GTID", Kind::TextOrNull(90)),
        ("XID_FORMAT_ID", Kind::IntOrNull),
        ("XID_GTRID", Kind::TextOrNull(130)),
        ("XID_BQUAL", Kind::TextOrNull(130)),
        ("XA_STATE", Kind::TextOrNull(64)),
        ("SOURCE", Kind::TextOrNull(64)),
        ("TIMER_START", Kind::NumberOrNull),
        ("TIMER_END", Kind::NumberOrNull),
        ("TIMER_WAIT", Kind::NumberOrNull),
        ("ACCESS_MODE", Kind::OneOfOrNull(MODES)),
        ("ISOLATION_LEVEL", Kind::TextOrNull(64)),
        ("AUTOCOMMIT", Kind::OneOf(&["YES", "NO"])),
        ("NUMBER_OF_SAVEPOINTS", Kind::NumberOrNull),
        ("NUMBER_OF_ROLLBACK_TO_SAVEPOINT", Kind::NumberOrNull),
        ("NUMBER_OF_RELEASE_SAVEPOINT", Kind::NumberOrNull),
        ("OBJECT_INSTANCE_BEGIN", Kind::NumberOrNull),
        ("NESTING_EVENT_ID", Kind::NumberOrNull),
        ("NESTING_EVENT_TYPE", Kind::OneOfOrNull(NESTING)),
    ])
}

/// Returns the row of a transaction. Of one that runs, the end is the moment of reading.
fn row(thread: u64, event: &TransactionEvent, measured: &Measured) -> Vec<Value> {
    let number = |value: Option<u64>| value.map_or(Value::Null, Value::UInt);
    let (begin_ticks, end_ticks) = event.ticks;
    let start_ps = measured.moment_ps(begin_ticks);
    let end_ps = measured.moment_ps(end_ticks.unwrap_or_else(os::clock::ticks));
    let timed = |ps: u64| number(event.is_timed.then_some(ps));
    let xa = event.xa.as_deref();
    let xid = xa.map(|(xid, _)| xid);
    let access_mode = if event.mode.read_only { "READ ONLY" } else { "READ WRITE" };
    let mut cells = vec![
        Value::UInt(thread),
        Value::UInt(event.number),
        number(end_ticks.map(|_| event.end_number)),
        Value::text("transaction"),
        Value::text(state_name(event.state)),
        number(event.id),
        Value::text(&gtid_text(&event.gtid)),
        xid.map_or(Value::Null, |xid| Value::Int(xid.format_id())),
        text_or_null(xid.map(Xid::gtrid).map(xid_text).as_deref()),
        text_or_null(xid.map(Xid::bqual).filter(|part| !part.is_empty()).map(xid_text).as_deref()),
        text_or_null(xa.map(|(_, state)| xa_name(*state))),
        Value::Null,
        timed(start_ps),
        timed(end_ps),
        timed(end_ps.saturating_sub(start_ps)),
        Value::text(access_mode),
        Value::text(isolation_name(event.mode.isolation)),
        Value::text(if event.mode.autocommit { "YES" } else { "NO" }),
    ];
    cells.extend(event.savepoints.map(Value::UInt));
    let statement = Some(event.statement).filter(|number| *number != 0);
    cells.extend([Value::Null, number(statement), text_or_null(statement.map(|_| "STATEMENT"))]);
    cells
}

fn state_name(state: TransactionState) -> &'static str {
    match state {
        TransactionState::Active => "ACTIVE",
        TransactionState::Committed => "COMMITTED",
        TransactionState::RolledBack => "ROLLED BACK",
    }
}

fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ UNCOMMITTED",
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

fn gtid_text(gtid: &NotedGtid) -> String {
    match gtid {
        NotedGtid::Automatic => "AUTOMATIC".to_owned(),
        NotedGtid::Anonymous => "ANONYMOUS".to_owned(),
        NotedGtid::Given(gtid) => gtid.to_string(),
    }
}

fn xa_name(state: XaState) -> &'static str {
    match state {
        XaState::Active => "ACTIVE",
        XaState::Idle => "IDLE",
        XaState::Prepared => "PREPARED",
        XaState::Committed => "COMMITTED",
        XaState::RolledBack => "NOTR",
    }
}

/// Returns a part of an XID as MySQL shows it: as text where it can be printed, otherwise in
/// hexadecimal digits.
fn xid_text(part: &[u8]) -> String {
    match part.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        true => String::from_utf8_lossy(part).into_owned(),
        false => part.iter().fold("0x".to_owned(), |text, byte| text + &format!("{byte:02X}")),
    }
}

/// `events_transactions_current`
pub fn current(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_event(), |rows| {
        sessions(host).into_iter().try_for_each(|(thread, session)| match session.current_transaction() {
            Some(event) => rows.put(row(thread, &event, session.measured())),
            None => Ok(()),
        })
    })
}

/// `events_transactions_history`
pub fn history(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_event(), |rows| {
        for (thread, session) in sessions(host) {
            for event in session.transaction_history() {
                rows.put(row(thread, &event, session.measured()))?;
            }
        }
        Ok(())
    })
}

/// `events_transactions_history_long`, which has rows while its consumer is on.
pub fn history_long(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_event(), |rows| {
        let Some(measured) = &host.server().measured else { return Ok(()) };
        let events = measured.long_transactions();
        rows.charge(events.len() * size_of::<TransactionEvent>())?;
        events.iter().try_for_each(|(id, event)| rows.put(row(thread_of(*id), event, measured)))
    })
}

/// Returns a table of sums whose rows begin with these columns. `fill` finds the sums of each
/// beginning.
fn of_sums<'h>(
    keys: &[(&str, Kind)],
    fill: impl FnOnce() -> Vec<(Vec<Value>, TransactionSums)> + 'h,
) -> ComputedTable<'h> {
    let mut all = columns(keys);
    all.extend(columns(&[("EVENT_NAME", Kind::Text(128)), ("COUNT_STAR", Kind::Number)]));
    for which in ["WAIT", "READ_WRITE", "READ_ONLY"] {
        let count = format!("COUNT_{which}");
        if which != "WAIT" {
            all.extend(columns(&[(&count, Kind::Number)]));
        }
        let times = ["SUM", "MIN", "AVG", "MAX"].map(|of| format!("{of}_TIMER_{which}"));
        times.iter().for_each(|name| all.extend(columns(&[(name, Kind::Number)])));
    }
    ComputedTable::new(all, move |rows| {
        fill().into_iter().try_for_each(|(mut cells, sums)| {
            cells.push(Value::text("transaction"));
            cells.extend(times(&sums.read_write.with(&sums.read_only)));
            cells.extend(times(&sums.read_write));
            cells.extend(times(&sums.read_only));
            rows.put(cells)
        })
    })
}

/// Returns the count of transactions, and the sum, least, mean and greatest of their times.
fn times(of: &TransactionTimes) -> [Value; 5] {
    let mean_ps = (u128::from(of.wait_ns) * 1000).checked_div(u128::from(of.count)).unwrap_or(0);
    let ps = |ns: u64| Value::UInt(ns.saturating_mul(1000));
    [Value::UInt(of.count), ps(of.wait_ns), ps(of.shortest_ns()), Value::UInt(mean_ps as u64), ps(of.max_ns)]
}

/// `events_transactions_summary_global_by_event_name`
pub fn global(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[], || match host.server().measured {
        Some(_) => vec![(Vec::new(), read(host, Measured::all_transactions))],
        None => Vec::new(),
    })
}

/// `events_transactions_summary_by_thread_by_event_name`
pub fn by_thread(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[("THREAD_ID", Kind::Number)], || {
        let all = sessions(host).into_iter();
        all.map(|(thread, session)| (vec![Value::UInt(thread)], session.transactions().1)).collect()
    })
}

/// `events_transactions_summary_by_account_by_event_name`
pub fn by_account(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[USER, HOST], || {
        let mut all = read(host, Measured::transactions_by_account);
        // Accounts without transactions have their rows, too.
        for account in read(host, Measured::by_account).into_keys() {
            all.entry(account).or_default();
        }
        let keys = |(user, host): (Option<String>, Option<String>)| {
            [user, host].map(|name| text_or_null(name.as_deref())).to_vec()
        };
        all.into_iter().map(|(account, sums)| (keys(account), sums)).collect()
    })
}

fn by_one(
    mut all: BTreeMap<Option<String>, TransactionSums>,
    known: impl Iterator<Item = Option<String>>,
) -> Vec<(Vec<Value>, TransactionSums)> {
    for name in known {
        all.entry(name).or_default();
    }
    all.into_iter().map(|(name, sums)| (vec![text_or_null(name.as_deref())], sums)).collect()
}

/// `events_transactions_summary_by_user_by_event_name`
pub fn by_user(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[USER], || {
        by_one(read(host, Measured::transactions_by_user), read(host, Measured::by_user).into_keys())
    })
}

/// `events_transactions_summary_by_host_by_event_name`
pub fn by_host(host: &ConnectionHost) -> ComputedTable<'_> {
    of_sums(&[HOST], || {
        by_one(read(host, Measured::transactions_by_host), read(host, Measured::by_host).into_keys())
    })
}

/// Empties one of these tables. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    let level = match table {
        "events_transactions_current" | "events_transactions_history" => {
            sessions(host).iter().for_each(|(_, session)| session.clear_transaction_history());
            return true;
        }
        "events_transactions_history_long" => {
            host.server().measured.iter().for_each(|measured| measured.clear_long_transactions());
            return true;
        }
        "events_transactions_summary_by_thread_by_event_name" => Level::Session,
        "events_transactions_summary_by_account_by_event_name" => Level::Account,
        "events_transactions_summary_by_user_by_event_name" => Level::User,
        "events_transactions_summary_by_host_by_event_name" => Level::Host,
        "events_transactions_summary_global_by_event_name" => Level::All,
        _ => return false,
    };
    read(host, |measured, sessions| measured.clear_transactions(sessions, level));
    true
}
