//! DDL: turns statements into definitions.
//!
//! In: CREATE, ALTER, DROP and RENAME statements. Out: definitions of the engine (`TableDef` and
//! others), with the checks and errors of MySQL, and the changes of the dictionary. Nothing here
//! depends on a session, since the applier of a replica uses it too.

mod algorithm;
mod alter;
mod altered;
mod canonical;
mod client_checks;
mod column;
mod column_type;
mod conditional;
mod create;
mod event;
mod expression;
mod foreign_key;
mod functional;
mod kept_key;
mod key;
mod long_key;
mod multi_valued;
mod new_view;
mod object;
mod object_errors;
mod old_rows;
mod partition;
mod partition_alter;
mod partition_exchange;
mod partition_history;
mod partition_rows;
mod rename;
mod run;
mod schedule;
mod sequence;
mod settings;
mod temporal;
mod temporary;
mod updatable;
mod view_text;

pub(crate) use altered::Altered;
pub(crate) use column_type::kept_type;
pub(crate) use create::columns_of_query;
pub(crate) use expression::columns_of;
pub(crate) use foreign_key::UNSAFE_FOREIGN_KEY;
pub(crate) use object::routine_change;
pub(crate) use object_errors::{absent, not_a};
pub(crate) use old_rows::Told;
pub(crate) use partition_rows::{PartitionTexts, chosen_condition, condition_of_any, partition_texts};
pub(crate) use run::{DdlReport, DdlRun};
pub(crate) use schedule::{ScheduleValues, schedule_of};
pub(crate) use sequence::{not_a_sequence, statement as sequence_statement};
pub(crate) use settings::{DdlSettings, ExpressionTypes};
pub(crate) use temporal::{moment, not_versioned, row_edge_value};
pub(crate) use temporary::{AboutTemporary, about_temporary};
