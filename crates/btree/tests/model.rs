//! Tests that compare a tree with a sorted map, through random changes, lookups and scans, over
//! pools large and small.

mod harness;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use btree::{BuildOptions, Change, Direction, Spot, Tree, build_sorted, claimed, estimate, validate};
use buffer::RecordLsn;
use harness::{empty_tree, log_commit};
use os::random::{Rng, test_seed};
use os::sim::SimDisk;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// The keys and values that a run uses.
struct Load {
    distinct_keys: u64,
    longest_value: u64,
    longest_tail: u64,
}

impl Load {
    fn key(&self, rng: &mut Rng) -> Vec<u8> {
        let mut key = rng.below(self.distinct_keys).to_be_bytes()[4..].to_vec();
        let tail = if self.longest_tail == 0 { 0 } else { key[3] as usize % self.longest_tail as usize };
        key.extend(std::iter::repeat_n(b'k', tail));
        key
    }
}

fn change_one(tree: &Tree, model: &mut Model, load: &Load, rng: &mut Rng, removes_percent: u64) {
    let key = load.key(rng);
    let value_len = rng.below(load.longest_value + 1) as usize;
    let value = rng.bytes(value_len);
    let remove = rng.below(100) < removes_percent;
    let expected = model.get(&key).cloned();
    let lsn = if remove && rng.one_in(2) { RecordLsn::UNLOGGED } else { log_commit(tree.pool(), b"commit") };
    let seen = |current: Option<&[u8]>| assert_eq!(current, expected.as_deref());
    tree.modify(&key, lsn, |current| {
        seen(current);
        if remove { Change::Remove } else { Change::Put((&value[..]).into()) }
    })
    .expect("the change is done");
    if remove {
        model.remove(&key);
    } else {
        model.insert(key, value);
    }
}

fn compare_all(tree: &Tree, model: &Model) {
    let stats = validate(tree).expect("the tree is sound");
    assert_eq!(stats.entries, model.len() as u64);
    let mut scan = tree.scan(Bound::Unbounded, Bound::Unbounded, Direction::Forward);
    for (key, value) in model {
        assert_eq!(scan.next().expect("a page"), Some((&key[..], &value[..])));
    }
    assert_eq!(scan.next().expect("a page"), None);
    assert_eq!(tree.last_key().expect("a page").as_ref(), model.keys().next_back());
    assert_eq!(tree.is_empty().expect("a page"), model.is_empty());
}

fn random_bound(load: &Load, rng: &mut Rng) -> Bound<Vec<u8>> {
    match rng.below(5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(load.key(rng)),
        _ => Bound::Excluded(load.key(rng)),
    }
}

fn compare_range(tree: &Tree, model: &Model, load: &Load, rng: &mut Rng) {
    let (start, end) = (random_bound(load, rng), random_bound(load, rng));
    let in_range = |key: &Vec<u8>| {
        (match &start {
            Bound::Unbounded => true,
            Bound::Included(start) => key >= start,
            Bound::Excluded(start) => key > start,
        }) && (match &end {
            Bound::Unbounded => true,
            Bound::Included(end) => key <= end,
            Bound::Excluded(end) => key < end,
        })
    };
    let mut expected: Vec<_> = model.iter().filter(|(key, _)| in_range(key)).collect();
    let direction = if rng.one_in(2) { Direction::Forward } else { Direction::Backward };
    if direction == Direction::Backward {
        expected.reverse();
    }
    let mut scan = tree.scan(start.as_ref().map(|key| &key[..]), end.as_ref().map(|key| &key[..]), direction);
    for (key, value) in expected {
        let found = scan.next().expect("a page");
        assert!(found == Some((&key[..], &value[..])), "{start:?} {end:?} {direction:?}: no {key:?}");
    }
    assert_eq!(scan.next().expect("a page"), None, "{start:?} {end:?} {direction:?}");
}

