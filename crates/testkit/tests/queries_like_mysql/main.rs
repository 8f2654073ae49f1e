//! Queries within queries beside MySQL's: their rows, the descriptions of their columns, and what
//! is refused. The real MySQL is asked the same.

mod beside;
mod common_tables;
mod derived;
mod explained;
mod joins;
mod lateral;
mod random;
mod random_sets;
mod random_windows;
mod rollup;
mod set_operations;
mod subqueries;
mod windows;
