//! Reading pages before the applier wants them.
//!
//! The relay log says which rows come next. A thread of its own looks at them some megabytes ahead
//! of the applier ([`super::coming`]), and has the pages that are not in the buffer pool read, many
//! at the same time. So an applier that would wait for one page after the other, because the server
//! was just started or the data is larger than the pool, finds most of them there.
//!
//! The thread rests while threads of this server hardly wait for pages, and while looking ahead
//! finds next to nothing that is missing. It changes nothing, and the applier depends on nothing
//! that it does.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use binlog::Checksum;
use binlog::event::{Event, HEADER_LEN};
use os::account::{self, State};
use parking_lot::{Condvar, Mutex};

use super::coming::{Coming, Looked};
use crate::channel::Channel;
use crate::event::{self, CHECKSUM_BYTES, kind};
use crate::relay::{RelayPosition, RelayReader, Step};

/// How often a resting thread looks whether pages are waited for.
const LOOK: Duration = Duration::from_millis(10);
/// The longest rest, to which looks that found nothing lead.
const LONGEST_REST: Duration = Duration::from_secs(1);
/// How many pages must have been waited for since the last look.
const WORTH: u64 = 4;
/// How long the thread waits until the applier has come closer, or more has been received.
const PAUSE: Duration = Duration::from_millis(1);
/// After how many pauses the thread rests: the relay log has nothing new, or the applier does not
/// come closer, such as one that has to be delayed.
const MOST_PAUSES: u32 = 200;
/// The most bytes of the relay log that are looked at together, so that the pages of many rows are
/// read at the same time.
const MOST_BATCH_BYTES: usize = 256 << 10;
/// In a small pool, the bytes are this many for each page that may be read ahead.
const BATCH_BYTES_A_PAGE: usize = 128;
/// How many batches the thread may be ahead of the applier.
const MOST_BATCHES: usize = 64;
/// The most pages that are read ahead and not wanted yet are one in this many of the pool's.
const POOL_SHARE: usize = 8;
/// How often a batch is looked at: the rows of its first missing pages lead to further ones.
const ROUNDS: usize = 3;
/// After how many rows the thread asks itself whether it is of use, and how many of them may come
/// for one page that was read.
const TRIAL_ROWS: usize = 4096;
const ROWS_A_PAGE: usize = 64;

/// The signal that the applier ends.
#[derive(Default)]
struct Over {
    /// The mutex is a leaf in the lock order.
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Over {
    /// Waits for this long. Returns true, and early, when the applier ends.
    fn wait(&self, limit: Duration) -> bool {
        let _idle = account::enter(State::Idle);
        let mut is_over = self.is_over.lock();
        if !*is_over {
            self.changed.wait_for(&mut is_over, limit);
        }
        *is_over
    }

    fn is_set(&self) -> bool {
        *self.is_over.lock()
    }

    fn set(&self) {
        *self.is_over.lock() = true;
        self.changed.notify_all();
    }
}

/// The thread that reads ahead. It ends when this is dropped.
pub(super) struct ReadAhead {
    over: Arc<Over>,
    thread: Option<JoinHandle<()>>,
}

impl ReadAhead {
    /// Starts the thread for an applier that starts.
    pub fn start(channel: &Arc<Channel>) -> ReadAhead {
        let over = Arc::new(Over::default());
        let (of_thread, channel) = (over.clone(), channel.clone());
        let name = channel.thread_name("replica_ahead");
        let started = os::thread::try_spawn(&name, move || {
            if let Err(panic) = os::panic::contain(|| run(&channel, &of_thread)) {
                log::error!("the thread that reads ahead of the applier ended: {}", panic.0);
            }
        });
        if let Err(error) = &started {
            log::warn!("nothing is read ahead of the applier: {error}");
        }
        ReadAhead { over, thread: started.ok() }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.over.set();
        if let Some(thread) = self.thread.take() {
            // A panic has been logged within the thread.
            let _ended = thread.join();
        }
    }
}

fn run(channel: &Arc<Channel>, over: &Over) {
    let waited_for = || channel.engine.pool().pages_waited_for();
    let (mut rest, mut before) = (LOOK, waited_for());
    while !over.wait(rest) {
        let now = waited_for();
        let is_worth_it = now.saturating_sub(before) >= WORTH && channel.apply.reads_ahead();
        let was_useless = is_worth_it && !Lead::at_applier(channel).is_some_and(|mut lead| lead.keep(over));
        rest = if was_useless { (2 * rest).min(LONGEST_REST) } else { LOOK };
        before = waited_for();
    }
}

fn checksum_of(has_checksums: bool) -> Checksum {
    if has_checksums { Checksum::Crc32 } else { Checksum::None }
}

/// The part of the relay log in front of the applier that has been looked at.
struct Lead<'c> {
    channel: &'c Arc<Channel>,
    reader: RelayReader,
    /// The checksum with which events from here on end.
    checksum: Checksum,
    coming: Coming,
    /// The events of the present batch, each without its checksum and with its length in front.
    batch: Vec<u8>,
    /// The batches that the applier has not passed yet: their ends, and how many pages were read
    /// for each.
    batches: VecDeque<(RelayPosition, usize)>,
    most_pages: usize,
    /// The size at which a batch is full.
    batch_bytes: usize,
}

