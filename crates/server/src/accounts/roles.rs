//! Roles: which accounts hold them, which of them are active, and what they add to an account.

use super::{Account, AccountName, AccountTable};
use sql::admin::{Account as Named, RoleChoice};
use std::collections::BTreeSet;

/// Returns an account in the form `user`@`host`, which statements and errors about roles use.
pub fn shown(name: &AccountName) -> String {
    let quoted = |part: &str| format!("`{}`", part.replace('`', "``"));
    format!("{}@{}", quoted(&name.0), quoted(&name.1))
}

/// Returns the list of roles as CURRENT_ROLE() shows it.
pub fn list(roles: &BTreeSet<AccountName>) -> String {
    let names: Vec<String> = roles.iter().map(shown).collect();
    if names.is_empty() { "NONE".into() } else { names.join(",") }
}

/// Parses `mandatory_roles`: names with or without a host, separated by commas. Parts that are not
/// well formed are left out.
pub fn mandatory(text: &str) -> Vec<AccountName> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while let Some((user, behind)) = part(rest) {
        let (host, behind) = match behind.strip_prefix('@').and_then(part) {
            Some((host, behind)) => (host.to_lowercase(), behind),
            None => ("%".to_owned(), behind),
        };
        if !user.is_empty() {
            names.push((user, host));
        }
        match behind.trim_start().strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => break,
        }
    }
    names
}

/// Reads a name at the start of a text, quoted or not, and returns it and the rest.
fn part(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next()?;
    if matches!(quote, '\'' | '"' | '`') {
        let end = text[1..].find(quote)? + 1;
        return Some((text[1..end].to_owned(), &text[end + 1..]));
    }
    let end = text.find(['@', ',', ' ']).unwrap_or(text.len());
    Some((text[..end].to_owned(), &text[end..]))
}

impl AccountTable {
    /// Returns the roles that an account may activate: those that it was granted, and the mandatory
    /// ones that exist.
    pub fn roles_of(&self, account: &Account, mandatory: &[AccountName]) -> BTreeSet<AccountName> {
        let everybodys = mandatory.iter().filter(|name| **name != account.name() && self.get(name).is_some());
        account.roles.keys().chain(everybodys).cloned().collect()
    }

    /// Returns the roles that a choice activates for an account.
    ///
    /// # Errors
    /// Returns the name of a chosen role that the account was not granted.
    pub fn chosen_roles(
        &self,
        account: &Account,
        choice: &RoleChoice,
        mandatory: &[AccountName],
        name: impl Fn(&Named) -> AccountName,
    ) -> Result<BTreeSet<AccountName>, AccountName> {
        let held = self.roles_of(account, mandatory);
        Ok(match choice {
            RoleChoice::None => BTreeSet::new(),
            RoleChoice::Default => account.default_roles.clone(),
            RoleChoice::These(named) => {
                let names: Vec<AccountName> = named.iter().map(name).collect();
                match names.iter().find(|role| !held.contains(role)) {
                    Some(missing) => return Err(missing.clone()),
                    None => names.into_iter().collect(),
                }
            }
            RoleChoice::AllExcept(named) => {
                let except: BTreeSet<AccountName> = named.iter().map(name).collect();
                held.into_iter().filter(|role| !except.contains(role)).collect()
            }
        })
    }

    /// Returns the account with the rights of these roles, and of the roles granted to them.
    pub fn with_roles(&self, account: &Account, active: &BTreeSet<AccountName>) -> Account {
        let mut all = account.clone();
        for name in self.closure(active) {
            if let Some(role) = self.get(&name) {
                all.add_rights_of(&role);
            }
        }
        all
    }

    /// Returns these roles and all roles that they were granted, directly or indirectly.
    pub fn closure(&self, roles: &BTreeSet<AccountName>) -> BTreeSet<AccountName> {
        let mut found = BTreeSet::new();
        let mut open: Vec<AccountName> = roles.iter().cloned().collect();
        while let Some(name) = open.pop() {
            let role = self.get(&name);
            if found.insert(name)
                && let Some(role) = role
            {
                open.extend(role.roles.keys().cloned());
            }
        }
        found
    }

