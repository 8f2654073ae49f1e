//! The order of commits under the model checker (see [`os::sync`]).

use std::sync::Arc;

use binlog::gtid::{Tag, Uuid};
use os::disk::Disk;
use os::sim::SimDisk;
use os::sync::Mutex;
use os::thread::{JoinHandle, spawn, yield_now};
use redo::{Log, LogConfig};

use super::position::ReplicationState;
use super::sequencer::{Entered, Entry, GtidRequest, Sequencer};

/// Enters a commit, waiting while commits are held back. A commit with `follows_logged` never has
/// to wait.
fn enter<'l>(log: &'l Log, sequencer: &Sequencer, follows_logged: bool) -> Entered<'l> {
    loop {
        let entry = Entry {
            payload_len: 3,
            gtid: GtidRequest::Next(Tag::NONE),
            mariadb_gtid: None,
            position: None,
            unversioned: false,
            follows_logged,
            spill: None,
            refused_from: None,
        };
        match sequencer.enter(log, entry).expect("there is room") {
            Some(entered) => return entered,
            None => {
                assert!(!follows_logged, "it would wait for itself");
                yield_now();
            }
        }
    }
}

/// Readers see a prefix of the commits, and each of these is on its pages by then. GTIDs are in the
/// order of the log. Every thread that waits for its commit is woken. While commits are held back,
/// no commit is under way.
#[test]
fn what_is_visible_is_a_prefix_of_what_is_applied() {
    let model = || {
        let disk = SimDisk::new(1);
        disk.create_dir_all(std::path::Path::new("/log")).expect("an empty disk");
        let shared: Arc<dyn Disk> = Arc::new(disk);
        let config = LogConfig {
            capacity_bytes: LogConfig::MIN_CAPACITY_BYTES,
            buffer_bytes: 64 << 10,
            ..LogConfig::new("/log")
        };
        let log = Log::create(shared, config).expect("an empty disk");
        let sequencer = Sequencer::new(Uuid([1; 16]), log.current_lsn(), ReplicationState::default());
        let sequencer = Arc::new(sequencer);
        // The (sequence number, GTID) pairs of commits that are in the log, and the sequence
        // numbers of commits that are on their pages.
        let logged: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
        let applied: Arc<Mutex<Vec<u64>>> = Arc::default();
        // A thread that logs `count` commits, one after the other, before it puts them on their
        // pages, as a replica's workers do.
        let committer = |count: usize| -> JoinHandle<()> {
            let (log, sequencer) = (Arc::clone(&log), Arc::clone(&sequencer));
            let (logged, applied) = (Arc::clone(&logged), Arc::clone(&applied));
            spawn("commit", move || {
                let mut own = Vec::new();
                for _ in 0..count {
                    let (reservation, gtid) = enter(&log, &sequencer, !own.is_empty());
                    let seq = reservation.end_lsn();
                    logged.lock().push((seq, gtid.expect("one was asked for").gno));
                    reservation.fill(redo::kind::COMMIT, &[b"abc"]);
                    own.push(seq);
                    yield_now();
                }
                for &seq in &own {
                    applied.lock().push(seq);
                    sequencer.complete(seq);
                }
                sequencer.wait_visible(own[count - 1]);
                assert!(sequencer.visible() >= own[count - 1]);
            })
        };
        let mut threads: Vec<_> = [2, 1, 1].map(committer).into();
        threads.push({
            let (sequencer, logged) = (Arc::clone(&sequencer), Arc::clone(&logged));
            spawn("hold", move || {
                sequencer.close();
                let held = logged.lock().clone();
                assert!(held.iter().all(|(seq, _)| *seq <= sequencer.visible()), "a commit was under way");
                yield_now();
                assert_eq!(*logged.lock(), held, "a commit passed");
                sequencer.open();
            })
        });
        for _ in 0..4 {
            // The promises are read first, and the facts that must fulfil them afterwards.
            let oldest = sequencer.capture(&log).oldest;
            let visible = sequencer.visible();
            let logged = logged.lock().clone();
            let applied = applied.lock().clone();
            let missing = logged.iter().find(|(seq, _)| *seq <= visible && !applied.contains(seq));
            assert_eq!(missing, None, "visible is {visible}");
            let lost = logged.iter().find(|(seq, _)| *seq <= oldest && !applied.contains(seq));
            assert_eq!(lost, None, "a checkpoint at {oldest} would lose it");
        }
        threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
        let mut logged = logged.lock().clone();
        logged.sort_unstable();
        let numbers: Vec<u64> = logged.iter().map(|(_, gno)| *gno).collect();
        assert_eq!(numbers, [1, 2, 3, 4], "the order of GTIDs is not that of the log");
        log.close().expect("the disk works");
    };
    let iterations = std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|text| text.parse().ok());
    let iterations = iterations.unwrap_or(400);
    shuttle::check_random(model, iterations);
    shuttle::check_pct(model, iterations, 3);
}
