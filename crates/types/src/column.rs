//! Column types: what a column can hold and how it is described in a TABLE_MAP event and in DDL.

mod column_type;
mod display;
mod make;
mod number_form;
mod shape;
mod table_map;
mod text_form;
mod type_code;

pub use column_type::ColumnType;
pub use number_form::NumberForm;
pub use shape::{GeometryKind, Shape};
pub use table_map::{ColumnTypeError, read_table_map_column, write_table_map_column};
pub use text_form::TextForm;
pub use type_code::TypeCode;
