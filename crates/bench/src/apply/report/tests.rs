//! Tests of the reports, on made-up figures.

use super::{json, page, text};
use crate::apply::{Case, Format, Outcome, Pair, Plan, Repository, Sample, Setting, Stream};
use crate::instance::{Flavor, RowImage};
use crate::measure::Applied;
use crate::sbtest::{Loaded, RandType, Size, Workload};
use crate::server::Mode;

const ROW: Format = Format::Row(RowImage::Minimal);

fn case(mode: Mode) -> Case {
    Case {
        stream: Stream { workload: Workload::UpdateNonIndex, format: ROW, delay_us: 0 },
        setting: Setting { mode, workers: 0, repository: Repository::Table },
        logged: true,
    }
}

fn outcome() -> Outcome {
    let pair = |flavor: Flavor| Pair {
        source: "MySQL 9.7.4".into(),
        flavor,
        replica: flavor.to_string(),
        logged: true,
        options: vec!["--server-id=1".into()],
    };
    let sample = |mode, pair, seconds| Sample {
        round: 1,
        case: case(mode),
        pair,
        loaded: Loaded { transactions: 1_000, retries: 0, seconds: 2.0 },
        applied: Applied {
            seconds,
            cpu_ms: 100,
            peak_rss_bytes: 64 << 20,
            pages_read: Some(500),
            pages_waited_for: None,
        },
        equal: true,
    };
    let plan = Plan {
        size: Size { tables: 4, rows: 100 },
        transactions: 1_000,
        clients: 16,
        rand_type: RandType::Special,
        restarts: false,
        workloads: vec![Workload::UpdateNonIndex],
        formats: vec![ROW],
        delays_us: vec![0],
        modes: vec![Mode::Relaxed, Mode::Durable],
        workers: vec![0],
        repositories: vec![Repository::Table],
        logged: vec![true],
        pool_bytes: 1 << 30,
        source: None,
        replicas: vec![Flavor::Slipstream, Flavor::MySql],
        rounds: 1,
        seed: 1,
        keep_logs: None,
    };
    Outcome {
        plan,
        pairs: vec![pair(Flavor::Slipstream), pair(Flavor::MySql)],
        missing: vec!["MariaDB: not here".into()],
        samples: vec![
            sample(Mode::Relaxed, 0, 0.1),
            sample(Mode::Relaxed, 1, 0.8),
            sample(Mode::Durable, 0, 0.125),
            sample(Mode::Durable, 1, 2.0),
        ],
    }
}

/// Adds a changed copy of every sample, whose apply took `of_its_time` times as long.
fn again(outcome: &mut Outcome, of_its_time: f64, change: impl Fn(&mut Case)) {
    let more: Vec<Sample> = outcome
        .samples
        .iter()
        .map(|sample| {
            let mut case = sample.case;
            change(&mut case);
            let applied = Applied { seconds: sample.applied.seconds * of_its_time, ..sample.applied };
            Sample { case, applied, ..sample.clone() }
        })
        .collect();
    outcome.samples.extend(more);
}

#[test]
fn the_page_has_the_speed_up_by_workers() {
    let mut outcome = outcome();
    outcome.plan.workers = vec![0, 4];
    again(&mut outcome, 0.5, |case| case.setting.workers = 4);
    let html = page(&outcome).html();
    for wanted in [
        "Slipstream behind MySQL 9.7.4, 4 workers: 2 times",
        "4 workers: 50 percent",
        "20.0k",
        "--server-id=1",
    ] {
        assert!(html.contains(wanted), "no {wanted} in {html}");
    }
    let report = json(&outcome);
    assert_eq!(
        (&report["results"][4]["speed_up"], &report["results"][4]["efficiency"]),
        (&2.0.into(), &0.5.into())
    );
    assert!(text(&outcome).contains("efficiency"));
    outcome.samples.truncate(4);
    outcome.plan.workers = vec![0];
    assert!(!page(&outcome).html().contains("Speed-up"), "there is nothing to compare");
}

#[test]
fn ratios_are_within_a_cell() {
    let report = text(&outcome());
    assert!(report.contains("8.00x") && report.contains("16.00x"), "{report}");
    assert!(report.contains("NOT MEASURED: MariaDB: not here"), "{report}");
    let value = json(&outcome());
    assert_eq!(value["results"][1]["slipstream_over_this"], 8.0);
    assert_eq!(value["results"][1]["source_commits_per_second"], 500.0);
    assert_eq!(value["samples"].as_array().map(Vec::len), Some(4));
}

#[test]
fn what_a_setting_changes_is_told_for_cells_that_are_alike_otherwise() {
    let mut outcome = outcome();
    again(&mut outcome, 1.25, |case| case.setting.repository = Repository::File);
    let report = json(&outcome);
    let find = |who: &str, setting: &str| {
        let of = |effect: &&serde_json::Value| effect["replica"] == who && effect["setting"] == setting;
        report["effects"].as_array().and_then(|all| all.iter().find(of)).cloned().expect("an effect")
    };
    let durable = find("Slipstream", "commits");
    assert_eq!((&durable["rate"], &durable["cells"]), (&0.8.into(), &2.into()), "{durable}");
    let file = find("MySQL", "position");
    assert_eq!(
        (&file["is"], &file["over"], &file["rate"]),
        (&"FILE".into(), &"TABLE".into(), &0.8.into()),
        "{file}"
    );
    assert!(text(&outcome).contains("position  FILE"), "{}", text(&outcome));
}

#[test]
fn every_load_has_a_section_and_stands_in_the_overview() {
    let mut outcome = outcome();
    again(&mut outcome, 2.0, |case| {
        case.stream = Stream { workload: Workload::Mysqlslap, format: Format::Statement, delay_us: 0 };
    });
    let html = page(&outcome).html();
    for wanted in
        ["By load", "mysqlslap, STATEMENT, durable commits", "update_non_index, ROW MINIMAL, relaxed commits"]
    {
        assert!(html.contains(wanted), "no {wanted} in {html}");
    }
}

#[test]
fn a_replica_that_differs_is_told() {
    let mut outcome = outcome();
    outcome.samples[3].equal = false;
    assert!(!outcome.all_equal());
    assert!(text(&outcome).contains("DIFFERENT"));
    assert_eq!(json(&outcome)["results"][3]["checksums_equal"], false);
}
