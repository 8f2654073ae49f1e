//! What `bench apply` has measured, as a page: throughput, speed-up and efficiency by workers.

use super::{Figures, figures, rows, summary};
use crate::apply::Outcome;
use crate::html::{Chart, Kind, Page, Part, Series, machine};

/// The report as a page.
pub fn page(outcome: &Outcome) -> Page {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let mut facts = machine();
    facts.push(("Workload".to_string(), format!("sysbench {}", plan.workload)));
    let mut parts = vec![Part::Text(summary(outcome))];
    for mode in &plan.modes {
        let of_mode: Vec<&Figures> = all.iter().filter(|one| one.mode == *mode).collect();
        parts.push(Part::Heading(format!("{} commits", mode.name())));
        parts.push(Part::Charts(charts(outcome, &of_mode)));
    }
    parts.push(Part::Heading("Figures".to_string()));
    parts.push(Part::Table(rows(outcome, &all)));
    parts.extend(outcome.missing.iter().map(|missing| Part::Text(format!("Not measured: {missing}"))));
    for pair in &outcome.pairs {
        parts.push(Part::Folded(format!("Options of {}", pair.replica), pair.options.join("\n")));
    }
    Page { title: "How fast replicas apply what they have received".to_string(), facts, parts }
}

fn charts(outcome: &Outcome, all: &[&Figures]) -> Vec<Chart> {
    let workers = &outcome.plan.workers;
    let find = |pair: usize, workers: u32| {
        all.iter().find(|one| (one.pair, one.workers) == (pair, workers)).copied()
    };
    let chart = |title: &str, unit: &str, value: &dyn Fn(&Figures) -> Option<f64>| {
        let series = outcome.pairs.iter().enumerate().map(|(at, pair)| Series {
            name: format!("{} behind {}", pair.replica, pair.source),
            values: workers.iter().map(|workers| find(at, *workers).and_then(value)).collect(),
        });
        Chart {
            title: title.to_string(),
            unit: unit.to_string(),
            kind: if workers.len() > 1 { Kind::Lines } else { Kind::Bars },
            labels: workers.iter().map(|workers| format!("{workers} workers")).collect(),
            series: series.collect(),
        }
    };
    let first = workers.first().copied().unwrap_or(0);
    let speed_up = |one: &Figures| Some(one.rate / find(one.pair, first)?.rate);
    let mut charts = vec![
        chart("Throughput", "transactions a second", &|one| Some(one.rate)),
        chart("CPU time of the replica", "microseconds a transaction", &|one| Some(one.cpu_us)),
    ];
    if workers.len() > 1 {
        charts.push(chart(&format!("Speed-up over {first} workers"), "times", &speed_up));
        let threads = |workers: u32| f64::from(workers.max(1));
        charts.push(chart("Efficiency: speed-up by thread", "percent", &|one| {
            Some(speed_up(one)? * 100.0 * threads(first) / threads(one.workers))
        }));
    }
    charts
}
