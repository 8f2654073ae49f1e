//! SELECT ... INTO: rows that go to user variables or into a file.

use super::Session;
use crate::ast::{Outfile, SelectInto, TextFormat};
use crate::error::{Result, SqlError};
use crate::expr::{Context, text_of};
use crate::host::VariableScope;
use crate::sink::ColumnMeta;
use os::disk::{File, OpenMode};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use types::collation::{self, Charset};
use types::{TypeCode, Value};

/// How many bytes are buffered before they are written to the file.
const BUFFERED_BYTES: usize = 64 << 10;

/// Takes the rows of a query with INTO.
pub(super) struct IntoRows<'s> {
    into: &'s SelectInto,
    columns: &'s [ColumnMeta],
    file: Option<Output>,
    rows: u64,
}

/// A file that is being written.
struct Output {
    file: Arc<dyn File>,
    charset: Option<Charset>,
    buffer: Vec<u8>,
    written_bytes: u64,
}

fn more_than_one() -> SqlError {
    SqlError::new(1172, "Result consisted of more than one row")
}

/// Checks that INTO can take rows of this many columns and may be carried out.
///
/// # Errors
/// Returns 1222 for a wrong number of variables, and 1290 for a file that `secure_file_priv` does
/// not allow.
pub(super) fn check(into: &SelectInto, columns: usize, session: &Session) -> Result<()> {
    match into {
        SelectInto::Variables(names) if names.len() != columns => {
            Err(SqlError::new(1222, "The used SELECT statements have a different number of columns"))
        }
        SelectInto::Variables(_) => Ok(()),
        SelectInto::Outfile(Outfile { path, .. }) | SelectInto::Dumpfile(path) => {
            allowed_path(path, session).map(drop)
        }
    }
}

/// Checks that the account may write files. This comes before any error about the query.
///
/// # Errors
/// Returns 1227 when the account lacks the privilege FILE.
pub(super) fn check_account(into: &SelectInto, session: &Session) -> Result<()> {
    let denied = |_| {
        let text = "Access denied; you need (at least one of) the FILE privilege(s) for this operation";
        SqlError::new(1227, text)
    };
    match into {
        SelectInto::Variables(_) => Ok(()),
        SelectInto::Outfile(_) | SelectInto::Dumpfile(_) => {
            session.server.host.check_file_access().map_err(denied)
        }
    }
}

/// Returns the path of the file to write.
///
/// # Errors
/// Returns 1290 for a place that `secure_file_priv` does not allow.
fn allowed_path(written: &[u8], session: &Session) -> Result<PathBuf> {
    let text = |name: &str| -> Result<String> {
        let value = session.server.host.variable(VariableScope::Global, name)?;
        Ok(value.map_or_else(String::new, |value| String::from_utf8_lossy(&text_of(&value)).into_owned()))
    };
    let refused = || {
        let text = "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement";
        SqlError::new(1290, text)
    };
    let allowed = text("secure_file_priv")?;
    if allowed.eq_ignore_ascii_case("NULL") {
        return Err(refused());
    }
    let written = String::from_utf8_lossy(written);
    let mut base = PathBuf::from(text("datadir")?);
    if !written.contains('/') {
        // A name alone is one in the directory of the current schema.
        base.push(session.settings.schema.as_deref().unwrap_or_default());
    }
    let path = base.join(&*written);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if !allowed.is_empty() && (climbs || !path.starts_with(Path::new(&allowed))) {
        return Err(refused());
    }
    Ok(path)
}

