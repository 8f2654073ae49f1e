//! Sets of documents, and the changes that the parts of a level make to the level's set.

use super::record::{Occurrence, Record};
use super::tree::Sign;
use crate::error::Result;
use std::collections::HashMap;

/// The memory that is charged for a document of a set, in bytes.
const MEMBER_BYTES: usize = 2 * size_of::<(u64, Member)>() + 16;

/// A set of places in a document's record.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// A bit for each of the places 0 to 63.
    first: u64,
    /// A bit for each further place, 64 of them in each number.
    further: Vec<u64>,
}

impl Places {
    fn add(&mut self, place: usize) {
        match (place / 64).checked_sub(1) {
            None => self.first |= 1 << place,
            Some(at) => {
                if self.further.len() <= at {
                    self.further.resize(at + 1, 0);
                }
                self.further[at] |= 1 << (place % 64);
            }
        }
    }

    fn add_all(&mut self, other: &Places) {
        self.first |= other.first;
        if self.further.len() < other.further.len() {
            self.further.resize(other.further.len(), 0);
        }
        for (own, other) in self.further.iter_mut().zip(&other.further) {
            *own |= other;
        }
    }

    /// Reports whether a place is in the set.
    pub fn has(&self, place: usize) -> bool {
        let bits = match (place / 64).checked_sub(1) {
            None => self.first,
            Some(at) => self.further.get(at).copied().unwrap_or_default(),
        };
        bits >> (place % 64) & 1 == 1
    }
}

/// A document of a set.
#[derive(Debug, Default)]
pub(super) struct Member {
    /// The effect of `<`, `>` and `~` on the document's rank: -1, 0 or 1.
    pub shift: i8,
    /// The places of the words that the document was found for.
    pub words: Places,
}

impl Member {
    fn shift_by(&mut self, shift: i8) {
        self.shift = (self.shift + shift).clamp(-1, 1);
    }
}

/// The documents that a level has found so far.
#[derive(Debug, Default)]
pub(super) struct Set {
    members: HashMap<u64, Member>,
    /// Whether a part with `+` has been evaluated. The first such part makes the set anew, and each
    /// further one restricts it.
    is_restricted: bool,
}

impl Set {
    /// Returns the documents, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Member)> {
        self.members.iter().map(|(document, member)| (*document, member))
    }

    /// Reports whether the set has one of these documents.
    pub fn has_any(&self, documents: &[u64]) -> bool {
        documents.iter().any(|document| self.members.contains_key(document))
    }

    /// Reports whether a word with this sign cannot change the set, whatever documents have the
    /// word.
    pub fn is_settled(&self, sign: Sign) -> bool {
        match sign {
            Sign::Must => self.is_restricted && self.members.is_empty(),
            Sign::MustNot => self.members.is_empty(),
            _ => false,
        }
    }

    /// Changes the set by the documents that have a word with this sign. A document may come
    /// several times. If the word has a `+`, is not the level's first one and leaves no document,
    /// the set as it was before is returned.
    ///
    /// # Errors
    /// Returns the errors of `documents` and of [`Record::meet`].
    pub fn meet(
        &mut self,
        sign: Sign,
        mut documents: impl Iterator<Item = Result<(u64, Occurrence)>>,
        record: &mut Record<'_>,
    ) -> Result<Option<Set>> {
        if sign == Sign::Must {
            return self.restrict(documents, record);
        }
        documents.try_for_each(|met| -> Result<()> {
            let (document, occurrence) = met?;
            match sign {
                Sign::MustNot => {
                    self.members.remove(&document);
                    return Ok(());
                }
                Sign::Worse if !self.members.contains_key(&document) => return Ok(()),
                _ => (),
            }
            if !self.members.contains_key(&document) {
                record.charge().add(MEMBER_BYTES)?;
            }
            let member = self.members.entry(document).or_default();
            member.shift_by(shift_of(sign));
            member.words.add(record.meet(document, occurrence)?);
            Ok(())
        })?;
        Ok(None)
    }

    /// Adds a document with the words that it was found for. A document that is there already is
    /// found for these words too.
    ///
    /// # Errors
    /// Returns the errors of [`Record::meet`].
    pub fn add(&mut self, document: u64, words: &[Occurrence], record: &mut Record<'_>) -> Result<()> {
        if !self.members.contains_key(&document) {
            record.charge().add(MEMBER_BYTES)?;
        }
        let member = self.members.entry(document).or_default();
        for word in words {
            member.words.add(record.meet(document, *word)?);
        }
        Ok(())
    }

    fn restrict(
        &mut self,
        documents: impl Iterator<Item = Result<(u64, Occurrence)>>,
        record: &mut Record<'_>,
    ) -> Result<Option<Set>> {
        let is_first = !std::mem::replace(&mut self.is_restricted, true);
        let mut kept: HashMap<u64, Member> = HashMap::new();
        for met in documents {
            let (document, occurrence) = met?;
            let member = match kept.remove(&document).or_else(|| self.members.remove(&document)) {
                Some(member) => Some(member),
                None if is_first => {
                    record.charge().add(MEMBER_BYTES)?;
                    Some(Member::default())
                }
                None => None,
            };
            if let Some(mut member) = member {
                member.words.add(record.meet(document, occurrence)?);
                kept.insert(document, member);
            }
        }
        let has_lost_all = !is_first && kept.is_empty();
        let members = std::mem::replace(&mut self.members, kept);
        Ok(has_lost_all.then_some(Set { members, is_restricted: false }))
    }

    /// Removes the documents that are not among these. `documents` is sorted.
    pub fn retain(&mut self, documents: &[u64]) {
        self.members.retain(|document, _| documents.binary_search(document).is_ok());
    }

    /// Changes the set by the documents of a phrase or of a level in parentheses, which has this
    /// sign.
    pub fn merge(&mut self, sign: Sign, other: Set) {
        match sign {
            Sign::Must => return self.restrict_to(other),
            Sign::MustNot => {
                for document in other.members.keys() {
                    self.members.remove(document);
                }
                return;
            }
            _ => (),
        }
        for (document, mut theirs) in other.members {
            match self.members.get_mut(&document) {
                Some(member) => {
                    member.shift_by(shift_of(sign));
                    member.words.add_all(&theirs.words);
                }
                None if sign == Sign::Worse => (),
                None => {
                    theirs.shift_by(shift_of(sign));
                    self.members.insert(document, theirs);
                }
            }
        }
    }

    fn restrict_to(&mut self, other: Set) {
        let is_first = !std::mem::replace(&mut self.is_restricted, true);
        let mut before = std::mem::take(&mut self.members);
        for (document, theirs) in other.members {
            match before.remove(&document) {
                Some(mut member) => {
                    member.shift_by(theirs.shift);
                    member.words.add_all(&theirs.words);
                    self.members.insert(document, member);
                }
                None if is_first => {
                    self.members.insert(document, theirs);
                }
                None => (),
            }
        }
    }
}

fn shift_of(sign: Sign) -> i8 {
    match sign {
        Sign::Higher => 1,
        Sign::Lower | Sign::Worse => -1,
        Sign::May | Sign::Must | Sign::MustNot => 0,
    }
}
