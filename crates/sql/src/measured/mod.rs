//! What statements and transactions took, for the tables of performance_schema about them.
//!
//! In: for each statement of a client its beginning and its end, with what it has counted, and the
//! same for each transaction. Out: the sums by digest, by kind of statement, session, account, user
//! and host, and the latest statements and transactions of each session.
//!
//! Nothing that sessions share is locked in a statement's way. A session adds the figures of a
//! statement to parts of its own ([`MeasuredSession`]), whose lock nobody else wants unless
//! somebody reads. The parts are added to the common sums ([`Measured`]) when somebody reads, when
//! the session ends, and where a part is full. A digest is found once for each text: it stays with
//! the plan that is kept for the text, and with the prepared statement.

mod consumers;
mod digests;
mod errors;
mod figures;
mod histogram;
mod levels;
mod names;
mod reading;
mod recent;
mod session;
mod session_transactions;
mod setup;
mod shape;
mod totals;
mod transacting;
mod transactions;
mod waits;

pub use consumers::{Consumer, Consumers};
pub use digests::{DigestEntry, DigestRow};
pub use errors::{Conditions, ErrorFigures, ErrorSums};
pub use figures::{Figures, SUM_NAMES, SUMS, Sample, sum};
pub use histogram::{BUCKETS, Histogram, bucket_low_ps, bucket_of};
pub use levels::{AccountName, Level};
pub use names::{EventName, NAMES};
pub use recent::{Event, Outcome};
pub use session::{Begun, Ended, MeasuredPrepared, MeasuredSession, PreparedRow};
pub use setup::{Actor, Instrument, ThreadSettings, Timed};
pub(crate) use shape::Shapes;
pub use totals::{AccountRow, ByName, Measured, Settings};
pub use transactions::{
    NotedGtid, TransactionBegun, TransactionEvent, TransactionMode, TransactionState, TransactionSums,
    TransactionTimes, WholeTransaction, XaState,
};
pub use waits::{StateSum, StateSums};
