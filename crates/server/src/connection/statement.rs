//! The commands of prepared statements.

use super::Connection;
use super::command::{malformed, shown_text};
use crate::client::secrets::without_secrets;
use crate::connection::prepared::{PreparedStatement, unknown_statement};
use crate::connection::wire_sink::{RowForm, definition};
use crate::server::sessions::Activity;
use protocol::capability as cap;
use protocol::column::{COLLATION_BINARY, Column, column_flag, field_type};
use protocol::packet::PacketError;
use protocol::response::put_eof;
use protocol::statement::{PrepareOk, decode_execute_head};
use protocol::wire::Reader;
use sql::{Host, SqlError};

impl Connection<'_> {
    pub(super) fn stmt_prepare(&mut self) -> Result<(), PacketError> {
        self.entry.set_activity(Activity::Prepare);
        self.server.status.stmt_prepare.add_one();
        let prepared = match self.session.prepare(&self.command[1..]) {
            Ok(prepared) => prepared,
            Err(e) => return self.send_error(&e),
        };
        let (parameters, columns) = (usize::from(prepared.parameters), prepared.columns.len());
        let Ok(columns_16) = u16::try_from(columns) else {
            self.session.close_prepared(prepared.id);
            return self.send_error(&SqlError::new(1117, "Too many columns"));
        };
        let shown = without_secrets(shown_text(self.body()), false);
        self.note("Prepare", &shown);
        let statement = PreparedStatement::new(&shown, parameters, &self.host.memory());
        let taken = self.statements.insert(prepared.id, statement);
        assert!(taken.is_none(), "the session gave the id {} out twice", prepared.id);
        let ok = PrepareOk {
            statement_id: prepared.id,
            columns: columns_16,
            parameters: prepared.parameters,
            warnings: 0,
        };
        self.channel.write_packet(|out| ok.encode(out))?;
        self.send_definitions((0..parameters).map(|_| parameter_definition()), parameters)?;
        let collation = self.session.results_collation();
        self.send_definitions(prepared.columns.iter().map(|meta| definition(meta, collation)), columns)
    }

    fn send_definitions<'c>(
        &mut self,
        definitions: impl Iterator<Item = Column<'c>>,
        count: usize,
    ) -> Result<(), PacketError> {
        let collation = self.session.names_collation();
        for column in definitions {
            self.channel.write_packet(|out| column.encode(collation, out))?;
        }
        if count > 0 && self.capabilities & cap::DEPRECATE_EOF == 0 {
            let status = self.session.status();
            self.channel.write_packet(|out| put_eof(status, 0, out))?;
        }
        Ok(())
    }

    pub(super) fn stmt_execute(&mut self) -> Result<(), PacketError> {
        self.entry.set_activity(Activity::Execute);
        self.server.status.questions.add_one();
        self.server.status.stmt_execute.add_one();
        let mut r = Reader::new(&self.command[1..]);
        let head = match decode_execute_head(&mut r) {
            Ok(head) => head,
            Err(_) => return self.send_error(&malformed()),
        };
        // A cursor that the client asks for is not opened. All rows are sent at once, and the
        // status says so.
        let id = head.statement_id;
        let Some(statement) = self.statements.get_mut(&id) else {
            return self.send_error(&unknown_statement(id));
        };
        match statement.parameters(&mut r) {
            Ok(Ok(values)) => {
                self.host.prepared_started(&statement.text);
                let mut sent = statement.sent_columns.take();
                let answered = self.answer(RowForm::Binary, sent.as_mut(), |session, sink| {
                    session.execute_prepared(id, &values, sink)
                });
                self.host.statement_started(None);
                if let Some(statement) = self.statements.get_mut(&id) {
                    statement.sent_columns = sent;
                    statement.executed();
                }
                answered
            }
            Ok(Err(e)) => {
                self.session.note_refused(&e);
                self.send_error(&e)
            }
            Err(_) => self.send_error(&malformed()),
        }
    }

    /// Carries out COM_STMT_SEND_LONG_DATA, which is never answered.
    pub(super) fn stmt_send_long_data(&mut self) {
        self.server.status.stmt_send_long_data.add_one();
        let limit = self.host.max_allowed_packet_bytes();
        let mut r = Reader::new(&self.command[1..]);
        if let (Ok(id), Ok(index)) = (r.u32("statement"), r.u16("parameter"))
            && let Some(statement) = self.statements.get_mut(&id)
        {
            statement.send_long_data(usize::from(index), r.rest(), limit);
        }
    }

    /// Carries out COM_STMT_CLOSE, which is never answered.
    pub(super) fn stmt_close(&mut self) {
        self.server.status.stmt_close.add_one();
        if let Ok(id) = Reader::new(self.body()).u32("statement")
            && self.statements.remove(&id).is_some()
        {
            self.note("Close stmt", "");
            self.session.close_prepared(id);
        }
    }

    pub(super) fn stmt_reset(&mut self) -> Result<(), PacketError> {
        self.server.status.stmt_reset.add_one();
        let id = match Reader::new(self.body()).u32("COM_STMT_RESET") {
            Ok(id) => id,
            Err(_) => return self.send_error(&malformed()),
        };
        match self.statements.get_mut(&id) {
            Some(statement) => {
                statement.reset();
                self.note("Reset stmt", "");
                self.send_ok()
            }
            None => self.send_error(&unknown_statement(id)),
        }
    }

    /// Answers COM_STMT_FETCH with error 1421, because no cursor is ever open.
    pub(super) fn stmt_fetch(&mut self) -> Result<(), PacketError> {
        self.server.status.stmt_fetch.add_one();
        let id = match Reader::new(self.body()).u32("COM_STMT_FETCH") {
            Ok(id) => id,
            Err(_) => return self.send_error(&malformed()),
        };
        if !self.statements.contains_key(&id) {
            return self.send_error(&unknown_statement(id));
        }
        self.send_error(&SqlError::new(1421, format!("The statement ({id}) has no open cursor.")))
    }

    /// Closes all prepared statements.
    pub(super) fn forget_statements(&mut self) {
        for (id, _) in std::mem::take(&mut self.statements) {
            self.session.close_prepared(id);
        }
    }
}

/// Returns the definition of a `?`, whose type is not known before it has a value.
fn parameter_definition() -> Column<'static> {
    Column {
        schema: "".into(),
        table: "".into(),
        org_table: "".into(),
        name: "?".into(),
        org_name: "".into(),
        collation: COLLATION_BINARY,
        length_bytes: 0,
        field_type: field_type::VAR_STRING,
        flags: column_flag::BINARY,
        decimals: 0,
    }
}
