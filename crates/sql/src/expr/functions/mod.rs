//! Native functions: a table of them for each subject.

mod aes;
mod call;
mod compression;
mod date_formats;
mod date_text;
mod digest;
pub(crate) mod file;
pub(crate) mod grouping;
mod gtid;
pub(crate) mod json;
mod md5;
mod network;
mod numeric;
mod regexp;
mod session;
mod sound;
mod spatial;
mod string;
pub(crate) mod table;
mod time;
mod time_sums;
mod units;
mod user_lock;
pub(crate) mod vector;
mod weights;
mod xml;

use super::node::{Call, Coercibility, Expr, Function};
use super::value_type::text_type;
pub(super) use call::AS_TEXT;
pub(crate) use call::TEXT_ORDER;
use call::{
    ascii_text, bigint, double, int, joined, like_first, long_text, old_system_text, system_text, text,
    truth_value, unsigned, wrong_arguments,
};
