//! MySQL's column types, values and row images, and keys that compare by memcmp.
//!
//! What flows in and out: a [`ColumnType`] says how a column is stored; [`Value`] is one value in
//! memory; [`row::RowLayout`] turns values into MySQL's binary log row image and back, and splices
//! partial images into full ones; [`key`] turns packed values into byte strings whose memcmp order
//! is the column's order; [`convert::to_column`] is the assignment of a value to a column, with
//! MySQL's error codes; [`column_test`] decides conditions on single columns on a row's bytes.
//!
//! Invariants:
//! - Row bytes are exactly what a MySQL or MariaDB server writes into a row event for the same
//!   column type (full images: null bitmap, then packed values). `docs/formats/row.md` has them
//!   byte by byte.
//! - `key::encode_raw(a) < key::encode_raw(b)` by memcmp exactly when `a < b` by the column's type
//!   and collation, and no key is a prefix of another key of the same columns.
//!   `docs/formats/key.md` has the encoding.
//! - Character values in a [`Value`] are UTF-8 (utf8mb4) whatever the column's character set. They
//!   are transcoded where a row image is read or written.
//! - Nothing here panics on bytes that came from outside; malformed bytes are a [`row::RowError`]
//!   with the place.
//! - There is no I/O, no clock and no randomness: results depend on the arguments alone.

pub mod cells;
pub mod collation;
pub mod column;
pub mod column_test;
pub mod compare;
pub mod convert;
pub mod decimal;
pub mod escaped;
pub mod geometry;
pub mod json;
pub mod key;
pub mod like;
pub mod mask;
pub mod number;
pub mod order_number;
pub mod packed;
pub mod row;
pub mod temporal;
pub mod value;
pub mod words;

pub use column::{ColumnType, GeometryKind, NumberForm, Shape, TextForm, TypeCode};
pub use decimal::Decimal;
pub use mask::ColumnMask;
pub use temporal::{Date, DateTime, Moment, Time, Zone, ZoneRules};
pub use value::Value;
