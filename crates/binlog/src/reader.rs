//! The reading of a file's events (or any run of events), one after the other, from bytes in
//! memory.

use crate::cursor::DecodeError;
use crate::event::{HEADER_LEN, Header};
use crate::{MAGIC, event};

/// An event as it is in the bytes: its header is decoded, its body is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawEvent<'a> {
    /// The header of the event.
    pub header: Header,
    /// The bytes of the whole event.
    pub bytes: &'a [u8],
    /// The offset of the event in the bytes that are read.
    pub offset: usize,
}

/// An iterator over events. It ends at the end of the bytes. An event that is cut short is an
/// error, and the last item.
#[derive(Clone, Debug)]
pub struct EventReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> EventReader<'a> {
    /// Makes a reader of a run of events.
    pub fn new(bytes: &'a [u8]) -> EventReader<'a> {
        EventReader { bytes, at: 0 }
    }

    /// Makes a reader of a whole file, which starts with [`MAGIC`].
    pub fn of_file(bytes: &'a [u8]) -> Result<EventReader<'a>, DecodeError> {
        if bytes.starts_with(&MAGIC) {
            Ok(EventReader { bytes, at: MAGIC.len() })
        } else {
            Err(DecodeError { offset: 0, what: "no binary log file: it does not start with fe 62 69 6e" })
        }
    }

    /// Returns the offset at which the next event starts.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for EventReader<'a> {
    type Item = Result<RawEvent<'a>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let offset = self.at;
        let event = event_len(rest).and_then(|len| Ok((Header::decode(rest)?, &rest[..len])));
        match event {
            Ok((header, bytes)) => {
                self.at += bytes.len();
                Some(Ok(RawEvent { header, bytes, offset }))
            }
            Err(error) => {
                self.at = self.bytes.len();
                Some(Err(DecodeError { offset: offset + error.offset, ..error }))
            }
        }
    }
}

/// Returns the length in bytes of the event at the start of `bytes`, which must have the whole
/// event.
#[inline]
pub fn event_len(bytes: &[u8]) -> Result<usize, DecodeError> {
    let size = bytes
        .get(event::EVENT_SIZE_OFFSET..)
        .and_then(|rest| rest.first_chunk::<4>())
        .map(|size| u32::from_le_bytes(*size) as usize);
    match size {
        Some(size) if size < HEADER_LEN => {
            Err(DecodeError { offset: event::EVENT_SIZE_OFFSET, what: "event size below that of a header" })
        }
        Some(size) if size <= bytes.len() => Ok(size),
        _ => Err(DecodeError { offset: bytes.len(), what: "event cut short" }),
    }
}
