//! The state that the log's handle, its threads and its readers share.

use os::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::Arc;

use os::disk::Disk;
use os::event::Event;
use os::sync::Mutex;

use crate::checkpoint::{Lives, Slots};
use crate::files::Files;
use crate::hold::Holds;
use crate::rings::Rings;
use crate::space::Space;
use crate::{LogConfig, Lsn, RedoError};

/// A value with a pair of cache lines of its own, so that writers of one counter do not slow
/// readers of another.
#[repr(align(128))]
#[derive(Debug, Default)]
pub(crate) struct Padded<T>(pub T);

/// The shared state of a log. Lock order: `write`, then `flush`'s token is never waited for while
/// `write` is held (the flusher takes `write` while it has the token), then `checkpoint`, then
/// those inside [`Files`].
pub(crate) struct Core {
    pub disk: Arc<dyn Disk>,
    pub files: Files,
    pub slots: Slots,
    pub rings: Rings,
    pub lives: Lives,
    /// The seed of the life that began when this log was opened. Records that are appended carry
    /// it.
    pub seed: u64,
    pub log_id: u64,
    /// The log's end when it was opened. All records before it were read and checked then.
    pub opened_lsn: Lsn,
    pub space: Space,
    /// The positions from which copies still need the log. A leaf in the lock order.
    pub holds: Holds,

    /// The end of the reserved bytes, which is the log's current end. `SeqCst`: an idle writer
    /// announces itself (in `writer_idle`) and then looks here, a filler adds here and then looks
    /// for an idle writer, so one of them sees the other.
    pub reserved_lsn: Padded<AtomicU64>,
    /// The end of the bytes that are written to the files. `Release` by the writer after its write,
    /// `Acquire` by fillers (whose ring bytes are free then) and readers (who find the bytes in the
    /// file then).
    pub written_lsn: Padded<AtomicU64>,
    /// The end of the bytes that survive a power cut. `Release` after the sync, `Acquire` by
    /// threads that act on it.
    pub durable_lsn: Padded<AtomicU64>,
    /// The position up to which somebody asked for a sync. `SeqCst` with the flusher's idling, as
    /// `reserved_lsn` with the writer's.
    pub requested_lsn: Padded<AtomicU64>,
    /// The position up to which threads wait, or have waited, for a sync, which is not raised by
    /// mere requests. Relaxed: it only sets the pace.
    pub awaited_lsn: AtomicU64,

    /// The end of the published and consumed bytes. Whoever holds this lock may write. A thread
    /// that has reserved and not filled never waits for it, except for room in the ring, which the
    /// earliest such thread always finds.
    pub write: Mutex<WriteState>,
    /// Whether a thread syncs: the token. `Acquire` when it is taken, `Release` when it is given
    /// back.
    pub flushing: AtomicBool,
    pub flush_at_trx_commit: AtomicU8,
    /// Whether writing and syncing is left to the log's threads (`innodb_log_writer_threads`).
    /// Relaxed: a thread that sees an old value does what was right a moment ago.
    pub writer_threads: AtomicBool,

    /// The writer waits here when it has nothing to write. At `writer_nap` it waits for its next
    /// round.
    pub writer_idle: Event,
    pub writer_nap: Event,
    /// Signalled when `written_lsn` has advanced.
    pub written: Event,
    pub flusher_idle: Event,
    /// The flusher waits here between syncs that nobody waits for.
    pub flusher_pause: Event,
    /// Signalled when `durable_lsn` has advanced: the sync with number `n` notifies `durable[n %
    /// 2]`.
    pub durable: [Event; 2],
    /// The sync that runs or ran last. The mutex is a leaf in the lock order.
    pub sync_plan: Mutex<SyncPlan>,
    pub governor: Event,
    pub checkpoint: Mutex<CheckpointState>,

    /// Whether `close` was called: threads finish what is there and end. `SeqCst`, like the
    /// conditions the threads idle on.
    pub closing: AtomicBool,
    /// Whether a full disk is no longer waited out; see [`crate::Log::give_up_on_full_disk`].
    /// Relaxed: a thread that waits looks again and again.
    pub gives_up_on_full_disk: AtomicBool,
    /// Whether `poison` holds a cause. `Acquire`/`Release`.
    pub is_poisoned: AtomicBool,
    pub poison: Mutex<Option<String>>,
    pub counters: Counters,
}

/// The number of bytes of a page of the page cache.
pub(crate) const PAGE_BYTES: u64 = 4096;

pub(crate) struct WriteState {
    /// The end of the published prefix; `written_lsn <= tail_lsn <= reserved_lsn`.
    pub tail_lsn: Lsn,
    /// The file that was written last.
    pub file: Option<Arc<crate::files::LogFile>>,
    /// The memory for the last page of a write. It holds zeros between writes.
    pub last_page: Box<[u8; PAGE_BYTES as usize]>,
}

