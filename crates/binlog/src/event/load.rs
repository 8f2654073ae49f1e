//! The events of LOAD DATA as a statement: BEGIN_LOAD_QUERY and APPEND_BLOCK with the blocks of the
//! file, EXECUTE_LOAD_QUERY with the statement that loads it, and DELETE_FILE if nothing was
//! loaded.

use super::DecodeError;
use super::header::HEADER_LEN;
use super::query::QueryEvent;
use crate::cursor::Cursor;

/// A block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadBlock<'a> {
    /// The number of the file at the source.
    pub file_id: u32,
    /// The next bytes of the file.
    pub bytes: &'a [u8],
}

/// An EXECUTE_LOAD_QUERY event: a statement that loads a file whose blocks came before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteLoadQuery<'a> {
    /// The session and the statement, as in a QUERY event.
    pub query: QueryEvent<'a>,
    /// The number of the file.
    pub file_id: u32,
    /// The offset at which the file's part of the statement begins: just after `DATA`. It extends
    /// to just after `INTO`.
    pub file_start: u32,
    /// The offset at which that part ends.
    pub file_end: u32,
    /// The handling of duplicates: 0 an error, 1 IGNORE, 2 REPLACE.
    pub on_duplicate: u8,
}

/// Reads a BEGIN_LOAD_QUERY or APPEND_BLOCK event.
pub(super) fn block(event: &[u8]) -> Result<LoadBlock<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    Ok(LoadBlock { file_id: cursor.u32()?, bytes: cursor.rest() })
}

/// Reads a DELETE_FILE event, and returns the number of the file.
pub(super) fn deleted(event: &[u8]) -> Result<u32, DecodeError> {
    Cursor::at(event, HEADER_LEN).u32()
}

pub(super) fn execute(event: &[u8]) -> Result<ExecuteLoadQuery<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let thread_id = cursor.u32()?;
    let exec_time = cursor.u32()?;
    let schema_len = cursor.u8()?;
    let error_code = cursor.u16()?;
    let status_len = cursor.u16()?;
    let (file_id, file_start, file_end) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let on_duplicate = cursor.u8()?;
    let status_vars = cursor.take(usize::from(status_len))?;
    let schema = cursor.take(usize::from(schema_len))?;
    cursor.u8()?; // A zero byte ends the schema.
    let statement = cursor.rest();
    let is_within = file_start <= file_end && file_end as usize <= statement.len();
    if !is_within || on_duplicate > 2 {
        return Err(DecodeError {
            offset: HEADER_LEN,
            what: "the file of a LOAD DATA is not in its statement",
        });
    }
    let query = QueryEvent { thread_id, exec_time, error_code, status_vars, schema, statement };
    Ok(ExecuteLoadQuery { query, file_id, file_start, file_end, on_duplicate })
}

impl ExecuteLoadQuery<'_> {
    /// Returns the statement with another file in it. Nothing in the file's name needs to be
    /// escaped.
    pub fn statement_for(&self, file: &str) -> Vec<u8> {
        let (start, end) = (self.file_start as usize, self.file_end as usize);
        let duplicates = match self.on_duplicate {
            0 => "",
            1 => " IGNORE",
            _ => " REPLACE",
        };
        let mut statement = self.query.statement[..start].to_vec();
        statement.extend_from_slice(format!(" INFILE '{file}'{duplicates} INTO").as_bytes());
        statement.extend_from_slice(&self.query.statement[end..]);
        statement
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execute_event(start: u32, end: u32) -> Vec<u8> {
        let mut event = vec![0; HEADER_LEN];
        event.extend_from_slice(&[7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
        event.extend_from_slice(&3u32.to_le_bytes());
        event.extend_from_slice(&start.to_le_bytes());
        event.extend_from_slice(&end.to_le_bytes());
        event.push(2);
        event.extend_from_slice(b"d\0LOAD DATA INFILE 'x' REPLACE INTO TABLE t");
        event
    }

    #[test]
    fn a_statement_gets_the_file_that_came_with_it() {
        let event = execute_event(9, 33);
        let decoded = execute(&event).expect("it is whole");
        assert_eq!((decoded.file_id, decoded.query.schema), (3, &b"d"[..]));
        assert_eq!(decoded.statement_for("f"), b"LOAD DATA INFILE 'f' REPLACE INTO TABLE t");
    }

    #[test]
    fn a_file_that_is_not_in_the_statement_is_damage() {
        for (start, end) in [(9, 99), (20, 9)] {
            execute(&execute_event(start, end)).expect_err("it is damaged");
        }
    }
}
