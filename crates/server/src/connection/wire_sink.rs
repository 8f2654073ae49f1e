//! The sink that sends the results of statements to a client.

use crate::connection::cells::{put_binary_cell, put_text_cell};
use crate::connection::sent_columns::{ColumnForm, SentColumns};
use crate::connection::stored_cells::{put_stored_binary, put_stored_binary_row, put_stored_text};
use protocol::capability as cap;
use protocol::column::{COLLATION_BINARY, Column, column_flag, field_type};
use protocol::packet::{Channel, OutputMark, PacketError};
use protocol::response::{EOF_HEADER, LOCAL_INFILE_HEADER, OK_HEADER, OkPacket, StateChange, put_eof};
use protocol::scalar::{put_binary_row, try_put_binary_row};
use protocol::stream::Stream;
use protocol::wire::put_lenenc_int;
use sql::SqlError;
use sql::{ClientFile, ColumnMeta, EndOfRows, OkInfo, PlanNumber, ResultSink, StoredRow};
use std::borrow::Cow;
use types::collation::{self, Charset};
use types::{ColumnType, Value};

/// The form in which the protocol sends rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowForm {
    /// The text form of COM_QUERY.
    Text,
    /// The binary form of COM_STMT_EXECUTE.
    Binary,
}

/// A sink that writes results to a client.
pub struct WireSink<'a> {
    channel: &'a mut Channel<Stream>,
    capabilities: cap::Capabilities,
    form: RowForm,
    /// The collation of `character_set_results`, with which character columns are announced. `None`
    /// means that each is announced with its own collation.
    results: Option<u16>,
    /// The columns of the present result.
    columns: Vec<ColumnForm>,
    /// The definitions that the statement's last execution has sent.
    sent: Option<&'a mut SentColumns>,
    /// Whether `columns` belongs to `sent`.
    is_sents: bool,
    /// Whether the columns of a result set have come. Only those of a command's first one are kept
    /// in `sent`, since each further one would replace them.
    has_columns: bool,
    /// True when text must be converted, because the character set in which it is sent differs from
    /// that of values.
    converts: bool,
    /// Returns the changes that the next OK packet reports to clients with SESSION_TRACK.
    changes: &'a dyn Fn() -> Vec<StateChange>,
    /// The error that broke the connection, after which nothing more can be sent.
    broken: Option<PacketError>,
    /// The place in the output where the last complete result ends.
    complete: OutputMark,
    /// Whether the columns of a result set have come, and its end has not.
    is_within_rows: bool,
}

impl<'a> WireSink<'a> {
    /// Builds a sink for one command.
    pub fn new(
        channel: &'a mut Channel<Stream>,
        capabilities: cap::Capabilities,
        form: RowForm,
        results: Option<u16>,
        sent: Option<&'a mut SentColumns>,
        changes: &'a dyn Fn() -> Vec<StateChange>,
    ) -> Self {
        let complete = channel.output_mark();
        WireSink {
            channel,
            capabilities,
            form,
            results,
            columns: Vec::new(),
            sent,
            is_sents: false,
            has_columns: false,
            converts: false,
            changes,
            broken: None,
            complete,
            is_within_rows: false,
        }
    }

    /// Ends the sink. Returns the error that broke the connection, if one did.
    pub fn into_broken(mut self) -> Option<PacketError> {
        self.give_back_columns();
        self.broken
    }

    /// Gives the columns back to the statement that they belong to.
    fn give_back_columns(&mut self) {
        if std::mem::take(&mut self.is_sents)
            && let Some(sent) = &mut self.sent
        {
            sent.give_back(std::mem::take(&mut self.columns));
        }
    }

