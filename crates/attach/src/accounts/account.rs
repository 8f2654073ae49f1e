//! One account or role.

/// An account, as statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The quoted name.
    pub name: String,
    pub create: String,
    /// The roles that are active after a login.
    pub default_role: Option<String>,
    pub grants: Vec<String>,
}
