//! Events from binary log files in place of those of a source. A restore, and a receiver that
//! follows a store, put them into the relay log as if a source had sent them, and the applier
//! applies them as it always does.

use super::connection::Ended;
use super::stream::Stream;
use crate::channel::Channel;
use crate::error::{ThreadError, number};
use crate::relay::RelayWriter;

/// How many events are taken before the applier is told of them.
const BETWEEN_PUBLISHING: u32 = 512;

/// A feeding of a channel. The applier sees everything once [`Feed::finish`] has returned.
pub struct Feed<'c> {
    stream: Stream<'c>,
    unpublished: u32,
}

fn thread_error(ended: Ended) -> ThreadError {
    match ended {
        Ended::Fatal(error) => error,
        Ended::Lost(number, text) => ThreadError::now(number, text),
        Ended::Stopped => ThreadError::now(number::RELAY_LOG_WRITE_FAILURE, "the feeding was stopped"),
    }
}

impl<'c> Feed<'c> {
    pub(crate) fn begin(channel: &'c Channel) -> Result<Feed<'c>, ThreadError> {
        let writer = RelayWriter::open(&channel.relay)
            .map_err(|error| ThreadError::now(number::RELAY_LOG_WRITE_FAILURE, error.to_string()))?;
        Ok(Feed { stream: Stream::new(channel, (false, true), writer), unpublished: 0 })
    }

    /// Goes on with another file at this offset. Its format description event has to come next.
    ///
    /// # Errors
    /// Returns errors of the relay log.
    pub fn file(&mut self, name: &str, pos: u64) -> Result<(), ThreadError> {
        self.stream.rotate(name.as_bytes(), pos, 0).map_err(thread_error)
    }

    /// Takes the next event of the file, whole, with its checksum if it has one. Rotate events are
    /// passed over: [`Feed::file`] takes their place.
    ///
    /// # Errors
    /// Returns an error for an event that is damaged or that `gtid_mode` refuses, and errors of the
    /// relay log.
    pub fn event(&mut self, event: &[u8]) -> Result<(), ThreadError> {
        self.take(event).map_err(thread_error)
    }

    /// Takes an event as [`Feed::event`] does.
    pub(super) fn take(&mut self, event: &[u8]) -> Result<(), Ended> {
        if crate::event::is_whole(event) && crate::event::kind_of(event) == crate::event::kind::ROTATE {
            return Ok(());
        }
        self.stream.take(event)?;
        self.unpublished += 1;
        if self.unpublished >= BETWEEN_PUBLISHING {
            self.publish().map_err(Ended::Fatal)?;
        }
        Ok(())
    }

    /// Ends the feeding.
    ///
    /// # Errors
    /// Returns errors of the relay log.
    pub fn finish(mut self) -> Result<(), ThreadError> {
        self.publish()
    }

    /// Shows the applier what was taken.
    pub(super) fn publish(&mut self) -> Result<(), ThreadError> {
        self.unpublished = 0;
        self.stream.publish().map_err(thread_error)
    }
}