impl<'c> Lead<'c> {
    /// Begins where the applier is. `None` means that the relay log cannot be read there.
    fn at_applier(channel: &'c Arc<Channel>) -> Option<Lead<'c>> {
        let (reached, has_checksums) = channel.reached.get()?;
        let engine = channel.engine.clone();
        let most_pages = engine.pool().pages() / POOL_SHARE;
        Some(Lead {
            channel,
            reader: RelayReader::at(&channel.relay, reached).ok()?,
            checksum: checksum_of(has_checksums),
            coming: Coming::new(engine, channel.apply.clone(), most_pages),
            batch: Vec::new(),
            batches: VecDeque::new(),
            most_pages,
            batch_bytes: (most_pages * BATCH_BYTES_A_PAGE).min(MOST_BATCH_BYTES),
        })
    }

    /// Keeps ahead of the applier until that is of no use, or the applier ends. Returns whether it
    /// was of use.
    fn keep(&mut self, over: &Over) -> bool {
        let (mut rows, mut pages, mut pauses, mut is_useful) = (0, 0, 0, false);
        loop {
            let Some(must_wait) = self.follow().filter(|_| self.channel.apply.reads_ahead()) else {
                return is_useful;
            };
            let has_batch = match must_wait {
                true => false,
                false => match self.next_batch() {
                    Some(has_batch) => has_batch,
                    None => return is_useful,
                },
            };
            if !has_batch {
                pauses += 1;
                if pauses > MOST_PAUSES || over.wait(PAUSE) {
                    return is_useful;
                }
                continue;
            }
            pauses = 0;
            let Some((of_batch, read)) = self.read_batch(over) else { return is_useful };
            self.batches.push_back((self.reader.position(), read));
            (rows, pages) = (rows + of_batch, pages + read);
            if rows >= TRIAL_ROWS {
                if pages * ROWS_A_PAGE < rows {
                    return is_useful;
                }
                (rows, pages, is_useful) = (0, 0, true);
            }
        }
    }

    /// Takes note of how far the applier has come. Returns whether the lead is long enough, or
    /// `None` when the applier cannot be followed.
    fn follow(&mut self) -> Option<bool> {
        let (reached, has_checksums) = self.channel.reached.get()?;
        while self.batches.front().is_some_and(|(end, _)| *end <= reached) {
            self.batches.pop_front();
        }
        if reached > self.reader.position() {
            // The applier was faster.
            assert!(self.batches.is_empty(), "the applier has passed what was looked at");
            self.reader = RelayReader::at(&self.channel.relay, reached).ok()?;
            self.checksum = checksum_of(has_checksums);
        }
        let pages: usize = self.batches.iter().map(|(_, pages)| pages).sum();
        Some(self.batches.len() >= MOST_BATCHES || pages >= self.most_pages)
    }

    /// Reads the next events of the relay log. Returns whether there are any, or `None` when the
    /// relay log cannot be read.
    fn next_batch(&mut self) -> Option<bool> {
        self.batch.clear();
        let _reading = account::enter(State::ApplyDecode);
        while self.batch.len() < self.batch_bytes {
            match self.reader.step().ok()? {
                Step::End => break,
                Step::Event => self.take_event()?,
            }
        }
        Some(!self.batch.is_empty())
    }

    fn take_event(&mut self) -> Option<()> {
        let event = self.reader.event();
        if event::kind_of(event) == kind::FORMAT_DESCRIPTION {
            let header = binlog::event::Header::decode(event).ok()?;
            if let Event::FormatDescription(format) = binlog::event::decode_body(&header, event).ok()? {
                self.checksum = format.checksum;
            }
            return Some(());
        }
        let checksum_bytes = if self.checksum == Checksum::None { 0 } else { CHECKSUM_BYTES };
        let end = event.len().checked_sub(checksum_bytes).filter(|&end| end >= HEADER_LEN)?;
        // The event's size in its header then includes a checksum that is not there, so a length
        // stands in front of each event.
        self.batch.extend_from_slice(&(end as u32).to_le_bytes());
        self.batch.extend_from_slice(&event[..end]);
        Some(())
    }

    /// Has the pages read that the batch will want. Returns the number of its rows and of the pages
    /// that were read, or `None` when reading fails.
    fn read_batch(&mut self, over: &Over) -> Option<(usize, usize)> {
        let (mut rows, mut pages) = (0, 0);
        for _ in 0..ROUNDS {
            // STOP REPLICA waits for this thread, and reading may take long.
            if over.is_set() {
                return None;
            }
            let mut looked = Looked::default();
            let looking = account::enter(State::ApplyDecode);
            let mut rest = &self.batch[..];
            while let Some((len, behind)) = rest.split_first_chunk::<4>() {
                let (event, behind) = behind.split_at(u32::from_le_bytes(*len) as usize);
                self.coming.look(event, &mut looked);
                rest = behind;
            }
            self.coming.release();
            drop(looking);
            rows = looked.rows;
            if self.coming.missing.is_empty() {
                break;
            }
            let engine = self.coming.engine().clone();
            let (read, sufficed) = self.coming.missing.read(&engine).ok()?;
            pages += read;
            // The page cleaner makes frames free meanwhile.
            if !sufficed && over.wait(PAUSE) {
                return None;
            }
            if !looked.asks_again && sufficed {
                break;
            }
        }
        Some((rows, pages))
    }
}
