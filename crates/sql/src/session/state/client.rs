//! The client of a session: how it has connected, and what it has yet to be told.

use super::bound::Known;
use crate::error::{Result, SqlError};
use crate::measured::Shapes;
use crate::statement_log::StatementOrigin;
use std::collections::HashMap;
use types::collation;

/// The settings that a connection begins with.
#[derive(Debug, Clone, Default)]
pub struct SessionInit {
    /// The schema that the client asked for.
    pub schema: Option<String>,
    /// Whether the client may send several statements at once (CLIENT_MULTI_STATEMENTS).
    pub multi_statements: bool,
    /// Whether an UPDATE reports the rows that it found instead of those that it changed
    /// (CLIENT_FOUND_ROWS).
    pub found_rows: bool,
    /// Whether the OUT parameters of a prepared CALL are sent as a result set
    /// (CLIENT_PS_MULTI_RESULTS).
    pub ps_multi_results: bool,
    /// The id of the collation in the client's handshake. 0 means the server's.
    pub collation: u16,
}

/// The text of the client's statement that runs, where the host logs it.
#[derive(Debug, Default)]
pub(crate) struct LoggedText {
    /// Whether the host logs the statement.
    pub is_wanted: bool,
    /// What the host has been told. `None` means that the statement has not been understood yet.
    pub told: Option<ToldStatement>,
}

/// A statement of whose beginning the host has been told.
#[derive(Debug)]
pub(crate) struct ToldStatement {
    pub text: Vec<u8>,
    pub origin: StatementOrigin,
    /// Whether `log_slow_admin_statements` is about the statement.
    pub is_administrative: bool,
}

/// The client's statement that runs, where performance_schema measures it.
#[derive(Default)]
pub(crate) struct Measuring {
    /// When it came, in ticks.
    pub since_ticks: u64,
    /// Whether its beginning has been noted.
    pub has_begun: bool,
    /// How it is known, once it has been understood.
    pub known: Option<Known>,
    /// Whether the rows that it sends are no rows of a query, which MySQL does not count.
    pub sends_uncounted: bool,
    /// The place of the prepared statement that it executes.
    pub prepared: Option<usize>,
}

/// The most shapes of texts whose digests a session knows.
const MOST_SHAPES: usize = 256;

/// How performance_schema knows the texts that a session has sent, by their shapes.
#[derive(Default)]
pub(crate) struct KnownShapes {
    shapes: Shapes,
    /// The generation of the session's settings and schema that this is true for.
    generation: u64,
    known: HashMap<u64, Known>,
}

impl KnownShapes {
    /// Returns the shape of a text, and how it is known if one like it has come before.
    pub fn get(&mut self, text: &[u8], generation: u64) -> (Option<u64>, Option<Known>) {
        if self.generation != generation {
            self.known.clear();
            self.generation = generation;
        }
        let Some(shape) = self.shapes.of(text) else { return (None, None) };
        let known = self.known.get(&shape).filter(|known| !known.is_rest());
        (Some(shape), known.cloned())
    }

    /// Keeps how texts of a shape are known.
    pub fn keep(&mut self, shape: u64, known: &Known) {
        if self.known.len() >= MOST_SHAPES {
            self.known.clear();
        }
        self.known.insert(shape, known.clone());
    }
}

/// The state of a session's client.
#[derive(Default)]
pub(crate) struct ClientState {
    pub init: SessionInit,
    /// Whether more results follow, of the same text or of the procedure that is running.
    pub more_results: bool,
    /// Whether the connection is closed after the running statement.
    pub closing: bool,
    /// The statement that runs, where the host logs it.
    pub logged: LoggedText,
    /// The statement that runs, where it is measured.
    pub measuring: Measuring,
    /// How the events of BINLOG statements end. `None` means that none has said it yet.
    pub events_checksum: Option<binlog::Checksum>,
    /// How the texts that have come are known.
    pub shapes: KnownShapes,
}

impl ClientState {
    /// Creates the state for a new session, whose handshake has asked for `init`.
    ///
    /// # Errors
    /// Returns 1231 for a character set that clients may not use.
    pub fn new(init: SessionInit) -> Result<ClientState> {
        let collation = client_collation(init.collation)?;
        Ok(ClientState { init: SessionInit { collation, ..init }, ..ClientState::default() })
    }

    /// Returns the client state for a session within a statement: the same settings, with nothing
    /// to tell yet.
    pub fn within(&self) -> ClientState {
        ClientState { init: self.init.clone(), ..ClientState::default() }
    }
}

/// Checks the collation that a client has named. Returns its id, or 0 (the server's) for an unknown
/// one.
///
/// # Errors
/// Returns 1231 for a character set that clients may not use.
fn client_collation(id: u16) -> Result<u16> {
    match collation::by_id(id) {
        Some(found) if found.charset.is_for_clients() => Ok(id),
        Some(found) => Err(SqlError::not_for_clients(found.charset.name())),
        None => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_a_collation_that_is_known_and_for_clients() {
        let collation_of = |collation| {
            let client = ClientState::new(SessionInit { collation, ..SessionInit::default() });
            client.map(|client| client.init.collation).map_err(|error| error.code)
        };
        assert_eq!(collation_of(collation::UTF8MB4_0900_AI_CI), Ok(collation::UTF8MB4_0900_AI_CI));
        assert_eq!(collation_of(u16::MAX), Ok(0), "it is the server's");
        const UCS2_GENERAL_CI: u16 = 35;
        assert_eq!(collation_of(UCS2_GENERAL_CI), Err(1231));
    }

    #[test]
    fn a_session_within_a_statement_has_nothing_to_tell_the_client_yet() {
        let client = ClientState { more_results: true, closing: true, ..ClientState::default() };
        let within = client.within();
        assert!(!within.more_results && !within.closing);
    }
}
