//! `binlog_format`: whether the binary log gets the rows of a statement or its text.

/// The value of `binlog_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinlogFormat {
    Row,
    Statement,
    Mixed,
}

impl BinlogFormat {
    /// Returns the format of this name, which is one of MySQL's words in upper case.
    pub fn named(name: &str) -> Option<BinlogFormat> {
        Some(match name {
            "ROW" => BinlogFormat::Row,
            "STATEMENT" => BinlogFormat::Statement,
            "MIXED" => BinlogFormat::Mixed,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            BinlogFormat::Row => "ROW",
            BinlogFormat::Statement => "STATEMENT",
            BinlogFormat::Mixed => "MIXED",
        }
    }
}
