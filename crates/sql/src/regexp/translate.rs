//! Writes a tree in the syntax of fancy-regex, in a form that does not depend on flags.

use super::class::LINE_ENDS;
use super::error::RegexpError;
use super::fold;
use super::tree::{Assertion, Flags, Greed, Node};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use std::fmt::Write;

/// The most bytes of a translated pattern. The tree is charged as that many bytes.
const MOST_BYTES: usize = 1 << 20;

/// A translated pattern.
pub(super) struct Translated {
    pub text: String,
    /// Whether the pattern tests for the ends of words.
    pub has_boundary: bool,
    /// Whether the pattern has a case insensitive back reference.
    pub folds_reference: bool,
    /// Whether nothing has been written yet that a match has to pass.
    at_start: bool,
}

pub(super) fn translate(root: &Node) -> Result<Translated, RegexpError> {
    let mut out =
        Translated { text: String::new(), has_boundary: false, folds_reference: false, at_start: true };
    out.node(root)?;
    Ok(out)
}

impl Translated {
    fn push(&mut self, text: &str) -> Result<(), RegexpError> {
        if self.text.len() + text.len() > MOST_BYTES {
            return Err(RegexpError::PatternTooBig);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn within(&mut self, open: &str, inner: &Node) -> Result<(), RegexpError> {
        self.push(open)?;
        self.node(inner)?;
        self.push(")")
    }

    fn node(&mut self, node: &Node) -> Result<(), RegexpError> {
        let goes_on = match node {
            Node::Empty | Node::Concat(_) | Node::Capture(_) | Node::Assert(..) => true,
            Node::Repeat { min, max, .. } => *min > 0 || *max == Some(0),
            _ => false,
        };
        self.at_start &= goes_on;
        match node {
            Node::Empty => self.push("(?:)"),
            Node::Literal { text, case_insensitive: false } => {
                text.iter().try_for_each(|one| self.push(&code(*one)))
            }
            Node::Literal { text, case_insensitive: true } => self.folded(text),
            Node::Set(class) => self.class(class),
            Node::Dot(flags) => self.push(&dot(*flags)),
            Node::LineBreak => self.push(&format!(r"(?>\r\n|[{LINE_ENDS}])")),
            Node::Assert(assertion, flags) => self.assertion(*assertion, *flags),
            Node::Concat(parts) => parts.iter().try_for_each(|part| self.node(part)),
            Node::Alternate(parts) => {
                self.push("(?:")?;
                for (at, part) in parts.iter().enumerate() {
                    self.push(if at > 0 { "|" } else { "" })?;
                    self.node(part)?;
                }
                self.push(")")
            }
            Node::Capture(inner) => self.within("(", inner),
            Node::Atomic(inner) => self.within("(?>", inner),
            Node::Look { behind, negative, inner } => {
                let open = match (behind, negative) {
                    (false, false) => "(?=",
                    (false, true) => "(?!",
                    (true, false) => "(?<=",
                    (true, true) => "(?<!",
                };
                self.within(open, inner)
            }
            Node::Repeat { inner, min, max, greed } => self.repeat(inner, *min, *max, *greed),
            Node::BackReference { group, case_insensitive } => {
                self.folds_reference |= case_insensitive;
                let flag = if *case_insensitive { "i" } else { "" };
                self.push(&format!(r"(?{flag}:\{group})"))
            }
        }
    }

    fn repeat(&mut self, inner: &Node, min: u32, max: Option<u32>, greed: Greed) -> Result<(), RegexpError> {
        self.push(if greed == Greed::Possessive { "(?>" } else { "(?:" })?;
        if max == Some(0) {
            // The groups within it are counted, although they never match.
            let at_start = self.at_start;
            self.push("(?!)")?;
            self.node(inner)?;
            self.at_start = at_start;
            return self.push("|)");
        }
        if inner.has_no_length() {
            // The library does not repeat a part that has no length, and one time means the same as
            // several.
            match (min, greed) {
                (1.., _) => self.within("(?:", inner)?,
                (0, Greed::Lazy) => {
                    self.push("(?:|")?;
                    self.node(inner)?;
                    self.push(")")?;
                }
                (0, _) => {
                    self.push("(?:")?;
                    self.node(inner)?;
                    self.push("|)")?;
                }
            }
            return self.push(")");
        }
        self.within("(?:", inner)?;
        match (min, max) {
            (0, None) => self.push("*")?,
            (1, None) => self.push("+")?,
            (0, Some(1)) => self.push("?")?,
            (min, None) => self.push(&format!("{{{min},}}"))?,
            (min, Some(max)) => self.push(&format!("{{{min},{max}}}"))?,
        }
        self.push(if greed == Greed::Lazy { "?)" } else { ")" })
    }

    fn class(&mut self, class: &ClassUnicode) -> Result<(), RegexpError> {
        if class.ranges().is_empty() {
            return self.push(r"[^\x{0}-\x{10ffff}]");
        }
        self.push("[")?;
        for range in class.ranges() {
            let mut text = code(range.start());
            if range.end() > range.start() {
                let _ = write!(text, "-{}", code(range.end()));
            }
            self.push(&text)?;
        }
        self.push("]")
    }

    /// Writes one character in any case.
    fn any_case(&mut self, one: char) -> Result<(), RegexpError> {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(one, one)]);
        class.case_fold_simple();
        self.class(&class)
    }

