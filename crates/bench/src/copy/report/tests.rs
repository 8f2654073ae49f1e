//! Tests of the report.

use super::super::outcome::{Made, Method, Outcome, Plan, Sample};
use super::figures::small_after_s;
use super::{json, page, text};
use crate::sbtest::Size;
use crate::server::Mode;

fn outcome() -> Outcome {
    let plan = Plan {
        source: None,
        size: Size { tables: 2, rows: 500_000 },
        methods: Method::ALL.to_vec(),
        changes_per_second: vec![0, 2000],
        clients: 4,
        threads: None,
        mode: Mode::Relaxed,
        pool_bytes: 1 << 30,
        lag_seconds: 60,
        rounds: 1,
        seed: 1,
    };
    let sample = |method, changes_per_second, caught_up_seconds: f64| Sample {
        round: 1,
        method,
        changes_per_second,
        rate: changes_per_second as f64,
        replica: "Slipstream 1".into(),
        copied_seconds: 10.0,
        caught_up_seconds: Some(caught_up_seconds),
        lag_ms: if changes_per_second > 0 { vec![Some(2500.0), None, Some(12.5), Some(3.0)] } else { vec![] },
        peak_rss_bytes: 300 << 20,
        equal: true,
    };
    let samples = vec![
        sample(Method::Attach, 0, 10.0),
        sample(Method::Clone, 0, 15.0),
        sample(Method::Attach, 2000, 12.0),
        sample(Method::Clone, 2000, 30.0),
    ];
    Outcome {
        plan,
        source: "MySQL 9".into(),
        data_bytes: 200 << 20,
        made: vec![Made { method: Method::Attach, options: vec!["--server-id=2".into()] }],
        missing: vec!["mydumper + myloader: not here".into()],
        samples,
    }
}

#[test]
fn ways_are_compared_with_ours_under_the_same_load() {
    let report = json(&outcome());
    let ratios: Vec<f64> = (0..4).filter_map(|at| report["results"][at]["times_ours"].as_f64()).collect();
    assert_eq!(ratios, [1.0, 1.5, 1.0, 2.5]);
    assert_eq!(report["results"][0]["rows_per_second"], 100_000.0);
    assert_eq!(report["results"][0]["mb_per_second"], 20.0);
    assert!(report["results"][0]["lag_ms_max"].is_null(), "there was no load");
    assert_eq!(report["results"][3]["lag_ms_max"], 2500.0);
    let text = text(&outcome());
    for wanted in ["CLONE INSTANCE", "2.50", "NOT MEASURED: mydumper", "--server-id=2", "equal"] {
        assert!(text.contains(wanted), "no {wanted} in {text}");
    }
}

#[test]
fn rows_that_differ_are_told() {
    let mut outcome = outcome();
    outcome.samples[1].equal = false;
    assert!(!outcome.all_equal() && text(&outcome).contains("DIFFERENT"));
}

#[test]
fn a_replica_that_falls_behind_has_no_ratio() {
    let mut outcome = outcome();
    outcome.samples[3].caught_up_seconds = None;
    let report = json(&outcome);
    assert!(report["results"][3]["times_ours"].is_null() && text(&outcome).contains("never"));
    assert_eq!(report["results"][1]["times_ours"], 1.5, "another load is another figure");
}

#[test]
fn the_lag_is_small_when_it_stays_small() {
    assert_eq!(small_after_s(&[]), None);
    assert_eq!(small_after_s(&[Some(1.0), Some(2.0)]), Some(0.0));
    assert_eq!(
        small_after_s(&[Some(1.0), Some(1500.0), None, Some(2.0)]).map(|s| (s * 10.0).round()),
        Some(3.0)
    );
    assert_eq!(small_after_s(&[Some(1.0), Some(1500.0)]), None);
}

#[test]
fn the_page_has_times_and_lag() {
    let html = page(&outcome()).html();
    for wanted in ["2000 changes a second", "Lag after the last copied row", "0.2 s: 12.5 milliseconds"] {
        assert!(html.contains(wanted), "no {wanted} in {html}");
    }
}
