//! A statement that changes rows in the form of `binlog_format = STATEMENT`: its text, preceded by
//! events with what the text does not say.

use super::query::{self, QueryKind, SessionContext};
use binlog::Checksum;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{IntvarEvent, UserVarEvent};

/// A statement that is to be logged as its text.
#[derive(Clone, Debug)]
pub struct LoggedStatement<'a> {
    /// The settings of the session.
    pub session: &'a SessionContext,
    /// The session's current schema; empty when there is none.
    pub schema: &'a str,
    /// The text, in `session.character_set_client`.
    pub text: &'a [u8],
    /// The value that `LAST_INSERT_ID()` had, if the statement uses it.
    pub last_insert_id: Option<u64>,
    /// The first AUTO_INCREMENT value that the statement made.
    pub insert_id: Option<u64>,
    /// The seeds of `RAND()` before the statement, if the statement uses it.
    pub rand_seeds: Option<(u64, u64)>,
    /// The user variables that the statement uses.
    pub user_variables: Vec<UserVarEvent<'a>>,
}

/// The kinds of INTVAR events.
const LAST_INSERT_ID: u8 = 1;
const INSERT_ID: u8 = 2;

impl LoggedStatement<'_> {
    /// Returns the events, in the group's form.
    pub(crate) fn encode(&self, server_id: u32) -> Vec<u8> {
        let base = EventBase { timestamp: (self.session.timestamp_us / 1_000_000) as u32, server_id };
        let mut out = Vec::with_capacity(self.text.len() + 256);
        let mut put = |write: &dyn Fn(&mut Vec<u8>) -> usize| {
            let start = write(&mut out);
            finish_event(&mut out, start, None, Checksum::None);
        };
        for (kind, value) in [(LAST_INSERT_ID, self.last_insert_id), (INSERT_ID, self.insert_id)] {
            if let Some(value) = value {
                put(&|out| encode::intvar(base, IntvarEvent { kind, value }, out));
            }
        }
        if let Some((first, second)) = self.rand_seeds {
            put(&|out| encode::rand(base, first, second, out));
        }
        for variable in &self.user_variables {
            put(&|out| encode::user_var(base, variable, out));
        }
        let statement = (QueryKind::Rows, self.text);
        query::put_statement(&mut out, server_id, self.session, self.schema, statement);
        out
    }
}