fn run(name: &str, page_size: usize, frames: usize, load: &Load, steps: usize) {
    let mut rng = Rng::new(test_seed(name));
    let tree = empty_tree(&SimDisk::new(rng.u64()), page_size, frames);
    let mut model = Model::new();
    // The tree grows, keeps its size, shrinks to little, and grows again.
    for removes_percent in [20, 50, 90, 30] {
        for step in 0..steps {
            change_one(&tree, &mut model, load, &mut rng, removes_percent);
            if step % 64 == 0 {
                let key = load.key(&mut rng);
                let found = tree.get(&key, <[u8]>::to_vec).expect("a page");
                assert_eq!(found.as_ref(), model.get(&key));
                compare_range(&tree, &model, load, &mut rng);
            }
        }
        compare_all(&tree, &model);
    }
    while let Some((key, _)) = model.pop_last() {
        tree.modify(&key, RecordLsn::UNLOGGED, |_| Change::Remove).expect("the change is done");
    }
    compare_all(&tree, &model);
    assert!(validate(&tree).expect("sound").leaves <= 2, "empty leaves are given back");
}

#[test]
fn small_pages() {
    let load = Load { distinct_keys: 5000, longest_value: 100, longest_tail: 30 };
    run("model small_pages", 4096, 2000, &load, 6000);
}

#[test]
fn large_entries() {
    let load = Load { distinct_keys: 600, longest_value: 1500, longest_tail: 500 };
    run("model large_entries", 4096, 2000, &load, 2500);
}

#[test]
fn default_pages() {
    let load = Load { distinct_keys: 20_000, longest_value: 300, longest_tail: 0 };
    run("model default_pages", 16384, 2000, &load, 8000);
}

#[test]
fn a_pool_much_smaller_than_the_data() {
    let load = Load { distinct_keys: 4000, longest_value: 600, longest_tail: 100 };
    run("model a_pool_much_smaller_than_the_data", 4096, 64, &load, 3000);
}

#[test]
fn ascending_inserts_fill_pages_and_log_next_to_nothing() {
    let tree = empty_tree(&SimDisk::new(1), 16384, 2000);
    let start = tree.pool().log().current_lsn();
    let rows = 20_000u64;
    for number in 0..rows {
        let lsn = RecordLsn::new(start, start + number + 1);
        tree.modify(&number.to_be_bytes(), lsn, |_| Change::put(vec![7; 180])).expect("the change is done");
    }
    let stats = validate(&tree).expect("sound");
    assert_eq!(stats.entries, rows);
    let filled = stats.leaf_bytes as f64 / (stats.leaves as f64 * 16384.0);
    assert!((0.90..0.96).contains(&filled), "leaves are filled to {filled}");
    let logged = tree.pool().log().current_lsn() - start;
    assert!(logged / stats.leaves < 400, "{logged} bytes for {} leaves", stats.leaves);
    let estimate = estimate::entries(&tree).expect("a page") as f64 / rows as f64;
    assert!((0.7..1.3).contains(&estimate), "estimated {estimate} of what there is");
    ranges_are_estimated(&tree, rows);
}

/// Checks estimates of ranges in a tree whose keys are the numbers below `rows`.
fn ranges_are_estimated(tree: &Tree, rows: u64) {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    for (from, to) in [(0, 1), (5, 9), (100, 700), (1234, 9876), (0, rows), (rows - 3, rows), (7, 7)] {
        let (low, high) = (from.to_be_bytes(), to.to_be_bytes());
        let found = estimate::range(tree, Included(&low), Excluded(&high)).expect("a page") as f64;
        let is = (to - from) as f64;
        assert!((found - is).abs() <= is / 4.0, "{from}..{to}: estimated {found}");
    }
    let key = 10_000u64.to_be_bytes();
    let halves = [
        estimate::range(tree, Unbounded, Excluded(&key)).expect("a page"),
        estimate::range(tree, Included(&key), Unbounded).expect("a page"),
    ];
    // The estimate takes the last leaf, which is less full than the others, for one like them.
    assert!(halves.iter().all(|half| (7_500..12_500).contains(half)), "estimated {halves:?}");
    let one = estimate::range(tree, Included(&key), Included(&key)).expect("a page");
    let none = estimate::range(tree, Excluded(&key), Excluded(&key)).expect("a page");
    assert_eq!((one, none), (1, 0));
}

/// Returns how full leaves are after inserts of keys in the given order, as a share of the page.
fn filled_by(keys: impl Iterator<Item = u64>) -> f64 {
    let tree = empty_tree(&SimDisk::new(1), 16384, 2000);
    let mut rows = 0;
    for key in keys {
        tree.modify(&key.to_be_bytes(), RecordLsn::UNLOGGED, |_| Change::put(vec![7; 180]))
            .expect("it is done");
        rows += 1;
    }
    let stats = validate(&tree).expect("sound");
    assert_eq!(stats.entries, rows);
    stats.leaf_bytes as f64 / (stats.leaves as f64 * 16384.0)
}