impl Output {
    fn create(path: &Path, charset: Option<&str>) -> Result<Output> {
        let unknown = |name: &str| SqlError::new(1115, format!("Unknown character set: '{name}'"));
        let charset =
            charset.map(|name| Charset::from_name(name).ok_or_else(|| unknown(name))).transpose()?;
        let shown = path.display();
        let file = os::disk::real().open(path, OpenMode::CreateNew).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                SqlError::new(1086, format!("File '{shown}' already exists"))
            }
            _ => {
                let number = error.raw_os_error().unwrap_or_default();
                let text =
                    format!("Can't create/write to file '{shown}' (OS errno {number} - {})", words(&error));
                SqlError::new(1, text)
            }
        })?;
        Ok(Output { file, charset, buffer: Vec::new(), written_bytes: 0 })
    }

    fn text(&mut self, bytes: &[u8]) {
        match self.charset {
            Some(charset) => {
                let converted = collation::from_utf8mb4_lossy(charset.default_collation(), bytes);
                self.buffer.extend_from_slice(&converted);
            }
            None => self.buffer.extend_from_slice(bytes),
        }
    }

    fn write(&mut self) -> Result<()> {
        let failed = |error: std::io::Error| {
            let number = error.raw_os_error().unwrap_or_default();
            SqlError::new(3, format!("Error writing file (OS errno {number} - {})", words(&error)))
        };
        self.file.write_all_at(&self.buffer, self.written_bytes).map_err(failed)?;
        self.written_bytes += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// Returns the operating system's description of an error, without its number.
fn words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

impl<'s> IntoRows<'s> {
    /// Creates the file, if rows go into one.
    ///
    /// # Errors
    /// Returns 1290 for a place that is not allowed, 1086 for a file that exists, 1 for one that
    /// cannot be created, and 1115 for an unknown character set.
    pub fn new(into: &'s SelectInto, columns: &'s [ColumnMeta], session: &Session) -> Result<IntoRows<'s>> {
        let file = match into {
            SelectInto::Variables(_) => None,
            SelectInto::Outfile(Outfile { path, charset, .. }) => {
                Some(Output::create(&allowed_path(path, session)?, charset.as_deref())?)
            }
            SelectInto::Dumpfile(path) => Some(Output::create(&allowed_path(path, session)?, None)?),
        };
        Ok(IntoRows { into, columns, file, rows: 0 })
    }

    /// Takes the next row.
    ///
    /// # Errors
    /// Returns 1172 for a second row when variables or DUMPFILE take only one, and 3 when the file
    /// cannot be written.
    pub fn row(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        self.rows += 1;
        let is_second = self.rows > 1;
        match (self.into, &mut self.file) {
            (SelectInto::Variables(_) | SelectInto::Dumpfile(_), _) if is_second => Err(more_than_one()),
            (SelectInto::Variables(names), _) => {
                for ((name, value), column) in names.iter().zip(row).zip(self.columns) {
                    ctx.user_variables.set(name, &value.clone().in_zone(ctx.zone()), &column.ty)?;
                }
                Ok(())
            }
            (SelectInto::Dumpfile(_), Some(output)) => {
                for value in row.iter().filter(|value| !value.is_null()) {
                    output.text(&text_of(&value.clone().in_zone(ctx.zone())));
                }
                Ok(())
            }
            (SelectInto::Outfile(outfile), Some(output)) => {
                put_line(output, &outfile.format, row, self.columns, ctx)?;
                if output.buffer.len() < BUFFERED_BYTES { Ok(()) } else { output.write() }
            }
            (SelectInto::Outfile(_) | SelectInto::Dumpfile(_), None) => unreachable!("the file is open"),
        }
    }

    /// Ends the rows and returns their number.
    pub fn finish(mut self, ctx: &Context<'_>) -> Result<u64> {
        if let Some(output) = &mut self.file {
            output.write()?;
        }
        if self.rows == 0 && matches!(self.into, SelectInto::Variables(_)) {
            ctx.warn(1329, "No data - zero rows fetched, selected, or processed");
        }
        Ok(self.rows)
    }
}

/// Reports whether OPTIONALLY ENCLOSED BY encloses values of this type.
fn is_text(code: TypeCode) -> bool {
    use TypeCode::{Double, Float, Int24, Long, LongLong, NewDecimal, Short, Tiny, Year};
    !matches!(code, NewDecimal | Double | Float | Int24 | Long | LongLong | Short | Tiny | Year)
}

/// Appends a row to the file as a line of text.
fn put_line(
    output: &mut Output,
    format: &TextFormat,
    row: &[Value],
    columns: &[ColumnMeta],
    ctx: &Context<'_>,
) -> Result<()> {
    let escape = format.escape(ctx.variables.sql_mode.lex().no_backslash_escapes);
    let escape = escape.as_ref();
    output.text(&format.before_line);
    for (at, (value, column)) in row.iter().zip(columns).enumerate() {
        ctx.check_interrupt()?;
        if at > 0 {
            output.text(&format.between_fields);
        }
        if value.is_null() {
            match escape {
                Some(escape) => output.text(&[*escape, b'N']),
                None => output.text(b"NULL"),
            }
            continue;
        }
        let encloses = !format.optionally || is_text(column.ty.code);
        let enclosed = format.enclosed.first().filter(|_| encloses);
        let text = value.clone().in_zone(ctx.zone());
        let mut field = Vec::new();
        field.extend(enclosed);
        let special = [escape, enclosed.or(format.between_fields.first()), format.behind_line.first()];
        for byte in text_of(&text).iter() {
            match escape {
                Some(escape) if *byte == 0 => field.extend([*escape, b'0']),
                Some(escape) if special.contains(&Some(byte)) => field.extend([*escape, *byte]),
                _ => field.push(*byte),
            }
        }
        field.extend(enclosed);
        output.text(&field);
    }
    output.text(&format.behind_line);
    Ok(())
}
