//! The report of `bench oltp` as a page: throughput and response times by the number of clients,
//! and throughput over time.

use super::figures::{Figures, binlog_pairs, binlog_table, figures, summary, table};
use crate::described::settings_text;
use crate::html::{Chart, Kind, Page, Part, Series, machine};
use crate::oltp::Outcome;

/// Returns the report as a page.
pub fn page(outcome: &Outcome) -> Page {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let mut parts = vec![Part::Text(summary(outcome))];
    for script in &plan.scripts {
        for mode in &plan.modes {
            let of_case: Vec<&Figures> =
                all.iter().filter(|one| (&one.case.script, one.case.mode) == (script, *mode)).collect();
            parts.push(Part::Heading(format!("{script}, {} commits", mode.name())));
            parts.push(Part::Charts(charts(outcome, &of_case)));
        }
    }
    parts.push(Part::Heading("Figures".to_string()));
    parts.push(Part::Table(table(&all, outcome)));
    let pairs = binlog_pairs(&all, outcome);
    if !pairs.is_empty() {
        parts.push(Part::Heading("The binary log's part".to_string()));
        parts.push(Part::Table(binlog_table(&pairs, outcome)));
    }
    let settings = settings_text(&outcome.missing, outcome.subjects.iter().map(|subject| &subject.server));
    parts.push(Part::Folded("Settings".to_string(), settings.trim().to_string()));
    Page { title: "sysbench".to_string(), facts: machine(), parts }
}

fn charts(outcome: &Outcome, all: &[&Figures]) -> Vec<Chart> {
    let clients = &outcome.plan.clients;
    let names = outcome.subjects.iter().map(|subject| match subject.variation {
        Some(variation) => format!("{}, {variation}", subject.server.shown()),
        None => subject.server.shown(),
    });
    let names: Vec<String> = names.collect();
    let by_clients = |title: &str, unit: &str, value: &dyn Fn(&Figures) -> Option<f64>| {
        let of = |subject: usize, clients: u32| {
            let found = all.iter().find(|one| (one.case.subject, one.case.clients) == (subject, clients));
            found.and_then(|one| value(one))
        };
        let series = names.iter().enumerate().map(|(at, name)| Series {
            name: name.clone(),
            values: clients.iter().map(|clients| of(at, *clients)).collect(),
        });
        Chart {
            title: title.to_string(),
            unit: unit.to_string(),
            kind: if clients.len() > 2 { Kind::Lines } else { Kind::Bars },
            labels: clients.iter().map(|clients| format!("{clients} clients")).collect(),
            series: series.collect(),
        }
    };
    let mut charts = vec![
        by_clients("Throughput", "transactions a second", &|one| Some(one.rate)),
        by_clients("Response time, 95th percentile", "ms", &|one| Some(one.times.p95_ms)),
        by_clients("CPU time of the server", "microseconds a transaction", &|one| {
            one.server.as_ref().map(|each| each.cpu_us)
        }),
    ];
    if let Some(most) = clients.iter().max() {
        let series = all.iter().filter(|one| one.case.clients == *most).map(|one| Series {
            name: names[one.case.subject].clone(),
            values: one.each_second.iter().copied().map(Some).collect(),
        });
        charts.push(Chart::over_time(&format!("Throughput over time, {most} clients"), series.collect()));
    }
    charts
}