#[test]
fn runs_of_inserts_fill_pages_wherever_they_are() {
    let groups = [7u64, 2, 9, 4, 1, 8, 5, 3, 6, 0];
    let up = groups.iter().flat_map(|group| (0..2000).map(move |number| group << 32 | number));
    let down = groups.iter().flat_map(|group| (0..2000).rev().map(move |number| group << 32 | number));
    let descending = (0..20_000).rev();
    for (name, filled) in [
        ("descending", filled_by(descending)),
        ("ascending in groups", filled_by(up)),
        ("descending in groups", filled_by(down)),
    ] {
        assert!((0.85..0.96).contains(&filled), "{name}: leaves are filled to {filled}");
    }
}

#[test]
fn runs_of_entries_of_which_few_fit_a_page_fill_pages() {
    const BEHIND: u64 = 1 << 40;
    let (up, down) = (1..1501u64, (1..1501u64).rev());
    for (name, keys, behind) in [
        ("ascending", up.clone().collect::<Vec<_>>(), 0),
        ("descending", down.clone().collect(), 0),
        ("ascending before others", up.collect(), 1000),
        ("descending before others", down.collect(), 1000),
    ] {
        let tree = empty_tree(&SimDisk::new(1), 16384, 2000);
        let put = |key: u64, len: usize| {
            tree.modify(&key.to_be_bytes(), RecordLsn::UNLOGGED, |_| Change::put(vec![7; len]))
                .expect("the change is done");
        };
        (0..behind).for_each(|number| put(BEHIND + number, 20));
        let start = tree.pool().log().current_lsn();
        keys.iter().for_each(|&key| put(key, 4000));
        let stats = validate(&tree).expect("sound");
        let filled = stats.leaf_bytes as f64 / (stats.leaves as f64 * 16384.0);
        assert!(filled > 0.95, "{name}: leaves are filled to {filled}");
        let logged = tree.pool().log().current_lsn() - start;
        // Inserts in descending order move their leaf to another page when it is full, which is
        // logged.
        let is_small = logged / stats.leaves < 400;
        assert!(
            is_small || name.starts_with("descending"),
            "{name}: {logged} bytes for {} leaves",
            stats.leaves
        );
    }
}

/// The file stays as large as its content needs when rows come at one end and go at the other, as
/// in a queue, and when rows go at random while others come.
#[test]
fn space_that_rows_leave_is_used_again() {
    let mut rng = Rng::new(test_seed("space_that_rows_leave_is_used_again"));
    for case in ["queue up", "queue down", "random"] {
        let tree = empty_tree(&SimDisk::new(rng.u64()), 4096, 400);
        let change = |key: u64, change: Change<'static>| {
            tree.modify(&key.to_be_bytes(), RecordLsn::UNLOGGED, |_| change.clone())
                .expect("the change is done");
        };
        let pages = || tree.pool().space_usage(tree.space()).expect("open").0;
        let (rows, mut live, mut full) = (4000, VecDeque::new(), 0);
        for number in 0..8 * rows {
            let key = match case {
                "queue up" => number,
                "queue down" => u64::MAX - number,
                _ => rng.u64(),
            };
            change(key, Change::put(vec![1; 100]));
            live.push_back(key);
            if number >= rows {
                let gone = if case == "random" { rng.below(live.len() as u64) as usize } else { 0 };
                change(live.swap_remove_front(gone).expect("there are some"), Change::Remove);
            } else {
                full = pages();
            }
        }
        let now = pages();
        assert!(now <= full + full / 4, "{case}: {full} pages have become {now}");
        // Most of the rows go, at random. The space that they leave is enough for as many others.
        while live.len() as u64 > rows / 4 {
            let gone = rng.below(live.len() as u64) as usize;
            change(live.swap_remove_back(gone).expect("there are some"), Change::Remove);
        }
        let stats = validate(&tree).expect("sound");
        let filled = stats.leaf_bytes as f64 / (stats.leaves as f64 * 4096.0);
        assert!(filled > 0.45, "{case}: leaves are filled to {filled}");
        for number in 0..rows / 4 {
            change(number << 40, Change::put(vec![1; 100]));
        }
        assert_eq!(pages(), now, "{case}");
    }
}

