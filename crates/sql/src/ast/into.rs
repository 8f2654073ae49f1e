//! INTO of a SELECT.

/// Where the rows of a query go that the client does not get.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    /// User variables, in lower case: of the only row there may be.
    Variables(Vec<String>),
    Outfile(Outfile),
    /// The values of the only row there may be, as they are.
    Dumpfile(Vec<u8>),
}

/// `INTO OUTFILE`
#[derive(Debug, Clone, PartialEq)]
pub struct Outfile {
    pub path: Vec<u8>,
    pub charset: Option<String>,
    pub format: TextFormat,
}

/// FIELDS and LINES.
#[derive(Debug, Clone, PartialEq)]
pub struct TextFormat {
    pub between_fields: Vec<u8>,
    pub enclosed: Vec<u8>,
    /// Numbers are not enclosed.
    pub optionally: bool,
    /// `None`: nothing was said of it.
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
    /// The byte that takes a special one's meaning away: a backslash where nothing was said, unless
    /// the mode has none.
    pub fn escape(&self, no_backslash_escapes: bool) -> Option<u8> {
        match &self.escaped {
            Some(escaped) => escaped.first().copied(),
            None => (!no_backslash_escapes).then_some(b'\\'),
        }
    }
}
