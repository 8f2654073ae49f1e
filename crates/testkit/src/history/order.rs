//! The versions of each list and their writers, and the anomalies that single reads show: G1a, G1b,
//! and elements that are missing or out of order.

use std::collections::{BTreeMap, HashMap};

use super::findings::{Anomaly, Findings};
use super::recorded::{Element, History, Key, Op, Transaction};

/// The index of a transaction in the history.
pub(super) type At = usize;

/// The order of the writes.
pub(super) struct Orders {
    /// The transaction that appended each element of each list, in the order of the list.
    pub writers: BTreeMap<Key, Vec<At>>,
    /// The index of each element in its list.
    places: HashMap<(Key, Element), usize>,
    /// The number of each transaction that appended something, in the order of commits, from 1.
    pub numbers: HashMap<At, u64>,
}

impl Orders {
    pub fn of(history: &History, findings: &mut Findings) -> Orders {
        let mut appended: HashMap<(Key, Element), At> = HashMap::new();
        let mut first: HashMap<Element, At> = HashMap::new();
        for (at, transaction) in history.transactions.iter().enumerate() {
            for op in transaction.ops() {
                if let Op::Append(key, element) = op {
                    appended.insert((*key, *element), at);
                    first.insert(*element, at);
                }
            }
        }
        let mut orders = Orders { writers: BTreeMap::new(), places: HashMap::new(), numbers: HashMap::new() };
        for (number, element) in history.commits.iter().enumerate() {
            match first.get(element) {
                Some(at) => drop(orders.numbers.insert(*at, number as u64 + 1)),
                None => findings.add(Anomaly::Lost, format!("{element} is in the log and nobody's")),
            }
        }
        for (key, list) in &history.lists {
            let mut writers = Vec::with_capacity(list.len());
            for (place, element) in list.iter().enumerate() {
                let Some(at) = appended.get(&(*key, *element)) else {
                    findings.add(Anomaly::Lost, format!("list {key}: nobody appended {element}"));
                    break;
                };
                if history.transactions[*at].committed_ns.is_none() {
                    let what = format!("list {key} has {element} of {}", history.transactions[*at]);
                    findings.add(Anomaly::G1a, what);
                }
                if orders.places.insert((*key, *element), place).is_some() {
                    findings.add(Anomaly::Lost, format!("list {key} has {element} twice"));
                }
                writers.push(*at);
            }
            orders.writers.insert(*key, writers);
        }
        for ((key, element), at) in &appended {
            let transaction = &history.transactions[*at];
            let is_there = orders.places.contains_key(&(*key, *element));
            if transaction.committed_ns.is_some() && !is_there {
                findings.add(Anomaly::Lost, format!("list {key} lacks {element} of {transaction}"));
            }
            if transaction.committed_ns.is_some() && !orders.numbers.contains_key(at) {
                findings.add(Anomaly::Lost, format!("the log lacks {transaction}"));
            }
        }
        for (at, transaction) in history.transactions.iter().enumerate() {
            orders.look_at_reads(history, at, transaction, &appended, findings);
        }
        orders
    }

    /// Searches for the anomalies that single reads show.
    fn look_at_reads(
        &self,
        history: &History,
        at: At,
        transaction: &Transaction,
        appended: &HashMap<(Key, Element), At>,
        findings: &mut Findings,
    ) {
        let mut own: HashMap<Key, Vec<Element>> = HashMap::new();
        for op in transaction.ops() {
            let (Op::Read(key, seen) | Op::Lock(key, seen)) = op else {
                if let Op::Append(key, element) = op {
                    own.entry(*key).or_default().push(*element);
                }
                continue;
            };
            let of_key = own.get(key).map_or(&[][..], Vec::as_slice);
            let Some(others) = seen.strip_suffix(of_key) else {
                findings.add(Anomaly::Lost, format!("{op} lacks its own {of_key:?}: {transaction}"));
                continue;
            };
            for element in others {
                let writer = appended.get(&(*key, *element)).map(|at| &history.transactions[*at]);
                if let Some(writer) = writer.filter(|writer| writer.committed_ns.is_none()) {
                    findings.add(Anomaly::G1a, format!("{transaction} has read of {writer}"));
                }
            }
            let list = history.lists.get(key).map_or(&[][..], Vec::as_slice);
            if !list.starts_with(others) {
                findings.add(Anomaly::Lost, format!("{op} is no beginning of {list:?}: {transaction}"));
                continue;
            }
            let writers = &self.writers[key];
            if let (Some(last), Some(next)) = (others.len().checked_sub(1), writers.get(others.len()))
                && writers[last] == *next
                && *next != at
            {
                let writer = &history.transactions[*next];
                findings.add(Anomaly::G1b, format!("{transaction} has read in the midst of {writer}"));
            }
        }
    }

    /// Returns the transaction that appended the last of the first `len` elements of a list, and
    /// the one that appended the element after it.
    pub fn around(&self, key: Key, len: usize) -> (Option<At>, Option<At>) {
        let writers = self.writers.get(&key).map_or(&[][..], Vec::as_slice);
        let last = len.checked_sub(1).and_then(|last| writers.get(last));
        (last.copied(), writers.get(len).copied())
    }

    /// Returns the length of a list before this element was appended; `None` if the element is not
    /// in the list.
    pub fn place(&self, key: Key, element: Element) -> Option<usize> {
        self.places.get(&(key, element)).copied()
    }
}
