//! The report, for people and for programs.

mod content;
mod json;
mod text;

pub use content::{Report, report};
pub use json::json;
pub use text::text;
