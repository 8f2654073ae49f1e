//! Statements of a client: text queries, prepared statements, and their results.

use super::error::ClientError;
use super::link::Client;
use crate::capability as cap;
use crate::column::Column;
use crate::command;
use crate::response::{
    ERR_HEADER, ErrPacket, LOCAL_INFILE_HEADER, OK_HEADER, OkPacket, decode_end_of_rows, is_end_of_rows,
};
use crate::scalar::{Scalar, read_binary_row};
use crate::statement::{PrepareOk, put_execute};
use crate::wire::Reader;

/// A result that was read in full. The cells are in their text form, whatever protocol they were
/// sent by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultSet {
    /// The columns. There are none for statements that return no rows.
    pub columns: Vec<Column<'static>>,
    /// The cells of each row. `None` is NULL.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
    /// The packet that ended the result.
    pub ok: OkPacket,
}

impl ResultSet {
    /// Returns the number of changed rows.
    pub fn affected_rows(&self) -> u64 {
        self.ok.affected_rows
    }

    /// Returns the cell at `row` in the column named `column` (in any case) as text. `None` when
    /// there is no such cell, or it is NULL.
    pub fn text(&self, row: usize, column: &str) -> Option<String> {
        let at = self.columns.iter().position(|c| c.name.eq_ignore_ascii_case(column))?;
        self.cell(row, at)
    }

    /// Returns the cell at `row` and `column` as text. `None` when there is no such cell, or it is
    /// NULL.
    pub fn cell(&self, row: usize, column: usize) -> Option<String> {
        let cell = self.rows.get(row)?.get(column)?.as_ref()?;
        Some(String::from_utf8_lossy(cell).into_owned())
    }
}

/// The figures of a result whose rows were not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of received rows.
    pub rows: u64,
    /// The number of changed rows.
    pub affected_rows: u64,
    /// The first generated AUTO_INCREMENT value, 0 if there is none.
    pub last_insert_id: u64,
    /// The number of warnings.
    pub warnings: u16,
}

/// A prepared statement of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    id: u32,
    parameters: u16,
    columns: Vec<Column<'static>>,
}

impl Statement {
    /// Returns the statement's number on this connection.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the number of parameters.
    pub fn parameters(&self) -> usize {
        usize::from(self.parameters)
    }

    /// Returns the result's columns as the server announced them when the statement was prepared.
    pub fn columns(&self) -> &[Column<'static>] {
        &self.columns
    }
}

/// The protocol by which a result's rows are sent.
#[derive(Clone, Copy)]
enum RowForm {
    Text,
    Binary,
}

/// The number of bytes of a file that one packet has.
const FILE_PIECE_BYTES: usize = 64 << 10;

/// What a server has asked for when it was sent a LOAD DATA.
pub enum Asked {
    /// The bytes of the file.
    File,
    /// Nothing: the statement is done.
    Nothing(ResultSet),
}

/// The content of a result's first packet.
enum Head {
    Columns(usize),
    Done(OkPacket),
}

impl Client {
    /// Runs a query and returns its first result. Further results are read and dropped, and errors
    /// in them are returned.
    pub fn query(&mut self, sql: &str) -> Result<ResultSet, ClientError> {
        let mut results = self.query_all(sql)?;
        Ok(results.swap_remove(0))
    }

    /// Runs a query of one or several statements and returns all results. There is at least one.
    pub fn query_all(&mut self, sql: &str) -> Result<Vec<ResultSet>, ClientError> {
        self.send_query(sql)?;
        let mut results = vec![self.read_result(RowForm::Text)?];
        while self.status & cap::STATUS_MORE_RESULTS != 0 {
            results.push(self.read_result(RowForm::Text)?);
        }
        Ok(results)
    }

    /// Runs LOAD DATA LOCAL and sends these bytes for the file that the server asks for, whatever
    /// its name is. No file is ever read here.
    pub fn query_with_file(&mut self, sql: &str, file: &[u8]) -> Result<ResultSet, ClientError> {
        match self.begin_file(sql)? {
            Asked::Nothing(result) => Ok(result),
            Asked::File => {
                self.send_of_file(file)?;
                self.end_file()
            }
        }
    }

    /// Begins LOAD DATA LOCAL. When the server asks for the file, the caller sends it by
    /// [`Client::send_of_file`] and [`Client::end_file`], and uses the connection for nothing else
    /// before that.
    pub fn begin_file(&mut self, sql: &str) -> Result<Asked, ClientError> {
        self.send_query(sql)?;
        let packet = self.channel.read_packet()?.to_vec();
        match packet.first() {
            Some(&LOCAL_INFILE_HEADER) => Ok(Asked::File),
            Some(&OK_HEADER) => {
                let ok = OkPacket::decode(&packet, self.capabilities)?;
                self.status = ok.status;
                Ok(Asked::Nothing(ResultSet { ok, ..ResultSet::default() }))
            }
            Some(&ERR_HEADER) => Err(ErrPacket::decode(&packet)?.into()),
            _ => Err(ClientError::Protocol("the server did not ask for a file".into())),
        }
    }

