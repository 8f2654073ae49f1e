//! An XML text as a list of its nodes, in which each node stands after its parent.

use crate::error::Result;

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element. The document itself is an element without a name.
    Tag,
    Attribute,
    /// The characters of an element or the value of an attribute.
    Text,
}

/// A node. `start` and `end` are byte offsets in the text.
#[derive(Debug)]
pub(super) struct Node<'t> {
    pub kind: Kind,
    pub parent: usize,
    /// The node's name, or its characters.
    pub text: &'t [u8],
    start: usize,
    end: usize,
}

/// A document: its nodes in the order in which they begin.
pub(super) struct Document<'t> {
    pub nodes: Vec<Node<'t>>,
}

/// The kinds of tokens of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Text,
    Name,
    Symbol(u8),
    Comment,
    Data,
    Unknown,
}

impl Token {
    /// Returns the token's name in messages.
    fn name(self) -> String {
        match self {
            Token::End => "END-OF-INPUT".to_owned(),
            Token::Text => "STRING".to_owned(),
            Token::Name => "IDENT".to_owned(),
            Token::Symbol(symbol) => format!("'{}'", char::from(symbol)),
            Token::Comment => "COMMENT".to_owned(),
            Token::Data => "CDATA".to_owned(),
            Token::Unknown => "unknown token".to_owned(),
        }
    }
}

const EQUALS: Token = Token::Symbol(b'=');
const SLASH: Token = Token::Symbol(b'/');
const QUESTION: Token = Token::Symbol(b'?');
const CLOSES: Token = Token::Symbol(b'>');

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    nodes: Vec<Node<'t>>,
    /// The index of the innermost open element.
    open: usize,
}

type Read<T> = std::result::Result<T, String>;

impl<'t> Document<'t> {
    /// Reads a document. The inner error says what is wrong with the text and where.
    ///
    /// # Errors
    /// Returns the errors of `goes_on`, which is called for every tag.
    pub fn parse(text: &'t [u8], goes_on: &dyn Fn() -> Result<()>) -> Result<Read<Document<'t>>> {
        let root = Node { kind: Kind::Tag, parent: 0, text: b"", start: 0, end: text.len() };
        let mut reader = Reader { text, at: 0, nodes: vec![root], open: 0 };
        while reader.at < text.len() {
            goes_on()?;
            if let Err(complaint) = reader.piece() {
                return Ok(Err(reader.located(&complaint)));
            }
        }
        if reader.open != 0 {
            return Ok(Err(reader.located("unexpected END-OF-INPUT")));
        }
        Ok(Ok(Document { nodes: reader.nodes }))
    }

    /// Returns the bytes that the nodes take.
    pub fn heap_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<'_>>()
    }

    /// Returns the offsets at which a node, with its tags, begins and ends.
    pub fn extent(&self, node: usize) -> (usize, usize) {
        (self.nodes[node].start, self.nodes[node].end)
    }
}

impl<'t> Reader<'t> {
    fn located(&self, complaint: &str) -> String {
        let read = &self.text[..self.at];
        let line = read.iter().filter(|byte| **byte == b'\n').count() + 1;
        // The line break before the line counts as its first column.
        let column = read.len() - read.iter().rposition(|byte| *byte == b'\n').unwrap_or(0) + 1;
        format!("parse error at line {line} pos {column}: {complaint}")
    }

    fn push(&mut self, kind: Kind, text: &'t [u8], start: usize, end: usize) -> usize {
        self.nodes.push(Node { kind, parent: self.open, text, start, end });
        self.nodes.len() - 1
    }

