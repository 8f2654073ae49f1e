//! LOAD DATA and LOAD XML.
//!
//! In: the bytes of a file, from the server or the client. They are scanned for lines and fields
//! ([`scanner`]), or for the elements that are rows ([`xml`]), and each line or element fills a row
//! of the table ([`filling`]). Out: the [`Changes`] of the statement.

mod filling;
mod input;
mod scanner;
mod special_bytes;
mod target;
mod xml;

use super::row_update::NewValue;
use super::{Changes, InsertPlan, Run, to_column};
use crate::ast::{self, FileLayout, TextFormat};
use crate::bind::Binder;
use crate::error::{Result, SqlError};
use crate::expr::is_text;
use crate::host::VariableScope;
use engine::Table;
use filling::Filling;
pub(crate) use input::Input;
use scanner::{Fields, Scanner};
use std::sync::Arc;
use target::{LineTarget, bind_target};
use types::collation::{self, Charset};
use types::{ColumnType, TypeCode, Value};
use xml::XmlReader;

/// Error or warning for a line with fewer fields than targets, and below for one with more: the
/// number and the end of the message.
const TOO_SHORT: (u16, &str) = (1261, "doesn't contain data for all columns");
const TOO_LONG: (u16, &str) = (1262, "was truncated; it contained more data than there were input columns");

/// A bound LOAD DATA or LOAD XML.
pub(crate) struct LoadPlan {
    insert: InsertPlan,
    path: Vec<u8>,
    is_local: bool,
    targets: Vec<LineTarget>,
    assignments: Vec<(usize, NewValue)>,
    format: TextFormat,
    /// What a file is asked for, if it is an XML file.
    xml: Option<XmlRows>,
    fixed: Option<FixedLengths>,
    charset: Charset,
    /// Whether the file's texts need no conversion: they are in utf8mb4, as the server has texts,
    /// or in the encoding of every column that they are for.
    is_as_stored: bool,
    skipped: u64,
    /// Warnings that each run begins with.
    complaints: Vec<(u16, String)>,
}

pub(crate) fn bind_load(binder: &mut Binder<'_>, load: &ast::Load) -> Result<LoadPlan> {
    check_source(binder, load)?;
    let (format, element) = match &load.layout {
        FileLayout::Text(format) => (format.clone(), None),
        FileLayout::Xml { row } => (TextFormat::default(), Some(row.clone())),
    };
    let charset = charset_of(binder, load)?;
    if format.enclosed.len() > 1 || format.escaped.as_ref().is_some_and(|escaped| escaped.len() > 1) {
        let text = "Field separator argument is not what is expected; check the manual";
        return Err(SqlError::new(1083, text));
    }
    let (insert, targets, assignments) = bind_target(binder, load)?;
    check_lengths(&insert.table, &targets, &format)?;
    let has_fixed = format.between_fields.is_empty() && format.enclosed.is_empty();
    let fixed = has_fixed.then(|| fixed_lengths(&insert.table, &targets));
    let separators = [&format.between_fields, &format.enclosed, &format.before_line, &format.behind_line];
    let are_ascii = separators.into_iter().chain(&format.escaped).all(|text| text.is_ascii());
    let complaint = || (1638, "Non-ASCII separator arguments are not fully supported".to_owned());
    let is_recoded = |target: &LineTarget| match target {
        LineTarget::Column(at) => is_of_characters(&insert.table.def.columns[*at].ty),
        LineTarget::Variable(_) => false,
    };
    let is_as_stored = match charset {
        Charset::Binary => !targets.iter().any(is_recoded),
        charset => charset.is_stored_as_utf8mb4(),
    };
    let xml = element.map(|element| XmlRows { names: names_of(load, &insert.table, &targets), element });
    Ok(LoadPlan {
        path: load.path.clone(),
        is_as_stored,
        is_local: load.is_local,
        skipped: load.skipped,
        complaints: (!are_ascii).then(complaint).into_iter().collect(),
        insert,
        targets,
        assignments,
        format,
        xml,
        fixed,
        charset,
    })
}

/// What an XML file is asked for.
struct XmlRows {
    /// The element that is a row, as it is written: `<name>`.
    element: Vec<u8>,
    /// The name of the value that each target gets.
    names: Vec<String>,
}

