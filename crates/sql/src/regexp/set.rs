//! Parses bracket expressions: literals, ranges, classes, nested sets and the operators between
//! them (`&&`, `--`, and `&`, `-` between two sets).

use super::class;
use super::error::RegexpError;
use super::parse::{PatternReader, range};
use regex_syntax::hir::ClassUnicode;

const MOST_DEPTH: usize = 40;

type Result<T> = std::result::Result<T, RegexpError>;

/// What was read last within a set. It decides the meaning of a `-` or `&`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Begin,
    Literal,
    Range,
    Set,
    /// `&&` or `--`. A set or a literal has to follow.
    Operator,
}

#[derive(Clone, Copy)]
enum Operator {
    Union,
    Intersection,
    Difference,
}

/// The operands of a set that have been read.
struct Operands {
    /// The left operand of the last `&&` or `--`, which bind weaker than all others.
    outer: Option<(ClassUnicode, Operator)>,
    /// The left operand of the set that was read last.
    inner: Option<(ClassUnicode, Operator)>,
    /// The set that was read last. A class after it is added to it, and so to what a `-` in front
    /// of it takes away. A literal is added to the result of that operation.
    right: ClassUnicode,
    last: Last,
}

/// Combines both operands in `right`, if there is a left one.
fn combine(left: &mut Option<(ClassUnicode, Operator)>, right: &mut ClassUnicode) {
    let Some((mut all, operator)) = left.take() else { return };
    match operator {
        Operator::Union => all.union(right),
        Operator::Intersection => all.intersect(right),
        Operator::Difference => all.difference(right),
    }
    *right = all;
}

impl Operands {
    fn literal(&mut self, one: char) {
        combine(&mut self.inner, &mut self.right);
        self.right.push(range(one, one));
        self.last = Last::Literal;
    }

    fn add(&mut self, class: &ClassUnicode, last: Last) {
        self.right.union(class);
        self.last = last;
    }

    /// Adds a set within the set.
    fn set(&mut self, class: ClassUnicode, operator: Operator) {
        combine(&mut self.inner, &mut self.right);
        let left = std::mem::replace(&mut self.right, class);
        self.inner = Some((left, operator));
        self.last = Last::Set;
    }

    /// Takes what was read as the left operand of `&&` or `--`.
    fn apply(&mut self, operator: Operator) {
        let left = self.take();
        self.outer = Some((left, operator));
        self.last = Last::Operator;
    }

    fn take(&mut self) -> ClassUnicode {
        combine(&mut self.inner, &mut self.right);
        combine(&mut self.outer, &mut self.right);
        std::mem::replace(&mut self.right, ClassUnicode::empty())
    }
}

