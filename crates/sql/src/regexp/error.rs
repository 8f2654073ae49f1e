//! The errors of regular expressions and their matches, in the numbers and words of MySQL.

use crate::error::SqlError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegexpError {
    IllegalArgument,
    IndexOutOfBounds,
    Internal,
    /// The line, and the character in the line, both counted from 1.
    Syntax(u32, u32),
    BadEscape,
    Unimplemented,
    MismatchedParenthesis,
    BadInterval,
    MaxLessThanMin,
    InvalidBackReference,
    LookBehindLimit,
    MissingCloseBracket,
    InvalidRange,
    StackOverflow,
    TimeOut,
    PatternTooBig,
    InvalidGroupName,
    InvalidFlag,
    NumberTooBig,
}

impl From<RegexpError> for SqlError {
    fn from(error: RegexpError) -> SqlError {
        let (code, text) = match error {
            RegexpError::IllegalArgument => (3685, "Illegal argument to a regular expression."),
            RegexpError::IndexOutOfBounds => (3686, "Index out of bounds in regular expression search."),
            RegexpError::Internal => (3687, "Internal error in the regular expression library."),
            RegexpError::Syntax(line, character) => {
                let place = format!("on line {line}, character {character}.");
                return SqlError::new(3688, format!("Syntax error in regular expression {place}"));
            }
            RegexpError::BadEscape => (3689, "Unrecognized escape sequence in regular expression."),
            RegexpError::Unimplemented => (
                3690,
                "The regular expression contains a feature that is not implemented in this library \
                 version.",
            ),
            RegexpError::MismatchedParenthesis => (3691, "Mismatched parenthesis in regular expression."),
            RegexpError::BadInterval => (3692, "Incorrect description of a {min,max} interval."),
            RegexpError::MaxLessThanMin => {
                (3693, "The maximum is less than the minumum in a {min,max} interval.")
            }
            RegexpError::InvalidBackReference => (3694, "Invalid back-reference in regular expression."),
            RegexpError::LookBehindLimit => {
                (3695, "The look-behind assertion exceeds the limit in regular expression.")
            }
            RegexpError::MissingCloseBracket => {
                (3696, "The regular expression contains an unclosed bracket expression.")
            }
            RegexpError::InvalidRange => {
                (3697, "The regular expression contains an [x-y] character range where x comes after y.")
            }
            RegexpError::StackOverflow => (3698, "Overflow in the regular expression backtrack stack."),
            RegexpError::TimeOut => (3699, "Timeout exceeded in regular expression match."),
            RegexpError::PatternTooBig => {
                (3700, "The regular expression pattern exceeds limits on size or complexity.")
            }
            RegexpError::InvalidGroupName => (3887, "A capture group has an invalid name."),
            RegexpError::InvalidFlag => (3900, "Invalid match mode flag in regular expression."),
            RegexpError::NumberTooBig => (4007, "Decimal number in regular expression is too large."),
        };
        SqlError::new(code, text)
    }
}
