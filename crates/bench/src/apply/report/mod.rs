//! What `bench apply` has measured, as text, as JSON and as a page.

mod effects;
mod figures;
mod json;
mod page;
#[cfg(test)]
mod tests;
mod text;

pub use json::json;
pub use page::page;
pub use text::text;
