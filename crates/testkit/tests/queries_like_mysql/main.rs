//! Tests of queries within queries, compared with MySQL: their rows, the descriptions of their
//! columns, and what is refused. A real MySQL gets the same statements and must answer the same.

mod beside;
mod column_conditions;
mod common_tables;
mod decimal_sums;
mod derived;
mod documents;
mod explained;
mod groups_in_order;
mod joins;
mod lateral;
mod names;
mod narrowed;
mod random;
mod random_sets;
mod random_windows;
mod rollup;
mod set_operations;
mod stored_rows;
mod subqueries;
mod windows;
