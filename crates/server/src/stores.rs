//! The stores whose logs a replication channel can follow: the places of `slipstream backup`.

use std::ops::ControlFlow;

use backup::{BackupError, Begin, Location, Piece, Place};
use replica::stores::{StoredBegin, StoredError, StoredLog, StoredPiece, StoredRequest, Stores};

/// The places of backups, as sources of a replica.
pub struct BackupPlaces;

struct BackupLog(backup::StoredLog);

/// Decides whether another attempt may succeed: the store or the disk may answer again.
fn stored_error(error: BackupError) -> StoredError {
    let text = error.to_string();
    match error {
        BackupError::Store(_) | BackupError::Io(..) | BackupError::Missing(_) => StoredError::Passing(text),
        BackupError::Refused(_) | BackupError::Damaged(_) | BackupError::Server(_) => {
            StoredError::Final(text)
        }
    }
}

impl Stores for BackupPlaces {
    fn check(&self, url: &str) -> Result<(), String> {
        Location::parse(url).map(drop)
    }

    fn open(&self, request: StoredRequest<'_>) -> Result<Box<dyn StoredLog>, StoredError> {
        let from = Location::parse(request.url).map_err(StoredError::Final)?;
        let begin = match request.begin {
            StoredBegin::Gtids(set) => Begin::Gtids(set),
            StoredBegin::Place(file, pos) => Begin::Place(Place { file, pos }),
        };
        let log = backup::StoredLog::open(&from, request.key_file, begin, request.scratch);
        Ok(Box::new(BackupLog(log.map_err(stored_error)?)))
    }
}

impl StoredLog for BackupLog {
    fn server_uuid(&self) -> &str {
        self.0.server_uuid()
    }

    fn read_new(
        &mut self,
        visit: &mut dyn FnMut(StoredPiece<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoredError> {
        let read = self.0.read_new(|piece| match piece {
            Piece::File(name, pos) => visit(StoredPiece::File(name, pos)),
            Piece::Event(event) => visit(StoredPiece::Event(event)),
        });
        read.map(drop).map_err(stored_error)
    }
}
