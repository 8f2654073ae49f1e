//! The replacement of a match, with `$1`, `${name}` and backslashes in its text.

use super::error::RegexpError;
use super::pattern::{Match, Pattern};

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Group(usize),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    parts: Vec<Part>,
}

impl Replacement {
    /// Parses the text of a replacement.
    ///
    /// # Errors
    /// Returns an error for a group that the pattern does not have.
    pub fn parse(text: &str, pattern: &Pattern) -> Result<Replacement, RegexpError> {
        let chars: Vec<char> = text.chars().collect();
        let mut reader = Reader { chars: &chars, at: 0 };
        let (mut parts, mut literal) = (Vec::new(), String::new());
        while let Some(one) = reader.next() {
            match one {
                '\\' => literal.extend(reader.escaped()),
                '$' => {
                    if !literal.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                    }
                    let group = reader.group(pattern)?;
                    if group > 0 && pattern.groups_may_differ() {
                        return Err(RegexpError::Unimplemented);
                    }
                    parts.push(Part::Group(group));
                }
                one => literal.push(one),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Replacement { parts })
    }

    /// Returns the bytes of the text that replaces a match.
    pub fn length(&self, found: &Match) -> usize {
        let length = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Group(group) => found.group(*group).map_or(0, |(start, end)| end - start),
        };
        self.parts.iter().fold(0usize, |sum, part| sum.saturating_add(length(part)))
    }

    pub fn write(&self, subject: &str, found: &Match, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Group(group) => {
                    if let Some((start, end)) = found.group(*group) {
                        out.push_str(&subject[start..end]);
                    }
                }
            }
        }
    }
}

struct Reader<'r> {
    chars: &'r [char],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let one = self.chars.get(self.at).copied();
        self.at += usize::from(one.is_some());
        one
    }

    /// Reads the characters after a backslash and returns what they stand for. A backslash at the
    /// end stands for nothing.
    fn escaped(&mut self) -> Option<char> {
        let one = self.next()?;
        let digits = match one {
            'u' => 4,
            'U' => 8,
            _ => return Some(one),
        };
        let Some(code) = self.hexadecimal(self.at, digits) else { return Some(one) };
        if let Some(known) = char::from_u32(code) {
            self.at += digits;
            return Some(known);
        }
        // This is one half of a character in UTF-16. The other half has to follow.
        let behind = self.at + digits;
        let second = match self.chars.get(behind..behind + 2) {
            Some(['\\', 'u']) if digits == 4 => self.hexadecimal(behind + 2, 4),
            _ => None,
        };
        let units = second.and_then(|second| Some([code as u16, u16::try_from(second).ok()?]));
        let both = units.and_then(|units| char::decode_utf16(units).next()?.ok());
        match both {
            Some(both) => {
                self.at = behind + 6;
                Some(both)
            }
            None => Some(one),
        }
    }

    fn hexadecimal(&self, at: usize, digits: usize) -> Option<u32> {
        let text = self.chars.get(at..at + digits)?;
        text.iter().try_fold(0u32, |code, one| Some(code.checked_mul(16)?.saturating_add(one.to_digit(16)?)))
    }

    /// Reads the number or name of the group after `$`. A number has as many digits as lead to an
    /// existing group.
    fn group(&mut self, pattern: &Pattern) -> Result<usize, RegexpError> {
        if self.chars.get(self.at) == Some(&'{') {
            let rest = &self.chars[self.at + 1..];
            let end = rest.iter().position(|one| *one == '}').ok_or(RegexpError::InvalidGroupName)?;
            let name: String = rest[..end].iter().collect();
            self.at += end + 2;
            return pattern.group_named(&name).ok_or(RegexpError::InvalidGroupName);
        }
        let digit = |at: usize| self.chars.get(at).and_then(|one| one.to_digit(10));
        let mut number = digit(self.at).ok_or(RegexpError::InvalidGroupName)? as usize;
        let mut at = self.at + 1;
        if number > pattern.groups() {
            return Err(RegexpError::IndexOutOfBounds);
        }
        while let Some(next) = digit(at) {
            let longer = number.saturating_mul(10).saturating_add(next as usize);
            if longer > pattern.groups() {
                break;
            }
            (number, at) = (longer, at + 1);
        }
        self.at = at;
        Ok(number)
    }
}