    /// Writes the definitions that the statement's last execution has sent, if the columns are the
    /// same. Returns whether they were.
    fn write_columns_again(&mut self, columns: &[ColumnMeta], plan: Option<PlanNumber>) -> sql::Result<bool> {
        let Some(sent) = &mut self.sent else { return Ok(false) };
        match sent.write_again(columns, plan, self.results, self.channel) {
            Ok(Some(forms)) => {
                self.columns = forms;
                self.is_sents = true;
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(e) => Err(self.break_off(e)),
        }
    }

    /// Notes the error that broke the connection. Returns the error for the statement.
    fn break_off(&mut self, e: PacketError) -> SqlError {
        self.broken.get_or_insert(e);
        SqlError::new(1160, "Got an error writing communication packets")
    }

    /// Takes back the part of an incomplete result, if none of it has been sent yet. Complete
    /// results of earlier statements of the same text stay.
    pub fn take_back_incomplete(&mut self) {
        let _too_late = self.channel.rewind_output(self.complete);
        self.is_within_rows = false;
    }

    /// Reserves room for a row with long values before any of it is written.
    fn make_room(&mut self, row: &[Value]) -> sql::Result<()> {
        if !row.iter().any(is_long) {
            return Ok(());
        }
        // A row in binary form begins with a bitmap that has a bit for each column and two more
        // bits.
        let bits_bytes = row.len() / 8 + 2;
        let bytes: usize = row.iter().map(wire_bytes).sum::<usize>() + bits_bytes;
        // Converted text is stored a second time, and may be longer in the client's character set.
        let times = match self.converts {
            true => 2 * MOST_BYTES_PER_CHAR,
            false => 1,
        };
        match self.channel.reserve_output(bytes.saturating_mul(times)) {
            Ok(()) => Ok(()),
            Err(PacketError::NoRoom(told)) => Err(SqlError::new(told.code, told.message)),
            Err(e) => Err(self.break_off(e)),
        }
    }

    fn write(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> sql::Result<()> {
        match self.channel.write_packet(fill) {
            Ok(()) => Ok(()),
            Err(e) => Err(self.break_off(e)),
        }
    }

    /// Notes whether text of the columns has to be converted.
    fn note_conversions(&mut self) {
        let results = self.results;
        let is_other = |(ty, _): &ColumnForm| is_text(ty) && is_converted(sent_collation(results, ty));
        // Where all text is sent in one character set that needs no conversion, no column does.
        let may_be_other = results.is_none_or(|id| is_converted(id) || id == COLLATION_BINARY);
        self.converts = may_be_other && self.columns.iter().any(is_other);
    }

    /// Returns the row with its text in the client's character set.
    fn in_clients_characters(&self, row: &[Value]) -> Vec<Value> {
        let cell = |(value, (ty, _)): (&Value, &ColumnForm)| match value.text_bytes(Some(ty)) {
            Some(text) if is_text(ty) => Value::Bytes(
                collation::from_utf8mb4_lossy(sent_collation(self.results, ty), &text).into_owned(),
            ),
            _ => value.clone(),
        };
        row.iter().zip(&self.columns).map(cell).collect()
    }

    fn put_ok(&mut self, header: u8, ok: &OkPacket) -> sql::Result<()> {
        let capabilities = self.capabilities;
        self.write(|out| ok.encode(header, capabilities, out))?;
        self.complete = self.channel.output_mark();
        Ok(())
    }
}

/// The most bytes that a character takes in any character set.
const MOST_BYTES_PER_CHAR: usize = 4;

/// The length of a value in bytes from which on room is reserved. Rows of shorter values find room
/// as they are written.
const LONG_VALUE_BYTES: usize = 64 * 1024;

fn is_long(value: &Value) -> bool {
    matches!(value, Value::Bytes(bytes) | Value::Json(bytes) if bytes.len() >= LONG_VALUE_BYTES)
}

/// Returns the largest number of bytes that a value takes in a packet: with its length in front, or
/// as the longest number.
fn wire_bytes(value: &Value) -> usize {
    const LENGTH_BYTES: usize = 9;
    match value {
        Value::Bytes(bytes) => bytes.len() + LENGTH_BYTES,
        Value::Json(bytes) => types::json::most_text_bytes(bytes) + LENGTH_BYTES,
        _ => 80,
    }
}

/// Reports whether values of the type are characters, and not bytes or numbers.
fn is_text(ty: &ColumnType) -> bool {
    (ty.is_character() || ty.is_blob()) && ty.collation != COLLATION_BINARY || ty.text_form().is_some()
}

/// Returns the type code that MySQL announces for a column. A text that is computed and longer than
/// a VARCHAR is a LONG_BLOB, where a column of a table is a BLOB.
fn announced_code(meta: &ColumnMeta) -> u8 {
    let is_computed = meta.flags & column_flag::BLOB == 0;
    match meta.ty.code {
        types::TypeCode::Blob
            if is_computed
                && (meta.ty.max_bytes() > u64::from(u16::MAX) || meta.ty.most_bytes().is_some()) =>
        {
            field_type::LONG_BLOB
        }
        // The bytes of a CAST are as long as it says, and announced as a VARBINARY.
        types::TypeCode::String if meta.org_name.is_empty() && meta.ty.collation == COLLATION_BINARY => {
            field_type::VAR_STRING
        }
        _ => meta.ty.protocol_code(),
    }
}

/// Returns the length that MySQL announces for a column. A number with a floating point and a
/// document have another one where they are computed than as columns of a table.
fn announced_length_bytes(meta: &ColumnMeta) -> u32 {
    use types::TypeCode::{Double, Float, Json};
    const COMPUTED_FLOAT: u32 = 23;
    match meta.ty.code {
        Double | Float if meta.schema.is_empty() && meta.ty.form.is_none() => COMPUTED_FLOAT,
        Json if meta.flags & column_flag::BLOB == 0 => u32::MAX - 3,
        _ => meta.ty.display_length(),
    }
}

/// Returns the collation in which the text of a column is sent. NULL and `binary` as
/// `character_set_results` let text go out as it is stored.
fn sent_collation(results: Option<u16>, ty: &ColumnType) -> u16 {
    results.filter(|&id| collation::charset_of(id) != Charset::Binary).unwrap_or(ty.collation)
}

/// Reports whether text that is sent in this collation has to be converted.
fn is_converted(collation_id: u16) -> bool {
    !matches!(collation::charset_of(collation_id), Charset::Binary | Charset::Utf8mb3 | Charset::Utf8mb4)
}

/// Returns the length of a text in the bytes of the character set in which the client gets it. It
/// is given in those of utf8mb4.
fn in_sent_bytes(length_bytes: u32, collation_id: u16) -> u32 {
    const UTF8MB4_BYTES: u32 = 4;
    match collation::max_bytes_per_char(collation_id) {
        // The longest texts, whose length is the greatest number, stay so.
        bytes if length_bytes < u32::MAX / UTF8MB4_BYTES => length_bytes / UTF8MB4_BYTES * u32::from(bytes),
        _ => length_bytes,
    }
}

/// Builds a column's definition packet. `results` is the collation of `character_set_results`;
/// without it a column is announced with its own.
pub fn definition(meta: &ColumnMeta, results: Option<u16>) -> Column<'_> {
    let ty = &meta.ty;
    // MySQL has characters in a document that is computed, and bytes in a column of them.
    let is_computed_json = ty.code == types::TypeCode::Json && meta.flags & column_flag::BLOB == 0;
    Column {
        schema: Cow::Borrowed(&meta.schema),
        table: Cow::Borrowed(&meta.table),
        org_table: Cow::Borrowed(&meta.org_table),
        name: Cow::Borrowed(&meta.name),
        org_name: Cow::Borrowed(&meta.org_name),
        collation: match results {
            Some(collation) if is_text(ty) || is_computed_json => collation,
            None if is_text(ty) => ty.collation,
            None if is_computed_json => collation::UTF8MB4_BIN,
            _ => COLLATION_BINARY,
        },
        length_bytes: match is_text(ty) {
            true => in_sent_bytes(announced_length_bytes(meta), sent_collation(results, ty)),
            false => announced_length_bytes(meta),
        },
        field_type: announced_code(meta),
        flags: meta.flags,
        decimals: meta.decimals,
    }
}

impl WireSink<'_> {
    /// Starts a result set, whose columns may be those of a plan.
    fn begin_rows(&mut self, columns: &[ColumnMeta], plan: Option<PlanNumber>) -> sql::Result<()> {
        assert!(!self.is_within_rows, "a result set ends before the next one begins");
        self.is_within_rows = true;
        self.give_back_columns();
        let is_first = !std::mem::replace(&mut self.has_columns, true);
        if is_first && self.write_columns_again(columns, plan)? {
            self.note_conversions();
            return Ok(());
        }
        let mark = self.channel.output_mark();
        self.columns.clear();
        self.columns.reserve(columns.len());
        let names = self.results.unwrap_or(collation::UTF8MB4_0900_AI_CI);
        self.write(|out| put_lenenc_int(out, columns.len() as u64))?;
        for meta in columns {
            let column = definition(meta, self.results);
            self.columns.push((meta.ty.clone(), column.field_type));
            self.write(|out| column.encode(names, out))?;
        }
        assert_eq!(self.columns.len(), columns.len(), "each column has its definition");
        self.note_conversions();
        if self.capabilities & cap::DEPRECATE_EOF == 0 {
            self.write(|out| put_eof(0, 0, out))?;
        }
        if is_first && let Some(sent) = &mut self.sent {
            sent.keep((columns, plan), &self.columns, self.results, (self.channel, mark));
        }
        Ok(())
    }
}

