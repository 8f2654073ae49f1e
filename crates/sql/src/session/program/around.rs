//! The statement that a program runs within.

use crate::error::Result;
use crate::expr::SharedTransaction;
use crate::session::Session;
use engine::Transaction;

/// Where the statements of a program find their transaction: it is the session's, or that of the
/// statement around.
pub(super) type Around<'t> = Option<&'t dyn SharedTransaction>;

/// Does something within the transaction of the statement around.
pub(super) fn lent<T>(
    shared: &dyn SharedTransaction,
    take: impl FnOnce(&mut Transaction) -> Result<T>,
) -> Result<T> {
    let (mut take, mut taken) = (Some(take), None);
    shared.lend(&mut |transaction| taken = take.take().map(|take| take(transaction)));
    taken.expect("a shared transaction is lent once")
}

/// Whether nobody may catch an error: the program is to end, or its transaction has.
pub(super) fn is_fatal(session: &Session, error: &crate::SqlError) -> bool {
    const INTERRUPTED: u16 = 1317;
    const TIME_IS_OVER: u16 = 3024;
    const NO_STACK: u16 = 1436;
    matches!(error.code, INTERRUPTED | TIME_IS_OVER | NO_STACK)
        || crate::memory::closes_connection(error)
        || session.programs.is_within() && session.server.ends_transaction(error)
}
