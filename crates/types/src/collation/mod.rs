//! Collations: names and ids, comparison, and sort keys that compare by memcmp.
//!
//! A collation compares by *weights*. PAD SPACE collations compare as if the shorter string were
//! padded with spaces, NO PAD ones (`binary` and the 0900 family) do not. [`write_key`] writes
//! weights so that memcmp of two keys, with anything after them, orders as [`compare`] does.

mod arrangement;
mod case;
mod chars;
mod charset;
mod czech;
mod definition;
mod encoding;
mod general;
mod hash;
mod ids;
mod key;
mod list;
mod lookup;
mod multi;
mod order;
mod padding;
mod runs;
mod search;
mod special;
mod tables;
mod tailored;
mod transcode;
mod uca;
mod version;
mod weights;

pub use case::{lower, upper};
pub use chars::{
    NO_CHARACTERS, char_count, char_prefix, characters_for_column, from_utf8mb4, from_utf8mb4_lossy,
    is_well_formed, replaced_bytes, to_utf8mb4, well_formed_len, with_question_marks,
    without_trailing_spaces,
};
pub use charset::Charset;
pub use definition::Collation;
pub use hash::KeyHash;
pub use ids::*;
pub use key::{
    KEY_START_BYTES, has_key_starts, is_key_of_bytes, read_escaped, write_key, write_key_start,
    write_key_utf8mb4, write_open_key,
};
pub(crate) use lookup::IDS;
pub use lookup::{all, by_id, charset_of, from_name, max_bytes_per_char, name};
pub use order::{compare, compare_utf8mb4, order_prefix};
pub use search::{is_liked_by_bytes, locate_utf8mb4};
pub(crate) use transcode::is_ascii;
pub use weights::weight_string;

#[cfg(test)]
mod tests;