    /// Sends the next bytes of the file that the server has asked for.
    pub fn send_of_file(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        for piece in bytes.chunks(FILE_PIECE_BYTES) {
            self.channel.write_packet(|out| out.extend_from_slice(piece))?;
        }
        Ok(self.channel.flush()?)
    }

    /// Ends the file that the server has asked for, and returns the statement's result.
    pub fn end_file(&mut self) -> Result<ResultSet, ClientError> {
        self.channel.write_packet(|_| {})?;
        self.channel.flush()?;
        self.read_result(RowForm::Text)
    }

    /// Sends a query. Each of its results has to be read by [`Client::read_summary`].
    pub fn send_query(&mut self, sql: &str) -> Result<(), ClientError> {
        self.send_command(command::QUERY, sql.as_bytes())
    }

    /// Runs a query and drops its rows.
    pub fn query_discard(&mut self, sql: &str) -> Result<Summary, ClientError> {
        self.send_query(sql)?;
        self.read_summaries()
    }

    /// Runs a query and passes each row of its only result to `row`. NULL cells are `None`.
    pub fn query_rows(
        &mut self,
        sql: &str,
        mut row: impl FnMut(&[Option<&[u8]>]),
    ) -> Result<Summary, ClientError> {
        self.send_query(sql)?;
        let mut spare: Vec<Option<&[u8]>> = Vec::new();
        self.read_row_packets(|packet, columns| {
            let mut cells = std::mem::take(&mut spare);
            let mut r = Reader::new(packet);
            for _ in 0..columns {
                cells.push(r.nullable_bytes("text row")?);
            }
            row(&cells);
            cells.clear();
            // The empty vector is passed on without its borrows, so that its memory is used again.
            spare = cells.into_iter().map(|_| None).collect();
            Ok(())
        })
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, sql: &str) -> Result<Statement, ClientError> {
        self.send_command(command::STMT_PREPARE, sql.as_bytes())?;
        let ok = PrepareOk::decode(self.read_packet_checked()?)?;
        self.skip_columns(usize::from(ok.parameters))?;
        let columns = self.read_columns(usize::from(ok.columns))?;
        Ok(Statement { id: ok.statement_id, parameters: ok.parameters, columns })
    }

