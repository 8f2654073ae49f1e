//! The report of `bench insert` as a page: rates, CPU times and response times of the steps, and
//! each step over time.

use super::figures::{Figures, figures, histograms, summary, table};
use crate::described::settings_text;
use crate::html::{Chart, Kind, Page, Part, Series, machine};
use crate::insert::Outcome;

/// Returns the report as a page.
pub fn page(outcome: &Outcome) -> Page {
    let all = figures(outcome);
    let mut parts = vec![Part::Text(summary(outcome))];
    for mode in &outcome.plan.modes {
        let of_mode: Vec<&Figures<'_>> = all.iter().filter(|one| one.mode == *mode).collect();
        parts.push(Part::Heading(format!("{} commits", mode.name())));
        parts.push(Part::Charts(by_step(outcome, &of_mode)));
        parts.push(Part::Charts(over_time(outcome, &of_mode)));
    }
    parts.push(Part::Heading("Figures".to_string()));
    parts.push(Part::Table(table(&all, outcome)));
    parts.push(Part::Heading("Response times: how many statements took no longer than".to_string()));
    parts.push(Part::Table(histograms(&all, outcome)));
    parts.extend(outcome.wrong.iter().map(|wrong| Part::Text(format!("Wrong: {wrong}"))));
    let settings = settings_text(&outcome.missing, outcome.servers.iter());
    parts.push(Part::Folded("Settings".to_string(), settings.trim().to_string()));
    Page { title: "Insert Benchmark".to_string(), facts: machine(), parts }
}

fn by_step(outcome: &Outcome, all: &[&Figures<'_>]) -> Vec<Chart> {
    let steps = &outcome.plan.steps;
    let chart = |title: &str, unit: &str, value: &dyn Fn(&Figures<'_>) -> Option<f64>| {
        let series = outcome.servers.iter().enumerate().map(|(at, server)| Series {
            name: server.shown(),
            values: steps
                .iter()
                .map(|step| {
                    all.iter().find(|one| (one.step, one.server) == (*step, at)).and_then(|one| value(one))
                })
                .collect(),
        });
        Chart {
            title: title.to_string(),
            unit: unit.to_string(),
            kind: Kind::Bars,
            labels: steps.iter().map(|step| step.name()).collect(),
            series: series.collect(),
        }
    };
    vec![
        chart("Operations", "a second", &|one| Some(one.rate)),
        chart("CPU time of the server", "microseconds an operation", &|one| one.cost.map(|each| each.cpu_us)),
        chart("Written by the machine's disks", "KB an operation", &|one| {
            one.cost.map(|each| each.written_kb)
        }),
        chart("Response time, 99th percentile", "ms", &|one| Some(one.times.p99_ms)),
    ]
}

fn over_time(outcome: &Outcome, all: &[&Figures<'_>]) -> Vec<Chart> {
    let steps = outcome.plan.steps.iter();
    let charts = steps.map(|step| {
        let series = all.iter().filter(|one| one.step == *step).map(|one| Series {
            name: outcome.servers[one.server].shown(),
            values: one
                .samples
                .last()
                .map(|sample| sample.done.each_second.iter().copied().map(Some).collect())
                .unwrap_or_default(),
        });
        Chart::over_time(&format!("{} over time", step.name()), series.collect())
    });
    charts.filter(|chart| chart.labels.len() > 1).collect()
}
