//! Reading events from the relay log for the applier: waiting for them, checking their checksums,
//! and MySQL's words for events that cannot be read.

use std::time::Duration;

use binlog::Checksum;
use binlog::event::HEADER_LEN;

use crate::error::{ThreadError, number};
use crate::event::{self, kind};
use crate::relay::{RelayError, RelayReader};

/// The longest sleep of the applier before it looks whether it has to stop. It may be woken
/// earlier.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Waits until more has been received, or for [`LONGEST_SLEEP`].
pub(super) fn wait_for_more(reader: &RelayReader) {
    let _idle = os::account::enter(os::account::State::RelayLogWait);
    reader.wait(LONGEST_SLEEP);
}

/// Returns the event without its checksum, which is verified if `verify`. A format description
/// event keeps its checksum: it always has one, and decoding it expects one.
#[inline]
pub(super) fn check(event: &[u8], checksum: Checksum, verify: bool) -> Result<&[u8], ThreadError> {
    let is_format = event::kind_of(event) == kind::FORMAT_DESCRIPTION;
    if checksum == Checksum::None && !is_format {
        return Ok(event);
    }
    if verify && binlog::checksum::verify_checksum(event).is_err() {
        return Err(unreadable_because("Event crc check failed! Most likely there is event corruption."));
    }
    if is_format {
        return Ok(event);
    }
    let end = event.len().checked_sub(event::CHECKSUM_BYTES).filter(|&end| end >= HEADER_LEN);
    end.map(|end| &event[..end]).ok_or_else(|| unreadable_because("the event is too short for its checksum"))
}

/// Converts an error of the relay log's reader into an error of the thread.
pub(super) fn unreadable(error: RelayError) -> ThreadError {
    unreadable_because(&error.to_string())
}

/// Builds the error with MySQL's text and the cause behind it.
#[cold]
fn unreadable_because(cause: &str) -> ThreadError {
    ThreadError::now(
        number::RELAY_LOG_READ_FAILURE,
        format!(
            "Relay log read failure: Could not parse relay log event entry. The possible reasons are: the source's binary log is \
             corrupted (you can check this by running 'mysqlbinlog' on the binary log), the replica's relay log is corrupted (you can \
             check this by running 'mysqlbinlog' on the relay log), a network problem, the server was unable to fetch a keyring key \
             required to open an encrypted relay log file, or a bug in the source's or replica's MySQL code. If you want to check the \
             source's binary log or replica's relay log, you will be able to know their names by issuing 'SHOW REPLICA STATUS' on this \
             replica. ({cause})"
        ),
    )
}
