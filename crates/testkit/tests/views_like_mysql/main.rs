//! Tests of the text that a view keeps of its query, compared with MySQL: how SHOW CREATE VIEW
//! shows it, how the columns are named, what its literals are, and that columns which the tables
//! get later are not the view's.

mod literals;
mod refused;
mod texts;