    /// Executes a prepared statement and returns its first result.
    pub fn execute(
        &mut self,
        statement: &Statement,
        parameters: &[Scalar<'_>],
    ) -> Result<ResultSet, ClientError> {
        self.send_execute(statement, parameters)?;
        let result = self.read_result(RowForm::Binary)?;
        while self.status & cap::STATUS_MORE_RESULTS != 0 {
            self.read_summary()?;
        }
        Ok(result)
    }

    /// Executes a prepared statement and drops its rows. In the common case this allocates nothing.
    pub fn execute_discard(
        &mut self,
        statement: &Statement,
        parameters: &[Scalar<'_>],
    ) -> Result<Summary, ClientError> {
        self.send_execute(statement, parameters)?;
        self.read_summaries()
    }

    /// Sends the execution of a prepared statement. Its result has to be read by
    /// [`Client::read_summary`].
    pub fn send_execute(
        &mut self,
        statement: &Statement,
        parameters: &[Scalar<'_>],
    ) -> Result<(), ClientError> {
        if parameters.len() != statement.parameters() {
            return Err(ClientError::Protocol(format!(
                "the statement has {} parameters, {} were given",
                statement.parameters,
                parameters.len()
            )));
        }
        self.send_command_with(command::STMT_EXECUTE, |out| put_execute(statement.id, parameters, out))
    }

    /// Sends a part of parameter `index` of the next execution. That execution gets NULL for this
    /// parameter.
    pub fn send_long_data(
        &mut self,
        statement: &Statement,
        index: u16,
        part: &[u8],
    ) -> Result<(), ClientError> {
        self.send_command_with(command::STMT_SEND_LONG_DATA, |out| {
            out.extend_from_slice(&statement.id.to_le_bytes());
            out.extend_from_slice(&index.to_le_bytes());
            out.extend_from_slice(part);
        })
    }

    /// Closes a prepared statement at the server.
    pub fn close(&mut self, statement: Statement) -> Result<(), ClientError> {
        self.send_command(command::STMT_CLOSE, &statement.id.to_le_bytes())
    }

    /// Runs a command that is answered only by OK or an error, such as PING, RESET_CONNECTION or
    /// INIT_DB.
    pub fn command(&mut self, command: u8, body: &[u8]) -> Result<OkPacket, ClientError> {
        self.send_command(command, body)?;
        let capabilities = self.capabilities;
        let packet = self.read_packet_checked()?;
        let ok = if is_end_of_rows(packet) {
            // COM_SET_OPTION is answered by an EOF packet, in the form that the connection uses.
            decode_end_of_rows(packet, capabilities)?
        } else {
            OkPacket::decode(packet, capabilities)?
        };
        self.status = ok.status;
        Ok(ok)
    }

    /// Checks that the server answers.
    pub fn ping(&mut self) -> Result<(), ClientError> {
        self.command(command::PING, &[]).map(|_| ())
    }

    /// Reads one result and drops its rows.
    pub fn read_summary(&mut self) -> Result<Summary, ClientError> {
        self.read_row_packets(|_, _| Ok(()))
    }

    /// Reads one result and passes the packet of each row, and the number of columns, to `row`.
    fn read_row_packets(
        &mut self,
        mut row: impl FnMut(&[u8], usize) -> Result<(), ClientError>,
    ) -> Result<Summary, ClientError> {
        let columns = match self.read_head()? {
            Head::Done(ok) => return Ok(summary(0, &ok)),
            Head::Columns(count) => count,
        };
        self.skip_columns(columns)?;
        let mut rows = 0;
        loop {
            let capabilities = self.capabilities;
            let packet = self.read_packet_checked()?;
            if is_end_of_rows(packet) {
                let ok = decode_end_of_rows(packet, capabilities)?;
                self.status = ok.status;
                return Ok(summary(rows, &ok));
            }
            row(packet, columns)?;
            rows += 1;
        }
    }

    fn read_summaries(&mut self) -> Result<Summary, ClientError> {
        let mut all = self.read_summary()?;
        while self.status & cap::STATUS_MORE_RESULTS != 0 {
            let next = self.read_summary()?;
            all.rows += next.rows;
            all.affected_rows += next.affected_rows;
            all.warnings += next.warnings;
        }
        Ok(all)
    }

    fn read_head(&mut self) -> Result<Head, ClientError> {
        let capabilities = self.capabilities;
        let packet = self.channel.read_packet()?;
        match packet.first() {
            Some(&OK_HEADER) => {
                let ok = OkPacket::decode(packet, capabilities)?;
                self.status = ok.status;
                Ok(Head::Done(ok))
            }
            Some(&ERR_HEADER) => {
                self.status &= !cap::STATUS_MORE_RESULTS;
                Err(ErrPacket::decode(packet)?.into())
            }
            Some(&LOCAL_INFILE_HEADER) => Err(ClientError::Protocol(
                "the server asked for a local file, which was never offered".into(),
            )),
            _ => {
                let count = Reader::new(packet).lenenc_int("column count")?;
                // A table has at most 4096 columns, and a select list as many as its text has room
                // for. A larger count means that the peer is broken.
                const MOST_COLUMNS: usize = 1 << 24;
                match usize::try_from(count) {
                    Ok(count) if count <= MOST_COLUMNS => Ok(Head::Columns(count)),
                    _ => Err(ClientError::Protocol(format!("a result of {count} columns"))),
                }
            }
        }
    }

    fn skip_columns(&mut self, count: usize) -> Result<(), ClientError> {
        for _ in 0..count {
            self.read_packet_checked()?;
        }
        self.skip_eof(count)
    }

    fn read_columns(&mut self, count: usize) -> Result<Vec<Column<'static>>, ClientError> {
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(Column::decode(self.read_packet_checked()?)?);
        }
        self.skip_eof(count)?;
        Ok(columns)
    }

    fn skip_eof(&mut self, count: usize) -> Result<(), ClientError> {
        if count > 0 && self.capabilities & cap::DEPRECATE_EOF == 0 {
            self.read_packet_checked()?;
        }
        Ok(())
    }

    /// Reads a result in full.
    fn read_result(&mut self, form: RowForm) -> Result<ResultSet, ClientError> {
        let count = match self.read_head()? {
            Head::Done(ok) => return Ok(ResultSet { ok, ..ResultSet::default() }),
            Head::Columns(count) => count,
        };
        let columns = self.read_columns(count)?;
        let mut rows = Vec::new();
        loop {
            let capabilities = self.capabilities;
            let packet = self.read_packet_checked()?;
            if is_end_of_rows(packet) {
                let ok = decode_end_of_rows(packet, capabilities)?;
                self.status = ok.status;
                return Ok(ResultSet { columns, rows, ok });
            }
            rows.push(match form {
                RowForm::Text => text_row(packet, count)?,
                RowForm::Binary => binary_row(packet, &columns)?,
            });
        }
    }
}

fn summary(rows: u64, ok: &OkPacket) -> Summary {
    Summary {
        rows,
        affected_rows: ok.affected_rows,
        last_insert_id: ok.last_insert_id,
        warnings: ok.warnings,
    }
}

fn text_row(packet: &[u8], count: usize) -> Result<Vec<Option<Vec<u8>>>, ClientError> {
    let mut r = Reader::new(packet);
    let mut row = Vec::with_capacity(count);
    for _ in 0..count {
        row.push(r.nullable_bytes("text row")?.map(<[u8]>::to_vec));
    }
    Ok(row)
}

fn binary_row(packet: &[u8], columns: &[Column<'static>]) -> Result<Vec<Option<Vec<u8>>>, ClientError> {
    let mut row = Vec::with_capacity(columns.len());
    let types = columns.iter().map(|c| (c.field_type, c.is_unsigned()));
    read_binary_row(packet, types, |i, cell| {
        row.push(match cell {
            Scalar::Bytes(bytes) => Some(bytes.to_vec()),
            other => {
                let mut text = String::new();
                other.put_text(columns[i].decimals, &mut text).then(|| text.into_bytes())
            }
        });
    })?;
    Ok(row)
}
