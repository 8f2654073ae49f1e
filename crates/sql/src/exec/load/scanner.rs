//! Scans a text file for lines and fields, by the FIELDS and LINES clauses of LOAD DATA.
//!
//! For files that do not keep to their own format, the manual does not say what is a field and what
//! is a line. Here it is what MySQL makes of them (decision 0056).

use super::input::{Bytes, Input};
use super::special_bytes::SpecialBytes;
use crate::ast::TextFormat;
use crate::error::{Result, SqlError};
use crate::memory::Charge;
use types::collation::Charset;

/// A field of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    start: usize,
    end: usize,
    pub is_null: bool,
}

/// The fields of a row, one behind the other.
#[derive(Default)]
pub(super) struct Fields {
    text: Vec<u8>,
    fields: Vec<Field>,
}

impl Fields {
    pub fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
    }

    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns the bytes of a field, or `None` if it is NULL.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let field = self.fields[at];
        (!field.is_null).then(|| &self.text[field.start..field.end])
    }

    /// Reports whether all fields consist of ASCII characters.
    pub fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    /// Cuts the only field into fields of these lengths, as many as its bytes suffice for. Returns
    /// false if bytes are left over.
    pub fn cut(&mut self, lengths: &[usize]) -> bool {
        let [whole] = self.fields[..] else { unreachable!("a row of fixed length is read as one field") };
        self.fields.clear();
        let mut start = whole.start;
        for length in lengths {
            if start == whole.end {
                break;
            }
            let end = start.saturating_add(*length).min(whole.end);
            self.fields.push(Field { start, end, is_null: false });
            start = end;
        }
        start == whole.end
    }

    #[cfg(test)]
    fn shown(&self) -> Vec<String> {
        let text = |at| self.get(at).map_or("NULL".into(), |text| text.escape_ascii().to_string());
        (0..self.len()).map(text).collect()
    }
}

/// Bits for the things that a byte may be.
mod meaning {
    pub const ESCAPE: u8 = 1;
    pub const FIELD_END: u8 = 2;
    pub const LINE_END: u8 = 4;
    pub const QUOTE: u8 = 8;
    /// The first byte of a character of several bytes, or a byte that begins no character.
    pub const LEAD: u8 = 16;
}

/// What ends the plain bytes of a field. Within quotes, neither fields nor lines end.
const ENDS_UNQUOTED: u8 = meaning::ESCAPE | meaning::FIELD_END | meaning::LINE_END | meaning::LEAD;
const ENDS_QUOTED: u8 = meaning::ESCAPE | meaning::QUOTE | meaning::LEAD;

/// Reads the fields and lines of a file.
pub(super) struct Scanner<'i> {
    bytes: Bytes<'i>,
    between_fields: Vec<u8>,
    behind_line: Vec<u8>,
    before_line: Vec<u8>,
    quote: Option<u8>,
    escape: Option<u8>,
    charset: Charset,
    /// The meanings that each byte may have.
    meanings: [u8; 256],
    /// The search for what ends the plain bytes of a field, without quotes and within them.
    unquoted: SpecialBytes,
    quoted: SpecialBytes,
    /// Whether the end of the current line has been taken.
    is_at_line_end: bool,
    has_ended: bool,
    /// Whether the text of STARTING BY has yet to be found in front of the line.
    is_before_line: bool,
    /// Whether the line had more than was read of it.
    pub was_cut: bool,
    /// The charge for the text of a row.
    charge: Charge,
}

