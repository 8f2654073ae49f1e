//! Native functions, in one table for each subject.

mod aes;
pub(crate) mod byte_bits;
mod call;
pub(crate) mod characters;
mod compression;
mod date_formats;
mod date_text;
mod digest;
pub(super) mod extremes;
pub(crate) mod field;
pub(crate) mod file;
pub(crate) mod grouping;
mod gtid;
pub(crate) mod json;
mod list_moments;
mod md5;
mod network;
mod numeric;
pub(crate) mod partition_key;
mod regexp;
mod session;
mod shown_date;
mod sound;
mod spatial;
mod statement_digest;
pub(crate) mod string;
pub(crate) mod table;
mod text_lengths;
mod time;
mod time_sums;
mod units;
mod user_lock;
pub(crate) mod vector;
mod weights;
mod xml;

use super::node::{Call, Coercibility, Expr, Function};
use super::value_type::text_type;
pub(crate) use call::NAMED;
pub(crate) use call::TEXT_ORDER;
pub(super) use call::{AS_TEXT, DATE_OF_YEAR, NUMBER_IN_TEXT};
pub(crate) use call::{PADDED, fill_with_spaces};
use call::{
    ascii_text, bigint, double, integer, joined, like_first, long_text, old_system_text, system_text, text,
    truth_value, unsigned, unsigned_integer, wrong_arguments,
};
pub(super) use list_moments::MOMENT_IN_LIST;
pub(crate) use spatial::{SYSTEMS, UNITS};
pub(super) use time::WHOLE_SECONDS;
pub(super) use time_sums::{NUMBER_OF_MOMENT, SHOWN_SUM, is_sum, is_sum_of_times};

/// Reports whether a call of the function with this many arguments has a value of the session,
/// which is not known when a statement is prepared.
pub(crate) fn is_of_session(name: &str, args: usize) -> bool {
    match name {
        "unix_timestamp" => args == 0,
        "now" | "curdate" | "current_date" | "curtime" | "current_time" | "current_timestamp"
        | "localtime" | "localtimestamp" | "utc_date" | "utc_time" | "utc_timestamp" | "connection_id"
        | "user" | "session_user" | "system_user" | "current_user" | "last_insert_id" => true,
        _ => false,
    }
}