    /// Writes a literal in any case. A character matches its folding of several characters, and the
    /// other way round.
    fn folded(&mut self, text: &[char]) -> Result<(), RegexpError> {
        // A single character is compared with single characters only.
        if let [one] = text
            && fold::folded(text).len() == 1
        {
            return self.any_case(*one);
        }
        let text = fold::folded(text);
        let mut at = 0;
        while at < text.len() {
            at = self.folded_run(&text, at)?;
        }
        Ok(())
    }

    /// Writes the next part of a folded literal whose ends no folding crosses, and returns the end
    /// of the part.
    fn folded_run(&mut self, text: &[char], start: usize) -> Result<usize, RegexpError> {
        let mut end = start + 1;
        let mut at = start;
        while at < end {
            for (_, length) in fold::foldings_at(&text[at..]) {
                end = end.max(at + length);
            }
            at += 1;
        }
        self.folded_ways(&text[start..end])?;
        Ok(end)
    }

    /// Writes all ways to write a short text. Their order does not matter, because the subject
    /// decides which one it is.
    fn folded_ways(&mut self, text: &[char]) -> Result<(), RegexpError> {
        let Some((first, rest)) = text.split_first() else { return Ok(()) };
        let others = fold::foldings_at(text);
        if others.is_empty() {
            self.any_case(*first)?;
            return self.folded_ways(rest);
        }
        self.push("(?:")?;
        self.any_case(*first)?;
        self.folded_ways(rest)?;
        for (one, length) in others {
            self.push("|")?;
            self.push(&code(one))?;
            self.folded_ways(&text[length..])?;
        }
        self.push(")")
    }

    fn assertion(&mut self, assertion: Assertion, flags: Flags) -> Result<(), RegexpError> {
        // These characters end a line by themselves. A line feed does so only if no carriage return
        // stands in front of it.
        const OTHERS: &str = r"[\x{b}-\r\x{85}\x{2028}\x{2029}]";
        let text = match (assertion, flags.multi_line, flags.unix_lines) {
            (Assertion::LineStart, false, _) => r"\A".to_string(),
            (Assertion::LineStart, true, true) => r"(?:\A|(?<=\n))".to_string(),
            // A search for a pattern that begins with `^` goes from line to line, and no line
            // begins between a carriage return and its line feed. Elsewhere in a pattern, ICU sees
            // a line begin there.
            (Assertion::LineStart, true, false) if self.at_start => {
                format!(r"(?:\A|(?<=[{LINE_ENDS}])(?!\z)(?!(?<=\r)\n))")
            }
            (Assertion::LineStart, true, false) => format!(r"(?:\A|(?<=[{LINE_ENDS}])(?!\z))"),
            (Assertion::LineEnd, false, true) => r"(?=\n?\z)".to_string(),
            (Assertion::LineEnd, false, false) => {
                format!(r"(?=\z|\r\n\z|{OTHERS}\z|(?<!\r)\n\z)")
            }
            (Assertion::LineEnd, true, true) => r"(?=\n|\z)".to_string(),
            (Assertion::LineEnd, true, false) => format!(r"(?=\z|{OTHERS}|(?<!\r)\n)"),
            (Assertion::TextEnd, ..) => r"\z".to_string(),
            (Assertion::MatchStart, ..) => r"\G".to_string(),
            (Assertion::WordBoundary, ..) => r"\b".to_string(),
            (Assertion::NoWordBoundary, ..) => r"\B".to_string(),
        };
        self.at_start = false;
        self.has_boundary |= matches!(assertion, Assertion::WordBoundary | Assertion::NoWordBoundary);
        self.push(&text)
    }
}

fn dot(flags: Flags) -> String {
    match (flags.dot_all, flags.unix_lines) {
        // A line end of two characters is taken as one.
        (true, _) => r"(?>\r\n|(?s:.))".to_string(),
        (false, true) => r"[^\n]".to_string(),
        (false, false) => format!("[^{LINE_ENDS}]"),
    }
}

/// Returns a character as a code point.
fn code(one: char) -> String {
    match one {
        one if one.is_ascii_alphanumeric() => one.to_string(),
        one => format!(r"\x{{{:x}}}", u32::from(one)),
    }
}
