//! The differences that stay, each with its reason. A rule names what it passes over as narrowly as
//! it can, because what a rule passes over is not tested. `docs/query.md` has the same list.

use crate::answers::{Answer, Said};

/// Reports whether a rule says that MySQL's answer may differ from this server's.
pub fn is_known(theirs: &Answer) -> bool {
    // MySQL has not built everything of its own grammar.
    matches!(theirs.said, Said::Refused(1235, _))
}
