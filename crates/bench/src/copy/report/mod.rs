//! The report of `bench copy`, as text, as JSON and as a page.

mod figures;
mod json;
mod page;
#[cfg(test)]
mod tests;
mod text;

pub use json::json;
pub use page::page;
pub use text::text;
