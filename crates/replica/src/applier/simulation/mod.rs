//! The applier with workers in a simulation. One thread plays all workers, one random step of a
//! random worker at a time, on a simulated disk whose power fails. The results are compared with
//! the source's own history, state by state.
//!
//! What must hold: the final state is the source's, whatever the schedule. A reader meanwhile sees
//! a state that the source had, namely the one that the position tells, and sees it again later.
//! After a crash, position, GTIDs and rows are those of one such state.
//!
//! `SEED=n` plays one history and its schedules again, exactly. `SIMULATED_RUNS=n` plays n
//! schedules.

mod history;
mod life;

use os::random::{Rng, test_seed};
use os::sim::SimDisk;

use super::Policy;
use history::History;
use life::{Nature, live};

/// The number of schedules that are played for one history.
const SCHEDULES: u64 = 8;

fn nature(rng: &mut Rng) -> Nature {
    Nature {
        workers: *rng.pick(&[2, 3, 8, 16]),
        groups: *rng.pick(&[1, 3, 8, 64]),
        policy: *rng.pick(&[
            Policy::Row,
            Policy::Row,
            Policy::Database,
            Policy::LogicalClock,
            Policy::Writeset,
        ]),
        versioned: rng.one_in(2),
        durable: rng.one_in(2),
        crash_after: rng.one_in(2).then(|| rng.below(400)),
    }
}

/// Plays a history on one replica, through any number of crashes, and returns their number.
fn play(history: &History, rng: &mut Rng) -> u64 {
    let mut disk = SimDisk::new(rng.u64());
    let mut crashes = 0;
    while !live(history, &disk, nature(rng), rng) {
        disk = if rng.one_in(3) { disk.kill() } else { disk.power_cut() };
        crashes += 1;
    }
    crashes
}

#[test]
fn every_schedule_ends_as_serial_replay_and_shows_only_states_of_the_source() {
    let runs: u64 = std::env::var("SIMULATED_RUNS").map_or(200, |runs| runs.parse().expect("a number"));
    let seed = test_seed("simulation");
    let (mut played, mut crashes) = (0, 0);
    while played < runs {
        // A failed test shows the SEED of this history alone.
        let seed = seed.wrapping_add(played / SCHEDULES);
        println!("run {played}: SEED={seed}");
        let mut rng = Rng::new(seed);
        let history = History::random(&mut rng, 60);
        for _ in 0..SCHEDULES {
            crashes += play(&history, &mut rng);
        }
        played += SCHEDULES;
    }
    println!("{played} runs, {crashes} crashes");
    assert!(runs < 20 || crashes > 0, "a schedule in two begins with a crash ahead");
}
