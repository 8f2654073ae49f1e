//! The statement that calls a program, and its transaction.

use crate::error::Result;
use crate::expr::SharedTransaction;
use crate::session::Session;
use engine::Transaction;

/// The transaction for the statements of a program: that of the calling statement, or `None` for
/// the session's own.
pub(super) type Around<'t> = Option<&'t dyn SharedTransaction>;

/// Calls `take` with the transaction of the calling statement.
pub(super) fn lent<T>(
    shared: &dyn SharedTransaction,
    take: impl FnOnce(&mut Transaction) -> Result<T>,
) -> Result<T> {
    let (mut take, mut taken) = (Some(take), None);
    shared.lend(&mut |transaction| taken = take.take().map(|take| take(transaction)));
    taken.expect("a shared transaction is lent once")
}

/// Reports whether no handler may catch an error, because the program has to end or its transaction
/// has ended.
pub(super) fn is_fatal(session: &Session, error: &crate::SqlError) -> bool {
    const INTERRUPTED: u16 = 1317;
    const TIME_IS_OVER: u16 = 3024;
    const NO_STACK: u16 = 1436;
    matches!(error.code, INTERRUPTED | TIME_IS_OVER | NO_STACK)
        || crate::memory::closes_connection(error)
        || session.programs.is_within() && session.server.ends_transaction(error)
}