impl PatternReader<'_> {
    /// Reads a set whose `[` was read.
    pub(super) fn set(&mut self, depth: usize) -> Result<ClassUnicode> {
        if depth > MOST_DEPTH {
            return Err(RegexpError::Internal);
        }
        let negated = self.eat('^');
        if !negated && let Some(class) = self.posix_class()? {
            return Ok(class);
        }
        let mut operands =
            Operands { outer: None, inner: None, right: ClassUnicode::empty(), last: Last::Begin };
        if self.eat(']') {
            self.set_literal(&mut operands, ']');
        }
        loop {
            let Some(one) = self.next() else { return Err(RegexpError::MissingCloseBracket) };
            match one {
                ']' if operands.last == Last::Operator => return Err(self.syntax()),
                ']' => break,
                '[' => {
                    let inner = self.set(depth + 1)?;
                    operands.set(inner, Operator::Union);
                }
                '\\' => self.set_escape(&mut operands)?,
                '-' => self.dash(&mut operands, depth)?,
                '&' => self.ampersand(&mut operands, depth)?,
                one => self.set_literal(&mut operands, one),
            }
        }
        let mut all = self.closed(operands.take());
        if negated {
            all.negate();
        }
        Ok(all)
    }

    /// Reads `:name:]` after a `[`, or nothing if that does not follow.
    fn posix_class(&mut self) -> Result<Option<ClassUnicode>> {
        let rest = &self.text[self.at..];
        if rest.first() != Some(&':') {
            return Ok(None);
        }
        let Some(end) = rest.windows(2).position(|two| two == [':', ']']).filter(|end| *end > 0) else {
            return Ok(None);
        };
        let name: String = rest[1..end].iter().collect();
        let plain = |one: char| !matches!(one, '[' | ']' | '\\' | ':');
        if !name.chars().all(plain) {
            return Ok(None);
        }
        self.at += end + 2;
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        self.named_class(name, negated).map(Some)
    }

    fn set_literal(&mut self, operands: &mut Operands, one: char) {
        self.last_literal = Some(one);
        operands.literal(one);
    }

    fn set_escape(&mut self, operands: &mut Operands) -> Result<()> {
        match self.text.get(self.at) {
            None => Err(RegexpError::MissingCloseBracket),
            Some('p' | 'P') => {
                let negated = self.text[self.at] == 'P';
                self.at += 1;
                let class = self.property(negated)?;
                operands.add(&class, Last::Set);
                Ok(())
            }
            Some('N' | 'X' | 'R') => Err(RegexpError::Unimplemented),
            Some(&letter) => match class::of_escape(letter) {
                Some(class) => {
                    self.at += 1;
                    operands.add(&class, Last::Range);
                    Ok(())
                }
                None => {
                    let one = self.escaped_char()?;
                    self.set_literal(operands, one);
                    Ok(())
                }
            },
        }
    }

    /// Reads a `-`, whose meaning depends on what was read before it.
    fn dash(&mut self, operands: &mut Operands, depth: usize) -> Result<()> {
        let next = self.peek();
        match operands.last {
            Last::Begin if next == Some('-') => {
                self.next();
                Err(self.syntax())
            }
            Last::Begin | Last::Operator => {
                operands.literal('-');
                Ok(())
            }
            Last::Set if next == Some('[') => {
                self.next();
                let inner = self.set(depth + 1)?;
                operands.set(inner, Operator::Difference);
                Ok(())
            }
            _ if next == Some('-') => {
                self.next();
                operands.apply(Operator::Difference);
                Ok(())
            }
            Last::Literal if next != Some('[') && next != Some(']') => self.range(operands),
            _ => {
                operands.literal('-');
                Ok(())
            }
        }
    }

    /// Reads a range from the literal that was read last. As in ICU, a `-` or `&` that was taken as
    /// a literal does not count as one here.
    fn range(&mut self, operands: &mut Operands) -> Result<()> {
        let last = match self.next() {
            None => return Err(RegexpError::InvalidRange),
            Some('\\') => match self.text.get(self.at) {
                Some('d' | 'D' | 's' | 'S' | 'w' | 'W') => {
                    self.at += 1;
                    return Err(self.syntax());
                }
                Some('N') => return Err(RegexpError::Unimplemented),
                None => return Err(RegexpError::MissingCloseBracket),
                Some(_) => self.escaped_char()?,
            },
            Some(last) => last,
        };
        let Some(first) = self.last_literal.filter(|first| *first <= last) else {
            return Err(RegexpError::InvalidRange);
        };
        operands.right.push(range(first, last));
        operands.last = Last::Range;
        Ok(())
    }

    fn ampersand(&mut self, operands: &mut Operands, depth: usize) -> Result<()> {
        let next = self.peek();
        match operands.last {
            Last::Begin if next == Some('&') => {
                self.next();
                Err(self.syntax())
            }
            Last::Set if next == Some('[') => {
                self.next();
                let inner = self.set(depth + 1)?;
                operands.set(inner, Operator::Intersection);
                Ok(())
            }
            Last::Literal | Last::Range | Last::Set if next == Some('&') => {
                self.next();
                operands.apply(Operator::Intersection);
                Ok(())
            }
            _ => {
                operands.literal('&');
                Ok(())
            }
        }
    }
}
