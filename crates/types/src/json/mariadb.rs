//! What MariaDB accepts as JSON. Its documents are texts, and its scanner reads them more leniently
//! than MySQL's parser. The rules were found by asking a server, and a test of replication still
//! asks one.

/// The most levels of nested containers that MariaDB 10.11's scanner follows.
const MOST_NESTED: usize = 31;

/// Reports whether MariaDB's `JSON_VALID` is true for the text.
pub fn is_valid(text: &[u8]) -> bool {
    let mut scanner = Scanner { text, at: 0 };
    scanner.value().is_some() && scanner.at == text.len()
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found.then_some(())
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Reads a whole value with the spaces around it. Returns `None` where there is no value.
    fn value(&mut self) -> Option<()> {
        // The closing character of each container that is open.
        let mut open: Vec<u8> = Vec::new();
        loop {
            self.skip_spaces();
            let first = self.peek()?;
            match first {
                b'{' | b'[' => {
                    self.at += 1;
                    open.push(first + 2);
                    if open.len() > MOST_NESTED {
                        return None;
                    }
                    self.skip_spaces();
                    if self.take(first + 2).is_none() {
                        self.name_of_member(first + 2)?;
                        continue;
                    }
                    open.pop();
                }
                b'"' => {
                    self.at += 1;
                    self.string()?;
                }
                b'-' | b'0'..=b'9' => self.number()?,
                _ => self.word()?,
            }
            // After a value come the ends of containers, or the next value.
            loop {
                self.skip_spaces();
                let Some(&closes) = open.last() else { return Some(()) };
                if self.take(closes).is_some() {
                    open.pop();
                    continue;
                }
                self.take(b',')?;
                self.name_of_member(closes)?;
                break;
            }
        }
    }

    /// Reads the name and the colon before a value, if the container is an object.
    fn name_of_member(&mut self, closes: u8) -> Option<()> {
        if closes == b']' {
            return Some(());
        }
        self.skip_spaces();
        self.take(b'"')?;
        // Between the quotation mark and the name MariaDB skips white space, even kinds that a
        // string may not contain.
        self.skip_spaces();
        self.string()?;
        self.skip_spaces();
        self.take(b':')
    }

    fn word(&mut self) -> Option<()> {
        let words: [&[u8]; 3] = [b"null", b"true", b"false"];
        let found = words.into_iter().find(|word| self.text[self.at..].starts_with(word))?;
        self.at += found.len();
        Some(())
    }

    /// Reads the rest of a string. Any character may follow a backslash; only `\u` is checked.
    fn string(&mut self) -> Option<()> {
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => return Some(()),
                b'\\' if self.peek()? == b'u' => self.escape()?,
                b'\\' => self.at += 1,
                0..=0x1f => return None,
                _ => {}
            }
        }
    }

    /// Reads `\uXXXX`, and the second half of a surrogate pair.
    fn escape(&mut self) -> Option<()> {
        let unit = self.hexadecimal()?;
        match unit {
            0xd800..=0xdbff => {
                self.take(b'\\')?;
                (self.peek()? == b'u').then_some(())?;
                (0xdc00..=0xdfff).contains(&self.hexadecimal()?).then_some(())
            }
            0xdc00..=0xdfff => None,
            _ => Some(()),
        }
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at + 1..self.at + 5)?;
        self.at += 5;
        digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
    }

    /// Reads a number, which ends where it cannot go on. Only a number at the end of the text has
    /// to be complete.
    fn number(&mut self) -> Option<()> {
        let mut state = Number::Start;
        while let Some(next) = self.peek().and_then(|byte| state.next(byte)) {
            state = next;
            self.at += 1;
        }
        (self.at < self.text.len() || state.is_whole()).then_some(())
    }
}

/// How far a number has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Start,
    Sign,
    Zero,
    Whole,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Number {
    fn next(self, byte: u8) -> Option<Number> {
        use Number::{Exponent, ExponentDigits, ExponentSign, Fraction, Sign, Start, Whole, Zero};
        Some(match (self, byte) {
            (Start, b'-') => Sign,
            (Start | Sign, b'0') => Zero,
            (Start | Sign, b'1'..=b'9') | (Whole, b'0'..=b'9') => Whole,
            (Zero | Whole, b'.') | (Fraction, b'0'..=b'9') => Fraction,
            (Zero | Whole | Fraction, b'e' | b'E') => Exponent,
            (Exponent | ExponentSign, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, b'0'..=b'9') => ExponentDigits,
            _ => return None,
        })
    }

    fn is_whole(self) -> bool {
        matches!(self, Number::Zero | Number::Whole | Number::Fraction | Number::ExponentDigits)
    }
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    /// The answers are those of MariaDB 10.11.
    #[test]
    fn it_is_as_lenient_as_mariadb() {
        let valid = [
            "1.",
            "[1.]",
            "1.e5",
            "0e1",
            "-1.",
            "-0",
            "[1e]",
            "[-]",
            "[1e-]",
            r#"{"a":-}"#,
            "1e ",
            r#""\x""#,
            r#""\'""#,
            r#""\U00e4""#,
            r#""\ud83d\ude00""#,
            r#"{"":1}"#,
            "\t1\n",
            "[ ]",
            "{ }",
            r#"{"a" : 1 , "b" :2 }"#,
            "1e999",
            "{\"\t a\":1}",
            "[1e+-]",
            "1e+-5",
        ];
        for text in valid {
            assert!(is_valid(text.as_bytes()), "{text}");
        }
        let invalid = [
            "",
            " ",
            "-",
            "1e",
            "1e+",
            "-.5",
            ".5",
            "+1",
            "01",
            "-01",
            "1.5.5",
            "[1.-]",
            "[- 1]",
            "[1,]",
            "[,1]",
            "{1:1}",
            r#"{"a":1,}"#,
            "nullx",
            "[null x]",
            r#""a"#,
            "\"a\tb\"",
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\u12""#,
            r#""\"#,
            "[1}",
            "1 2",
            "[1]]",
            "tRue",
            "\u{c}1",
            "{\"a\t\":1}",
        ];
        for text in invalid {
            assert!(!is_valid(text.as_bytes()), "{text}");
        }
        let nested = |levels: usize| [vec![b'['; levels], vec![b']'; levels]].concat();
        assert!(is_valid(&nested(31)) && !is_valid(&nested(32)));
    }
}
