//! Digests of statements: what statements have in common that differ in their literals only.
//!
//! In: the text of a statement that can be parsed. Out: the text of its digest, which equals
//! MySQL's, and a hash of that text. MySQL's own hash is one of the numbers that its parser gives
//! to words, and so it differs.
//!
//! A digest is made of the tokens alone (`reader`), which become units (`units`) with the words
//! that MySQL prints (`words`). Of a statement with very many rows of literals, the rows are
//! skipped, not read (`rows`).

mod reader;
mod rows;
mod units;
mod words;

use crate::lexer::LexMode;
use sha2::{Digest as _, Sha256};

/// The digest of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The statement with `?` for its literals.
    pub text: String,
}

impl Digest {
    /// Returns the digest of a statement's text. It is cut where its units take more than
    /// `max_digest_length` bytes, as MySQL counts them.
    pub(crate) fn of(text: &[u8], mode: LexMode, max_digest_length: usize) -> Digest {
        Digest { text: reader::read(text, mode, max_digest_length) }
    }

    /// Returns the hash by which digests are known, in hexadecimal digits.
    pub fn hash(&self) -> String {
        Sha256::digest(self.text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