/// Returns the names of the values that targets get: those that the statement names, in the case in
/// which they are written, or those of the table's columns.
fn names_of(load: &ast::Load, table: &Table, targets: &[LineTarget]) -> Vec<String> {
    let name = |target: &LineTarget| match target {
        LineTarget::Column(at) => table.def.columns[*at].name.clone(),
        LineTarget::Variable(name) => name.clone(),
    };
    let written = |target: &ast::LoadTarget| match target {
        ast::LoadTarget::Column { name, .. } => name.clone(),
        ast::LoadTarget::Variable { written, .. } => written.clone(),
    };
    match load.targets.is_empty() {
        true => targets.iter().map(name).collect(),
        false => load.targets.iter().map(written).collect(),
    }
}

/// Reports whether a column has characters that are stored in another encoding than utf8mb4.
fn is_of_characters(ty: &ColumnType) -> bool {
    let charset = collation::charset_of(ty.collation);
    is_text(ty) && charset != Charset::Binary && !charset.is_stored_as_utf8mb4()
}

/// Checks that the file may be read.
///
/// # Errors
/// For a file of the server, returns 1045 when the account lacks the privilege FILE. For a file of
/// the client, returns 3948 when `local_infile` is off.
fn check_source(binder: &Binder<'_>, load: &ast::Load) -> Result<()> {
    if !load.is_local {
        return binder.host.check_file_access();
    }
    let allowed = binder.host.variable(VariableScope::Global, "local_infile")?;
    if matches!(allowed, Some(Value::Int(1) | Value::UInt(1))) { Ok(()) } else { Err(no_local_files()) }
}

/// Builds error 3948 (`ER_CLIENT_LOCAL_FILES_DISABLED`).
pub(crate) fn no_local_files() -> SqlError {
    let text = "Loading local data is disabled; this must be enabled on both the client and server sides";
    SqlError::new(3948, text)
}

/// Returns the character set of the file: the one in the statement, or that of the current schema.
fn charset_of(binder: &Binder<'_>, load: &ast::Load) -> Result<Charset> {
    let unknown = |name: &str| SqlError::new(1115, format!("Unknown character set: '{name}'"));
    if let Some(name) = &load.charset {
        return Charset::from_name(name).ok_or_else(|| unknown(name));
    }
    let schema = binder.schema.and_then(|schema| binder.engine.catalog().schema(schema));
    let collation = schema.map_or(binder.variables.server_collation, |schema| schema.collation);
    Ok(collation::charset_of(collation))
}

/// Reports whether values of a type have no maximum length, so that no fixed field can hold them.
fn has_no_length(code: TypeCode) -> bool {
    matches!(code, TypeCode::Blob | TypeCode::Json | TypeCode::Geometry | TypeCode::Vector)
}

/// Checks that the ends of the fields can be found.
///
/// # Errors
/// When nothing in the file ends the fields, returns 1084 for columns without a maximum length and
/// 1409 for variables.
fn check_lengths(table: &Table, targets: &[LineTarget], format: &TextFormat) -> Result<()> {
    let is_long = |target: &LineTarget| match target {
        LineTarget::Column(at) => has_no_length(table.def.columns[*at].ty.code),
        LineTarget::Variable(_) => false,
    };
    let (no_fields, no_lines) = (format.between_fields.is_empty(), format.behind_line.is_empty());
    if no_fields && no_lines && targets.iter().any(is_long) {
        let text = "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'";
        return Err(SqlError::new(1084, text));
    }
    let has_variables = targets.iter().any(|target| matches!(target, LineTarget::Variable(_)));
    if no_fields && format.enclosed.is_empty() && has_variables {
        return Err(SqlError::new(1409, "Can't load value from file with fixed size rows to variable"));
    }
    Ok(())
}

/// The lengths of the fields of a file in which nothing ends a field.
struct FixedLengths {
    /// The length of each field in bytes.
    fields: Vec<usize>,
    /// The bytes that are read for a row.
    row: usize,
}