impl ResultSink for WireSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> sql::Result<()> {
        self.begin_rows(columns, None)
    }

    fn plan_columns(&mut self, columns: &[ColumnMeta], plan: PlanNumber) -> sql::Result<()> {
        self.begin_rows(columns, Some(plan))
    }

    fn row(&mut self, row: &[Value]) -> sql::Result<()> {
        assert!(self.is_within_rows, "rows come behind their columns");
        assert_eq!(row.len(), self.columns.len(), "a row has as many values as the result has columns");
        self.make_room(row)?;
        let converted = self.converts.then(|| self.in_clients_characters(row));
        let row = converted.as_deref().unwrap_or(row);
        let WireSink { channel, columns, form, .. } = self;
        let written = channel.write_packet(|out| match form {
            RowForm::Text => {
                for (value, (ty, _)) in row.iter().zip(&*columns) {
                    put_text_cell(value, ty, out);
                }
            }
            RowForm::Binary => put_binary_row(columns.len(), out, |i, out| {
                let (ty, code) = &columns[i];
                put_binary_cell(&row[i], ty, *code, out)
            }),
        });
        written.map_err(|e| self.break_off(e))
    }

    fn stored_row(&mut self, row: &StoredRow<'_>) -> sql::Result<()> {
        assert!(self.is_within_rows, "rows come behind their columns");
        assert_eq!(row.columns.len(), self.columns.len(), "each column of the result is one of the table");
        if self.converts || row.image.len() >= LONG_VALUE_BYTES {
            return self.row(&row.values()?);
        }
        let WireSink { channel, columns, form, .. } = self;
        let written = channel.try_write_packet(|out| match form {
            RowForm::Binary if row.columns.len() == 1 => put_stored_binary_row(row, &columns[0], out),
            RowForm::Text => (0..columns.len()).try_for_each(|at| put_stored_text(row, at, out)),
            RowForm::Binary => try_put_binary_row(columns.len(), out, |at, out| {
                put_stored_binary(row, at, &columns[at], out)
            }),
        });
        match written {
            Ok(filled) => filled.map_err(SqlError::from),
            Err(e) => Err(self.break_off(e)),
        }
    }

    fn end_rows(&mut self, end: EndOfRows) -> sql::Result<()> {
        assert!(self.is_within_rows, "rows end once, behind their columns");
        self.is_within_rows = false;
        if self.capabilities & cap::DEPRECATE_EOF == 0 {
            self.write(|out| put_eof(end.status, end.warnings, out))?;
            self.complete = self.channel.output_mark();
            return Ok(());
        }
        let ok = OkPacket { status: end.status, warnings: end.warnings, ..OkPacket::default() };
        self.put_ok(EOF_HEADER, &ok)
    }

    fn ok(&mut self, info: &mut OkInfo) -> sql::Result<()> {
        assert!(!self.is_within_rows, "an OK packet is no end of rows");
        let changes = if self.capabilities & cap::SESSION_TRACK != 0 { (self.changes)() } else { Vec::new() };
        let ok = OkPacket {
            affected_rows: info.affected_rows,
            last_insert_id: info.last_insert_id,
            status: info.status,
            warnings: info.warnings,
            info: std::mem::take(&mut info.info),
            changes,
        };
        let sent = self.put_ok(OK_HEADER, &ok);
        // The text was lent, and whoever counts the results may want it.
        info.info = ok.info;
        sent
    }

    fn client_file(&mut self) -> Option<&mut dyn ClientFile> {
        match self.capabilities & cap::LOCAL_FILES {
            0 => None,
            _ => Some(self),
        }
    }
}

impl ClientFile for WireSink<'_> {
    fn request(&mut self, name: &[u8]) -> sql::Result<()> {
        assert!(!self.is_within_rows, "a file is asked for in place of a result");
        assert!(self.capabilities & cap::LOCAL_FILES != 0, "only a client that sends files is asked");
        self.write(|out| {
            out.push(LOCAL_INFILE_HEADER);
            out.extend_from_slice(name);
        })?;
        // What was sent cannot be taken back, because an answer follows the file.
        self.complete = self.channel.output_mark();
        match self.channel.flush() {
            Ok(()) => Ok(()),
            Err(e) => Err(self.break_off(e)),
        }
    }

    fn next_piece(&mut self, into: &mut Vec<u8>) -> sql::Result<()> {
        match self.channel.read_packet() {
            Ok(piece) => {
                into.extend_from_slice(piece);
                Ok(())
            }
            Err(e) => {
                self.broken.get_or_insert(e);
                Err(SqlError::new(1158, "Got an error reading communication packets"))
            }
        }
    }
}
