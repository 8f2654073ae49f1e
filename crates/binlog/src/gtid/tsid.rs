//! What the transaction numbers of MySQL's GTIDs count: the transactions of one server under one
//! tag (MySQL's TSID, 8.3).

use super::error::GtidError;
use super::uuid::Uuid;
use std::fmt;
use std::str::FromStr;

/// Longest tag, in bytes.
const LONGEST: usize = 32;

/// A tag: letters of lower case, digits and underscores, not a digit first; or none, which is empty
/// and the default.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// What is behind the tag is zero, so that the bytes are ordered as the tags are.
    bytes: [u8; LONGEST],
    len: u8,
}

impl Tag {
    /// None at all.
    pub const NONE: Tag = Tag { bytes: [0; LONGEST], len: 0 };

    /// Its characters.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).expect("a tag is made of ASCII characters")
    }

    /// There is none.
    pub fn is_none(&self) -> bool {
        self.len == 0
    }

    /// The tag of these characters, which may be of upper case; `None` if they are none. No
    /// characters are no tag.
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

    /// Takes a tag of at least one character, in any case, between spaces.
    fn from_str(text: &str) -> Result<Tag, GtidError> {
        let tag = Tag::new(text.trim().as_bytes()).filter(|tag| !tag.is_none());
        tag.ok_or_else(|| GtidError::Malformed(text.to_string()))
    }
}

/// A server, and a tag or none. They are ordered as MySQL prints them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tsid {
    /// The server where the transactions were committed first.
    pub uuid: Uuid,
    /// Their tag.
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
    }
}
