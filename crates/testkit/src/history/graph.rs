//! The graph of the dependencies between transactions, and the search for cycles in it.

use std::collections::{HashMap, HashSet, VecDeque};

use super::findings::{Anomaly, Findings};
use super::order::{At, Orders};
use super::recorded::{History, Level, Op};

/// How one transaction, the edge's target, depends on another one, the edge's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Edge {
    /// The target appended the next element after the start's.
    Ww,
    /// The target read the start's element as the last one.
    Wr,
    /// The target appended the first element that the start did not see.
    Rw,
}

/// The edges that start at each transaction, with their targets.
type Graph = Vec<Vec<(Edge, At)>>;

/// The number of edges of each strongly connected component from which cycles are searched. A
/// history at a weak level may have very many cycles.
const TRIES: usize = 200;

fn build(history: &History, level: Level, orders: &Orders) -> Graph {
    let mut edges: HashSet<(At, Edge, At)> = HashSet::new();
    for writers in orders.writers.values() {
        edges.extend(writers.windows(2).map(|pair| (pair[0], Edge::Ww, pair[1])));
    }
    for (at, transaction) in history.transactions.iter().enumerate() {
        // A transaction that was rolled back has only read, and no other one depends on it.
        // Transactions at other levels do not count here.
        if transaction.committed_ns.is_none() || transaction.level != level {
            continue;
        }
        let mut own = HashSet::new();
        for op in transaction.ops() {
            let (Op::Read(key, seen) | Op::Lock(key, seen)) = op else {
                own.insert(op.key());
                continue;
            };
            // The transaction's own version of a list to which it has appended says nothing new.
            if own.contains(key) {
                continue;
            }
            let (last, next) = orders.around(*key, seen.len());
            edges.extend(last.map(|last| (last, Edge::Wr, at)));
            edges.extend(next.map(|next| (at, Edge::Rw, next)));
        }
    }
    let mut graph = vec![Vec::new(); history.transactions.len()];
    for (from, edge, to) in edges.into_iter().filter(|(from, _, to)| from != to) {
        graph[from].push((edge, to));
    }
    graph.iter_mut().for_each(|edges| edges.sort_unstable_by_key(|(edge, to)| (*to, *edge as u8)));
    graph
}

/// Returns the number of the strongly connected component of each transaction, in the graph of the
/// edges that `keeps` selects. It is Tarjan's algorithm without recursion.
fn parts(graph: &Graph, keeps: impl Fn(Edge) -> bool) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let (mut index, mut low) = (vec![NONE; graph.len()], vec![0; graph.len()]);
    let (mut part, mut parts, mut counter) = (vec![NONE; graph.len()], 0, 0);
    let mut open = Vec::new();
    for root in 0..graph.len() {
        if index[root] != NONE {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some((at, next)) = path.pop() {
            if next == 0 {
                (index[at], low[at]) = (counter, counter);
                counter += 1;
                open.push(at);
            }
            let mut edges = graph[at].iter().enumerate().skip(next).filter(|(_, (edge, _))| keeps(*edge));
            let unseen = edges.find(|(_, (_, to))| {
                if index[*to] != NONE && part[*to] == NONE {
                    low[at] = low[at].min(index[*to]);
                }
                index[*to] == NONE
            });
            if let Some((place, (_, to))) = unseen {
                path.push((at, place + 1));
                path.push((*to, 0));
                continue;
            }
            if low[at] == index[at] {
                while let Some(member) = open.pop() {
                    part[member] = parts;
                    if member == at {
                        break;
                    }
                }
                parts += 1;
            }
            if let Some((parent, _)) = path.last() {
                low[*parent] = low[*parent].min(low[at]);
            }
        }
    }
    part
}

/// Returns the shortest path from one transaction to another over the edges that `keeps` selects.
fn way(graph: &Graph, from: At, to: At, keeps: impl Fn(Edge) -> bool) -> Option<Vec<(Edge, At)>> {
    let mut came: HashMap<At, (Edge, At)> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &(edge, next) in graph[at].iter().filter(|(edge, _)| keeps(*edge)) {
            if next != from && !came.contains_key(&next) {
                came.insert(next, (edge, at));
                queue.push_back(next);
            }
        }
        if from == to || came.contains_key(&to) {
            break;
        }
    }
    let (mut back, mut at) = (Vec::new(), to);
    while at != from {
        let (edge, before) = *came.get(&at)?;
        back.push((edge, at));
        at = before;
    }
    back.reverse();
    Some(back)
}

fn described(history: &History, first: At, cycle: &[(Edge, At)]) -> String {
    let mut text = format!("{}", history.transactions[first]);
    for (edge, at) in cycle {
        text.push_str(&format!("\n  --{edge:?}--> {}", history.transactions[*at]));
    }
    text
}

/// Searches for cycles of every kind, and adds those that it finds to `findings`.
pub(super) fn search(history: &History, level: Level, orders: &Orders, findings: &mut Findings) {
    let graph = build(history, level, orders);
    for anomaly in [Anomaly::G0, Anomaly::G1c] {
        let keeps = |edge| edge == Edge::Ww || (edge == Edge::Wr && anomaly == Anomaly::G1c);
        let part = parts(&graph, keeps);
        for (from, to) in closing(&graph, &part, keeps) {
            if let Some(mut cycle) = way(&graph, to.1, from, keeps) {
                // A cycle of `ww` edges alone is a G0, so it is no G1c.
                let is_g0 = [to].iter().chain(&cycle).all(|(edge, _)| *edge == Edge::Ww);
                if is_g0 == (anomaly == Anomaly::G0) {
                    cycle.insert(0, to);
                    findings.add(anomaly, described(history, from, &cycle));
                }
            }
        }
    }
    let part = parts(&graph, |_| true);
    for (from, to) in closing(&graph, &part, |edge| edge == Edge::Rw) {
        let (anomaly, back) = match way(&graph, to.1, from, |edge| edge != Edge::Rw) {
            Some(back) => (Anomaly::GSingle, Some(back)),
            None => (Anomaly::G2Item, way(&graph, to.1, from, |_| true)),
        };
        let mut cycle = back.expect("both are in one strongly connected part");
        cycle.insert(0, to);
        findings.add(anomaly, described(history, from, &cycle));
    }
}

/// Returns some of the selected edges that lie within a component. Each of them closes a cycle.
fn closing(graph: &Graph, part: &[usize], keeps: impl Fn(Edge) -> bool) -> Vec<(At, (Edge, At))> {
    let mut of_part: HashMap<usize, usize> = HashMap::new();
    let all = graph.iter().enumerate().flat_map(|(at, edges)| edges.iter().map(move |edge| (at, *edge)));
    let inside = all.filter(|(at, (edge, to))| keeps(*edge) && part[*at] == part[*to]);
    let few = inside.filter(|(at, _)| {
        let count = of_part.entry(part[*at]).or_default();
        *count += 1;
        *count <= TRIES
    });
    few.collect()
}
