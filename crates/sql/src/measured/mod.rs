//! What statements took, for the tables of performance_schema about statements.
//!
//! In: for each statement of a client its beginning and its end, with what it has counted. Out: the
//! sums by digest, by kind of statement, session, account, user and host, and the latest statements
//! of each session.
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
mod names;
mod reading;
mod recent;
mod session;
mod setup;
mod shape;
mod totals;

pub use consumers::{Consumer, Consumers};
pub use digests::{DigestEntry, DigestRow};
pub use errors::{Conditions, ErrorFigures, ErrorSums};
pub use figures::{Figures, SUM_NAMES, SUMS, Sample, sum};
pub use histogram::{BUCKETS, Histogram, bucket_low_ps, bucket_of};
pub use names::{EventName, NAMES};
pub use reading::Level;
pub use recent::{Event, Outcome};
pub use session::{Begun, Ended, MeasuredPrepared, MeasuredSession, PreparedRow};
pub use setup::{Actor, Instrument, ThreadSettings, Timed};
pub(crate) use shape::Shapes;
pub use totals::{AccountName, AccountRow, ByName, Measured, Settings};
