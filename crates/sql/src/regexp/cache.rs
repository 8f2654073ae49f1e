//! The patterns that a statement has compiled.

use super::pattern::{Limits, Pattern};
use super::tree::Flags;
use crate::error::Result;
use crate::memory::{Budget, Charge};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// The most patterns that are kept, which suffices for the calls of one row in most statements. A
/// pattern that differs from row to row pushes its predecessors out.
const MOST_PATTERNS: usize = 16;

struct Kept {
    text: String,
    flags: Flags,
    pattern: Rc<Pattern>,
    /// The memory of the pattern. It is given back when the pattern is dropped.
    _charge: Charge,
}

/// A cache of compiled patterns, by which a pattern that is the same for all rows is compiled once.
/// Subqueries share it.
#[derive(Default)]
pub(crate) struct PatternCache(OnceCell<Rc<RefCell<Vec<Kept>>>>);

impl PatternCache {
    /// Returns a cache with the same patterns, for a part of the statement.
    pub fn shared(&self) -> PatternCache {
        PatternCache(OnceCell::from(self.0.get_or_init(Rc::default).clone()))
    }

    /// Returns the compiled pattern. `limits` is called if the pattern has not been compiled
    /// before.
    ///
    /// # Errors
    /// Returns the errors of the pattern, and those of [`Charge::add`].
    pub fn pattern(
        &self,
        text: &str,
        flags: Flags,
        memory: &Arc<Budget>,
        limits: impl FnOnce() -> Result<Limits>,
    ) -> Result<Rc<Pattern>> {
        let mut kept = self.0.get_or_init(Rc::default).borrow_mut();
        if let Some(known) = kept.iter().find(|one| one.flags == flags && one.text == text) {
            return Ok(known.pattern.clone());
        }
        let pattern = Rc::new(Pattern::compile(text, flags, limits()?)?);
        let mut charge = Charge::new(memory);
        charge.add(text.len() + pattern.bytes())?;
        if kept.len() == MOST_PATTERNS {
            kept.remove(0);
        }
        kept.push(Kept { text: text.to_string(), flags, pattern: pattern.clone(), _charge: charge });
        Ok(pattern)
    }
}
