//! The lookup of collations by id and by name.

use super::charset::Charset;
use super::definition::{Collation, Weighing, entry};
use super::ids::UTF8MB4_0900_AI_CI;
use super::list;

/// An upper limit of the ids: all are less than this.
pub(crate) const IDS: usize = 1300;

/// For each id one more than the collation's place in the list. 0 means that there is no such
/// collation.
static PLACES: [u16; IDS] = {
    let mut places = [0; IDS];
    let mut at = 0;
    while at < list::COLLATIONS.len() {
        places[list::COLLATIONS[at].id as usize] = at as u16 + 1;
        at += 1;
    }
    places
};

/// Returns all collations that columns can have, sorted by id.
pub fn all() -> &'static [Collation] {
    &list::COLLATIONS
}

/// Returns the collation with this id.
#[inline]
pub fn by_id(id: u16) -> Option<&'static Collation> {
    let place = usize::from(*PLACES.get(usize::from(id))?);
    place.checked_sub(1).map(|at| &list::COLLATIONS[at])
}

/// Returns the id of the collation with this name (`utf8_...` is `utf8mb3_...`).
pub fn from_name(name: &str) -> Option<u16> {
    let lower = name.to_ascii_lowercase();
    // This is MariaDB's name of the collation that MySQL calls croatian.
    let lower = lower.replace("_croatian_mysql561_ci", "_croatian_ci");
    let wanted = match lower.strip_prefix("utf8_") {
        Some(rest) => format!("utf8mb3_{rest}"),
        None => lower,
    };
    all().iter().find(|collation| collation.name == wanted).map(|collation| collation.id)
}

/// Returns the collation's name, or `binary` for an unknown id.
pub fn name(id: u16) -> &'static str {
    by_id(id).map_or("binary", |collation| collation.name)
}

/// Returns the character set of a collation, or `binary` for an unknown id.
pub fn charset_of(id: u16) -> Charset {
    if id == UTF8MB4_0900_AI_CI {
        return Charset::Utf8mb4;
    }
    by_id(id).map_or(Charset::Binary, |collation| collation.charset)
}

/// Returns the number of bytes of the longest character in the collation's character set.
pub fn max_bytes_per_char(id: u16) -> u8 {
    charset_of(id).max_bytes_per_char()
}

static UNKNOWN: Collation = entry(0, "binary", Charset::Binary, Weighing::Bytes, 1, false, 0xff);

/// Returns the collation with this id, or one that compares bytes for an unknown id.
#[inline]
pub(super) fn of(id: u16) -> &'static Collation {
    by_id(id).unwrap_or(&UNKNOWN)
}
