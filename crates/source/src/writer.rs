//! The writer: one thread that follows the engine's commits and appends them to the newest file. No
//! commit waits for it.
//!
//! The engine gives a group out only when the redo log holds it as safely as
//! `innodb_flush_log_at_trx_commit` asks for, so that a replica is never ahead of a source that has
//! recovered. A file is synced after the redo log up to the same commit, and only then may the
//! checkpoint pass that commit.

use std::time::Duration;

use binlog::gtid::GtidSet;
use engine::{CheckpointParticipant, CommitStream, EngineError, WritesetReader};
use os::account::{State, enter};
use os::clock::Stopwatch;

use crate::dependencies::Written;
use crate::disk_full::wait_for_space;
use crate::error::BinlogError;
use crate::events;
use crate::failure::give_up;
use crate::files::LogFiles;
use crate::position::FilePosition;
use crate::purge::purge_expired;
use crate::recent::Recent;
use crate::reset::RESET_TRIES;
use crate::state::SafePoint;
use crate::tail::{BLOCK_BYTES, SYNC_BYTES, Tail};

/// The longest wait for the commit stream, after which requests of sessions are checked.
const IDLE_WAIT: Duration = Duration::from_millis(20);
/// The pause after commits have been taken, while no session reads the end of the log. Later
/// commits then go with the next write, and do not each wake this thread.
const REST: Duration = Duration::from_millis(10);
/// The pause while one dump session waits for more, and the addition for each further one, because
/// every write wakes all of them. Replicas get a transaction later by at most this, and by [`REST`]
/// when there are many of them.
const REST_FOR_ONE: Duration = Duration::from_millis(2);
const REST_FOR_EACH: Duration = Duration::from_millis(1);
/// The pause while sessions wait for acknowledgements of replicas.
const REST_FOR_ACKNOWLEDGEMENTS: Duration = Duration::from_micros(500);
/// The interval at which a file with unsynced groups is synced, if [`SYNC_BYTES`] are not reached
/// before.
const SYNC_INTERVAL: Duration = Duration::from_millis(500);

/// Runs the writer; it is the body of its thread.
pub(crate) fn run(files: &LogFiles, tail: Tail, stream: CommitStream) {
    let writesets = WritesetReader::new(files.engine.clone());
    let mut writer = Writer { files, tail, stream, since_sync: Stopwatch::start(), writesets };
    if let Err(error) = writer.follow() {
        give_up(files, &error);
    }
}

struct Writer<'a> {
    files: &'a LogFiles,
    tail: Tail,
    stream: CommitStream,
    since_sync: Stopwatch,
    writesets: WritesetReader,
}

fn end_of(tail: &Tail) -> FilePosition {
    FilePosition { file: tail.number, pos: tail.pos() }
}

/// The request of a session to the writer.
enum Request {
    None,
    Rotate,
    Reset(u64),
    Stop,
}

