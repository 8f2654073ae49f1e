//! The errors of a tree.

use std::fmt;

use buffer::{BufferError, PageId};

/// An error of a tree.
#[derive(Debug)]
pub enum TreeError {
    /// The buffer pool, its files or the log failed.
    Buffer(BufferError),
    /// Key and value together are longer than half a page.
    EntryTooLong {
        /// The length of key and value together, in bytes.
        len: usize,
        /// The longest length that fits, in bytes.
        max: usize,
    },
    /// The key is longer than a quarter of a page.
    KeyTooLong {
        /// The length of the key in bytes.
        len: usize,
        /// The longest length that fits, in bytes.
        max: usize,
    },
    /// A page of the tree does not fit its place in the tree.
    Damaged {
        /// The page.
        page: PageId,
        /// What is wrong, as the middle of a sentence.
        reason: String,
    },
    /// The keys for a sorted build did not ascend.
    NotSorted,
    /// The tree for a sorted build was not empty.
    NotEmpty,
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, TreeError>;

impl TreeError {
    pub(crate) fn damaged(page: PageId, reason: impl Into<String>) -> TreeError {
        TreeError::Damaged { page, reason: reason.into() }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TreeError::Buffer(error) => error.fmt(formatter),
            TreeError::EntryTooLong { len, max } => {
                write!(formatter, "a row of {len} bytes does not fit a page, the most is {max}")
            }
            TreeError::KeyTooLong { len, max } => {
                write!(formatter, "a key of {len} bytes is too long, the most is {max}")
            }
            TreeError::Damaged { page, reason } => {
                write!(formatter, "page {page} (space:page) is out of place in its tree: {reason}")
            }
            TreeError::NotSorted => formatter.write_str("keys for a sorted build do not ascend"),
            TreeError::NotEmpty => formatter.write_str("a sorted build needs an empty tree"),
        }
    }
}

impl std::error::Error for TreeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TreeError::Buffer(error) => Some(error),
            _ => None,
        }
    }
}

impl From<BufferError> for TreeError {
    fn from(error: BufferError) -> TreeError {
        TreeError::Buffer(error)
    }
}
