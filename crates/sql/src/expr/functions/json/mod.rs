//! Functions on JSON documents.

mod argument;
mod array;
mod convert;
mod make;
mod mariadb;
mod read;
mod result_type;
mod schema;

pub(super) use argument::document;
pub(crate) use argument::{made, no_document, no_path, scalar_of};
pub(crate) use array::{AS_ARRAY, element};
pub(crate) use convert::{AS_JSON, AS_VALUE, DEFAULT, ERROR, JSON_TABLE_DOCUMENT, JSON_VALUE, NULL, stored};
pub(super) use make::FUNCTIONS as MAKING;
pub(crate) use make::{CAST_AS_JSON, name_of};
pub(crate) use mariadb::{MARIADB_JSON_ARRAY, MARIADB_JSON_OBJECT};
pub(super) use read::FUNCTIONS as READING;
pub(crate) use read::MARIADB_JSON_VALID;
pub(super) use schema::FUNCTIONS as SCHEMAS;
