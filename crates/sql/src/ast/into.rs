//! The INTO clause of a SELECT.

/// Where the rows of a query go if the client does not get them.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    /// User variables, by their names in lower case. They get the values of the only row.
    Variables(Vec<String>),
    Outfile(Outfile),
    /// A file that gets the values of the only row, as they are.
    Dumpfile(Vec<u8>),
}

/// `INTO OUTFILE`
#[derive(Debug, Clone, PartialEq)]
pub struct Outfile {
    pub path: Vec<u8>,
    pub charset: Option<String>,
    pub format: TextFormat,
}

/// The FIELDS and LINES clauses.
#[derive(Debug, Clone, PartialEq)]
pub struct TextFormat {
    pub between_fields: Vec<u8>,
    pub enclosed: Vec<u8>,
    /// Only strings are enclosed.
    pub optionally: bool,
    /// The escape character. `None` if it is not written.
    pub escaped: Option<Vec<u8>>,
    pub before_line: Vec<u8>,
    pub behind_line: Vec<u8>,
}

impl Default for TextFormat {
    fn default() -> TextFormat {
        TextFormat {
            between_fields: b"\t".to_vec(),
            enclosed: Vec::new(),
            optionally: false,
            escaped: None,
            before_line: Vec::new(),
            behind_line: b"\n".to_vec(),
        }
    }
}

impl TextFormat {
    /// Returns the byte that takes the meaning of a special one away. Without ESCAPED BY it is a
    /// backslash, unless `NO_BACKSLASH_ESCAPES` is set.
    pub fn escape(&self, no_backslash_escapes: bool) -> Option<u8> {
        match &self.escaped {
            Some(escaped) => escaped.first().copied(),
            None => (!no_backslash_escapes).then_some(b'\\'),
        }
    }
}
