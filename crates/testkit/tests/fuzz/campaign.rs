//! A fuzzer's run: how long it lasts, from which seed, and what it has found.

use std::collections::BTreeMap;
use std::time::Duration;

use os::clock::Stopwatch;
use os::random::{Rng, test_seed, test_seed_or};

/// The number of kinds of faults after which a run ends, because by then known faults hide new
/// ones.
const MOST_FINDINGS: usize = 20;

/// One run of a fuzzer.
pub struct Campaign {
    name: &'static str,
    started: Stopwatch,
    length: Duration,
    /// The source of everything random.
    pub rng: Rng,
    /// The number of inputs that were tried so far.
    pub executions: u64,
    /// The outcomes of inputs, with the number of times that each came.
    outcomes: BTreeMap<String, u64>,
    /// The kinds of faults, with the first input that showed each.
    findings: BTreeMap<String, String>,
}

impl Campaign {
    /// Begins a run. By default it lasts a minute and has the same inputs each time, so that `make
    /// test` judges a change by the change. A run whose length is given has a new seed and looks
    /// for what nobody has tried.
    pub fn start(name: &'static str) -> Campaign {
        Campaign::start_for(name, 60)
    }

    /// Begins a run like [`Campaign::start`] that lasts `usual_seconds` if no length is given.
    pub fn start_for(name: &'static str, usual_seconds: u64) -> Campaign {
        const USUAL_SEED: u64 = 1;
        let is_search = std::env::var("SLIPSTREAM_FUZZ_SECONDS").is_ok();
        let seed = if is_search { test_seed(name) } else { test_seed_or(name, USUAL_SEED) };
        Campaign {
            name,
            started: Stopwatch::start(),
            length: Duration::from_secs(testkit::times("SLIPSTREAM_FUZZ_SECONDS", usual_seconds)),
            rng: Rng::new(seed),
            executions: 0,
            outcomes: BTreeMap::new(),
            findings: BTreeMap::new(),
        }
    }

    /// Reports whether there is time for another input.
    pub fn goes_on(&self) -> bool {
        self.started.elapsed() < self.length && self.findings.len() < MOST_FINDINGS
    }

    /// Counts an input and its outcome.
    pub fn note(&mut self, outcome: &str) {
        self.executions += 1;
        *self.outcomes.entry(outcome.to_owned()).or_default() += 1;
    }

    /// Notes a fault. `kind` is the same for inputs that fail alike, as far as that can be told.
    pub fn fault(&mut self, kind: &str, input: &str) {
        self.note("FAULT");
        if !self.findings.contains_key(kind) {
            println!("{}: {kind}\n  input: {input}", self.name);
            self.findings.insert(kind.to_owned(), input.to_owned());
        }
    }

    /// Ends the run and prints its outcomes.
    ///
    /// # Panics
    ///
    /// Panics when there was a fault.
    pub fn finish(self) {
        println!("{}: {} executions: {:?}", self.name, self.executions, self.outcomes);
        let faults: Vec<String> =
            self.findings.iter().map(|(kind, input)| format!("{kind}\n  input: {input}")).collect();
        assert!(faults.is_empty(), "{}: {} faults:\n{}", self.name, faults.len(), faults.join("\n"));
    }
}
