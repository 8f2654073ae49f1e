//! Compiled patterns and their matches.

use super::class;
use super::error::RegexpError;
use super::parse;
use super::translate::translate;
use super::tree::Flags;
use fancy_regex::{Captures, Error, Regex, RegexBuilder, RuntimeError};
use std::sync::LazyLock;

/// The most bytes of a pattern.
const MOST_CHARS: usize = 1 << 16;
/// The memory of the automaton of a part that has no back references and no look-around.
const AUTOMATON_BYTES: usize = 10 << 20;
const CACHE_BYTES: usize = 2 << 20;
const MOST_INSTRUCTIONS: usize = 1 << 18;
/// The steps of one unit of `regexp_time_limit`. A unit of ICU is ten thousand alternatives that it
/// keeps. The library counts every step back, and each place where a match could begin is one.
const STEPS_OF_TIME: usize = 100_000;
/// The most units of time of a match, also of one without a limit, because a match cannot be
/// interrupted.
const MOST_TIME: usize = 256;
/// The bytes of `regexp_stack_limit` that are counted for one step. Most steps give their place
/// back.
const STEP_BYTES: usize = 2;

/// The limits of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The value of `regexp_time_limit`. 0 means no limit.
    pub time: u32,
    /// The value of `regexp_stack_limit`, in bytes. 0 means no limit.
    pub stack_bytes: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: 32, stack_bytes: 8_000_000 }
    }
}

impl Limits {
    /// Returns the most steps back, and the error of a match that takes more.
    fn steps(self) -> (usize, RegexpError) {
        let time = match self.time {
            0 => MOST_TIME,
            time => (time as usize).min(MOST_TIME),
        } * STEPS_OF_TIME;
        match self.stack_bytes as usize / STEP_BYTES {
            stack if self.stack_bytes > 0 && stack < time => (stack, RegexpError::StackOverflow),
            _ => (time, RegexpError::TimeOut),
        }
    }
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    groups: usize,
    names: Vec<(String, usize)>,
    has_boundary: bool,
    folds_reference: bool,
    /// Whether groups may match other texts than in ICU.
    groups_may_differ: bool,
    too_many_steps: RegexpError,
    text_bytes: usize,
}

/// The places of a match and its groups, in bytes of the subject.
#[derive(Debug)]
pub(crate) struct Match {
    /// The beginning and the end of the whole match, at index 0, and of each group. `None` means
    /// that the group has matched nothing.
    groups: Vec<Option<(usize, usize)>>,
}

impl Match {
    pub fn start(&self) -> usize {
        self.whole().0
    }

    pub fn end(&self) -> usize {
        self.whole().1
    }

    fn whole(&self) -> (usize, usize) {
        self.groups[0].expect("a match has a place")
    }

    pub fn group(&self, group: usize) -> Option<(usize, usize)> {
        self.groups[group]
    }
}

static COMBINING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(class::COMBINING).expect("a pattern of ours"));

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Returns the error of a pattern that is wrong, too large, or not supported.
    pub fn compile(text: &str, flags: Flags, limits: Limits) -> Result<Pattern, RegexpError> {
        if text.is_empty() {
            return Err(RegexpError::IllegalArgument);
        }
        if text.len() > MOST_CHARS {
            return Err(RegexpError::PatternTooBig);
        }
        let chars: Vec<char> = text.chars().collect();
        let parsed = parse::parse(&chars, flags)?;
        let groups_may_differ = parsed.root.groups_may_differ();
        if groups_may_differ && parsed.root.last_reference() > 0 {
            return Err(RegexpError::Unimplemented);
        }
        let translated = translate(&parsed.root)?;
        let (steps, too_many_steps) = limits.steps();
        let regex = RegexBuilder::new(&translated.text)
            .backtrack_limit(steps)
            .delegate_size_limit(AUTOMATON_BYTES)
            .delegate_dfa_size_limit(CACHE_BYTES)
            .max_prog_size(MOST_INSTRUCTIONS)
            .build()
            .map_err(|error| {
                log::debug!("a regular expression is refused: {error}");
                RegexpError::PatternTooBig
            })?;
        Ok(Pattern {
            regex,
            groups: parsed.groups,
            names: parsed.names,
            has_boundary: translated.has_boundary,
            folds_reference: translated.folds_reference,
            groups_may_differ,
            too_many_steps,
            text_bytes: translated.text.len(),
        })
    }

    /// Estimates the bytes that the pattern takes, with the caches of its automata.
    pub fn bytes(&self) -> usize {
        self.text_bytes.saturating_mul(16).min(2 * AUTOMATON_BYTES) + 4096
    }

    pub fn groups_may_differ(&self) -> bool {
        self.groups_may_differ
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn group_named(&self, name: &str) -> Option<usize> {
        self.names.iter().find(|(known, _)| known == name).map(|(_, group)| *group)
    }

    /// Refuses a subject for which the library's answer may differ from ICU's.
    fn check_subject(&self, subject: &str) -> Result<(), RegexpError> {
        if subject.is_ascii() {
            return Ok(());
        }
        // The library sees the end of a word in front of a combining character, where ICU sees
        // none. It compares a back reference without foldings to several characters.
        let combining = self.has_boundary && COMBINING.is_match(subject).unwrap_or(true);
        if combining || self.folds_reference && subject.chars().any(changes_length) {
            return Err(RegexpError::Unimplemented);
        }
        Ok(())
    }

    /// Returns the first match that begins at the byte `start` or after it.
    ///
    /// # Errors
    /// Returns the error of a match that takes too many steps, and `Unimplemented` for a subject
    /// for which the answer may differ from ICU's.
    pub fn find_at(&self, subject: &str, start: usize) -> Result<Option<Match>, RegexpError> {
        self.check_subject(subject)?;
        let found = self.regex.captures_from_pos(subject, start).map_err(|error| self.ended(error))?;
        Ok(found.map(|captures: Captures<'_, str>| Match {
            groups: (0..=self.groups)
                .map(|group| captures.get(group).map(|found| (found.start(), found.end())))
                .collect(),
        }))
    }

    /// Reports whether the pattern matches anywhere in the subject.
    ///
    /// # Errors
    /// Returns the errors of [`Pattern::find_at`].
    pub fn is_match(&self, subject: &str) -> Result<bool, RegexpError> {
        self.check_subject(subject)?;
        self.regex.is_match(subject).map_err(|error| self.ended(error))
    }

    fn ended(&self, error: Error) -> RegexpError {
        match error {
            Error::RuntimeError(RuntimeError::BacktrackLimitExceeded) => self.too_many_steps,
            Error::RuntimeError(RuntimeError::StackOverflow) => RegexpError::StackOverflow,
            _ => RegexpError::Internal,
        }
    }

    /// Returns the next match after another one. After an empty match the search begins a
    /// character later.
    ///
    /// # Errors
    /// Returns the errors of [`Pattern::find_at`].
    pub fn find_after(&self, subject: &str, before: &Match) -> Result<Option<Match>, RegexpError> {
        if before.end() > before.start() {
            return self.find_at(subject, before.end());
        }
        match subject[before.end()..].chars().next() {
            Some(one) => self.find_at(subject, before.end() + one.len_utf8()),
            None => Ok(None),
        }
    }
}

