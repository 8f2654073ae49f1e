//! The differences that stay, each with its reason. A rule names what it passes over as narrowly as
//! it can, because what a rule passes over is not tested. `docs/query.md` has the same list.

use crate::answers::{Answer, Said};

/// Reports whether a rule says that these answers may differ.
pub fn is_known(_statement: &str, ours: &Answer, theirs: &Answer) -> bool {
    // MySQL has not built everything of its own grammar.
    if let Said::Refused(1235, _) = theirs.said {
        return true;
    }
    let _ = ours;
    false
}
