//! Full-text search: which documents a search finds, and how relevant each of them is to it.
//!
//! In: the text of a search, the documents of a table (the texts of the columns of a FULLTEXT
//! index), and how the index cuts them. Out: a number for each document that is found, the one that
//! InnoDB computes. A search reads the documents that have an entry of its words (decision 0080),
//! and keeps of them what it was asked for (decision 0057).
//!
//! `types::words` cuts texts; `lexer` and `parse` read a search into a `tree`, and `ngram` reads
//! one of an ngram index; `gather` reads the documents; `evaluate` computes the `sets` of
//! documents, and keeps a `record` of their words; `search` does all of it.

mod documents;
mod evaluate;
mod gather;
mod lexer;
mod ngram;
mod parse;
mod record;
mod search;
mod sets;
mod tree;

pub(crate) use documents::{Documents, Looked, Visit};
pub(crate) use search::{Found, FoundCache, search};

#[cfg(test)]
mod tests;
