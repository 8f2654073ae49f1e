//! Parses XPath expressions.

use super::query::{AXES, Axis, CALLS, KINDS, Origin, Path, Query, Step, Xpath};
use crate::ast::BinaryOp;
use crate::error::{Result, SqlError};
use types::{Decimal, Value};

/// The most levels of nested parentheses, predicates, signs and calls.
const MOST_LEVELS: usize = 100;
/// The most operators of an expression. Each one makes the tree a level higher.
const MOST_OPERATORS: usize = 1000;
/// The most bytes of an expression that messages show.
const SHOWN_BYTES: usize = 32 * 4;

impl Query {
    /// Parses an expression.
    ///
    /// # Errors
    /// Returns 1105 with the rest of the expression from the error on.
    pub fn parse(written: &[u8]) -> Result<Query> {
        let mut parser = Parser { text: written, at: 0, level: 0, operators: 0, in_predicate: false };
        let query = parser.expr()?;
        if parser.peek() != b"" {
            return Err(parser.error());
        }
        Ok(query)
    }
}

struct Parser<'q> {
    text: &'q [u8],
    at: usize,
    level: usize,
    operators: usize,
    /// Whether the parser is within a predicate, where `last()` and `position()` have a meaning.
    in_predicate: bool,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80
}

impl<'q> Parser<'q> {
    /// Returns the next token without consuming it.
    fn peek(&mut self) -> &'q [u8] {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = &self.text[self.at..];
        let Some(first) = rest.first() else { return b"" };
        let len = match first {
            _ if [&b"//"[..], b"..", b"::", b"!=", b"<=", b">="]
                .iter()
                .any(|word| rest.starts_with(word)) =>
            {
                2
            }
            b'"' | b'\'' => match rest[1..].iter().position(|byte| byte == first) {
                Some(end) => end + 2,
                None => 1,
            },
            byte if byte.is_ascii_digit() => {
                let digits =
                    |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                let whole = digits(0);
                if rest.get(whole) == Some(&b'.') { whole + 1 + digits(whole + 1) } else { whole }
            }
            byte if is_name(*byte) && !matches!(byte, b'-' | b'.') => {
                rest.iter().take_while(|byte| is_name(**byte)).count()
            }
            _ => 1,
        };
        &rest[..len]
    }

    /// Consumes the next token if it is `word`, and returns whether it was.
    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek() == word.as_bytes();
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.eat(word) { Ok(()) } else { Err(self.error()) }
    }

    /// Builds error 1105, which shows the expression from the next token on.
    fn error(&mut self) -> SqlError {
        self.peek();
        self.complaint("XPATH syntax error", self.at)
    }

    fn complaint(&self, what: &str, at: usize) -> SqlError {
        let rest = &self.text[at..];
        let rest = String::from_utf8_lossy(&rest[..rest.len().min(SHOWN_BYTES)]);
        SqlError::new(1105, format!("{what}: '{rest}'"))
    }

    /// Boxes the operands of an operator, unless the expression has too many operators.
    fn both(&mut self, left: Query, right: Query) -> Result<Box<[Query; 2]>> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS { Err(self.error()) } else { Ok(Box::new([left, right])) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.level == MOST_LEVELS {
            return Err(self.error());
        }
        self.level += 1;
        let read = read(self);
        self.level -= 1;
        read
    }

    fn expr(&mut self) -> Result<Query> {
        self.deeper(|parser| {
            let mut left = parser.conjunction()?;
            while parser.eat("or") {
                let right = parser.conjunction()?;
                left = Query::Or(parser.both(left, right)?);
            }
            Ok(left)
        })
    }

    fn conjunction(&mut self) -> Result<Query> {
        let mut left = self.equality()?;
        while self.eat("and") {
            let right = self.equality()?;
            left = Query::And(self.both(left, right)?);
        }
        Ok(left)
    }

    fn equality(&mut self) -> Result<Query> {
        let operators = [("=", BinaryOp::Equal), ("!=", BinaryOp::NotEqual)];
        self.comparisons(&operators, Self::relation)
    }

    fn relation(&mut self) -> Result<Query> {
        let operators = [
            ("<=", BinaryOp::LessEqual),
            ("<", BinaryOp::Less),
            (">=", BinaryOp::GreaterEqual),
            (">", BinaryOp::Greater),
        ];
        self.comparisons(&operators, Self::sum)
    }

    fn comparisons(
        &mut self,
        operators: &[(&str, BinaryOp)],
        operand: fn(&mut Self) -> Result<Query>,
    ) -> Result<Query> {
        let mut left = operand(self)?;
        loop {
            self.peek();
            let at = self.at;
            let Some((_, op)) = operators.iter().find(|(word, _)| self.eat(word)) else { return Ok(left) };
            let right = operand(self)?;
            if left.is_of_nodes() && right.is_of_nodes() {
                let what = "XPATH error: comparison of two nodesets is not supported";
                return Err(self.complaint(what, at));
            }
            left = Query::Compare(*op, self.both(left, right)?);
        }
    }

    fn sum(&mut self) -> Result<Query> {
        self.arithmetic(&[("+", BinaryOp::Add), ("-", BinaryOp::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Query> {
        // `div` is an integer division: it leaves no fraction.
        let operators =
            [("*", BinaryOp::Multiply), ("div", BinaryOp::IntegerDivide), ("mod", BinaryOp::Modulo)];
        self.arithmetic(&operators, Self::signed)
    }

    fn arithmetic(
        &mut self,
        operators: &[(&str, BinaryOp)],
        operand: fn(&mut Self) -> Result<Query>,
    ) -> Result<Query> {
        let mut left = operand(self)?;
        while let Some((_, op)) = operators.iter().find(|(word, _)| self.eat(word)) {
            let right = operand(self)?;
            left = Query::Arithmetic(*op, self.both(left, right)?);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Query> {
        if self.eat("-") {
            return self.deeper(|parser| Ok(Query::Negate(Box::new(parser.signed()?))));
        }
        let mut left = self.path()?;
        loop {
            self.peek();
            if !left.is_of_nodes() || !self.eat("|") {
                if self.peek() == b"|" {
                    self.at += 1;
                    return Err(self.error());
                }
                return Ok(left);
            }
            let right = self.path()?;
            if !right.is_of_nodes() {
                return Err(self.error());
            }
            left = Query::Union(self.both(left, right)?);
        }
    }

    fn path(&mut self) -> Result<Query> {
        if self.eat("/") {
            let mut path = Path { origin: Origin::Root, steps: Vec::new() };
            if self.step_follows() {
                self.steps(&mut path)?;
            }
            return Ok(Query::Path(path));
        }
        if self.peek() == b"//" {
            return self.path_from(Origin::Root);
        }
        if self.step_follows() {
            let mut path = Path { origin: Origin::Here, steps: Vec::new() };
            self.steps(&mut path)?;
            return Ok(Query::Path(path));
        }
        let primary = self.primary()?;
        if matches!(self.peek(), b"/" | b"//") && primary.is_of_nodes() {
            return self.path_from(Origin::Of(Box::new(primary)));
        }
        Ok(primary)
    }

    /// Reads the steps after an origin, which begin with one or two slashes.
    fn path_from(&mut self, origin: Origin) -> Result<Query> {
        let mut path = Path { origin, steps: Vec::new() };
        self.slash(&mut path);
        self.steps(&mut path)?;
        Ok(Query::Path(path))
    }

    fn slash(&mut self, path: &mut Path) -> bool {
        if self.eat("//") {
            path.steps.push(Step { axis: Axis::DescendantOrSelf, name: None, predicates: Vec::new() });
            return true;
        }
        self.eat("/")
    }

    fn steps(&mut self, path: &mut Path) -> Result<()> {
        loop {
            let step = self.step()?;
            path.steps.push(step);
            if !self.slash(path) {
                return Ok(());
            }
        }
    }

    /// Reports whether the next token begins a step of a path, not a call or a literal.
    fn step_follows(&mut self) -> bool {
        match self.peek() {
            b"." | b".." | b"@" | b"*" => true,
            [first, ..] if first.is_ascii_digit() => false,
            word @ [first, ..] if is_name(*first) => {
                let is_call = self.text[self.at + word.len()..].trim_ascii_start().starts_with(b"(");
                !is_call || KINDS.iter().any(|kind| kind.as_bytes() == word)
            }
            _ => false,
        }
    }

    fn step(&mut self) -> Result<Step> {
        let plain = |axis| Step { axis, name: None, predicates: Vec::new() };
        if self.eat("..") {
            return Ok(plain(Axis::Parent));
        }
        if self.eat(".") {
            return Ok(plain(Axis::Itself));
        }
        let mut step = plain(Axis::Child);
        if self.eat("@") {
            step.axis = Axis::Attribute;
        } else {
            let at = self.at;
            let word = self.peek();
            let axis = AXES.iter().find(|(name, _)| name.as_bytes() == word);
            if let Some((name, axis)) = axis {
                self.eat(name);
                if self.eat("::") { step.axis = *axis } else { self.at = at }
            }
        }
        self.node_test(&mut step)?;
        while self.eat("[") {
            let before = std::mem::replace(&mut self.in_predicate, true);
            step.predicates.push(self.expr()?);
            self.in_predicate = before;
            self.expect("]")?;
        }
        Ok(step)
    }

    fn node_test(&mut self, step: &mut Step) -> Result<()> {
        if self.eat("*") {
            return Ok(());
        }
        let word = self.peek();
        if !word.first().is_some_and(|first| is_name(*first) && !first.is_ascii_digit() && *first != b'.') {
            return Err(self.error());
        }
        self.at += word.len();
        if KINDS.iter().any(|kind| kind.as_bytes() == word) && self.eat("(") {
            self.expect(")")?;
            step.axis = Axis::Stay;
            return Ok(());
        }
        let mut name = word.to_vec();
        if self.text.get(self.at) == Some(&b':') {
            self.at += 1;
            let rest = self.peek();
            if !rest.first().is_some_and(|first| is_name(*first)) {
                return Err(self.error());
            }
            self.at += rest.len();
            name.push(b':');
            name.extend_from_slice(rest);
        }
        step.name = Some(name);
        Ok(())
    }

    fn primary(&mut self) -> Result<Query> {
        let word = self.peek();
        match word {
            b"(" => {
                self.at += 1;
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            b"$" => self.variable(),
            [quote @ (b'"' | b'\''), inner @ .., last] if quote == last => {
                self.at += word.len();
                Ok(Query::Constant(Value::Bytes(inner.to_vec())))
            }
            [first, ..] if first.is_ascii_digit() => {
                self.at += word.len();
                Ok(Query::Constant(literal(word)))
            }
            word => match CALLS.iter().find(|(name, ..)| name.as_bytes() == word) {
                Some((_, function, least, most)) => {
                    self.at += word.len();
                    self.call(*function, *least, *most)
                }
                None => {
                    if word.first().is_some_and(|first| is_name(*first)) {
                        self.at += word.len();
                    }
                    Err(self.error())
                }
            },
        }
    }

    fn variable(&mut self) -> Result<Query> {
        let at = self.at;
        self.at += 1;
        if !self.eat("@") {
            return Err(self.complaint("Unknown XPATH variable at", at));
        }
        let name = self.peek();
        if !name.first().is_some_and(|first| is_name(*first)) {
            return Err(self.error());
        }
        self.at += name.len();
        Ok(Query::UserVariable(String::from_utf8_lossy(name).to_lowercase()))
    }

    fn call(&mut self, function: Xpath, least: usize, most: usize) -> Result<Query> {
        self.expect("(")?;
        let mut args = Vec::new();
        while args.len() < most && !(args.len() >= least && self.peek() == b")") {
            args.push(self.expr()?);
            if args.len() >= least && self.peek() == b")" {
                break;
            }
            self.expect(",")?;
        }
        self.expect(")")?;
        let wants_nodes = matches!(function, Xpath::Sum | Xpath::Count);
        let wants_place = matches!(function, Xpath::Last | Xpath::Position);
        if wants_nodes && !args.iter().all(Query::is_of_nodes) || wants_place && !self.in_predicate {
            return Err(self.error());
        }
        Ok(Query::Call(function, args))
    }
}

/// Returns the value of a number as it is written.
fn literal(word: &[u8]) -> Value {
    let text = String::from_utf8_lossy(word);
    match text.parse::<i64>() {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Decimal(Decimal::parse_prefix(word).number),
    }
}
