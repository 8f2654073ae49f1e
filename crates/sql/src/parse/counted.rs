//! Calls of functions whose number of arguments is fixed by MySQL's grammar.

use super::Parser;
use crate::ast::Expr;
use crate::error::Result;

/// The functions that MySQL's grammar knows by name, with the least and the greatest number of
/// their arguments. Another number is a syntax error.
const COUNTED_FUNCTIONS: &[(&str, usize, usize)] = &[
    ("ascii", 1, 1),
    ("charset", 1, 1),
    ("coalesce", 1, usize::MAX),
    ("collation", 1, 1),
    ("curdate", 0, 0),
    ("curtime", 0, 1),
    ("database", 0, 0),
    ("date", 1, 1),
    ("day", 1, 1),
    ("format", 2, 3),
    ("hour", 1, 1),
    ("if", 3, 3),
    ("insert", 4, 4),
    ("left", 2, 2),
    ("linestring", 1, usize::MAX),
    ("log", 1, 2),
    ("microsecond", 1, 1),
    ("minute", 1, 1),
    ("mod", 2, 2),
    ("month", 1, 1),
    ("multilinestring", 1, usize::MAX),
    ("multipoint", 1, usize::MAX),
    ("multipolygon", 1, usize::MAX),
    ("now", 0, 1),
    ("point", 2, 2),
    ("polygon", 1, usize::MAX),
    ("quarter", 1, 1),
    ("repeat", 2, 2),
    ("replace", 3, 3),
    ("reverse", 1, 1),
    ("right", 2, 2),
    ("row_count", 0, 0),
    ("schema", 0, 0),
    ("second", 1, 1),
    ("session_user", 0, 0),
    ("sysdate", 0, 1),
    ("system_user", 0, 0),
    ("time", 1, 1),
    ("timestamp", 1, 2),
    ("truncate", 2, 2),
    ("user", 0, 0),
    ("week", 1, 2),
    ("year", 1, 1),
];

/// Returns the least and the greatest number of arguments of a function that MySQL's grammar knows
/// by name. `None` for other functions.
pub(super) fn argument_counts(name: &str) -> Option<(usize, usize)> {
    let found = COUNTED_FUNCTIONS.iter().find(|(word, ..)| name.eq_ignore_ascii_case(word));
    found.map(|(_, least, most)| (*least, *most))
}

impl Parser<'_> {
    /// Reads `(a, b, ...)` with at least `least` and at most `most` arguments. Another number is a
    /// syntax error.
    pub(super) fn counted_arguments(&mut self, least: usize, most: usize) -> Result<Vec<Expr>> {
        self.expect_symbol("(")?;
        let mut args = Vec::new();
        while args.len() < most && !(args.len() >= least && self.is_symbol(")")) {
            args.push(self.expr()?);
            if args.len() == most || args.len() >= least && self.is_symbol(")") {
                break;
            }
            self.expect_symbol(",")?;
        }
        self.expect_symbol(")")?;
        Ok(args)
    }
}
