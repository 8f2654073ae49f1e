//! What a session knows of its client, and what it has yet to tell it.

use crate::error::{Result, SqlError};
use types::collation;

/// What a connection starts with.
#[derive(Debug, Clone, Default)]
pub struct SessionInit {
    /// The schema that the client asked for.
    pub schema: Option<String>,
    /// CLIENT_MULTI_STATEMENTS.
    pub multi_statements: bool,
    /// CLIENT_FOUND_ROWS: an UPDATE counts the rows that it found, not those that it changed.
    pub found_rows: bool,
    /// CLIENT_PS_MULTI_RESULTS: OUT parameters of a prepared CALL are told as a result set.
    pub ps_multi_results: bool,
    /// The collation of the handshake; 0 is the server's.
    pub collation: u16,
}

/// The client's end of a session.
#[derive(Default)]
pub(crate) struct ClientState {
    pub init: SessionInit,
    /// More results follow, of the same text or of the procedure that is called.
    pub more_results: bool,
    /// The connection is to be closed after the statement that runs.
    pub closing: bool,
}

impl ClientState {
    /// The client of a session that begins, which has asked for `init` in its handshake.
    ///
    /// # Errors
    /// 1231 for a character set that no client may have.
    pub fn new(init: SessionInit) -> Result<ClientState> {
        let collation = client_collation(init.collation)?;
        Ok(ClientState { init: SessionInit { collation, ..init }, ..ClientState::default() })
    }

    /// The client of a session within a statement: it is the one around, which has nothing yet of
    /// what the session does.
    pub fn within(&self) -> ClientState {
        ClientState { init: self.init.clone(), ..ClientState::default() }
    }
}

/// The collation for a client that names this one: itself, or 0, the server's, for an id that is
/// not known.
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
