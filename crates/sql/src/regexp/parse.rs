//! Parses patterns by ICU's grammar.

use super::class;
use super::error::RegexpError;
use super::tree::{Assertion, Flags, Greed, Node};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// The most nested groups, which is what ICU's list of states has room for.
const MOST_DEPTH: usize = 99;
/// The letters of the escapes that stand for one character.
const ESCAPES: &str = "acefnrtuUx";
const MOST_COUNT: u32 = i32::MAX as u32;

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Parsed {
    pub root: Node,
    pub groups: usize,
    pub names: Vec<(String, usize)>,
}

/// A reader of a pattern's characters, which knows its place in the pattern for the errors.
pub(super) struct PatternReader<'p> {
    pub(super) text: &'p [char],
    pub(super) at: usize,
    pub(super) flags: Flags,
    groups: usize,
    names: Vec<(String, usize)>,
    depth: usize,
    /// The places of the escapes of code points. ICU counts each of them as one character more.
    escapes: Vec<usize>,
    /// The literal of a set that was read last.
    pub(super) last_literal: Option<char>,
}

type Result<T> = std::result::Result<T, RegexpError>;

pub(super) fn parse(text: &[char], flags: Flags) -> Result<Parsed> {
    let mut parser = PatternReader {
        text,
        at: 0,
        flags,
        groups: 0,
        names: Vec::new(),
        depth: 0,
        escapes: Vec::new(),
        last_literal: None,
    };
    let root = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(RegexpError::MismatchedParenthesis);
    }
    // A reference to a group that comes later is allowed; it never matches.
    if root.last_reference() > parser.groups {
        return Err(RegexpError::InvalidBackReference);
    }
    Ok(Parsed { root, groups: parser.groups, names: parser.names })
}

