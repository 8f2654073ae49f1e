//! The background threads of the pool: page cleaners, LRU flushers and the read-ahead thread.

use std::sync::Arc;

use os::thread::JoinHandle;
use parking_lot::Mutex;

use crate::cleaner::Cleaners;
use crate::frames::Frames;
use crate::free_frames::FreeFrames;
use crate::lru_flusher;
use crate::read_ahead::ReadAhead;

/// The background threads that run, and the parts of the pool that they work on.
#[derive(Debug)]
pub(crate) struct Background {
    frames: Arc<Frames>,
    free_frames: Arc<FreeFrames>,
    cleaners: Arc<Cleaners>,
    read_ahead: Arc<ReadAhead>,
    /// The handles of the running threads. In the lock order this mutex comes before the bells.
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Background {
    pub fn new(
        frames: Arc<Frames>,
        free_frames: Arc<FreeFrames>,
        cleaners: Arc<Cleaners>,
        read_ahead: Arc<ReadAhead>,
    ) -> Background {
        Background { frames, free_frames, cleaners, read_ahead, threads: Mutex::new(Vec::new()) }
    }

    /// Returns the number of page cleaner threads, the coordinator included.
    pub fn cleaners(&self) -> usize {
        self.cleaners.count()
    }

    /// Starts all threads. Returns false, and starts nothing, when they run already.
    pub fn start(&self) -> bool {
        let mut threads = self.threads.lock();
        if !threads.is_empty() {
            return false;
        }
        self.cleaners.begin();
        let cleaners = Arc::clone(&self.cleaners);
        threads.push(os::thread::spawn("page_cleaner", move || {
            if !os::thread::prefer() {
                log::info!(
                    "If the user that runs the server is authorized, page cleaner thread priority can be changed. See the man page of \
                     setpriority()."
                );
            }
            cleaners.coordinate()
        }));
        for _ in 1..self.cleaners.count() {
            let cleaners = Arc::clone(&self.cleaners);
            threads.push(os::thread::spawn("page_cleaner", move || {
                os::thread::prefer();
                cleaners.work()
            }));
        }
        for (number, instance) in self.frames.instances().iter().enumerate() {
            instance.lru_bell.begin();
            let (frames, free_frames) = (Arc::clone(&self.frames), Arc::clone(&self.free_frames));
            threads.push(os::thread::spawn("lru_flusher", move || {
                os::thread::prefer();
                lru_flusher::run(&free_frames, &frames.instances()[number], number)
            }));
        }
        self.frames.notes().bell.begin();
        let read_ahead = Arc::clone(&self.read_ahead);
        threads.push(os::thread::spawn("read_ahead", move || read_ahead.run()));
        true
    }

    /// Stops all threads and waits until they have ended.
    pub fn stop(&self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        self.cleaners.stop();
        self.frames.instances().iter().for_each(|instance| instance.lru_bell.stop());
        self.frames.notes().bell.stop();
        for thread in threads {
            if thread.join().is_err() {
                log::error!("a thread of the buffer pool ended with a panic");
            }
        }
    }
}
