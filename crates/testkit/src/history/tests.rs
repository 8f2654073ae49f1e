//! Tests with hand-made histories, one for each anomaly. They show that the checker finds
//! something.

use std::collections::BTreeMap;

use super::{Anomaly, Element, History, Level, Op, Statement, Transaction};

/// Parses a history. A line is a transaction: its session, then `a1.5` (appends 5 to list 1),
/// `r1.5.6` (reads 5 and 6 there), `l1` (locks list 1 and finds it empty), `+` (the next operation
/// belongs to the same statement as the one before), and `c` or `x` at the end (commit or
/// rollback). All statements run at the same time, except those after `@10`, which are sent at 10
/// and answered at once. Session 9 is on a replica.
fn history(level: Level, text: &str, lists: &[(u32, &[Element])], commits: &[Element]) -> History {
    let lists: BTreeMap<_, _> = lists.iter().map(|(key, list)| (*key, list.to_vec())).collect();
    let mut made = History { lists, commits: commits.to_vec(), ..History::default() };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (session, rest) = line.split_once(' ').expect("a session");
        let session: usize = session.parse().expect("a session's number");
        let mut transaction = Transaction {
            server: usize::from(session == 9),
            session,
            level,
            statements: Vec::new(),
            committed_ns: None,
        };
        let (mut time, mut joined) = ((0, 1000), false);
        for word in rest.split_whitespace() {
            let numbers = || word[1..].split('.').filter(|n| !n.is_empty()).map(|n| n.parse::<u32>());
            let mut numbers = numbers().map(|number| number.expect("a number"));
            let op = match &word[..1] {
                "@" => {
                    let at = u64::from(numbers.next().expect("a time"));
                    time = (at, at + 1);
                    continue;
                }
                "+" => {
                    joined = true;
                    continue;
                }
                "c" => {
                    transaction.committed_ns = Some(time.1);
                    continue;
                }
                "x" => continue,
                "a" => Op::Append(numbers.next().expect("a list"), numbers.next().expect("an element")),
                "r" => Op::Read(numbers.next().expect("a list"), numbers.collect()),
                "l" => Op::Lock(numbers.next().expect("a list"), numbers.collect()),
                other => panic!("{other}"),
            };
            if !std::mem::take(&mut joined) {
                let (sent_ns, answered_ns) = time;
                transaction.statements.push(Statement { sent_ns, answered_ns, ops: Vec::new() });
            }
            transaction.statements.last_mut().expect("just pushed").ops.push(op);
        }
        made.transactions.push(transaction);
    }
    made
}

use Anomaly::{G0, G1a, G1b, G1c, G2Item, GSingle, Lost, Snapshot};
use Level::{ReadCommitted, RepeatableRead, Serializable};

#[track_caller]
fn found(level: Level, text: &str, lists: &[(u32, &[Element])], commits: &[Element], anomalies: &[Anomaly]) {
    let findings = history(level, text, lists, commits).check(level);
    assert_eq!(findings.anomalies(), anomalies, "{findings:#?}");
    let forbidden = anomalies.iter().any(|anomaly| !anomaly.is_allowed(level));
    assert_eq!(!findings.forbidden(level).is_empty(), forbidden);
}

#[test]
fn a_serial_history_has_none() {
    let text = "1 @1 a1.1 a2.2 @5 c
        2 @10 r1.1 r2.2 a1.3 @15 c
        1 @20 l1.1.3 r2.2 a2.4 l2.2.4 @25 c
        3 @30 a1.5 r1.1.3.5 r2.2.4 x
        9 r1.1 + r2.2 c";
    for level in Level::ALL {
        found(level, text, &[(1, &[1, 3]), (2, &[2, 4])], &[1, 3, 4], &[]);
    }
}

#[test]
fn writes_in_a_circle_are_g0() {
    let text = "1 a1.1 a2.2 c
        2 a1.3 a2.4 c";
    for level in Level::ALL {
        found(level, text, &[(1, &[1, 3]), (2, &[4, 2])], &[1, 3], &[G0, Snapshot]);
    }
}

#[test]
fn what_was_rolled_back_is_not_read() {
    for level in Level::ALL {
        found(level, "1 a1.1 x\n2 r1.1 c", &[(1, &[])], &[], &[G1a, Lost]);
        found(level, "1 a1.1 x", &[(1, &[1])], &[], &[G1a]);
    }
}

#[test]
fn a_transaction_is_not_read_in_its_midst() {
    for level in Level::ALL {
        // The reader depends on the writer, and the writer depends on the reader.
        found(level, "1 a1.1 a1.2 c\n2 r1.1 c", &[(1, &[1, 2])], &[1], &[G1b, GSingle, Snapshot]);
    }
}

#[test]
fn two_that_have_read_each_other_are_g1c() {
    let text = "1 a1.1 r2.2 c
        2 a2.2 r1.1 c";
    for level in Level::ALL {
        found(level, text, &[(1, &[1]), (2, &[2])], &[1, 2], &[G1c, Snapshot]);
    }
}

#[test]
fn read_skew_is_allowed_at_read_committed_only() {
    // Transaction 1 sees transaction 2 in list 2 and not in list 1.
    let text = "1 r1 r2.2 c
        2 a1.1 a2.2 c";
    let lists: &[(u32, &[Element])] = &[(1, &[1]), (2, &[2])];
    found(ReadCommitted, text, lists, &[1], &[GSingle]);
    found(RepeatableRead, text, lists, &[1], &[GSingle, Snapshot]);
    // Read skew within a statement is not allowed at any level.
    let text = "1 r1 + r2.2 c
        2 a1.1 a2.2 c";
    found(ReadCommitted, text, lists, &[1], &[GSingle, Snapshot]);
    // The second read goes back in time.
    let text = "1 r1.1 r1 c
        2 a1.1 c";
    found(ReadCommitted, text, &[(1, &[1])], &[1], &[GSingle, Snapshot]);
}

