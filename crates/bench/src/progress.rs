//! Shows the progress of a run on standard error: one line that is rewritten on a terminal, or a
//! line every few seconds elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use os::clock::Stopwatch;

const REWRITE_EVERY: Duration = Duration::from_millis(200);
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The progress of one step at a time.
pub struct Progress {
    terminal: bool,
    step: String,
    started: Stopwatch,
    shown: Option<Stopwatch>,
    /// The number of characters on the line that the next rewrite must cover.
    width: usize,
}

impl Progress {
    /// Returns a value that shows nothing yet.
    pub fn new() -> Progress {
        Progress {
            terminal: std::io::stderr().is_terminal(),
            step: String::new(),
            started: Stopwatch::start(),
            shown: None,
            width: 0,
        }
    }

    /// Begins a step, and shows its name.
    pub fn step(&mut self, name: impl Into<String>) {
        self.step = name.into();
        self.started = Stopwatch::start();
        self.shown = None;
        self.show("", false);
    }

    /// Shows how far the step is, if enough time has passed since the last output.
    pub fn tell(&mut self, how_far: impl FnOnce() -> String) {
        let every = if self.terminal { REWRITE_EVERY } else { LINE_EVERY };
        if self.shown.as_ref().is_none_or(|shown| shown.elapsed() >= every) {
            let text = how_far();
            self.show(&text, false);
        }
    }

    /// Ends the step, and shows its result.
    pub fn done(&mut self, result: impl Into<String>) {
        let seconds = self.started.elapsed().as_secs_f64();
        let text = format!("{} ({seconds:.1} s)", result.into());
        self.show(&text, true);
        self.step.clear();
    }

    fn show(&mut self, text: &str, ended: bool) {
        let line = if text.is_empty() { self.step.clone() } else { format!("{}: {text}", self.step) };
        self.shown = Some(Stopwatch::start());
        let mut err = std::io::stderr().lock();
        // An error of writing to the terminal is ignored, because nothing can be done about it.
        let _ = if self.terminal {
            let end = if ended { "\n" } else { "" };
            write!(err, "\r{line:<width$}{end}", width = self.width)
        } else {
            writeln!(err, "{line}")
        };
        let _ = err.flush();
        self.width = if ended { 0 } else { line.chars().count() };
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

/// Returns a count with separators between the thousands.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (count, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(count), text);
        }
    }
}