fn fixed_lengths(table: &Table, targets: &[LineTarget]) -> FixedLengths {
    /// The bytes that are read for a value without a maximum length, which then takes everything
    /// that is left of the row.
    const READ_FOR_BLOB: usize = 256;
    let columns = targets.iter().filter_map(|target| match target {
        LineTarget::Column(at) => Some(&table.def.columns[*at].ty),
        LineTarget::Variable(_) => None,
    });
    let bytes = |ty: &types::ColumnType| match ty.code {
        code if has_no_length(code) => usize::MAX,
        TypeCode::Varchar | TypeCode::String if ty.is_character() => {
            ty.chars() as usize * usize::from(collation::max_bytes_per_char(ty.collation))
        }
        _ => ty.display_length() as usize,
    };
    let fields: Vec<usize> = columns.map(bytes).collect();
    let read = |bytes: &usize| if *bytes == usize::MAX { READ_FOR_BLOB } else { *bytes };
    FixedLengths { row: fields.iter().map(read).sum(), fields }
}

impl LoadPlan {
    /// Returns the table that is filled.
    pub fn table(&self) -> &Arc<Table> {
        &self.insert.table
    }

    /// Reports whether rows that cannot be stored are left out.
    pub fn has_ignore(&self) -> bool {
        self.insert.has_ignore()
    }

    /// Returns the file's name as it is written in the statement, and whether the file is the
    /// client's.
    pub fn source(&self) -> (&[u8], bool) {
        (&self.path, self.is_local)
    }

    pub fn run(&self, run: &mut Run<'_, '_>, input: &mut dyn Input) -> Result<Changes> {
        for (code, text) in &self.complaints {
            run.ctx.warn(*code, text.clone());
        }
        if let Some(rows) = &self.xml {
            return self.run_xml(rows, run, input);
        }
        let escape = self.format.escape(run.ctx.variables.sql_mode.lex().no_backslash_escapes);
        let mut scanner = Scanner::new(input, &self.format, escape, self.charset, run.charge());
        let mut filling = Filling::begin(&self.insert, &self.targets, &self.assignments, run)?;
        let mut fields = Fields::default();
        let mut skipped = self.skipped;
        while skipped > 0 && !self.format.behind_line.is_empty() {
            run.ctx.check_interrupt()?;
            skipped -= 1;
            if !scanner.next_line()? {
                skipped = 0;
            }
        }
        let mut number = 1;
        loop {
            run.on_row()?;
            fields.clear();
            let Some(line) = self.read(&mut scanner, &mut fields)? else { break };
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            self.put(run, &mut filling, &fields, &line, number)?;
            if !scanner.next_line()? {
                break;
            }
            if scanner.was_cut {
                self.complain(run, number, &TOO_LONG)?;
            }
            number += 1;
        }
        Ok(filling.finish(run))
    }

    /// Fills the table with the elements of an XML file that are rows.
    fn run_xml(&self, rows: &XmlRows, run: &mut Run<'_, '_>, input: &mut dyn Input) -> Result<Changes> {
        assert_eq!(rows.names.len(), self.targets.len(), "each target has a name");
        let mut reader = XmlReader::new(input, &rows.element, self.charset, run.charge());
        let mut filling = Filling::begin(&self.insert, &self.targets, &self.assignments, run)?;
        let mut skipped = self.skipped;
        let mut number = 1;
        loop {
            run.on_row()?;
            if !reader.next_row(run.ctx)? {
                break;
            }
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            filling.begin_row();
            for (target, name) in self.targets.iter().zip(&rows.names) {
                self.put_value(run, &mut filling, reader.value(name.as_bytes()), target, number)?;
            }
            filling.assign(run, &self.assignments, number)?;
            filling.put_row(run, number)?;
            number += 1;
        }
        Ok(filling.finish(run))
    }

    /// Gives a target its value in an XML file. A target without a value is NULL.
    fn put_value(
        &self,
        run: &mut Run<'_, '_>,
        filling: &mut Filling<'_>,
        text: Option<&[u8]>,
        target: &LineTarget,
        number: u64,
    ) -> Result<()> {
        match (target, text) {
            (LineTarget::Variable(name), text) => {
                let value = text.map_or(Value::Null, |text| self.text_value(text, false));
                let ty = ColumnType::varchar(0, self.charset.default_collation());
                run.ctx.user_variables.set(name, &value, &ty)
            }
            (LineTarget::Column(at), None) => filling.set_absent(*at, run, number),
            (LineTarget::Column(at), Some(text)) => {
                let value = self.converted(run, *at, text, number)?;
                filling.set(*at, value);
                Ok(())
            }
        }
    }