    /// Reports whether some account was granted this one as a role.
    pub fn is_granted(&self, role: &AccountName) -> bool {
        self.iter().any(|account| account.roles.contains_key(role))
    }
}

/// Returns the text of ROLES_GRAPHML(): the accounts as nodes, and the grants of roles as edges
/// from the holder to the role, with ADMIN OPTION as their colour. `None` stands for a session that
/// may see none of them.
pub fn graphml(table: Option<&AccountTable>) -> String {
    const BEGIN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>"#;
    const HEAD: &str = r#"
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="key0" for="edge" attr.name="color" attr.type="int" />
  <key id="key1" for="node" attr.name="name" attr.type="string" />
  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" parse.order="nodesfirst">
"#;
    let Some(table) = table else { return format!("{BEGIN}<graphml />") };
    let mut text = format!("{BEGIN}{HEAD}");
    let names: Vec<AccountName> = table.iter().map(|account| account.name()).collect();
    for (at, name) in names.iter().enumerate() {
        let name = escaped(&shown(name));
        text += &format!("    <node id=\"n{at}\">\n      <data key=\"key1\">{name}</data>\n    </node>\n");
    }
    let mut edges = 0;
    for (from, account) in table.iter().enumerate() {
        for (role, admin) in &account.roles {
            let Some(to) = names.iter().position(|name| name == role) else { continue };
            let color = u8::from(*admin);
            text += &format!(
                "    <edge id=\"e{edges}\" source=\"n{from}\" target=\"n{to}\">\n      <data \
                 key=\"key0\">{color}</data>\n    </edge>\n"
            );
            edges += 1;
        }
    }
    text + "  </graph>\n</graphml>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the name of a role or account that is written with its host.
pub fn named(account: &Named) -> AccountName {
    (account.user.clone(), account.host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::Privileges;

    fn name(user: &str) -> AccountName {
        (user.into(), "%".into())
    }

    fn account(user: &str, roles: &[&str]) -> Account {
        let roles = roles.iter().map(|role| (name(role), false)).collect();
        Account { user: user.into(), host: "%".into(), roles, ..Account::default() }
    }

    #[test]
    fn roles_bring_what_their_roles_have() {
        let select = Privileges::named("SELECT").unwrap();
        let mut inner = account("inner", &[]);
        inner.schemas.insert("app".into(), select);
        let table = AccountTable::new([account("a", &["outer"]), account("outer", &["inner"]), inner]);
        let a = table.get(&name("a")).unwrap();
        assert!(!a.allows_schema(select, "app"));
        let all = table.with_roles(&a, &table.roles_of(&a, &[]));
        assert!(all.allows_schema(select, "app") && !all.allows_schema(select, "other"));
        assert!(table.with_roles(&a, &BTreeSet::new()) == *a);
        assert_eq!(table.roles_of(&a, &[name("inner"), name("a"), name("gone")]).len(), 2);
    }

    #[test]
    fn a_restriction_holds_only_where_no_role_makes_up_for_it() {
        let select = Privileges::named("SELECT").unwrap();
        let mut restricted = account("a", &[]);
        restricted.global = select;
        restricted.restrictions.insert("app".into(), select);
        assert!(!restricted.allows_schema(select, "app") && restricted.allows_schema(select, "b"));
        let mut both = restricted.clone();
        both.add_rights_of(&restricted);
        assert!(!both.allows_schema(select, "app"));
        let mut free = account("r", &[]);
        free.global = select;
        both.add_rights_of(&free);
        assert!(both.allows_schema(select, "app"));
    }

    #[test]
    fn mandatory_roles_are_named_as_in_statements() {
        let expected = vec![name("r1"), ("r 2".into(), "db.example".into()), name("r3")];
        assert_eq!(mandatory("r1, `r 2`@`DB.example`,'r3'@'%'"), expected);
        assert_eq!(mandatory(""), []);
        assert_eq!(mandatory("`r"), []);
        assert_eq!(list(&expected.into_iter().take(1).collect()), "`r1`@`%`");
        assert_eq!(list(&BTreeSet::new()), "NONE");
    }
}