impl Writer<'_> {
    fn follow(&mut self) -> Result<(), BinlogError> {
        loop {
            let before = self.tail.gathered_bytes();
            let drained = self.take_block()?;
            self.files.semi_sync.reached(self.tail.lsn);
            let took_any = self.tail.gathered_bytes() > before;
            self.publish()?;
            let is_due =
                self.since_sync.elapsed() >= SYNC_INTERVAL && self.files.safe.safe_lsn() != self.tail.lsn;
            if is_due || self.tail.unsynced_bytes >= SYNC_BYTES {
                self.sync()?;
            }
            if self.tail.pos() >= self.files.shared.lock().max_file_bytes {
                self.rotate()?;
                purge_expired(self.files);
                continue;
            }
            if !drained {
                continue;
            }
            if took_any {
                self.rest();
            }
            match self.request() {
                Request::None => {}
                Request::Rotate => {
                    self.rotate()?;
                    self.files.shared.lock().rotations_done += 1;
                    self.files.changed.notify_all();
                }
                Request::Reset(first) => self.reset(first)?,
                Request::Stop => return self.end(),
            }
        }
    }

    /// Appends committed groups, up to a block. Returns true when there were no more.
    fn take_block(&mut self) -> Result<bool, BinlogError> {
        let (max_file_bytes, history_size) = {
            let shared = self.files.shared.lock();
            (shared.max_file_bytes, shared.dependency_history_size)
        };
        let mut wait = Some(IDLE_WAIT);
        loop {
            let Some(committed) = self.stream.next(wait)? else {
                // Records that do not belong in the binary log were passed on the way.
                self.tail.lsn = self.stream.lsn();
                self.files.passed.note(self.tail.lsn, end_of(&self.tail));
                return Ok(true);
            };
            let writeset = self.writesets.read(&committed);
            let written = Written { writeset, keys: self.writesets.keys(), history_size };
            self.files.passed.note(self.tail.lsn, end_of(&self.tail));
            let bytes = self.tail.append(&committed, written)?;
            self.files.compression.lock().count(&committed, bytes);
            let end = end_of(&self.tail);
            self.files.passed.note(committed.seq, end);
            self.files.semi_sync.logged(committed.seq, end);
            if self.tail.gathered_bytes() >= BLOCK_BYTES || self.tail.pos() >= max_file_bytes {
                return Ok(false);
            }
            wait = None;
        }
    }

    /// Lets commits gather for a while, unless a session waits for this thread.
    fn rest(&self) {
        let _idle = enter(State::Idle);
        let mut shared = self.files.shared.lock();
        let sessions = shared.readers.get(&self.tail.number).copied().unwrap_or(0);
        let pause = match sessions {
            _ if self.files.semi_sync.is_enabled() => REST_FOR_ACKNOWLEDGEMENTS,
            0 => REST,
            more => REST.min(REST_FOR_ONE + REST_FOR_EACH * (more as u32 - 1)),
        };
        if shared.waiting == 0 && !shared.stop {
            self.files.asked.wait_for(&mut shared, pause);
        }
    }

    /// Writes the gathered bytes and publishes them to the dump sessions.
    fn publish(&mut self) -> Result<(), BinlogError> {
        let is_read = !self.files.shared.lock().readers.is_empty();
        let block = (is_read && self.tail.gathered_bytes() > 0).then(|| self.tail.gathered_block());
        self.tail.flush()?;
        assert_eq!(self.tail.gathered_bytes(), 0, "what readers are told of is in the file");
        let mut shared = self.files.shared.lock();
        match block {
            Some(block) => shared.recent.push(block),
            None if !is_read => shared.recent = Recent::default(),
            None => {}
        }
        if shared.end_lsn != self.tail.lsn {
            let end = FilePosition { file: self.tail.number, pos: self.tail.pos() };
            shared.advance(end, self.tail.lsn);
            self.files.changed.notify_all();
        }
        Ok(())
    }

    /// Syncs the redo log and then the file, because a binary log must not have what a recovered
    /// redo log does not have.
    fn sync(&mut self) -> Result<(), BinlogError> {
        self.files.engine.log().wait_durable(self.tail.lsn).map_err(EngineError::from)?;
        if self.tail.unsynced_bytes > 0 {
            self.tail.sync()?;
        }
        assert_eq!(self.tail.unsynced_bytes, 0, "a safe point is behind nothing that is not synced");
        assert!(self.files.safe.safe_lsn() <= self.tail.lsn, "the safe point does not go back");
        self.files.safe.set(self.tail.safe_point());
        self.since_sync = Stopwatch::start();
        Ok(())
    }

    fn request(&self) -> Request {
        let mut shared = self.files.shared.lock();
        if shared.rotations_done < shared.rotations_wanted {
            return Request::Rotate;
        }
        if let Some(first) = shared.reset_wanted.take() {
            return Request::Reset(first);
        }
        if shared.stop { Request::Stop } else { Request::None }
    }

    /// Completes the present file and starts the next one.
    fn rotate(&mut self) -> Result<(), BinlogError> {
        self.publish()?;
        let files = self.files;
        let next_name = files.series.lock().name(self.tail.number + 1);
        self.tail.append_end(Some(&next_name), files.config.server_id);
        self.close_file()?;
        let mut at = self.tail.safe_point();
        let (config, checksum) = (&files.config, files.shared.lock().checksum);
        let head = events::file_head(&config.server_version, config.server_id, &at.gtids, true, checksum);
        // `series` is free between two attempts, so that a thread can purge files and make space.
        let (number, file) =
            wait_for_space(&next_name, &files.stopping, || files.series.lock().create_next(&head))?;
        assert_eq!(number, self.tail.number + 1, "the closed file names its successor");
        (at.file, at.pos, at.sequence_number) = (number, head.len() as u64, 0);
        self.tail = Tail::at(next_name, file, &at, checksum).until(&files.stopping);
        self.tail.mark_in_use(true)?;
        let end = FilePosition { file: number, pos: at.pos };
        files.safe.set(at);
        files.shared.lock().advance(end, self.tail.lsn);
        files.changed.notify_all();
        Ok(())
    }

    fn close_file(&mut self) -> Result<(), BinlogError> {
        self.tail.flush()?;
        self.tail.mark_in_use(false)?;
        self.sync()
    }

    /// Carries out RESET BINARY LOGS AND GTIDS: removes every file and starts again, with no GTID
    /// executed.
    ///
    /// The checkpoint in which the engine forgets its GTIDs decides the reset, and says that the
    /// files must go. A crash before it leaves everything. After a crash behind it, the next start
    /// removes what is left ([`SafePoint::resets`]). The checkpoint at the end comes before
    /// anything is in the new file, so that no start removes that.
    fn reset(&mut self, first: u64) -> Result<(), BinlogError> {
        let files = self.files;
        let outcome = self.forget_gtids(first);
        files.series.lock().remove_all()?;
        let gtids = GtidSet::default();
        let (config, checksum) = (&files.config, files.shared.lock().checksum);
        let head = events::file_head(&config.server_version, config.server_id, &gtids, false, checksum);
        let name = files.series.lock().name(first);
        let (number, file) =
            wait_for_space(&name, &files.stopping, || files.series.lock().create_numbered(first, &head))?;
        assert_eq!(number, first, "the first file after a reset has the number that was asked for");
        let at =
            SafePoint { lsn: self.tail.lsn, file: number, pos: head.len() as u64, sequence_number: 0, gtids };
        self.tail = Tail::at(name, file, &at, checksum).until(&files.stopping);
        self.tail.mark_in_use(true)?;
        let end = FilePosition { file: number, pos: at.pos };
        files.safe.set(at);
        let outcome = outcome.and_then(|()| files.engine.checkpoint().map(|_| ()));
        files.semi_sync.start_anew();
        let mut shared = files.shared.lock();
        shared.end = end;
        shared.recent = Recent::default();
        shared.generation += 1;
        shared.resets_done += 1;
        shared.reset_error = outcome.err().map(|error| error.to_string());
        files.changed.notify_all();
        Ok(())
    }

    /// Makes the engine forget its GTIDs, in a checkpoint that passes everything logged so far.
    /// This writer lets go of it first: what was committed until then goes with the files.
    fn forget_gtids(&mut self, first: u64) -> Result<(), EngineError> {
        let mut tries = 0;
        loop {
            while self.stream.next(None)?.is_some() {}
            self.tail.lsn = self.stream.lsn();
            self.files.engine.log().wait_durable(self.tail.lsn)?;
            let reset = || self.files.safe.set(SafePoint::of_reset(self.tail.lsn, first));
            match self.files.engine.reset_gtids_and(reset) {
                Err(EngineError::GtidUnusable(_)) if tries < RESET_TRIES => tries += 1,
                other => return other,
            }
        }
    }

    fn end(&mut self) -> Result<(), BinlogError> {
        self.tail.append_end(None, self.files.config.server_id);
        self.close_file()?;
        self.publish_end();
        Ok(())
    }

    fn publish_end(&self) {
        let end = FilePosition { file: self.tail.number, pos: self.tail.pos() };
        self.files.shared.lock().advance(end, self.tail.lsn);
        self.files.changed.notify_all();
    }
}