    /// Reads the fields of a line, at most as many as there are targets. Returns `None` at the end
    /// of the file.
    fn read(&self, scanner: &mut Scanner<'_>, fields: &mut Fields) -> Result<Option<Line>> {
        let Some(lengths) = &self.fixed else {
            while fields.len() < self.targets.len() && scanner.next_field(fields)? {}
            return Ok((fields.len() > 0).then_some(Line { has_more: false }));
        };
        if !scanner.next_fixed(lengths.row, fields)? {
            return Ok(None);
        }
        Ok(Some(Line { has_more: !fields.cut(&lengths.fields) }))
    }

    fn put(
        &self,
        run: &mut Run<'_, '_>,
        filling: &mut Filling<'_>,
        fields: &Fields,
        line: &Line,
        number: u64,
    ) -> Result<()> {
        let is_whole = fields.len() == self.targets.len() && !line.has_more;
        if is_whole && self.is_as_stored(fields) && filling.put_plain(run, fields)? {
            return Ok(());
        }
        filling.begin_row();
        for (place, target) in self.targets.iter().enumerate() {
            let is_there = place < fields.len();
            let field = if is_there { fields.get(place) } else { None };
            match target {
                LineTarget::Variable(name) => {
                    let value = field.map_or(Value::Null, |text| self.text_value(text, false));
                    let ty = ColumnType::varchar(0, self.charset.default_collation());
                    run.ctx.user_variables.set(name, &value, &ty)?;
                }
                LineTarget::Column(at) if !is_there => {
                    filling.set_missing(*at, self.fixed.is_some(), run)?;
                    self.complain(run, number, &TOO_SHORT)?;
                }
                LineTarget::Column(at) => match field {
                    None => filling.set_null(*at, run)?,
                    Some(text) => filling.set(*at, self.converted(run, *at, text, number)?),
                },
            }
        }
        if line.has_more {
            self.complain(run, number, &TOO_LONG)?;
        }
        filling.assign(run, &self.assignments, number)?;
        filling.put_row(run, number)
    }

    /// Converts a field to the type of its column.
    fn converted(&self, run: &Run<'_, '_>, at: usize, text: &[u8], number: u64) -> Result<Value> {
        let column = &self.insert.table.def.columns[at];
        if column.ty.code == TypeCode::Vector && self.charset != Charset::Binary {
            return Err(crate::expr::no_vector(text.len()));
        }
        use TypeCode::{Bit, Blob, Geometry, String, Varchar};
        let is_bytes = column.ty.collation == collation::BINARY
            && matches!(column.ty.code, Varchar | String | Blob)
            || matches!(column.ty.code, Bit | Geometry);
        let value = match self.charset {
            // For a file of bytes, a field is in the encoding of the column that it goes into.
            Charset::Binary if is_of_characters(&column.ty) => {
                Value::Bytes(collation::to_utf8mb4(column.ty.collation, text).into_owned())
            }
            _ => self.text_value(text, is_bytes),
        };
        to_column(&value, column, number, self.insert.strictness(run), run.ctx)
            .map_err(|error| super::assign::of_table(error, &self.insert.table.def.name))
    }

    /// Returns a field as a value: its bytes as they are, or its characters in utf8mb4.
    fn text_value(&self, text: &[u8], is_bytes: bool) -> Value {
        let is_ours = self.charset.is_stored_as_utf8mb4() || self.charset == Charset::Binary;
        let as_it_is = is_bytes || is_ours || text.is_ascii() && self.charset.has_ascii();
        Value::Bytes(match as_it_is {
            true => text.to_vec(),
            false => collation::to_utf8mb4(self.charset.default_collation(), text).into_owned(),
        })
    }

    /// Reports whether the fields of a line need no conversion of their characters.
    fn is_as_stored(&self, fields: &Fields) -> bool {
        self.is_as_stored || self.charset != Charset::Binary && self.charset.has_ascii() && fields.is_ascii()
    }

    /// Warns about a line. In strict mode, the warning is an error that ends the statement.
    fn complain(&self, run: &Run<'_, '_>, number: u64, (code, what): &(u16, &str)) -> Result<()> {
        let text = format!("Row {number} {what}");
        if self.insert.strictness(run).strict {
            return Err(SqlError::new(*code, text));
        }
        run.ctx.warn(*code, text);
        Ok(())
    }
}

/// What is known about a line besides its fields.
struct Line {
    /// Whether the line has more bytes than its fields take.
    has_more: bool,
}
