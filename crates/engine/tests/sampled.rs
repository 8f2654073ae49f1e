//! The statistics of tables, as they are sampled from leaves.

mod support;

use engine::{IndexRef, TableStatistics};
use os::random::test_seed;
use support::*;

/// Rows whose values take turns fill leaves of the index that hold one value each, so that
/// neighbours differ only where a leaf ends.
#[test]
fn values_that_fill_whole_leaves_are_told_apart() {
    const VALUES: i64 = 40;
    let (_disk, engine) = fresh(test_seed("values that fill whole leaves"));
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    for id in 0..VALUES * 400 {
        insert(&mut txn, &t, id, id % VALUES, "").unwrap();
    }
    commit(txn);
    let statistics = TableStatistics::anew(&t).unwrap();
    let distinct = statistics.distinct(IndexRef::Secondary(0), 1).expect("integers are readable");
    assert!((VALUES as f64 / 4.0..VALUES as f64 * 4.0).contains(&distinct), "{distinct} of {VALUES}");
    assert_eq!(statistics.distinct(IndexRef::Primary, 1), Some(statistics.rows as f64));
}

#[test]
fn all_rows_of_a_small_table_are_kept_and_some_of_a_large_one() {
    let (_disk, engine) = fresh(test_seed("rows of small tables"));
    let t = create(&engine, keyed("t"));
    let mut txn = begin(&engine);
    for id in 0..20 {
        insert(&mut txn, &t, id, id * 7, "some text").unwrap();
    }
    commit(txn);
    let mut txn = begin(&engine);
    assert!(delete(&mut txn, &t, 3).unwrap());
    commit(txn);
    let kept = TableStatistics::anew(&t).unwrap().kept_rows.clone();
    let expected: Vec<_> = (0..20).filter(|id| *id != 3).map(|id| row(&t, id, id * 7, "some text")).collect();
    assert_eq!(kept, expected.into_iter().map(Vec::into_boxed_slice).collect::<Vec<_>>());

    let mut txn = begin(&engine);
    let long = "long".repeat(400);
    for id in 20..4000 {
        insert(&mut txn, &t, id, id, if id % 5 == 0 { &long } else { "" }).unwrap();
    }
    commit(txn);
    let kept = TableStatistics::anew(&t).unwrap().kept_rows.clone();
    assert!((100..=240).contains(&kept.len()), "{} rows are kept", kept.len());
    assert!(kept.iter().all(|image| image.len() <= 1024), "long rows are left out");
}
