//! Bound expressions: names are resolved to slots of a row, types are known, and evaluation yields
//! a value.
//!
//! A row is a slice of values with one slot for each column of the statement's tables, in the order
//! of the tables. In a grouped query the results of the aggregates follow. `Expr::eval` borrows
//! from the row what it can, so that comparing two columns copies nothing.

mod aggregate;
mod arithmetic;
mod bit_aggregate;
mod cast;
mod collect_aggregate;
mod compare;
mod constant;
mod context;
mod conversion;
mod date_arithmetic;
mod decimal_sum;
mod diagnostics;
pub(crate) mod documents;
mod eval;
pub(crate) mod functions;
mod infer;
mod json_aggregate;
mod match_against;
mod no_session;
mod node;
pub(crate) mod random;
mod reading;
mod recode;
mod searched_rows;
mod shared;
mod sorting;
mod subquery;
mod subquery_rows;
mod text;
mod user_variables;
mod value_type;

pub(crate) use aggregate::{Accumulator, Aggregate, AggregateKind, is_aggregate};
pub(crate) use arithmetic::{Number, decimal_of, double_of, number};
pub(crate) use bit_aggregate::MOST_BIT_STRING_BYTES;
pub(crate) use cast::{cast, conform, conforms, datetime_of, fraction_digits};
pub(crate) use compare::{compare, extreme_compare, group_key, is_match, sort_compare};
pub(crate) use constant::{is_constant_call, is_constant_text, is_same_for_each_row};
pub(crate) use context::{
    Context, KeysInFile, NoPrograms, Programs, RowsInFile, RunSubqueries, SharedTransaction, StoredFunction,
    SubqueryRows, TakeRow, TriggerRow,
};
pub(crate) use conversion::{is_stored_otherwise, text_for};
pub(crate) use date_arithmetic::interval as interval_of;
pub(crate) use diagnostics::{Diagnostics, Level, Warning};
pub(crate) use eval::truth;
pub(crate) use functions::TEXT_ORDER;
pub(crate) use functions::partition_key::{NAME as PARTITION_BY_KEY, is_hashed_by_key};
pub(crate) use functions::vector::no_vector;
pub(crate) use infer::{
    aggregate_collations, common_type, comparison_collation, function_type, of_operation, united_type,
};
pub(crate) use match_against::no_index;
pub(crate) use no_session::NoSession;
pub(crate) use node::{
    Coercibility, Expr, Function, Match, MayEqual, Node, Quantified, RowSubquery, SearchedIndex,
    SubqueryCall, SubqueryUse,
};
pub(crate) use reading::Reading;
pub(crate) use recode::converted;
pub(crate) use shared::is_for_any_thread;
pub(crate) use sorting::{scratch_bytes, sort_by};
pub(crate) use text::text_of;
pub(crate) use user_variables::{UserVariable, UserVariables};
pub(crate) use value_type::{
    BIGINT_WIDTH, NumericClass, column_type, computed_scale, decimal_remainder_type, decimal_type,
    decimals_of_all, double_with, group_concat_type, integer_digits, integer_of_digits, integer_type,
    is_number, is_plain_number, is_text, is_time, kept_integer, kept_year, length_in, long_text, made_of,
    made_year, numeric_class, of_if_null, of_window, remainder_type, scale_of, text_collation, text_in,
    text_length, truth_type, without_width,
};
