//! The report of `bench apply`, as text, as JSON and as a page.

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
