//! The state that a session keeps, as types that do not depend on the session.
//!
//! The files beside this module implement what a session does with its state. No file in here names
//! [`Session`], so that this state can be read and tested without it.
//!
//! [`Session`]: super::Session

mod bound;
mod cache;
mod client;
mod gtid;
mod handlers;
mod last_insert;
mod locks;
mod parameters;
mod prepared;
mod program;
mod server;
mod settings;
mod statement;
mod transaction;
mod xa;

pub(super) use bound::{Bound, Known, Plan};
pub(super) use cache::StatementCache;
pub(super) use client::ClientState;
pub use client::SessionInit;
pub(crate) use client::{LoggedText, Measuring, ToldStatement};
pub(super) use gtid::{NextGtid, is_tagged, parse as parse_gtid_next};
pub(super) use handlers::{HandlerPosition, OpenHandler, SessionHandlers};
pub(super) use last_insert::LastInsert;
pub(super) use locks::{SessionLocks, TableLocks};
pub(super) use parameters::{Arguments, Parameters, Returned};
pub(super) use prepared::{PreparedPlace, PreparedStatement, PreparedStatements};
pub(super) use program::{BoundValues, PlanKey, Planned, SessionPrograms};
pub(super) use server::ServerHandles;
pub(super) use settings::Settings;
pub(super) use statement::StatementState;
pub(super) use transaction::SessionTransaction;
pub(super) use xa::{RB_ROLLBACK, SessionXa, Stage, XaOfSession, inval, nota, outside, rolled_back};
