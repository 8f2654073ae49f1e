//! MySQL's generator of random numbers, and those of RAND() with a seed.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

const MODULUS: u64 = 0x3fff_ffff;

/// Returns the next number, from 0 up to 1, and the seeds after it. The first seed is the lower
/// half of `seeds`.
pub(crate) fn next(seeds: u64) -> (f64, u64) {
    let (first, second) = (seeds & 0xffff_ffff, seeds >> 32);
    let first = (first * 3 + second) % MODULUS;
    let second = (first + second + 33) % MODULUS;
    (first as f64 / MODULUS as f64, first | second << 32)
}

/// Returns the seeds that RAND(N) begins with.
pub(crate) fn seeds_of(number: u32) -> u64 {
    let number = u64::from(number);
    let first = (number.wrapping_mul(0x10001).wrapping_add(55_555_555) & 0xffff_ffff) % MODULUS;
    let second = (number.wrapping_mul(0x1000_0001) & 0xffff_ffff) % MODULUS;
    first | second << 32
}

/// The generators of a statement's calls of RAND() with a constant seed. Each call goes on with a
/// sequence of its own from row to row. Subqueries share the set.
#[derive(Default)]
pub(crate) struct SeededRandoms(OnceCell<Rc<RefCell<Vec<Seeded>>>>);

/// The generator of one call.
struct Seeded {
    /// The place of the call in the statement's plan.
    call: usize,
    seeds: u64,
}

impl SeededRandoms {
    /// Returns the same generators, for a part of the statement.
    pub fn shared(&self) -> SeededRandoms {
        SeededRandoms(OnceCell::from(self.0.get_or_init(Rc::default).clone()))
    }

    /// Returns the next number of a call, which begins with the seeds of `number`.
    pub fn next(&self, call: usize, number: u32) -> f64 {
        let mut all = self.0.get_or_init(Rc::default).borrow_mut();
        let at = all.iter().position(|seeded| seeded.call == call).unwrap_or_else(|| {
            all.push(Seeded { call, seeds: seeds_of(number) });
            all.len() - 1
        });
        let (random, seeds) = next(all[at].seeds);
        all[at].seeds = seeds;
        random
    }
}