impl PatternReader<'_> {
    /// Returns the next character. The flag `x` makes it skip white space and comments.
    pub(super) fn peek(&mut self) -> Option<char> {
        while self.flags.comments {
            match self.text.get(self.at) {
                Some('#') => {
                    while self.text.get(self.at).is_some_and(|one| !is_line_end(*one)) {
                        self.at += 1;
                    }
                }
                Some(one) if is_pattern_space(*one) => self.at += 1,
                _ => break,
            }
        }
        self.text.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let one = self.peek()?;
        self.at += 1;
        Some(one)
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Builds the syntax error at the character that was read last.
    pub(super) fn syntax(&self) -> RegexpError {
        let read = &self.text[..self.at.min(self.text.len())];
        let line_start = read.iter().rposition(|one| is_line_end(*one)).map_or(0, |at| at + 1);
        let lines = read.iter().filter(|one| is_line_end(**one)).count();
        let escapes = self.escapes.iter().filter(|at| **at >= line_start).count();
        RegexpError::Syntax(lines as u32 + 1, (read.len() - line_start + escapes) as u32)
    }

    /// Builds the syntax error at the next character, which is read.
    fn syntax_at_next(&mut self) -> RegexpError {
        self.next();
        self.syntax()
    }

    fn alternatives(&mut self) -> Result<Node> {
        let mut branches = Vec::new();
        loop {
            branches.push(self.sequence()?);
            if !self.eat('|') {
                break;
            }
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alternate(branches) })
    }

    fn sequence(&mut self) -> Result<Node> {
        let mut parts: Vec<Node> = Vec::new();
        // Whether the last part is a literal that the next character continues.
        let mut open = false;
        while let Some(one) = self.peek() {
            if one == '|' || one == ')' {
                break;
            }
            let (mut node, may_repeat) = self.term()?;
            let repeated = match may_repeat {
                true => self.quantifier()?,
                false => None,
            };
            let single = matches!(&node, Node::Literal { text, .. } if text.len() == 1);
            if let Some((min, max, greed)) = repeated {
                node = Node::Repeat { inner: Box::new(node), min, max, greed };
                open = false;
            } else if single {
                if open
                    && let (
                        Some(Node::Literal { text, case_insensitive }),
                        Node::Literal { text: more, case_insensitive: same },
                    ) = (parts.last_mut(), &node)
                    && case_insensitive == same
                {
                    text.extend(more);
                    continue;
                }
                open = true;
            } else if matches!(node, Node::Empty) {
                // A comment or a change of flags does not separate the literals around it.
                continue;
            } else {
                open = false;
            }
            parts.push(node);
        }
        Ok(match parts.len() {
            0 => Node::Empty,
            1 => parts.remove(0),
            _ => Node::Concat(parts),
        })
    }

    fn literal(&self, one: char) -> Node {
        Node::Literal { text: vec![one], case_insensitive: self.flags.case_insensitive }
    }

    /// Closes a set under case if the flags say so.
    pub(super) fn closed(&self, mut class: ClassUnicode) -> ClassUnicode {
        if self.flags.case_insensitive {
            class.case_fold_simple();
        }
        class
    }

    /// Reads a term, and returns whether a quantifier may follow it.
    fn term(&mut self) -> Result<(Node, bool)> {
        // The caller has seen that a character follows.
        let Some(one) = self.next() else { return Ok((Node::Empty, false)) };
        let node = match one {
            '(' => return self.parenthesis(),
            '[' => Node::Set(self.set(0)?),
            '.' => Node::Dot(self.flags),
            '^' => Node::Assert(Assertion::LineStart, self.flags),
            '$' => Node::Assert(Assertion::LineEnd, self.flags),
            '*' | '+' | '?' | '{' | '}' => return Err(self.syntax()),
            '\\' => return self.escape(),
            one => self.literal(one),
        };
        Ok((node, true))
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>, Greed)>> {
        let (min, max) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                self.next();
                let bounds = self.interval()?;
                return Ok(Some((bounds.0, bounds.1, self.greed())));
            }
            _ => return Ok(None),
        };
        self.next();
        Ok(Some((min, max, self.greed())))
    }

    fn greed(&mut self) -> Greed {
        if self.eat('?') {
            Greed::Lazy
        } else if self.eat('+') {
            Greed::Possessive
        } else {
            Greed::Greedy
        }
    }

    /// Reads the bounds of an interval, such as `2,3}`.
    fn interval(&mut self) -> Result<(u32, Option<u32>)> {
        let min = self.count()?.ok_or(RegexpError::BadInterval)?;
        let max = if self.eat(',') { self.count()? } else { Some(min) };
        if !self.eat('}') {
            return Err(RegexpError::BadInterval);
        }
        match max {
            Some(max) if max < min => Err(RegexpError::MaxLessThanMin),
            max => Ok((min, max)),
        }
    }

    fn count(&mut self) -> Result<Option<u32>> {
        let mut count = None;
        while let Some(digit) = self.peek().and_then(|one| one.to_digit(10)) {
            self.next();
            let wide = u64::from(count.unwrap_or(0u32)) * 10 + u64::from(digit);
            let known = u32::try_from(wide).ok().filter(|count| *count <= MOST_COUNT);
            count = Some(known.ok_or(RegexpError::NumberTooBig)?);
        }
        Ok(count)
    }

    /// Reads what follows a `(`.
    fn parenthesis(&mut self) -> Result<(Node, bool)> {
        if !self.eat('?') {
            self.groups += 1;
            return Ok((Node::Capture(Box::new(self.group()?)), true));
        }
        if self.text.get(self.at) == Some(&'#') {
            return self.comment();
        }
        let look = |behind, negative, inner| Node::Look { behind, negative, inner: Box::new(inner) };
        match self.next() {
            Some(':') => Ok((self.group()?, true)),
            Some('>') => Ok((Node::Atomic(Box::new(self.group()?)), true)),
            Some('=') => Ok((look(false, false, self.group()?), false)),
            Some('!') => Ok((look(false, true, self.group()?), false)),
            Some('<') => match self.peek() {
                Some(kind @ ('=' | '!')) => {
                    self.next();
                    let inner = self.checked_group(check_look_behind)?;
                    Ok((look(true, kind == '!', inner), false))
                }
                Some(letter) if letter.is_ascii_alphabetic() => {
                    let name = self.group_name('>')?;
                    if self.names.iter().any(|(known, _)| *known == name) {
                        return Err(RegexpError::InvalidGroupName);
                    }
                    self.groups += 1;
                    self.names.push((name, self.groups));
                    Ok((Node::Capture(Box::new(self.group()?)), true))
                }
                _ => Err(self.syntax_at_next()),
            },
            Some(flag @ ('i' | 'd' | 'm' | 's' | 'u' | 'w' | 'x' | '-')) => {
                self.at -= 1;
                debug_assert_eq!(self.text.get(self.at), Some(&flag));
                self.flags_in_pattern()
            }
            // These are conditions and code in Perl.
            Some('(' | '{') => Err(RegexpError::Unimplemented),
            Some('\\') => {
                // ICU has read the escape before it reports the error.
                match self.text.get(self.at) {
                    Some(letter) if ESCAPES.contains(*letter) => drop(self.escaped_char()),
                    _ => self.at += 1,
                }
                Err(self.syntax())
            }
            _ => Err(self.syntax()),
        }
    }

    /// Reads `(?#...)` from its `#` on.
    fn comment(&mut self) -> Result<(Node, bool)> {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|one| *one == ')');
        self.at += end.ok_or(RegexpError::MismatchedParenthesis)? + 1;
        // It is not known to which part ICU applies a quantifier that follows a comment.
        match self.peek() {
            Some('*' | '+' | '?' | '{') => Err(RegexpError::Unimplemented),
            _ => Ok((Node::Empty, false)),
        }
    }

    /// Reads the letters and digits of a name, up to the character `end`.
    fn group_name(&mut self, end: char) -> Result<String> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(one) if one == end && !name.is_empty() => return Ok(name),
                Some(one) if one.is_ascii_alphabetic() => name.push(one),
                Some(one) if one.is_ascii_digit() && !name.is_empty() => name.push(one),
                _ => return Err(RegexpError::InvalidGroupName),
            }
        }
    }

    fn group(&mut self) -> Result<Node> {
        self.checked_group(|_| Ok(()))
    }

    /// Reads the inside of a group. `check` is called for it before the closing parenthesis is
    /// looked for. Flags that are set within the group end with it.
    fn checked_group(&mut self, check: fn(&Node) -> Result<()>) -> Result<Node> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(RegexpError::Internal);
        }
        let flags = self.flags;
        let inner = self.alternatives()?;
        check(&inner)?;
        if !self.eat(')') {
            return Err(RegexpError::MismatchedParenthesis);
        }
        self.flags = flags;
        self.depth -= 1;
        Ok(inner)
    }

    /// Reads `(?i)` or `(?i:...)` from the character after its `(?` on.
    fn flags_in_pattern(&mut self) -> Result<(Node, bool)> {
        let before = self.flags;
        let (mut flags, mut on) = (self.flags, true);
        loop {
            match self.next() {
                Some('-') => on = false,
                Some('i') => flags.case_insensitive = on,
                Some('d') => flags.unix_lines = on,
                Some('m') => flags.multi_line = on,
                Some('s') => flags.dot_all = on,
                Some('x') => flags.comments = on,
                // This flag is Java's. ICU accepts and ignores it.
                Some('u') => {}
                Some('w') if on => return Err(RegexpError::Unimplemented),
                Some('w') => {}
                Some(')') => {
                    self.flags = flags;
                    return Ok((Node::Empty, false));
                }
                Some(':') => {
                    self.flags = flags;
                    let inner = self.group()?;
                    self.flags = before;
                    return Ok((inner, true));
                }
                _ => return Err(RegexpError::InvalidFlag),
            }
        }
    }

    /// Reads what follows a backslash outside of a set.
    fn escape(&mut self) -> Result<(Node, bool)> {
        // White space after a backslash stands for itself, also with the flag `x`.
        let Some(&one) = self.text.get(self.at) else { return Err(RegexpError::BadEscape) };
        self.at += 1;
        let assert = |assertion, flags| Ok((Node::Assert(assertion, flags), false));
        let plain = Flags { multi_line: false, ..self.flags };
        let node = match one {
            'A' => return assert(Assertion::LineStart, plain),
            // For `\Z` every line end counts, also with the flag `d`.
            'Z' => return assert(Assertion::LineEnd, Flags { unix_lines: false, ..plain }),
            'z' => return assert(Assertion::TextEnd, plain),
            'G' => return assert(Assertion::MatchStart, plain),
            'b' => return assert(Assertion::WordBoundary, plain),
            'B' => return assert(Assertion::NoWordBoundary, plain),
            'X' | 'N' => return Err(RegexpError::Unimplemented),
            'R' => Node::LineBreak,
            'Q' => return Ok((self.quoted(), true)),
            'E' => return Ok((Node::Empty, false)),
            'k' => self.named_reference()?,
            '1'..='9' => self.numbered_reference(one),
            'p' | 'P' => Node::Set(self.property(one == 'P')?),
            one => match class::of_escape(one) {
                Some(class) => Node::Set(class),
                None => {
                    self.at -= 1;
                    self.literal_escape()?
                }
            },
        };
        Ok((node, true))
    }

    fn literal_escape(&mut self) -> Result<Node> {
        let one = self.escaped_char()?;
        Ok(self.literal(one))
    }

    /// Reads literals up to `\E`. The last one is a node of its own, because a quantifier applies
    /// to it alone.
    fn quoted(&mut self) -> Node {
        let rest = &self.text[self.at..];
        let end = rest.windows(2).position(|two| two == ['\\', 'E']);
        let text = rest[..end.unwrap_or(rest.len())].to_vec();
        self.at += text.len() + if end.is_some() { 2 } else { 0 };
        let case_insensitive = self.flags.case_insensitive;
        match text.split_last() {
            None => Node::Empty,
            Some((_, [])) => Node::Literal { text, case_insensitive },
            Some((last, before)) => Node::Concat(vec![
                Node::Literal { text: before.to_vec(), case_insensitive },
                Node::Literal { text: vec![*last], case_insensitive },
            ]),
        }
    }

    fn named_reference(&mut self) -> Result<Node> {
        if !self.eat('<') {
            return Err(RegexpError::InvalidGroupName);
        }
        let name = self.group_name('>')?;
        let known = self.names.iter().find(|(known, _)| *known == name);
        let group = known.ok_or(RegexpError::InvalidGroupName)?.1;
        Ok(Node::BackReference { group, case_insensitive: self.flags.case_insensitive })
    }

    /// Reads the digits of a back reference until the number is at least the number of groups so
    /// far. The group may come later.
    fn numbered_reference(&mut self, first: char) -> Node {
        let mut group = first.to_digit(10).unwrap_or(0) as usize;
        while group < self.groups
            && let Some(digit) = self.text.get(self.at).and_then(|one| one.to_digit(10))
        {
            group = group * 10 + digit as usize;
            self.at += 1;
        }
        Node::BackReference { group, case_insensitive: self.flags.case_insensitive }
    }

    /// Returns the set of a property closed under the flags, or the complement of that.
    pub(super) fn named_class(&self, name: &str, negated: bool) -> Result<ClassUnicode> {
        let mut class = self.closed(class::of_property(name)?);
        if negated {
            class.negate();
        }
        Ok(class)
    }

    /// Reads the `{name}` after `\p`.
    pub(super) fn property(&mut self, negated: bool) -> Result<ClassUnicode> {
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|one| *one == '}');
        let (Some('{'), Some(end)) = (rest.first(), end) else {
            return Err(RegexpError::IllegalArgument);
        };
        let name: String = rest[1..end].iter().collect();
        self.at += end + 1;
        self.named_class(name.trim(), negated)
    }

    /// Reads an escape without its backslash, and returns the character that it stands for.
    pub(super) fn escaped_char(&mut self) -> Result<char> {
        let Some(&one) = self.text.get(self.at) else { return Err(RegexpError::BadEscape) };
        self.at += 1;
        if ESCAPES.contains(one) {
            self.escapes.push(self.at - 1);
        }
        let code = match one {
            'a' => 7,
            'e' => 0x1b,
            'f' => 0xc,
            'n' => 0xa,
            'r' => 0xd,
            't' => 9,
            'u' => return self.utf16_unit(),
            'U' => self.digits(8, 8, 16)?,
            'x' if self.text.get(self.at) == Some(&'{') => {
                self.at += 1;
                let code = self.digits(1, 8, 16)?;
                if self.text.get(self.at) != Some(&'}') {
                    return Err(RegexpError::BadEscape);
                }
                self.at += 1;
                code
            }
            'x' => self.digits(1, 2, 16)?,
            '0' => self.digits(1, 3, 8)?,
            'c' => match self.text.get(self.at) {
                Some(&control) => {
                    self.at += 1;
                    u32::from(control) & 0x1f
                }
                None => u32::from('c'),
            },
            one => return Ok(one),
        };
        char::from_u32(code).ok_or(RegexpError::BadEscape)
    }

    /// Reads the four digits of `\u`. Two such escapes may be the halves of one character.
    fn utf16_unit(&mut self) -> Result<char> {
        let first = self.digits(4, 4, 16)?;
        if let Some(one) = char::from_u32(first) {
            return Ok(one);
        }
        let is_second = self.text.get(self.at..self.at + 2) == Some(&['\\', 'u']);
        if !is_second {
            return Err(RegexpError::Unimplemented);
        }
        self.at += 2;
        let second = self.digits(4, 4, 16)?;
        let units = [first as u16, second as u16];
        let mut both = char::decode_utf16(units);
        both.next().and_then(|one| one.ok()).ok_or(RegexpError::Unimplemented)
    }

    fn digits(&mut self, least: usize, most: usize, radix: u32) -> Result<u32> {
        let (mut code, mut count) = (0u32, 0);
        while count < most
            && let Some(digit) = self.text.get(self.at).and_then(|one| one.to_digit(radix))
        {
            code = code.saturating_mul(radix).saturating_add(digit);
            (self.at, count) = (self.at + 1, count + 1);
        }
        if count < least { Err(RegexpError::BadEscape) } else { Ok(code) }
    }
}

fn check_look_behind(inner: &Node) -> Result<()> {
    match inner.longest() {
        // Within a look-behind, ICU does not let such a part see the text after the end of the
        // look-behind.
        Some(_) if inner.takes_all_it_can() => Err(RegexpError::Unimplemented),
        Some(_) => Ok(()),
        None => Err(RegexpError::LookBehindLimit),
    }
}

fn is_line_end(one: char) -> bool {
    matches!(one, '\n' | '\r' | '\u{85}' | '\u{2028}')
}

fn is_pattern_space(one: char) -> bool {
    matches!(one, '\t'..='\r' | ' ' | '\u{85}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn range(first: char, last: char) -> ClassUnicodeRange {
    ClassUnicodeRange::new(first, last)
}