#[test]
fn a_sorted_build_equals_inserts_and_pages_come_back_when_freed() {
    for (page_size, rows) in [(4096, 0), (4096, 1), (4096, 20_000), (16384, 50_000)] {
        let tree = empty_tree(&SimDisk::new(2), page_size, 3000);
        let entry = |number: u32| (number.to_be_bytes().to_vec(), vec![number as u8; number as usize % 90]);
        let model: Model = (0..rows).map(entry).collect();
        build_sorted(&tree, BuildOptions::default(), (0..rows).map(entry)).expect("it is sorted");
        compare_all(&tree, &model);
        assert!(rows == 0 || build_sorted(&tree, BuildOptions::default(), [(b"a", b"b")]).is_err());
        let (pool, space) = (tree.pool(), tree.space());
        pool.claim_tree(space, 1, tree.root_page()).expect("a page");
        let (used, _) = pool.space_usage(space).expect("open");
        let claim = pool.claims(space).expect("sound")[0];
        claimed::free(pool, space, claim).expect("it is freed");
        assert_eq!(pool.space_usage(space).expect("open"), (used, used - 1), "all pages but page 0 are free");
        let again = Tree::create(pool, space).expect("a page");
        build_sorted(&again, BuildOptions::default(), (0..rows).map(entry)).expect("it is sorted");
        compare_all(&again, &model);
        assert_eq!(pool.space_usage(space).expect("open").0, used, "freed pages are used again");
    }
}

#[test]
fn what_is_too_long_is_refused_and_what_just_fits_is_not() {
    let tree = empty_tree(&SimDisk::new(3), 4096, 200);
    let put = |key: &[u8], len: usize| {
        tree.modify(key, log_commit(tree.pool(), b"c"), |_| Change::put(vec![1; len]))
    };
    assert!(put(b"k", tree.max_entry_len()).is_err());
    assert!(put(&vec![0; tree.max_key_len() + 1], 0).is_err());
    for number in 0..40u8 {
        put(&[number], tree.max_entry_len() - 1).expect("it fits");
        let mut key = vec![number / 2; tree.max_key_len()];
        key[7] = number;
        put(&key, 3).expect("it fits");
    }
    assert_eq!(validate(&tree).expect("sound").entries, 80);
}

#[test]
fn overflow_values_are_stored_loaded_and_freed() {
    let mut rng = Rng::new(test_seed("overflow"));
    let tree = empty_tree(&SimDisk::new(4), 4096, 100);
    let (pool, space) = (tree.pool(), tree.space());
    let per_page = btree::overflow::bytes_per_page(4096);
    for len in [1, per_page, per_page + 1, 300 * per_page + 17] {
        let bytes = rng.bytes(len);
        let pages = btree::overflow::store(pool, space, &bytes).expect("it is stored");
        assert_eq!(pages.len(), len.div_ceil(per_page));
        assert_eq!(btree::overflow::load(pool, space, pages[0], len).expect("it is there"), bytes);
        assert!(btree::overflow::load(pool, space, pages[0], len + 1).is_err());
        let size = pool.space_bytes(space);
        btree::overflow::free(pool, space, pages[0], len).expect("it is freed");
        assert!(btree::overflow::load(pool, space, pages[0], len).is_err());
        let again = btree::overflow::store(pool, space, &bytes).expect("it is stored");
        assert_eq!(pool.space_bytes(space), size, "freed pages are used again");
        assert_eq!(btree::overflow::load(pool, space, again[0], len).expect("it is there"), bytes);
    }
}

#[test]
fn changes_in_key_order_are_those_of_single_changes() {
    let mut rng = Rng::new(test_seed("changes_in_key_order_are_those_of_single_changes"));
    let load = Load { distinct_keys: 3_000, longest_value: 120, longest_tail: 40 };
    let disk = SimDisk::new(rng.u64());
    let tree = empty_tree(&disk, 4096, 200);
    let mut model = Model::new();
    for round in 0..40 {
        // A round changes few keys all over the tree or many; in some rounds most changes are
        // removals.
        let count = rng.between(1, if round % 3 == 0 { 20 } else { 1500 });
        let mut keys: Vec<Vec<u8>> = (0..count).map(|_| load.key(&mut rng)).collect();
        keys.sort_unstable();
        let removes_percent = rng.pick(&[10, 50, 90]);
        let lsn = log_commit(tree.pool(), b"commit");
        let mut run = tree.run();
        let mut ahead = 0;
        for (at, key) in keys.iter().enumerate() {
            if at >= ahead {
                run.leave();
                let (covered, _) =
                    tree.read_ahead(keys[at..].iter().map(Vec::as_slice)).expect("pages are read");
                assert!(covered > 0 && at + covered <= keys.len());
                ahead = at + covered;
            }
            let value_len = rng.below(load.longest_value + 1) as usize;
            let value = rng.bytes(value_len);
            let remove = rng.below(100) < *removes_percent;
            run.modify(key, lsn, |current, made| {
                assert_eq!(current, model.get(key).map(Vec::as_slice));
                assert!(made.is_empty());
                made.extend_from_slice(&value);
                if remove { Change::Remove } else { Change::Put(made.as_slice().into()) }
            })
            .expect("the change is done");
            if remove {
                model.remove(key);
            } else {
                model.insert(key.clone(), value);
            }
        }
        run.leave();
        compare_all(&tree, &model);
    }
}

