//! Which events the audit log takes (`audit_log_policy`, `audit_log_include_accounts` and the
//! variables beside it).

use sql::SqlError;
use std::collections::BTreeSet;

/// The kinds of events that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// All events.
    #[default]
    All,
    /// Events of connections only.
    Logins,
    /// Events of statements and other commands only.
    Queries,
    /// No events.
    None,
}

impl Policy {
    /// The words of `audit_log_policy`.
    pub const WORDS: [&str; 4] = ["ALL", "LOGINS", "QUERIES", "NONE"];

    /// Returns the policy of a word.
    pub fn named(word: &str) -> Policy {
        match word {
            "LOGINS" => Policy::Logins,
            "QUERIES" => Policy::Queries,
            "NONE" => Policy::None,
            _ => Policy::All,
        }
    }
}

/// A list that names what is taken, or what is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `audit_log_include_accounts`
    IncludeAccounts,
    /// `audit_log_exclude_accounts`
    ExcludeAccounts,
    /// `audit_log_include_commands`
    IncludeCommands,
    /// `audit_log_exclude_commands`
    ExcludeCommands,
}

impl List {
    fn variable(self) -> &'static str {
        match self {
            List::IncludeAccounts => "audit_log_include_accounts",
            List::ExcludeAccounts => "audit_log_exclude_accounts",
            List::IncludeCommands => "audit_log_include_commands",
            List::ExcludeCommands => "audit_log_exclude_commands",
        }
    }

    fn opposite(self) -> List {
        match self {
            List::IncludeAccounts => List::ExcludeAccounts,
            List::ExcludeAccounts => List::IncludeAccounts,
            List::IncludeCommands => List::ExcludeCommands,
            List::ExcludeCommands => List::IncludeCommands,
        }
    }

    fn is_of_accounts(self) -> bool {
        matches!(self, List::IncludeAccounts | List::ExcludeAccounts)
    }
}

/// The events that are taken. An empty list says nothing.
#[derive(Debug, Default)]
pub struct Filter {
    /// The kinds of events.
    pub policy: Policy,
    lists: [BTreeSet<String>; 4],
}

impl Filter {
    /// Sets a list from the text of its variable.
    ///
    /// # Errors
    /// Returns 1231 when a name in the list is not closed, and when the opposite list is not empty:
    /// what is named and what is left out cannot be said at the same time.
    pub fn set(&mut self, list: List, text: &str) -> Result<(), SqlError> {
        let refused = || {
            let variable = list.variable();
            SqlError::new(1231, format!("Variable '{variable}' can't be set to the value of '{text}'"))
        };
        let items = items(text).ok_or_else(refused)?;
        if !items.is_empty() && !self.lists[list.opposite() as usize].is_empty() {
            return Err(refused());
        }
        let known = |item: String| if list.is_of_accounts() { item } else { item.to_ascii_lowercase() };
        self.lists[list as usize] = items.into_iter().map(known).collect();
        Ok(())
    }

    /// Reports whether events of connections of an account are taken.
    pub fn takes_connection(&self, user: &str, host: &str) -> bool {
        matches!(self.policy, Policy::All | Policy::Logins) && self.takes_account(user, host)
    }

    /// Reports whether a command of this class is taken.
    pub fn takes_command(&self, user: &str, host: &str, class: &str) -> bool {
        matches!(self.policy, Policy::All | Policy::Queries)
            && self.is_chosen(List::IncludeCommands, class)
            && self.takes_account(user, host)
    }

    fn takes_account(&self, user: &str, host: &str) -> bool {
        let is_any = |list: List| !self.lists[list as usize].is_empty();
        if !is_any(List::IncludeAccounts) && !is_any(List::ExcludeAccounts) {
            return true;
        }
        self.is_chosen(List::IncludeAccounts, &format!("{user}@{host}"))
    }

    /// Reports whether a name is in the list of those that are taken, or not in the opposite one.
    fn is_chosen(&self, include: List, name: &str) -> bool {
        let (wanted, unwanted) = (&self.lists[include as usize], &self.lists[include.opposite() as usize]);
        (wanted.is_empty() || wanted.contains(name)) && !unwanted.contains(name)
    }
}

/// Splits a list at its commas. The parts of an account may stand in quotes, which are left out.
/// `None` means that a quote is not closed.
fn items(text: &str) -> Option<Vec<String>> {
    let (mut items, mut item, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars().chain([',']) {
        match (quote, c) {
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ',') => items.push(std::mem::take(&mut item)),
            (None, c) if c.is_whitespace() => {}
            (_, c) => item.push(c),
        }
    }
    items.retain(|item| !item.is_empty());
    quote.is_none().then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_outside_of_quotes() {
        let split = |text: &str| items(text).map(|items| items.join("|"));
        assert_eq!(split(" 'a'@'%', b@localhost ,`c,d`@h").as_deref(), Some("a@%|b@localhost|c,d@h"));
        assert_eq!((split("").as_deref(), split(",,").as_deref()), (Some(""), Some("")));
        assert_eq!(split("'a@h"), None);
    }

    #[test]
    fn accounts_and_commands_are_chosen() {
        let mut filter = Filter::default();
        assert!(filter.takes_command("a", "h", "select") && filter.takes_connection("a", "h"));
        filter.set(List::IncludeAccounts, "a@h, b@%").unwrap();
        filter.set(List::ExcludeCommands, "Select,ping").unwrap();
        assert!(filter.takes_command("a", "h", "insert") && filter.takes_connection("b", "%"));
        assert!(!filter.takes_command("a", "h", "select") && !filter.takes_connection("a", "%"));
        // Only one of two opposite lists may have names.
        assert_eq!(filter.set(List::ExcludeAccounts, "x@h").unwrap_err().code, 1231);
        assert_eq!(filter.set(List::ExcludeCommands, "'x").unwrap_err().code, 1231);
        filter.set(List::IncludeAccounts, "").unwrap();
        filter.set(List::ExcludeAccounts, "x@h").unwrap();
        assert!(filter.takes_connection("a", "h") && !filter.takes_connection("x", "h"));
    }

    #[test]
    fn policies_choose_between_connections_and_commands() {
        let takes = |policy| {
            let filter = Filter { policy, ..Filter::default() };
            (filter.takes_connection("a", "h"), filter.takes_command("a", "h", "select"))
        };
        let all = Policy::WORDS.map(Policy::named).map(takes);
        assert_eq!(all, [(true, true), (true, false), (false, true), (false, false)]);
    }
}
