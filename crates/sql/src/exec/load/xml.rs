//! Reads the rows of an XML file, as LOAD XML takes them.
//!
//! A row is an element with the name that ROWS IDENTIFIED BY gives. Its values are its attributes
//! (`<row a="1"/>`), its child elements (`<row><a>1</a></row>`), and elements of the form
//! `<field name="a">1</field>`, which mysqldump writes. The file need not be well-formed XML: as in
//! MySQL, the end of a row is the end tag with its name, and values of elements around the rows
//! belong to all rows that follow within them.

use super::input::{Bytes, Input};
use super::scanner::lead_bytes;
use crate::error::Result;
use crate::expr::Context;
use crate::memory::Charge;
use types::collation::Charset;

/// The bytes that a value takes in addition to its name and its text.
const BYTES_OF_VALUE: usize = 64;

/// A named value, and how deep in the file its element is.
struct XmlValue {
    level: i64,
    name: Vec<u8>,
    text: Vec<u8>,
}

impl XmlValue {
    fn bytes(&self) -> usize {
        self.name.len() + self.text.len() + BYTES_OF_VALUE
    }
}

/// The state of the tag that is being read.
#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    attribute: Vec<u8>,
    /// The tag has been opened and not closed, so that attributes may follow.
    is_open: bool,
    /// The quote around the name of a `<field name=...>`, or around the last value of an attribute,
    /// which is no part of a name.
    quote: Option<u8>,
}

/// Reads one row of an XML file after the other.
pub(super) struct XmlReader<'i> {
    bytes: Bytes<'i>,
    charset: Charset,
    /// The name of the element that is a row.
    row: Vec<u8>,
    level: i64,
    /// The values that the row has so far. The newest is last.
    values: Vec<XmlValue>,
    /// The bytes that the values take.
    kept_bytes: usize,
    charge: Charge,
}

/// Returns a blank for every white space.
fn blank(byte: u8) -> u8 {
    if matches!(byte, b' ' | b'\t'..=b'\r') { b' ' } else { byte }
}

/// Returns the character that a name between `&` and `;` stands for.
fn entity(name: &[u8]) -> Option<u8> {
    Some(match name {
        b"gt" => b'>',
        b"lt" => b'<',
        b"amp" => b'&',
        b"quot" => b'"',
        b"apos" => b'\'',
        _ => return None,
    })
}

impl<'i> XmlReader<'i> {
    /// Makes a reader of the elements that `row` names, which is written as `<name>`.
    pub fn new(input: &'i mut dyn Input, row: &[u8], charset: Charset, charge: Charge) -> XmlReader<'i> {
        // MySQL takes the first and the last byte for the angle brackets, whatever they are.
        let name = row.get(1..row.len().saturating_sub(1)).unwrap_or_default();
        let row = name.to_vec();
        XmlReader {
            bytes: Bytes::new(input),
            charset,
            row,
            level: 0,
            values: Vec::new(),
            kept_bytes: 0,
            charge,
        }
    }

    /// Returns the value with this name in the current row. The newest one counts.
    pub fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.values.iter().rfind(|value| value.name == name).map(|value| &value.text[..])
    }

    /// Reads up to the end of the next row. Returns false at the end of the file.
    pub fn next_row(&mut self, ctx: &Context<'_>) -> Result<bool> {
        let mut tag = Tag::default();
        let mut next = self.next()?;
        while let Some(byte) = next {
            next = match byte {
                b'<' => {
                    ctx.check_interrupt()?;
                    self.begin_tag(&mut tag)?
                }
                b' ' => self.attribute_name(&mut tag)?,
                b'=' if tag.name.starts_with(b"field") && tag.attribute.starts_with(b"name") => {
                    tag.quote = self.next()?;
                    tag.name.clear();
                    tag.attribute.clear();
                    self.level -= 1;
                    // What follows is read like the name of a tag.
                    Some(b'<')
                }
                b'=' => self.attribute_value(&mut tag)?,
                b'>' => self.element_value(&mut tag)?,
                b'/' => {
                    if self.end_tag(&mut tag)? {
                        return Ok(true);
                    }
                    self.next()?
                }
                _ => self.next()?,
            };
        }
        Ok(false)
    }

    fn next(&mut self) -> Result<Option<u8>> {
        Ok(self.bytes.next()?.map(blank))
    }

    /// Reads the name of a tag, or passes over a comment. Returns the byte behind it.
    fn begin_tag(&mut self, tag: &mut Tag) -> Result<Option<u8>> {
        let mut next = self.next()?;
        if next == Some(b'!') {
            if self.bytes.takes(b"--")? {
                return self.comment();
            }
            // The two bytes are passed over in any case.
            self.bytes.next()?;
            self.bytes.next()?;
        }
        tag.name.clear();
        while let Some(byte) = next.filter(|byte| !b"> /".contains(byte)) {
            if Some(byte) != tag.quote {
                tag.name.push(byte);
            }
            self.check_size(tag.name.len())?;
            next = self.next()?;
        }
        if matches!(next, Some(b' ' | b'>')) {
            self.level += 1;
            self.forget_below();
        }
        tag.is_open = next == Some(b' ');
        Ok(next)
    }

    /// Forgets the values of elements that are deeper than the one that begins.
    fn forget_below(&mut self) {
        let level = self.level;
        self.values.retain(|value| value.level <= level);
        self.kept_bytes = self.values.iter().map(XmlValue::bytes).sum();
    }

