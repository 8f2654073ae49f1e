//! What the numbers of MySQL's GTIDs count: the transactions of one server under one tag (MySQL's
//! TSID, 8.3).

use super::error::GtidError;
use super::uuid::Uuid;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The length of the longest tag, in bytes.
const LONGEST: usize = 32;

/// A tag: lower-case letters, digits and underscores, not beginning with a digit. An empty tag
/// stands for no tag, and is the default.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The tag's bytes. Those behind the tag are zero, so that the bytes are ordered as the tags
    /// are.
    bytes: [u8; LONGEST],
    len: u8,
}

impl Ord for Tag {
    /// Compares two tags by their characters. Most transactions have none, so that this is asked
    /// first.
    #[inline]
    fn cmp(&self, other: &Tag) -> Ordering {
        if self.len | other.len == 0 { Ordering::Equal } else { self.bytes.cmp(&other.bytes) }
    }
}

impl PartialOrd for Tag {
    #[inline]
    fn partial_cmp(&self, other: &Tag) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Tag {
    /// No tag.
    pub const NONE: Tag = Tag { bytes: [0; LONGEST], len: 0 };

    /// Returns the tag's characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).expect("a tag is made of ASCII characters")
    }

    /// Reports whether there is no tag.
    pub fn is_none(&self) -> bool {
        self.len == 0
    }

    /// Makes a tag of these characters, which may be upper-case. `None` if they are not a tag. No
    /// characters are the empty tag.
    pub fn new(text: &[u8]) -> Option<Tag> {
        if text.len() > LONGEST || text.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let mut tag = Tag { len: text.len() as u8, ..Tag::NONE };
        for (to, &from) in tag.bytes.iter_mut().zip(text) {
            if !(from.is_ascii_alphanumeric() || from == b'_') {
                return None;
            }
            *to = from.to_ascii_lowercase();
        }
        Some(tag)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Tag({})", self.as_str())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl FromStr for Tag {
    type Err = GtidError;

    /// Reads a tag of at least one character, in any case, perhaps between spaces.
    fn from_str(text: &str) -> Result<Tag, GtidError> {
        let tag = Tag::new(text.trim().as_bytes()).filter(|tag| !tag.is_none());
        tag.ok_or_else(|| GtidError::Malformed(text.to_string()))
    }
}

/// A server with a tag, or without one. They are ordered as MySQL prints them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tsid {
    /// The UUID of the server where the transactions were committed first.
    pub uuid: Uuid,
    /// The tag of the transactions.
    pub tag: Tag,
}

impl From<Uuid> for Tsid {
    fn from(uuid: Uuid) -> Tsid {
        Tsid { uuid, tag: Tag::NONE }
    }
}

impl fmt::Display for Tsid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tag.is_none() {
            true => write!(out, "{}", self.uuid),
            false => write!(out, "{}:{}", self.uuid, self.tag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_names_of_lower_case() {
        let tag: Tag = " Tag_1 ".parse().expect("is a tag");
        assert_eq!(tag.as_str(), "tag_1");
        assert!("_".parse::<Tag>().is_ok() && "a".repeat(32).parse::<Tag>().is_ok());
        for text in ["", "1a", "a-b", "\u{e9}", &"a".repeat(33)] {
            assert!(text.parse::<Tag>().is_err(), "{text}");
        }
        let order: Vec<Tag> = ["_x", "a", "a_b", "b", "ba"].map(|t| t.parse().expect("is a tag")).to_vec();
        assert!(order.is_sorted() && Tag::NONE < order[0]);
        assert_eq!(Tag::NONE.cmp(&Tag::default()), Ordering::Equal);
    }

    #[test]
    fn servers_are_ordered_by_their_bytes() {
        let uuid = |first: u8, last: u8| {
            let mut bytes = [7; 16];
            (bytes[0], bytes[15]) = (first, last);
            Uuid(bytes)
        };
        let order = [uuid(0, 9), uuid(1, 0), uuid(1, 1), uuid(0x7f, 0), uuid(0x80, 0), uuid(0xff, 0xff)];
        assert!(order.is_sorted_by(|one, two| one < two && one.0 < two.0));
    }
}