    /// Reads a tag, or the characters up to the next tag.
    fn piece(&mut self) -> Read<()> {
        let start = self.at;
        if self.text[start] != b'<' {
            let end = self.text[start..].iter().position(|byte| *byte == b'<');
            self.at = end.map_or(self.text.len(), |end| start + end);
            self.push(Kind::Text, &self.text[start..self.at], start, self.at);
            return Ok(());
        }
        match self.scan().0 {
            Token::Comment => return Ok(()),
            Token::Data => {
                const BEGIN: usize = b"<![CDATA[".len();
                let end = self.at.saturating_sub(b"]]>".len()).max(start + BEGIN);
                self.push(Kind::Text, &self.text[start + BEGIN..end], start, self.at);
                return Ok(());
            }
            _ => {}
        }
        let (mut token, mut name) = self.scan();
        if token == SLASH {
            return self.closing_tag();
        }
        let mark = match token {
            Token::Symbol(mark @ (b'!' | b'?')) => {
                (token, name) = self.scan();
                Some(mark)
            }
            _ => None,
        };
        if token != Token::Name {
            return Err(format!("{} unexpected (ident or '/' wanted)", token.name()));
        }
        self.open = self.push(Kind::Tag, name, start, start);
        let mut token = self.attributes(mark == Some(b'!'))?;
        let mut closes = mark == Some(b'!');
        if token == SLASH {
            (closes, token) = (true, self.scan().0);
        }
        if mark == Some(b'?') {
            if token != QUESTION {
                return Err(format!("{} unexpected ('?' wanted)", token.name()));
            }
            (closes, token) = (true, self.scan().0);
        }
        self.expect_end(token)?;
        if closes {
            self.close();
        }
        Ok(())
    }

    fn expect_end(&self, token: Token) -> Read<()> {
        if token == CLOSES { Ok(()) } else { Err(format!("{} unexpected ('>' wanted)", token.name())) }
    }

    fn closing_tag(&mut self) -> Read<()> {
        let (token, name) = self.scan();
        if token != Token::Name {
            return Err(format!("{} unexpected (ident wanted)", token.name()));
        }
        if self.open == 0 {
            return Err(format!("'</{}>' unexpected (END-OF-INPUT wanted)", String::from_utf8_lossy(name)));
        }
        let token = self.scan().0;
        self.expect_end(token)?;
        self.close();
        Ok(())
    }

    /// Ends the open element here.
    fn close(&mut self) {
        let node = &mut self.nodes[self.open];
        node.end = self.at;
        self.open = node.parent;
    }

    /// Reads the attributes of a tag, and returns the token after them. A declaration, which
    /// begins with `!`, may have texts among them.
    fn attributes(&mut self, is_declaration: bool) -> Read<Token> {
        loop {
            let (token, name) = self.scan();
            if token == Token::Text && is_declaration {
                continue;
            }
            if token != Token::Name {
                return Ok(token);
            }
            let start = self.at - name.len();
            match self.scan() {
                (EQUALS, _) => match self.scan() {
                    (Token::Name | Token::Text, value) => self.attribute(name, start, Some(value)),
                    (other, _) => {
                        return Err(format!("{} unexpected (ident or string wanted)", other.name()));
                    }
                },
                (Token::Name, _) => self.attribute(name, start, None),
                (Token::Text, _) if is_declaration => {}
                (other, _) => return Ok(other),
            }
        }
    }

    fn attribute(&mut self, name: &'t [u8], start: usize, value: Option<&'t [u8]>) {
        let node = self.push(Kind::Attribute, name, start, self.at);
        if let Some(value) = value {
            let element = std::mem::replace(&mut self.open, node);
            self.push(Kind::Text, value, start, self.at);
            self.open = element;
        }
    }

    /// Reads the next token, and returns it with its bytes. Those of a text come without the
    /// quotes.
    fn scan(&mut self) -> (Token, &'t [u8]) {
        let text = self.text;
        self.at += text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let rest = &text[self.at..];
        let Some(first) = rest.first() else { return (Token::End, b"") };
        let (token, len) = match first {
            b'<' if rest.starts_with(b"<!--") => (Token::Comment, end_of(rest, b"-->")),
            b'<' if rest.starts_with(b"<![CDATA[") => (Token::Data, end_of(rest, b"]]>")),
            b'?' | b'=' | b'/' | b'<' | b'>' | b'!' => (Token::Symbol(*first), 1),
            b'"' | b'\'' => {
                let inner = rest[1..].iter().take_while(|byte| *byte != first).count();
                self.at += (inner + 2).min(rest.len());
                return (Token::Text, &rest[1..=inner]);
            }
            byte if begins_name(*byte) => {
                let goes_on =
                    |byte: &&u8| begins_name(**byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
                (Token::Name, rest.iter().take_while(goes_on).count())
            }
            _ => return (Token::Unknown, b""),
        };
        self.at += len;
        (token, &rest[..len])
    }
}

/// Returns the offset after a mark, or the length of `rest` when the mark is not there.
fn end_of(rest: &[u8], mark: &[u8]) -> usize {
    rest.windows(mark.len()).position(|window| window == mark).map_or(rest.len(), |at| at + mark.len())
}

fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || byte >= 0x80
}
