//! A sort whose comparison can fail and that KILL can end.

use crate::error::{Result, SqlError};
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Sorts like the slice's own stable `sort_by`. An error of a comparison, or of `goes_on`, which is
/// called before each comparison, ends the sort. All items are still there then, in some order.
///
/// The error leaves the library's sort by unwinding, because there is no other way out: if the
/// comparison went on with arbitrary answers, the sort might panic. No panic hook runs for this
/// unwinding.
pub(crate) fn sort_by<T>(
    items: &mut [T],
    goes_on: impl Fn() -> Result<()>,
    mut compare: impl FnMut(&T, &T) -> Result<Ordering>,
) -> Result<()> {
    let sorted = catch_unwind(AssertUnwindSafe(|| {
        items.sort_by(|a, b| {
            let ordering = goes_on().and_then(|()| compare(a, b));
            ordering.unwrap_or_else(|error| resume_unwind(Box::new(error)))
        });
    }));
    sorted.map_err(|payload| match payload.downcast::<SqlError>() {
        Ok(error) => *error,
        Err(panic) => resume_unwind(panic),
    })
}

/// Returns the bytes that sorting these items takes beside them: the library's sort has room for
/// half of the items, or for all of them while they are few.
pub(crate) fn scratch_bytes<T>(items: &[T]) -> usize {
    const MOST_WHOLE_BYTES: usize = 8_000_000;
    let bytes = size_of_val(items);
    (bytes - bytes / 2).max(bytes.min(MOST_WHOLE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn an_interruption_ends_a_sort_and_loses_nothing() {
        let mut rng = os::random::Rng::new(1);
        let before: Vec<u64> = (0..10_000).map(|_| rng.below(1000)).collect();
        let mut sorted = before.clone();
        sorted.sort();
        let mut items = before.clone();
        sort_by(&mut items, || Ok(()), |a, b| Ok(a.cmp(b))).unwrap();
        assert_eq!(items, sorted);
        for last in [0, 1, 500, 20_000] {
            let (mut items, asked) = (before.clone(), Cell::new(0));
            let goes_on = || {
                asked.set(asked.get() + 1);
                if asked.get() > last { Err(SqlError::interrupted()) } else { Ok(()) }
            };
            assert_eq!(sort_by(&mut items, goes_on, |a, b| Ok(a.cmp(b))), Err(SqlError::interrupted()));
            assert_eq!(asked.get(), last + 1, "nothing is compared any more");
            items.sort();
            assert_eq!(items, sorted);
        }
        let error = SqlError::new(1690, "of a comparison");
        assert_eq!(sort_by(&mut [2, 1], || Ok(()), |_, _| Err(error.clone())), Err(error));
    }
}
