//! Tests of the latch under the model checker; see [`os::sync`].

use std::sync::Arc;

use os::sync::atomic::{AtomicU64, Ordering};
use os::thread::{JoinHandle, spawn, yield_now};

use super::Latch;

fn check(model: fn()) {
    let iterations = std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|text| text.parse().ok());
    let iterations = iterations.unwrap_or(3000);
    shuttle::check_random(model, iterations);
    shuttle::check_pct(model, iterations, 3);
}

#[derive(Default)]
struct Page {
    latch: Latch,
    /// The number of threads that hold the latch exclusively. `shared` counts those that hold it
    /// shared.
    exclusive: AtomicU64,
    shared: AtomicU64,
    /// Two words that every writer keeps equal.
    words: [AtomicU64; 2],
}

impl Page {
    fn write(&self) {
        assert_eq!(self.exclusive.fetch_add(1, Ordering::SeqCst), 0, "two writers");
        assert_eq!(self.shared.load(Ordering::SeqCst), 0, "a writer beside a reader");
        let value = self.words[0].load(Ordering::SeqCst) + 1;
        self.words[0].store(value, Ordering::SeqCst);
        self.words[1].store(value, Ordering::SeqCst);
        self.exclusive.fetch_sub(1, Ordering::SeqCst);
    }

    fn read(&self) {
        self.shared.fetch_add(1, Ordering::SeqCst);
        assert_eq!(self.exclusive.load(Ordering::SeqCst), 0, "a reader beside a writer");
        assert_eq!(self.words[0].load(Ordering::SeqCst), self.words[1].load(Ordering::SeqCst));
        self.shared.fetch_sub(1, Ordering::SeqCst);
    }
}

fn run(page: &Arc<Page>, jobs: &[fn(&Page)]) {
    let start = |&job: &fn(&Page)| -> JoinHandle<()> {
        let page = Arc::clone(page);
        spawn("latch", move || job(&page))
    };
    let threads: Vec<_> = jobs.iter().map(start).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
}

fn writer(page: &Page) {
    for _ in 0..2 {
        page.latch.exclusive();
        page.write();
        page.latch.release_exclusive();
    }
}

fn reader(page: &Page) {
    for _ in 0..2 {
        page.latch.shared();
        page.read();
        page.latch.release_shared();
    }
}

fn downgrader(page: &Page) {
    page.latch.exclusive();
    page.write();
    page.latch.downgrade();
    page.read();
    page.latch.release_shared();
}

fn trier(page: &Page) {
    if page.latch.try_exclusive() {
        page.write();
        page.latch.release_exclusive();
    }
    if page.latch.try_shared() {
        page.read();
        page.latch.release_shared();
    }
}

/// Holders exclude each other, and no thread that parks is left parked.
#[test]
fn holders_exclude_each_other_and_all_are_woken() {
    check(|| run(&Arc::default(), &[writer, writer, reader]));
    check(|| run(&Arc::default(), &[writer, reader, reader, downgrader]));
    check(|| run(&Arc::default(), &[writer, downgrader, trier, reader]));
}

/// What a reader has read without the latch is whole if the version has not changed.
#[test]
fn a_version_that_holds_vouches_for_what_was_read() {
    fn optimist(page: &Page) {
        for _ in 0..3 {
            let Some(version) = page.latch.version() else {
                yield_now();
                continue;
            };
            let words = [0, 1].map(|index| page.words[index].load(Ordering::SeqCst));
            if page.latch.validate(version) {
                assert_eq!(words[0], words[1], "a validated read is torn");
            }
        }
    }
    check(|| run(&Arc::default(), &[writer, optimist, optimist]));
    check(|| run(&Arc::default(), &[downgrader, writer, optimist, reader]));
}
