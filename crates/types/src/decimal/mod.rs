//! Exact decimal numbers as MySQL's DECIMAL computes them: up to 65 digits, rounding half away from
//! zero.

mod binary;
mod magnitude;
mod number;
mod parse;
mod short;

pub use binary::{DoesNotFit, binary_len};
pub use number::{Decimal, MAX_COLUMN_SCALE, MAX_DIGITS, MAX_SCALE};
pub use parse::{NotADecimal, Prefix};
pub(crate) use short::ShortForm;

#[cfg(test)]
mod tests;