#[test]
fn reads_of_two_kinds_may_differ_at_repeatable_read() {
    // This is a lost update: the transaction reads at its snapshot and appends to the newest
    // version.
    let text = "1 r1 a1.2 c
        2 a1.1 c";
    let lists: &[(u32, &[Element])] = &[(1, &[1, 2])];
    found(ReadCommitted, text, lists, &[1, 2], &[GSingle]);
    found(RepeatableRead, text, lists, &[1, 2], &[GSingle]);
    found(Serializable, text, lists, &[1, 2], &[GSingle]);
    assert!(
        !history(Serializable, text, lists, &[1, 2]).check(Serializable).forbidden(Serializable).is_empty()
    );
    // The first plain read opens the snapshot, even if it reads the transaction's own version.
    let text = "1 a2.3 r2.3 a1.2 r3 c
        2 a1.1 a3.4 c";
    let three: &[(u32, &[Element])] = &[(1, &[1, 2]), (2, &[3]), (3, &[4])];
    found(RepeatableRead, text, three, &[1, 3], &[GSingle]);
    found(ReadCommitted, text, three, &[1, 3], &[GSingle, Snapshot]);
    // A locking read follows a plain one.
    let text = "1 r1 l1.1 c
        2 a1.1 c";
    found(RepeatableRead, text, &[(1, &[1])], &[1], &[GSingle]);
}

#[test]
fn write_skew_is_no_serial_history() {
    let text = "1 r1 a2.2 c
        2 r2 a1.1 c";
    let lists: &[(u32, &[Element])] = &[(1, &[1]), (2, &[2])];
    for level in [ReadCommitted, RepeatableRead, Serializable] {
        found(level, text, lists, &[2, 1], &[G2Item]);
    }
    // With locking reads, each of the two would hold the lock that the other needs.
    let text = "1 l1 a2.2 c
        2 l2 a1.1 c";
    found(Serializable, text, lists, &[2, 1], &[G2Item, Snapshot]);
}

#[test]
fn appended_elements_are_there_once() {
    found(RepeatableRead, "1 a1.1 c", &[(1, &[])], &[1], &[Lost]);
    found(RepeatableRead, "1 a1.1 c", &[(1, &[1])], &[], &[Lost]);
    found(RepeatableRead, "1 a1.1 c", &[(1, &[1, 1])], &[1], &[Lost]);
    found(RepeatableRead, "1 a1.1 r1 c", &[(1, &[1])], &[1], &[Lost]);
    let text = "1 a1.1 c\n2 a1.2 c\n3 r1.2 c";
    found(RepeatableRead, text, &[(1, &[1, 2])], &[1, 2], &[Lost]);
}

#[test]
fn who_gets_a_lock_sees_what_its_holder_committed() {
    // Both transactions lock list 1. The second one then reads list 2 as it was before the first
    // one.
    let lists: &[(u32, &[Element])] = &[(1, &[1, 3]), (2, &[2])];
    let first = "1 a1.1 a2.2 c\n";
    for level in [ReadCommitted, RepeatableRead] {
        found(level, &format!("{first}2 a1.3 r2 c"), lists, &[1, 3], &[GSingle, Snapshot]);
        found(level, &format!("{first}2 l1.1 r2 c\n3 a1.3 c"), lists, &[1, 3], &[GSingle, Snapshot]);
        // This holds for the next transaction of the session, too.
        found(level, &format!("{first}2 l1.1 c\n2 r2 c\n3 a1.3 c"), lists, &[1, 3], &[Snapshot]);
    }
    // At REPEATABLE READ the snapshot may be older than the lock.
    found(RepeatableRead, &format!("{first}2 r2 a1.3 c"), lists, &[1, 3], &[GSingle]);
}

#[test]
fn what_was_answered_is_seen() {
    for level in Level::ALL {
        // Another session reads after the commit was answered.
        found(level, "1 @1 a1.1 c\n2 @5 r1 c", &[(1, &[1])], &[1], &[Snapshot]);
        found(level, "1 @1 a1.1 c\n2 @1 r1 c", &[(1, &[1])], &[1], &[]);
        // Another session reads after somebody has seen the element, under a lock or not, and
        // before the commit was answered.
        for read in ["l", "r"] {
            let text = format!("1 a1.1 c\n2 @3 {read}1.1 @2000 c\n3 @5 r1 c");
            found(level, &text, &[(1, &[1])], &[1], &[Snapshot]);
        }
    }
}

#[test]
fn a_replicas_readers_see_a_prefix() {
    let writers = "1 @1 a1.1 c
        2 @3 a2.2 c\n";
    let lists: &[(u32, &[Element])] = &[(1, &[1]), (2, &[2])];
    for level in [ReadCommitted, RepeatableRead] {
        // The replica may be behind the source but keeps its order: it shows both, the first, or
        // none.
        for read in ["9 @9 r1.1 + r2.2 c", "9 @9 r1.1 + r2 c", "9 @9 r1 + r2 c"] {
            found(level, &format!("{writers}{read}"), lists, &[1, 2], &[]);
        }
        // The second commit alone is no cycle of dependencies, but it is no prefix either.
        found(level, &format!("{writers}9 @9 r1 + r2.2 c"), lists, &[1, 2], &[Snapshot]);
        // Within a session nothing goes back.
        found(level, &format!("{writers}9 @9 r1.1 c\n9 @9 r1 c"), lists, &[1, 2], &[Snapshot]);
    }
}