/// Reports whether a character has another length in another case.
fn changes_length(one: char) -> bool {
    let bytes = |chars: &mut dyn Iterator<Item = char>| chars.map(char::len_utf8).sum::<usize>();
    let own = one.len_utf8();
    bytes(&mut one.to_lowercase()) != own || bytes(&mut one.to_uppercase()) != own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &str, subject: &str) -> Result<Option<(usize, usize)>, RegexpError> {
        let flags = Flags { case_insensitive: true, ..Flags::default() };
        let pattern = Pattern::compile(pattern, flags, Limits::default())?;
        let found = pattern.find_at(subject, 0)?;
        assert_eq!(pattern.is_match(subject)?, found.is_some());
        Ok(found.map(|found| (found.start(), found.end())))
    }

    /// These are the answers of MySQL 9.7.
    #[test]
    fn patterns_match_as_in_icu() {
        for (pattern, subject, found) in [
            ("SS", "ß", Some((0, 2))),
            ("ß", "xSS", Some((1, 3))),
            ("^f", "ﬁ", None),
            ("a*+a", "aa", None),
            (r"(?<=a{1,3})X", "aX", Some((1, 2))),
            (r"\P{Lu}", "aA1", Some((2, 3))),
            ("[[a-z]-[b-d]]+", "bcdea", Some((3, 5))),
            (r"[\w&&[^a]]", "ab", Some((1, 2))),
            ("a$", "a\r\n", Some((0, 1))),
            (r"(a)\10", "aa0", Some((0, 3))),
        ] {
            assert_eq!(matched(pattern, subject), Ok(found), "{pattern}");
        }
    }

    #[test]
    fn wrong_patterns_have_the_errors_of_icu() {
        for (pattern, error) in [
            ("", RegexpError::IllegalArgument),
            ("a**", RegexpError::Syntax(1, 3)),
            ("a\n*\n**", RegexpError::Syntax(3, 2)),
            (r"[a-\d]", RegexpError::Syntax(1, 5)),
            ("[a-", RegexpError::InvalidRange),
            ("(", RegexpError::MismatchedParenthesis),
            ("(?<=a*)b", RegexpError::LookBehindLimit),
            (r"\1", RegexpError::InvalidBackReference),
            (r"\X", RegexpError::Unimplemented),
            ("((a{1000}){1000}){1000}", RegexpError::PatternTooBig),
        ] {
            assert_eq!(matched(pattern, "a"), Err(error), "{pattern}");
        }
    }

    #[test]
    fn a_match_that_takes_too_long_ends() {
        let subject = "a".repeat(40);
        assert_eq!(matched(r"^(a|aa)+\1b", &subject), Err(RegexpError::TimeOut));
        let limits = Limits { stack_bytes: 239, ..Limits::default() };
        let pattern = Pattern::compile(r"^(a|aa)+\1b", Flags::default(), limits);
        let ended = pattern.and_then(|pattern| pattern.is_match(&subject));
        assert_eq!(ended, Err(RegexpError::StackOverflow));
    }
}
