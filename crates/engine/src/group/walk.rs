//! Walking the row changes of an event group, for recovery.

use crate::error::{EngineError, Result};
use binlog::event::{RowsEvent, rows_kind};
use binlog::{Checksum, DecodeError, Event, Format};

/// Builds the error for an event of a commit record that does not decode.
pub(crate) fn malformed(error: DecodeError) -> EngineError {
    EngineError::Event(format!("the event group of a commit record: {error}"))
}

/// Returns the rows events of a group, in order. After an error there are no more.
pub(crate) fn rows_events(group: &[u8]) -> impl Iterator<Item = Result<RowsEvent<'_>>> {
    let mut rest = group;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            match next_event(&mut rest) {
                Ok(None) => continue,
                Ok(Some(rows)) => return Some(Ok(rows)),
                Err(error) => {
                    rest = &[];
                    return Some(Err(error));
                }
            }
        }
        None
    })
}

/// Takes the first event off the front. Returns it if it has rows.
fn next_event<'g>(rest: &mut &'g [u8]) -> Result<Option<RowsEvent<'g>>> {
    let header = binlog::Header::decode(rest).map_err(malformed)?;
    let size = header.event_size as usize;
    let Some((event, after)) = rest.split_at_checked(size).filter(|_| size > 0) else {
        return Err(EngineError::Event(format!("an event of a commit record claims {size} bytes")));
    };
    *rest = after;
    if rows_kind(header.event_type).is_none() {
        return Ok(None);
    }
    match binlog::decode(event, &Format::new(Checksum::None)).map_err(malformed)? {
        (_, Event::Rows(rows)) => Ok(Some(rows)),
        _ => Ok(None),
    }
}
