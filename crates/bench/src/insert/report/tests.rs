//! Tests of the reports, on a made-up run.

use super::super::statement::Lookup;
use super::super::step::{Done, Step};
use super::super::{Outcome, Plan, Sample};
use super::{json, page, text};
use crate::described::Described;
use crate::instance::RowImage;
use crate::server::Mode;
use crate::usage::PerOperation;

fn outcome() -> Outcome {
    let plan = Plan {
        rows: 1_000,
        l1_rows: 100,
        l2_rows: 100,
        clients: 1,
        steps: vec![Step::L0, Step::Query(100)],
        query_seconds: 10,
        lookup: Lookup::Ranges,
        data_bytes: 10,
        modes: vec![Mode::Relaxed],
        log_bin: true,
        pool_bytes: 1 << 29,
        redo_bytes: 1 << 30,
        image: RowImage::Minimal,
        flavors: vec![],
        addresses: vec![],
        base: None,
        rounds: 1,
        seed: 1,
    };
    let server = |name: &str| Described {
        name: name.into(),
        version: "1.0".into(),
        options: vec![],
        settings: vec![("log_bin", "ON".into())],
    };
    let sample = |step, server, inserted, queries, cpu_us| {
        let mut done = Done { seconds: 2.0, inserted, queries, ..Done::default() };
        done.insert_times.add(3_000, inserted / 50);
        done.query_times.add(200, queries);
        let cost = Some(PerOperation { cpu_us, ..PerOperation::default() });
        Sample { round: 1, mode: Mode::Relaxed, step, server, done, cost, kit_cost: None }
    };
    Outcome {
        plan,
        servers: vec![server("Slipstream"), server("MariaDB")],
        missing: vec!["MySQL: not here".into()],
        samples: vec![
            sample(Step::L0, 0, 1_000, 0, 2.0),
            sample(Step::L0, 1, 250, 0, 8.0),
            sample(Step::Query(100), 0, 200, 6_000, 10.0),
            sample(Step::Query(100), 1, 200, 3_000, 20.0),
        ],
        wrong: vec![],
    }
}

#[test]
fn a_step_is_measured_by_its_own_operation() {
    let value = json(&outcome());
    let result = |at: usize, name: &str| value["results"][at][name].as_f64();
    assert_eq!((result(0, "operations_per_second"), result(1, "rate_over_base")), (Some(500.0), Some(0.25)));
    assert_eq!((result(2, "operations_per_second"), result(3, "rate_over_base")), (Some(3000.0), Some(0.5)));
    assert_eq!(result(3, "cpu_over_base"), Some(2.0));
    assert_eq!(result(2, "rows_inserted_per_second"), Some(100.0));
    let times = &value["results"][2]["response_times"];
    assert_eq!(
        (&times["query"]["histogram"]["256us"], &times["insert"]["count"]),
        (&serde_json::json!(6000), &serde_json::json!(4))
    );
    assert!(value["results"][0]["response_times"].get("query").is_none());
}

#[test]
fn the_page_has_a_bar_for_every_step_and_server() {
    let html = page(&outcome()).html();
    for wanted in [
        "Slipstream 1.0, l.i0: 500 a second",
        "MariaDB 1.0, q100: 20 microseconds an operation",
        "NOT MEASURED: MySQL: not here",
    ] {
        assert!(html.contains(wanted), "no {wanted} in {html}");
    }
}

#[test]
fn rows_that_are_missing_are_told() {
    let mut outcome = outcome();
    outcome.wrong.push("Slipstream holds 1 rows, not 2".into());
    let report = text(&outcome);
    for part in ["WRONG: Slipstream holds 1 rows, not 2", "NOT MEASURED: MySQL: not here", "q100", "256us"] {
        assert!(report.contains(part), "no {part} in\n{report}");
    }
}
