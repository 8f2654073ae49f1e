//! The tables that hold accounts.
