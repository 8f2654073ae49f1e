//! The variables of performance_schema.

use crate::variables::definition::Kind::{Bool, Int, UInt};
use crate::variables::definition::{Definition, global};

/// The definitions, sorted by name.
pub const DEFINITIONS: &[Definition] = &[
    global("performance_schema", Bool, "ON")
        .read_only()
        .does("Statements are measured for the tables of performance_schema about statements.")
        .differs("OFF leaves the other tables of performance_schema as they are."),
    global("performance_schema_digests_size", Int(-1, 1_048_576), "10000").read_only().does(
        "So many digests of statements are kept, all others together in one row; with 0 none is. \
             -1 is 10000.",
    ),
    global("performance_schema_events_statements_history_long_size", Int(-1, 1_048_576), "10000")
        .read_only()
        .does(
            "events_statements_history_long keeps so many statements while its consumer is on. -1 is 10000.",
        ),
    global("performance_schema_events_statements_history_size", Int(-1, 1024), "10")
        .read_only()
        .does("So many of a session's last statements are kept. -1 is 10."),
    global("performance_schema_events_transactions_history_long_size", Int(-1, 1_048_576), "10000")
        .read_only()
        .does(
            "events_transactions_history_long keeps so many transactions while its consumer is on. -1 is \
             10000.",
        ),
    global("performance_schema_events_transactions_history_size", Int(-1, 1024), "10")
        .read_only()
        .does("So many of a session's last transactions are kept. -1 is 10."),
    global("performance_schema_max_digest_length", UInt(0, 1_048_576), "1024")
        .read_only()
        .does("The units of a digest take so many bytes at most, and max_digest_length at most."),
    global("performance_schema_max_digest_sample_age", UInt(0, 1_048_576), "60")
        .read_only()
        .does(
            "After so many seconds the sample of a digest is replaced by the next statement, however \
             short; 0 is never.",
        )
        .differs("MySQL allows to set it while the server runs."),
    global("performance_schema_max_prepared_statements_instances", Int(-1, 4_194_304), "-1")
        .read_only()
        .kept("max_prepared_stmt_count limits the prepared statements, and so their rows."),
    global("performance_schema_max_sql_text_length", UInt(0, 1_048_576), "1024")
        .read_only()
        .does("So many bytes of a statement's text are kept."),
];
