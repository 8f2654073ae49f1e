//! What servers have of databases, tables, objects and rows, and the comparison of two servers. It
//! is for tests in which a replica must have everything that its source has.

mod catalog;
mod picture;

pub use catalog::{Catalog, Column, Name, Table, cells};
pub use picture::{Picture, differences, picture};
