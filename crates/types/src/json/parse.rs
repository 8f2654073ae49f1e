//! The conversion of JSON text to a tree, with the complaints and positions of MySQL's parser, and
//! from there to binary form.

use super::binary::MAX_DEPTH;
use super::node::Node;
use super::write::write_document;

/// The error for a text that is not JSON (error 3140, or 3157 for [`JsonError::TOO_DEEP`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The complaint as MySQL words it.
    pub complaint: &'static str,
    /// The byte offset in the text.
    pub at: usize,
}

impl JsonError {
    /// The complaint about a text that is nested deeper than MySQL allows.
    pub const TOO_DEEP: &'static str = "The JSON document exceeds the maximum depth.";
}

/// Returns the string at the start of the text, which begins with a quotation mark, and its length
/// in the text in bytes.
pub(super) fn parse_quoted(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut parser = Parser { text, at: 0 };
    let string = parser.string().ok()?;
    Some((string, parser.at))
}

/// Returns a name of a path, if the text is one JSON string and nothing else.
pub(super) fn parse_name(text: &[u8]) -> Option<Vec<u8>> {
    parse_quoted(text).filter(|(_, len)| *len == text.len()).map(|(name, _)| name)
}

/// Parses UTF-8 text into a binary document.
pub fn parse_text(text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let root = parse_node(text)?;
    write_document(&root).ok_or(JsonError { complaint: "Invalid value.", at: 0 })
}

/// Parses UTF-8 text into a tree.
pub fn parse_node(text: &[u8]) -> Result<Node, JsonError> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_spaces();
    if parser.at == text.len() {
        return Err(parser.error("The document is empty."));
    }
    let root = parser.value(0)?;
    parser.skip_spaces();
    if parser.at < text.len() {
        return Err(parser.error("The document root must not be followed by other values."));
    }
    Ok(root)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, complaint: &'static str) -> JsonError {
        JsonError { complaint, at: self.at }
    }
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Reads a value. `depth` is the number of containers around it.
    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        if depth == MAX_DEPTH && matches!(self.peek(), Some(b'{' | b'[')) {
            return Err(self.error(JsonError::TOO_DEEP));
        }
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Node::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Node, JsonError> {
        let rest = &self.text[self.at..];
        for (word, node) in [("null", Node::Null), ("true", Node::Bool(true)), ("false", Node::Bool(false))] {
            let right = rest.iter().zip(word.as_bytes()).take_while(|(a, b)| a == b).count();
            if right > 0 {
                self.at += right;
                return if right == word.len() { Ok(node) } else { Err(self.error("Invalid value.")) };
            }
        }
        Err(self.error("Invalid value."))
    }

    fn object(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.at += 1;
        let mut members: Vec<(Vec<u8>, Node)> = Vec::new();
        self.skip_spaces();
        if self.take(b'}') {
            return Ok(Node::Object(members));
        }
        loop {
            self.skip_spaces();
            if self.peek() != Some(b'"') {
                return Err(self.error("Missing a name for object member."));
            }
            let name = self.string()?;
            self.skip_spaces();
            if !self.take(b':') {
                return Err(self.error("Missing a colon after a name of object member."));
            }
            self.skip_spaces();
            members.push((name, self.value(depth + 1)?));
            self.skip_spaces();
            if self.take(b'}') {
                break;
            }
            if !self.take(b',') {
                return Err(self.error("Missing a comma or '}' after an object member."));
            }
        }
        Ok(Node::object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.at += 1;
        let mut elements = Vec::new();
        self.skip_spaces();
        if self.take(b']') {
            return Ok(Node::Array(elements));
        }
        loop {
            self.skip_spaces();
            elements.push(self.value(depth + 1)?);
            self.skip_spaces();
            if self.take(b']') {
                return Ok(Node::Array(elements));
            }
            if !self.take(b',') {
                return Err(self.error("Missing a comma or ']' after an array element."));
            }
        }
    }

    fn string(&mut self) -> Result<Vec<u8>, JsonError> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= 0x20) {
                self.at += 1;
            }
            out.extend_from_slice(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return match std::str::from_utf8(&out) {
                        Ok(_) => Ok(out),
                        Err(_) => Err(self.error("Invalid encoding in string.")),
                    };
                }
                Some(b'\\') => {
                    let begin = self.at;
                    self.at += 1;
                    self.escape(&mut out).map_err(|error| JsonError { at: begin, ..error })?;
                }
                Some(_) => return Err(self.error("Invalid encoding in string.")),
                None => return Err(self.error("Missing a closing quotation mark in string.")),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        let byte = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b't') => 9,
            Some(b'n') => 10,
            Some(b'f') => 12,
            Some(b'r') => 13,
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(out);
            }
            _ => return Err(self.error("Invalid escape character in string.")),
        };
        self.at += 1;
        out.push(byte);
        Ok(())
    }

    fn unicode_escape(&mut self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        let mut code = self.hex4()?;
        if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.hex4()?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(self.error("The surrogate pair in string is invalid."));
            }
            code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        let c = char::from_u32(code).ok_or(self.error("The surrogate pair in string is invalid."))?;
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits
            .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|d| u32::from_str_radix(d, 16).ok());
        let code = code.ok_or(self.error("Incorrect hex digit after \\u escape in string."))?;
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Result<Node, JsonError> {
        let start = self.at;
        let negative = self.take(b'-');
        let digits = |parser: &mut Self| {
            let from = parser.at;
            while parser.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                parser.at += 1;
            }
            parser.at > from
        };
        if !self.take(b'0') && !digits(self) {
            return Err(self.error("Invalid value."));
        }
        let mut whole = true;
        if self.take(b'.') {
            whole = false;
            if !digits(self) {
                return Err(self.error("Miss fraction part in number."));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            let _ = self.take(b'+') || self.take(b'-');
            if !digits(self) {
                return Err(self.error("Miss exponent in number."));
            }
        }
        let text =
            std::str::from_utf8(&self.text[start..self.at]).map_err(|_| self.error("Invalid value."))?;
        if whole
            && negative
            && let Ok(n) = text.parse()
        {
            return Ok(Node::Int(n));
        }
        if whole && let Ok(n) = text.parse::<u64>() {
            return Ok(i64::try_from(n).map_or(Node::UInt(n), Node::Int));
        }
        match text.parse::<f64>() {
            Ok(n) if n.is_finite() => Ok(Node::Double(n)),
            _ => Err(JsonError { complaint: "Number too big to be stored in double.", at: start }),
        }
    }
}