impl<'i> Scanner<'i> {
    pub fn new(
        input: &'i mut dyn Input,
        format: &TextFormat,
        escape: Option<u8>,
        charset: Charset,
        charge: Charge,
    ) -> Scanner<'i> {
        // As in MySQL, a line terminator that equals the field terminator ends no lines.
        let behind_line = match format.behind_line == format.between_fields {
            true => Vec::new(),
            false => format.behind_line.clone(),
        };
        let quote = format.enclosed.first().copied();
        let mut meanings = [0; 256];
        for byte in 0..=u8::MAX {
            meanings[usize::from(byte)] = if lead_bytes(charset, byte) == 1 { 0 } else { meaning::LEAD };
        }
        for (byte, bit) in [
            (escape, meaning::ESCAPE),
            (format.between_fields.first().copied(), meaning::FIELD_END),
            (behind_line.first().copied(), meaning::LINE_END),
            (quote, meaning::QUOTE),
        ] {
            byte.into_iter().for_each(|byte| meanings[usize::from(byte)] |= bit);
        }
        Scanner {
            bytes: Bytes::new(input),
            between_fields: format.between_fields.clone(),
            behind_line,
            before_line: format.before_line.clone(),
            quote,
            escape,
            charset,
            unquoted: SpecialBytes::new(&meanings, ENDS_UNQUOTED),
            quoted: SpecialBytes::new(&meanings, ENDS_QUOTED),
            meanings,
            is_at_line_end: false,
            has_ended: false,
            is_before_line: !format.before_line.is_empty(),
            was_cut: false,
            charge,
        }
    }

    /// Appends the next field of the line. Returns false when the line has no further field.
    pub fn next_field(&mut self, fields: &mut Fields) -> Result<bool> {
        if self.is_at_line_end || !self.begin_line()? {
            return Ok(false);
        }
        let Some(first) = self.bytes.peek()? else {
            self.end_file();
            return Ok(false);
        };
        let mut start = fields.text.len();
        let quote = self.quote.filter(|quote| *quote == first);
        if quote.is_some() {
            // The quote stays part of the field if no closing quote comes.
            self.bytes.take(1);
            fields.text.push(first);
        }
        let (is_enclosed, found_null) = self.rest_of_field(quote, fields, start)?;
        start += usize::from(is_enclosed);
        let text = &fields.text[start..];
        let is_null =
            !is_enclosed && self.quote.is_some() && text == b"NULL" || found_null && text.len() == 1;
        fields.fields.push(Field { start, end: fields.text.len(), is_null });
        Ok(true)
    }

    /// Appends the rest of a field. Returns whether the field was enclosed, and whether it had `\N`
    /// in it.
    fn rest_of_field(
        &mut self,
        quote: Option<u8>,
        fields: &mut Fields,
        start: usize,
    ) -> Result<(bool, bool)> {
        let text = &mut fields.text;
        let mut found_null = false;
        loop {
            let ahead = self.bytes.ahead()?;
            let specials = if quote.is_some() { &self.quoted } else { &self.unquoted };
            let plain = specials.first_in(ahead, &self.meanings);
            text.extend_from_slice(&ahead[..plain]);
            let special = ahead.get(plain).copied();
            self.bytes.take(plain);
            let Some(byte) = special else {
                if plain > 0 {
                    charge(&mut self.charge, text)?;
                    continue;
                }
                self.end_file();
                return Ok((false, found_null));
            };
            if Some(byte) == self.escape && self.takes_escaped(text, &mut found_null)? {
                if self.has_ended {
                    return Ok((false, found_null));
                }
                continue;
            }
            match quote {
                None => {
                    if self.meanings[usize::from(byte)] & meaning::LINE_END != 0
                        && self.bytes.takes(&self.behind_line)?
                    {
                        self.is_at_line_end = true;
                        return Ok((false, found_null));
                    }
                    if self.meanings[usize::from(byte)] & meaning::FIELD_END != 0
                        && self.bytes.takes(&self.between_fields)?
                    {
                        return Ok((false, found_null));
                    }
                }
                Some(quote) if byte == quote => {
                    self.bytes.take(1);
                    if self.bytes.takes(&[quote])? {
                        // A doubled quote stands for one quote.
                        text.push(quote);
                        continue;
                    }
                    if self.ends_behind_quote()? {
                        return Ok((true, found_null));
                    }
                    text.push(quote);
                    continue;
                }
                Some(_) => {}
            }
            self.take_character(byte, text, start)?;
        }
    }

    /// Takes an escape and the character behind it. Returns false if the escape escapes nothing
    /// here, so that the byte is one like others.
    fn takes_escaped(&mut self, text: &mut Vec<u8>, found_null: &mut bool) -> Result<bool> {
        let escape = self.escape.expect("only an escape is taken for one");
        self.bytes.fill(2)?;
        let Some(escaped) = self.bytes.ahead()?.get(1).copied() else {
            text.push(escape);
            self.bytes.take(1);
            self.end_file();
            return Ok(true);
        };
        // An escape that is the quote, too, escapes only itself.
        if self.quote == Some(escape) && escaped != escape {
            return Ok(false);
        }
        self.bytes.take(1);
        if lead_bytes(self.charset, escaped) > 1 {
            // The escaped character has several bytes.
            let start = text.len();
            return self.take_character(escaped, text, start).map(|()| true);
        }
        self.bytes.take(1);
        *found_null |= escaped == b'N';
        text.push(unescaped(escaped));
        Ok(true)
    }

    /// Reports whether the field ends behind its closing quote, and takes the terminator in that
    /// case.
    fn ends_behind_quote(&mut self) -> Result<bool> {
        let at_end = self.bytes.peek()?.is_none();
        if at_end || !self.behind_line.is_empty() && self.bytes.takes(&self.behind_line)? {
            self.is_at_line_end = true;
            return Ok(true);
        }
        Ok(!self.between_fields.is_empty() && self.bytes.takes(&self.between_fields)?)
    }

    /// Takes a character of one or several bytes.
    ///
    /// # Errors
    /// Returns 1300 for a byte that begins no character.
    fn take_character(&mut self, first: u8, text: &mut Vec<u8>, start: usize) -> Result<()> {
        let bytes = lead_bytes(self.charset, first);
        if bytes == 0 {
            let (name, before) = (self.charset.name(), String::from_utf8_lossy(&text[start..]));
            return Err(SqlError::new(1300, format!("Invalid {name} character string: '{before}'")));
        }
        if bytes > 1 {
            self.bytes.fill(bytes)?;
            let ahead = self.bytes.ahead()?;
            let character = ahead.get(..bytes);
            let collation = self.charset.default_collation();
            match character {
                Some(character) if types::collation::is_well_formed(collation, character) => {
                    text.extend_from_slice(character);
                    self.bytes.take(bytes);
                    return Ok(());
                }
                Some(_) => {}
                None => {
                    // A character that the end of the file cuts off is dropped.
                    let cut = ahead.len();
                    self.bytes.take(cut);
                    return Ok(());
                }
            }
        }
        text.push(first);
        self.bytes.take(1);
        Ok(())
    }

    /// Appends the bytes of a row with fields of fixed lengths as one field, at most `bytes` of
    /// them. Returns false when there is no further row.
    pub fn next_fixed(&mut self, bytes: usize, fields: &mut Fields) -> Result<bool> {
        if self.is_at_line_end || !self.begin_line()? {
            return Ok(false);
        }
        let start = fields.text.len();
        while fields.text.len() - start < bytes {
            let Some(byte) = self.bytes.peek()? else {
                self.end_file();
                if fields.text.len() == start {
                    return Ok(false);
                }
                break;
            };
            if Some(byte) == self.escape {
                self.bytes.take(1);
                match self.bytes.next()? {
                    Some(escaped) => fields.text.push(unescaped(escaped)),
                    None => {
                        fields.text.push(byte);
                        self.end_file();
                        break;
                    }
                }
                continue;
            }
            if self.behind_line.first() == Some(&byte) && self.bytes.takes(&self.behind_line)? {
                self.is_at_line_end = true;
                break;
            }
            self.bytes.take(1);
            fields.text.push(byte);
        }
        charge(&mut self.charge, &fields.text)?;
        fields.fields.push(Field { start, end: fields.text.len(), is_null: false });
        Ok(true)
    }

    /// Moves behind the end of the current line. Returns false when the file has ended.
    pub fn next_line(&mut self) -> Result<bool> {
        self.was_cut = false;
        self.is_before_line = !self.before_line.is_empty();
        if self.is_at_line_end || self.has_ended {
            self.is_at_line_end = false;
            return Ok(!self.has_ended);
        }
        if self.behind_line.is_empty() {
            return Ok(true);
        }
        loop {
            let Some(byte) = self.bytes.peek()? else {
                self.has_ended = true;
                return Ok(false);
            };
            if Some(byte) == self.escape {
                self.was_cut = true;
                self.bytes.take(1);
                if self.bytes.next()?.is_none() {
                    self.has_ended = true;
                    return Ok(false);
                }
                continue;
            }
            let bytes = lead_bytes(self.charset, byte).max(1);
            if bytes > 1 {
                self.bytes.fill(bytes)?;
                let there = self.bytes.ahead()?.len().min(bytes);
                self.bytes.take(there);
                self.was_cut = true;
                continue;
            }
            if self.behind_line.first() == Some(&byte) && self.bytes.takes(&self.behind_line)? {
                return Ok(true);
            }
            self.bytes.take(1);
            self.was_cut = true;
        }
    }

    /// Moves behind the text of STARTING BY. Returns false when the text does not occur in the rest
    /// of the file.
    fn begin_line(&mut self) -> Result<bool> {
        if !std::mem::take(&mut self.is_before_line) {
            return Ok(true);
        }
        while !self.bytes.takes(&self.before_line)? {
            if self.bytes.next()?.is_none() {
                self.end_file();
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn end_file(&mut self) {
        self.is_at_line_end = true;
        self.has_ended = true;
    }
}

/// Charges for a row that is longer than all rows before it.
fn charge(charge: &mut Charge, text: &[u8]) -> Result<()> {
    match text.len() > charge.bytes() {
        // The text's capacity grows to at most twice its length.
        true => charge.add(2 * text.len() - charge.bytes()),
        false => Ok(()),
    }
}

/// Returns the byte that an escaped byte stands for.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'0' => 0,
        b'Z' => 26,
        byte => byte,
    }
}

/// Returns the length in bytes of a character that begins with this byte. 0 means that no character
/// does.
pub(super) fn lead_bytes(charset: Charset, byte: u8) -> usize {
    let two = |is_lead: bool| if is_lead { 2 } else { 1 };
    match charset {
        Charset::Utf8mb4 | Charset::Utf8mb3 => match byte {
            0..=0x7f => 1,
            0x80..=0xc1 => 0,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 if charset == Charset::Utf8mb4 => 4,
            _ => 0,
        },
        _ => match charset.name() {
            "sjis" | "cp932" => two(matches!(byte, 0x81..=0x9f | 0xe0..=0xfc)),
            "big5" => two(matches!(byte, 0xa1..=0xf9)),
            "gbk" | "gb18030" | "euckr" => two(matches!(byte, 0x81..=0xfe)),
            "gb2312" => two(matches!(byte, 0xa1..=0xf7)),
            "ujis" | "eucjpms" if byte == 0x8f => 3,
            "ujis" | "eucjpms" => two(byte == 0x8e || matches!(byte, 0xa1..=0xfe)),
            _ => 1,
        },
    }
}

#[cfg(test)]
mod tests;