/// A spot whose entry was noted reads and changes its own key, whatever changes came in between:
/// entries before it that come and go, splits and merges.
#[test]
fn a_noted_entry_is_found_wherever_it_has_gone() {
    let seed = test_seed("a_noted_entry_is_found_wherever_it_has_gone");
    let mut rng = Rng::new(seed);
    let tree = empty_tree(&SimDisk::new(seed), 4096, 400);
    let mut model = Model::new();
    let mut found = 0;
    for _ in 0..6_000 {
        let key = rng.below(600).to_be_bytes().to_vec();
        let mut spot = tree.locate(&key);
        tree.prefetch(&mut spot);
        for _ in 0..rng.below(4) {
            let other = rng.below(600).to_be_bytes().to_vec();
            let value = (rng.below(3) > 0).then(|| rng.bytes(60));
            tree.modify(&other, RecordLsn::UNLOGGED, |_| match &value {
                Some(value) => Change::Put((&value[..]).into()),
                None => Change::Remove,
            })
            .expect("the change is done");
            match value {
                Some(value) => model.insert(other, value),
                None => model.remove(&other),
            };
        }
        assert_eq!(tree.get_at(&spot, <[u8]>::to_vec).expect("a page"), model.get(&key).cloned());
        found += usize::from(model.contains_key(&key));
        let value = rng.bytes(60);
        tree.modify_at(&spot, RecordLsn::UNLOGGED, |current| {
            assert_eq!(current, model.get(&key).map(Vec::as_slice));
            Change::Put((&value[..]).into())
        })
        .expect("the change is done");
        model.insert(key.clone(), value);
    }
    compare_all(&tree, &model);
    assert!(found > 3_000, "{found}");
}

/// The last leaf, once found, stays the leaf of every greater key until the tree reports otherwise,
/// through splits at the tree's end and merges of leaves that are emptied there.
#[test]
fn the_last_leaf_is_that_of_all_greater_keys() {
    let seed = test_seed("the_last_leaf_is_that_of_all_greater_keys");
    let mut rng = Rng::new(seed);
    let tree = empty_tree(&SimDisk::new(seed), 4096, 400);
    let mut model = Model::new();
    let (mut next, mut last, mut used) = (0u64, None, 0);
    for _ in 0..12_000 {
        next += 1 + rng.below(3);
        let key = next.to_be_bytes().to_vec();
        let spot = match last {
            Some(leaf) => Spot::again(&key, leaf),
            None => tree.locate(&key),
        };
        used += usize::from(last.is_some());
        let value = rng.bytes(120);
        tree.modify_at(&spot, RecordLsn::UNLOGGED, |current| {
            assert_eq!(current, None);
            Change::Put((&value[..]).into())
        })
        .expect("the change is done");
        assert_eq!(tree.get(&key, <[u8]>::to_vec).expect("a page"), Some(value.clone()));
        model.insert(key.clone(), value);
        last = match spot.leaf().filter(|leaf| leaf.is_last()) {
            Some(leaf) if rng.below(20) > 0 => Some(leaf),
            _ => None,
        };
        if rng.one_in(200) {
            // The greatest keys go away, and with them the leaf that was the last one.
            let gone = model.len().min(rng.below(300) as usize);
            for _ in 0..gone {
                let (key, _) = model.pop_last().expect("counted");
                tree.modify(&key, RecordLsn::UNLOGGED, |_| Change::Remove).expect("the change is done");
            }
        }
    }
    compare_all(&tree, &model);
    assert!(used > 5_000, "{used}");
}
