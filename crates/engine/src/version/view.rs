//! The commits that a reader sees.

use smallvec::SmallVec;

/// A view of everything up to a commit, except some large commits that were still being put on
/// pages ([`crate::spill`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    /// The newest commit that is seen.
    pub seq: u64,
    /// The older commits that are not seen.
    pub excluded: SmallVec<[u64; 1]>,
}

impl View {
    pub fn up_to(seq: u64) -> View {
        View { seq, excluded: SmallVec::new() }
    }

    /// Returns the view that sees whatever is on the pages.
    pub fn newest() -> View {
        View::up_to(u64::MAX)
    }

    /// Reports whether the view sees the changes of a commit.
    #[inline]
    pub fn sees(&self, seq: u64) -> bool {
        seq <= self.seq && (self.excluded.is_empty() || !self.excluded.contains(&seq))
    }

    /// Returns the sequence number up to which everything is seen.
    pub fn complete_to(&self) -> u64 {
        self.excluded.iter().map(|seq| seq - 1).min().unwrap_or(self.seq).min(self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_holes() {
        let view = View { seq: 30, excluded: [20, 25].into_iter().collect() };
        assert!(view.sees(19) && view.sees(21) && view.sees(30));
        assert!(!view.sees(20) && !view.sees(25) && !view.sees(31));
        assert_eq!(view.complete_to(), 19);
        assert_eq!(View::up_to(7).complete_to(), 7);
    }
}
