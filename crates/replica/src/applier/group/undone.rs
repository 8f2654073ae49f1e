//! Work that a source has undone in part. A table of an engine without transactions (MyISAM) keeps
//! its changes there when a statement fails, at ROLLBACK TO and at ROLLBACK, and so it does here.

use binlog::Checksum;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{Header, QueryEvent};
use engine::{EngineError, Savepoint, Table, Transaction};
use sql::replicated::stays_when_rolled_back;

use super::progress::GroupProgress;
use super::savepoint_statement::SavepointStatement;
use crate::applier::report;
use crate::applier::statement::StatementError;
use crate::error::{ThreadError, number};
use crate::relay::RelayPosition;

fn goes_back(table: &Table) -> bool {
    !stays_when_rolled_back(table)
}

/// Goes back to a savepoint, except for the tables that do not go back at a source. Returns whether
/// a change is left.
pub(super) fn go_back(
    transaction: &mut Transaction,
    to: Savepoint,
    timestamp_s: u32,
) -> Result<bool, EngineError> {
    if !transaction.has_changed_since(to, &stays_when_rolled_back) {
        transaction.rollback_to(to);
        return Ok(false);
    }
    if !transaction.has_changed_since(to, &goes_back) {
        return Ok(true);
    }
    transaction.roll_back_except(to, u64::from(timestamp_s) * 1_000_000, &stays_when_rolled_back)
}

/// Returns the errors of a statement of which nobody knows how far it came at the source: it was
/// killed, or its connection was lost. MySQL's names are ER_SERVER_SHUTDOWN, ER_NET_READ_ERROR,
/// ER_NET_ERROR_ON_WRITE, ER_NEW_ABORTING_CONNECTION and ER_QUERY_INTERRUPTED.
const CUT_SHORT: [u32; 5] = [1053, 1158, 1160, 1184, 1317];

/// Refuses a statement of which nobody knows how far it came at the source.
pub(super) fn check_came_to_an_end(
    progress: &GroupProgress<'_>,
    query: &QueryEvent<'_>,
) -> Result<(), ThreadError> {
    let expected = u32::from(query.error_code);
    if !CUT_SHORT.contains(&expected) || skips_expected(progress, query) {
        return Ok(());
    }
    Err(report::partly_done(expected, &String::from_utf8_lossy(query.statement)))
}

/// Reports whether a source's error is one that does not matter (`replica_skip_errors`).
fn skips_expected(progress: &GroupProgress<'_>, query: &QueryEvent<'_>) -> bool {
    query.error_code != 0 && progress.channel.apply.skipped_errors().contains(query.error_code.into())
}

/// Compares the end of a statement with the one that it had at the source, as MySQL does. A
/// statement that ends with the same error is done as far as it went.
pub(super) fn compare_ends(
    progress: &GroupProgress<'_>,
    query: &QueryEvent<'_>,
    done: Result<(), StatementError>,
) -> Result<(), ThreadError> {
    let expected = u32::from(query.error_code);
    let is_compared = expected != 0 && !number::is_temporary(expected) && !skips_expected(progress, query);
    if !is_compared {
        return done.map_err(|error| error.at(progress.place()));
    }
    match &done {
        Err(error) if error.number() == Some(expected) => Ok(()),
        Ok(()) => Err(report::other_error(query, (0, "no error"))),
        Err(StatementError::Failed { code, message, .. }) => {
            Err(report::other_error(query, (*code, message)))
        }
        Err(StatementError::NotSupported(_)) => done.map_err(|error| error.at(progress.place())),
    }
}

/// Takes a statement about a savepoint.
pub(super) fn savepoint(
    progress: &mut GroupProgress<'_>,
    header: &Header,
    bytes: &[u8],
    statement: SavepointStatement<'_>,
) -> Result<bool, ThreadError> {
    match statement {
        SavepointStatement::Set(name) => {
            progress.append(bytes)?;
            let open = &mut progress.open;
            let is_first = open.transaction.is_none();
            let transaction = open.take_for_statements();
            open.transaction.insert(transaction).begin_journal();
            let point = point(progress)?.expect("the transaction has begun");
            if is_first {
                progress.open.points.start = Some(point);
            }
            let named = &mut progress.open.points.named;
            named.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            named.push((name.to_vec(), point));
        }
        SavepointStatement::RollBackTo(name) => {
            point(progress)?;
            let known = &progress.open.points.named;
            let to = known.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, to)| *to);
            let Some((to, transaction)) = to.zip(progress.open.transaction.as_mut()) else {
                let what = "ROLLBACK TO a savepoint that is not there";
                return Err(report::not_supported(what, progress.place()));
            };
            let gone = go_back(transaction, to, header.timestamp);
            gone.map_err(|error| report::commit(&error, progress.place()))?;
        }
    }
    Ok(false)
}

/// Gives the transaction, if there is one, all events of the group so far, and returns its
/// present point.
fn point(progress: &mut GroupProgress<'_>) -> Result<Option<Savepoint>, ThreadError> {
    progress.open.end_statement();
    let Some(transaction) = &mut progress.open.transaction else { return Ok(None) };
    let received = transaction.receive(&progress.open.events);
    let point = transaction.savepoint();
    progress.open.events.clear();
    received.map_err(|error| report::commit(&error, progress.place()))?;
    Ok(Some(point))
}

/// Takes the ROLLBACK of a group, of which the changes of tables without transactions are left.
pub(super) fn roll_back_group(
    progress: &mut GroupProgress<'_>,
    header: &Header,
    query: &QueryEvent<'_>,
    relay: RelayPosition,
) -> Result<bool, ThreadError> {
    point(progress)?;
    let open = &mut progress.open;
    let is_left = match (open.points.start, &mut open.transaction) {
        (Some(start), Some(transaction)) => go_back(transaction, start, header.timestamp),
        _ => Ok(false),
    };
    if !is_left.map_err(|error| report::commit(&error, progress.place()))? {
        progress.open.roll_back();
        progress.open.events.clear();
        return progress.commit(relay);
    }
    let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
    let end = QueryEvent { statement: b"COMMIT", ..query.clone() };
    let mut event = Vec::new();
    let start = encode::query(base, &end, header.flags, &mut event);
    finish_event(&mut event, start, None, Checksum::None);
    progress.append(&event)?;
    progress.commit(relay)
}