    /// Passes over the rest of a comment. Returns the last byte of its end, behind which a text may
    /// follow as behind a tag.
    fn comment(&mut self) -> Result<Option<u8>> {
        let mut last = [0; 2];
        loop {
            match self.bytes.next()? {
                None => return Ok(None),
                Some(b'>') if last == *b"--" => return Ok(Some(b'>')),
                Some(byte) => last = [last[1], byte],
            }
        }
    }

    /// Reads the name of an attribute behind white space. Returns the byte behind it.
    fn attribute_name(&mut self, tag: &mut Tag) -> Result<Option<u8>> {
        let mut next = Some(b' ');
        while next == Some(b' ') {
            next = self.next()?;
        }
        if !tag.is_open {
            return Ok(next);
        }
        while let Some(byte) = next.filter(|byte| !b"=/>".contains(byte)) {
            tag.attribute.push(byte);
            self.check_size(tag.attribute.len())?;
            next = self.next()?;
        }
        Ok(next)
    }

    /// Reads the value of an attribute. Returns the byte behind it.
    fn attribute_value(&mut self, tag: &mut Tag) -> Result<Option<u8>> {
        let end = match self.bytes.peek()? {
            None => return Ok(None),
            Some(quote @ (b'"' | b'\'')) => {
                self.bytes.next()?;
                quote
            }
            Some(_) => b' ',
        };
        tag.quote = Some(end);
        let (text, next) = self.text(end)?;
        let level = self.level + 1;
        let name = std::mem::take(&mut tag.attribute);
        self.keep(level, name, text)?;
        if next == Some(b' ') { Ok(next) } else { self.next() }
    }

    /// Reads the text of an element. Returns the byte behind it, which begins another tag.
    fn element_value(&mut self, tag: &mut Tag) -> Result<Option<u8>> {
        tag.is_open = false;
        // White space before the text of an element is no part of it.
        while self.bytes.peek()?.is_some_and(|byte| blank(byte) == b' ') {
            self.bytes.next()?;
        }
        let (text, next) = self.text(b'<')?;
        if next.is_none() {
            return Ok(None);
        }
        let level = self.level;
        let name = std::mem::take(&mut tag.name);
        self.keep(level, name, text)?;
        tag.attribute.clear();
        Ok(next)
    }

    /// Reads the rest of an end tag, or of a tag that ends at once. Returns whether a row has
    /// ended.
    fn end_tag(&mut self, tag: &mut Tag) -> Result<bool> {
        let mut next = self.next()?;
        let ends_at_once = next == Some(b'>');
        // The level of `<a/>`, which has no attributes, was not counted.
        if !ends_at_once || tag.is_open {
            self.level -= 1;
            tag.is_open = false;
        }
        if !ends_at_once {
            tag.name.clear();
        }
        while let Some(byte) = next.filter(|byte| *byte != b'>') {
            tag.name.push(byte);
            self.check_size(tag.name.len())?;
            next = self.next()?;
        }
        Ok(tag.name == self.row)
    }

    /// Reads a text up to the byte `end`. Returns it with the end, which is `None` at the end of
    /// the file. As in MySQL, a byte that begins no character ends the text as the end of the file
    /// does, and nothing is left of the text.
    fn text(&mut self, end: u8) -> Result<(Vec<u8>, Option<u8>)> {
        let mut text = Vec::new();
        loop {
            let Some(byte) = self.bytes.next()? else { return Ok((text, None)) };
            if blank(byte) == end {
                return Ok((text, Some(blank(byte))));
            }
            if byte == b'&' {
                if !self.entity(&mut text)? {
                    return Ok((text, None));
                }
            } else {
                let length = lead_bytes(self.charset, byte);
                if length == 0 {
                    return Ok((Vec::new(), None));
                }
                text.push(byte);
                // The further bytes of a character are no signs.
                for _ in 1..length {
                    text.extend(self.bytes.next()?);
                }
            }
            self.check_size(text.len())?;
        }
    }

    /// Reads the name of an entity behind `&`, and adds the character that it stands for. Returns
    /// false if the file has ended before.
    fn entity(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let mut name = Vec::new();
        loop {
            match self.next()? {
                None => return Ok(false),
                Some(b';') => break,
                Some(byte) => name.push(byte),
            }
            self.check_size(text.len() + name.len())?;
        }
        match entity(&name) {
            Some(character) => text.push(character),
            None => {
                text.push(b'&');
                text.append(&mut name);
                text.push(b';');
            }
        }
        Ok(true)
    }

    /// Keeps a value that has a name and a text.
    fn keep(&mut self, level: i64, name: Vec<u8>, text: Vec<u8>) -> Result<()> {
        if !name.is_empty() && !text.is_empty() {
            self.values.push(XmlValue { level, name, text });
            self.kept_bytes += self.values.last().map_or(0, XmlValue::bytes);
            self.check_size(0)?;
        }
        Ok(())
    }

    /// Charges for the values of the row, and for a text of this many bytes that is being read.
    fn check_size(&mut self, more: usize) -> Result<()> {
        let needed = self.kept_bytes + 2 * more;
        match needed > self.charge.bytes() {
            true => self.charge.add(2 * needed - self.charge.bytes()),
            false => Ok(()),
        }
    }
}
