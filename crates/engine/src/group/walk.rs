//! Walking the row changes of an event group, for recovery.

use crate::error::{EngineError, Result};
use binlog::event::RowsEvent;
use binlog::{Checksum, DecodeError, Event, Format};

/// An error for an event of a commit record that does not decode.
pub(crate) fn malformed(error: DecodeError) -> EngineError {
    EngineError::Event(format!("the event group of a commit record: {error}"))
}

/// The rows events of a group, in order.
pub(crate) fn rows_events(group: &[u8]) -> Result<Vec<RowsEvent<'_>>> {
    let format = Format::new(Checksum::None);
    let mut events = Vec::new();
    let mut rest = group;
    while !rest.is_empty() {
        let size = binlog::Header::decode(rest).map_err(malformed)?.event_size as usize;
        let Some((event, after)) = rest.split_at_checked(size).filter(|_| size > 0) else {
            return Err(EngineError::Event(format!("an event of a commit record claims {size} bytes")));
        };
        rest = after;
        if let (_, Event::Rows(rows)) = binlog::decode(event, &format).map_err(malformed)? {
            events.push(rows);
        }
    }
    Ok(events)
}
