//! What servers have of databases, tables, objects and rows, and how two of them compare: for tests
//! in which a replica must have all that its source has.

mod catalog;
mod picture;

pub use catalog::{Catalog, Column, Name, Table, cells};
pub use picture::{Picture, differences, picture};
