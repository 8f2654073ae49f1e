//! Tests of the reports, on a made-up run.

use super::super::sysbench::Report;
use super::super::{Outcome, Plan, Sample, Subject, Variation};
use super::{json, page, text};
use crate::described::Described;
use crate::instance::RowImage;
use crate::sbtest::Size;
use crate::server::Mode;
use crate::usage::PerOperation;

fn outcome() -> Outcome {
    let variation = |log_bin| Variation { log_bin, doublewrite: None, pool_bytes: 1 << 30, page_bytes: None };
    let subject = |name: &str, variation| Subject {
        server: Described {
            name: name.into(),
            version: "1.0".into(),
            options: vec!["--server-id=1".into()],
            settings: vec![("log_bin", "ON".into())],
        },
        variation,
    };
    let plan = Plan {
        size: Size { tables: 1, rows: 10 },
        scripts: vec!["update_non_index".into()],
        clients: vec![32],
        modes: vec![Mode::Durable],
        variations: vec![variation(true), variation(false)],
        redo_bytes: 1 << 30,
        image: RowImage::Full,
        flavors: vec![],
        addresses: vec![],
        fill_addresses: false,
        base: Some("mariadb".into()),
        seconds: 10,
        warmup_seconds: 0,
        rounds: 1,
        accounts: false,
        seed: 1,
    };
    let sample = |subject, transactions, cpu_us| Sample {
        round: 1,
        script: "update_non_index".into(),
        clients: 32,
        mode: Mode::Durable,
        subject,
        report: Report { transactions, seconds: 10.0, each_second: vec![1.0, 2.0], ..Report::default() },
        server: Some(PerOperation { cpu_us, ..PerOperation::default() }),
        sysbench: None,
        accounts: None,
    };
    Outcome {
        plan,
        subjects: vec![
            subject("Slipstream", Some(variation(true))),
            subject("Slipstream", Some(variation(false))),
            subject("MariaDB", Some(variation(true))),
            subject("MariaDB", Some(variation(false))),
            subject("mine", None),
        ],
        missing: vec!["MySQL: not here".into()],
        samples: vec![
            sample(0, 190_000, 20.0),
            sample(1, 200_000, 16.0),
            sample(2, 100_000, 50.0),
            sample(3, 160_000, 32.0),
            sample(4, 50_000, 100.0),
        ],
    }
}

#[test]
fn ratios_are_to_the_base_with_the_same_settings() {
    let value = json(&outcome());
    let ratios: Vec<f64> = (0..5).filter_map(|at| value["results"][at]["rate_over_base"].as_f64()).collect();
    assert_eq!(ratios, [1.9, 1.25, 1.0, 1.0, 0.5]);
    assert_eq!(value["results"][0]["cpu_over_base"], 0.4);
}

#[test]
fn the_page_has_every_server_in_its_charts() {
    let html = page(&outcome()).html();
    for wanted in [
        "<h2>update_non_index, durable commits</h2>",
        "MariaDB 1.0, binlog on, pool 1024M, 32 clients: 10.0k transactions a second",
        "Throughput over time, 32 clients",
        "2 s: 2 a second",
        "<h2>The binary log's part</h2>",
        "<td class=\"n\">0.95</td>",
    ] {
        assert!(html.contains(wanted), "no {wanted} in {html}");
    }
}

#[test]
fn the_binary_logs_part() {
    let value = json(&outcome());
    assert_eq!(value["binlog"][0]["on_over_off"], 0.95);
    assert_eq!(value["binlog"][1]["on_over_off"], 0.625);
    assert_eq!(value["binlog"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_text_says_what_was_measured_and_what_not() {
    let report = text(&outcome());
    for part in ["1.90", "▅█", "NOT MEASURED: MySQL: not here", "says: log_bin=ON", "as it is"] {
        assert!(report.contains(part), "no {part} in\n{report}");
    }
}
