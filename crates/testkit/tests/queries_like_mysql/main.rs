//! Queries within queries beside MySQL's: their rows, the descriptions of their columns, and what
//! is refused. The real MySQL is asked the same.

mod beside;
mod joins;
mod random;
mod subqueries;