pub(crate) struct SyncPlan {
    pub number: u64,
    /// The position up to which the sync makes the log durable.
    pub target_lsn: Lsn,
}

pub(crate) struct CheckpointState {
    pub sequence: u64,
}

/// The counters for SHOW STATUS. All accesses are relaxed, since each counter stands for itself.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The number of records that were published. A large one counts once for each part in which it
    /// was published.
    pub write_requests: AtomicU64,
    pub writes: AtomicU64,
    pub written_bytes: AtomicU64,
    pub syncs: AtomicU64,
    pub sync_ns: AtomicU64,
    pub buffer_waits: AtomicU64,
    pub space_waits: AtomicU64,
}

impl Counters {
    pub fn count(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// The state in which a log goes on, as found by `open` or set by `create`.
pub(crate) struct Start {
    pub end_lsn: Lsn,
    pub checkpoint_lsn: Lsn,
    pub sequence: u64,
    pub log_id: u64,
    pub lives: Lives,
}

impl Core {
    pub fn new(disk: Arc<dyn Disk>, config: &LogConfig, files: Files, slots: Slots, start: Start) -> Core {
        let end = || Padded(AtomicU64::new(start.end_lsn));
        Core {
            disk,
            files,
            slots,
            rings: Rings::new(LogConfig::ring_bytes(config.buffer_bytes)),
            seed: start.lives.current_seed(),
            lives: start.lives,
            log_id: start.log_id,
            opened_lsn: start.end_lsn,
            space: Space::new(config.capacity(), start.checkpoint_lsn),
            holds: Holds::default(),
            reserved_lsn: end(),
            written_lsn: end(),
            durable_lsn: end(),
            requested_lsn: end(),
            awaited_lsn: AtomicU64::new(start.end_lsn),
            write: Mutex::new(WriteState {
                tail_lsn: start.end_lsn,
                file: None,
                last_page: Box::new([0; PAGE_BYTES as usize]),
            }),
            flushing: AtomicBool::new(false),
            flush_at_trx_commit: AtomicU8::new(config.flush_at_trx_commit),
            writer_threads: AtomicBool::new(config.writer_threads),
            writer_idle: Event::new(),
            writer_nap: Event::new(),
            written: Event::new(),
            flusher_idle: Event::new(),
            flusher_pause: Event::new(),
            durable: [const { Event::new() }; 2],
            sync_plan: Mutex::new(SyncPlan { number: 0, target_lsn: start.end_lsn }),
            governor: Event::new(),
            checkpoint: Mutex::new(CheckpointState { sequence: start.sequence }),
            closing: AtomicBool::new(false),
            gives_up_on_full_disk: AtomicBool::new(false),
            is_poisoned: AtomicBool::new(false),
            poison: Mutex::new(None),
            counters: Counters::default(),
        }
    }

    pub fn reserved(&self) -> Lsn {
        self.reserved_lsn.0.load(Ordering::SeqCst)
    }

    pub fn written(&self) -> Lsn {
        self.written_lsn.0.load(Ordering::Acquire)
    }

    pub fn durable(&self) -> Lsn {
        self.durable_lsn.0.load(Ordering::Acquire)
    }

    /// Reports whether writing and syncing is left to the log's threads, which run until the log is
    /// closed.
    pub fn leaves_it_to_threads(&self) -> bool {
        self.writer_threads.load(Ordering::Relaxed) && !self.is_closing()
    }

    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Reports whether threads should end now.
    pub fn is_stopped(&self) -> bool {
        self.is_poisoned.load(Ordering::Acquire)
    }

    /// Returns an error when the log is poisoned.
    pub fn check(&self) -> Result<(), RedoError> {
        if !self.is_stopped() {
            return Ok(());
        }
        Err(RedoError::Poisoned(self.poison.lock().clone().unwrap_or_default()))
    }

    /// Ends the log after a failure, and the process with it: nothing that is not durable now may
    /// ever be acknowledged. On a simulated disk this returns the error, and every wait of every
    /// thread ends with it.
    pub fn fail(&self, cause: &str) -> RedoError {
        let first = {
            let mut poison = self.poison.lock();
            let is_first = poison.is_none();
            poison.get_or_insert_with(|| cause.to_owned());
            is_first
        };
        self.is_poisoned.store(true, Ordering::Release);
        if first {
            self.disk.fail_stop(cause);
        }
        self.wake_all();
        RedoError::Poisoned(cause.to_owned())
    }

    /// Wakes every thread that waits for anything of this log, so that it looks again.
    pub fn wake_all(&self) {
        let [even, odd] = &self.durable;
        let events = [&self.writer_idle, &self.writer_nap, &self.written, &self.flusher_idle, even, odd];
        for event in events.into_iter().chain([&self.flusher_pause, &self.governor, &self.space.freed]) {
            event.notify_all();
        }
    }
}
