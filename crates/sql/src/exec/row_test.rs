//! Tests of a row's image: those of single columns, and what AND and OR make of them.
//!
//! In: tests of columns ([`ColumnTest`]). Out: whether an image passes them. A test passes where
//! its condition is true, so NULL and false are the same to it, which AND and OR allow.

use types::column_test::ColumnTest;
use types::row::{RowError, RowLayout};

/// A test of a row.
#[derive(Debug)]
pub(super) enum RowTest {
    Column(ColumnTest),
    /// All of them pass.
    All(Vec<RowTest>),
    /// At least one of them passes.
    Any(Vec<RowTest>),
}

impl RowTest {
    /// Adds the test to those that all have to pass. Ranges of one column, as of a date between two
    /// others, become one range.
    pub fn add_to(self, tests: &mut Vec<RowTest>) {
        let test = match self {
            RowTest::All(all) => return all.into_iter().for_each(|test| test.add_to(tests)),
            RowTest::Any(_) => return tests.push(self),
            RowTest::Column(test) => test,
        };
        for known in tests.iter_mut() {
            if let RowTest::Column(column) = known
                && let Some(both) = column.both(&test)
            {
                *column = both;
                return;
            }
        }
        tests.push(RowTest::Column(test));
    }

    /// Reports whether the test compares a column's number with constants, which costs less than
    /// other tests.
    pub fn is_of_numbers(&self) -> bool {
        matches!(self, RowTest::Column(test) if test.numbers().is_some())
    }

    /// Returns the tests of columns that all rows pass which pass this test.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnTest> {
        let (own, all) = match self {
            RowTest::Column(test) => (Some(test), &[][..]),
            RowTest::All(all) => (None, &all[..]),
            RowTest::Any(_) => (None, &[][..]),
        };
        let of_all = all.iter().filter_map(|test| match test {
            RowTest::Column(test) => Some(test),
            RowTest::All(_) | RowTest::Any(_) => None,
        });
        own.into_iter().chain(of_all)
    }

    /// Reports whether a row passes the test. Each row of a scan comes through here, so this is
    /// inlined, and the tests of several columns are functions of their own.
    #[inline(always)]
    pub fn holds(&self, layout: &RowLayout, image: &[u8]) -> Result<bool, RowError> {
        match self {
            RowTest::Column(test) => test.holds(layout, image),
            RowTest::All(tests) => all_parts_hold(tests, layout, image),
            RowTest::Any(tests) => some_part_holds(tests, layout, image),
        }
    }
}

#[inline(never)]
fn all_parts_hold(tests: &[RowTest], layout: &RowLayout, image: &[u8]) -> Result<bool, RowError> {
    all_hold(tests, layout, image)
}

#[inline(never)]
fn some_part_holds(tests: &[RowTest], layout: &RowLayout, image: &[u8]) -> Result<bool, RowError> {
    for test in tests {
        if test.holds(layout, image)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reports whether a row passes all of the tests.
#[inline(always)]
pub(super) fn all_hold(tests: &[RowTest], layout: &RowLayout, image: &[u8]) -> Result<bool, RowError> {
    for test in tests {
        if !test.holds(layout, image)? {
            return Ok(false);
        }
    }
    Ok(true)
}
