//! The report of `bench copy` as a page: times and rates of all ways, and the lag over time.

use super::super::outcome::{Method, Outcome};
use super::figures::{Figures, figures, summary, table};
use crate::beat::LOOK_EVERY;
use crate::html::{Chart, Kind, Page, Part, Series, machine};

/// Returns the report as a page.
pub fn page(outcome: &Outcome) -> Page {
    let all = figures(outcome);
    let mut parts = vec![Part::Text(summary(outcome)), Part::Charts(by_load(outcome, &all))];
    for &changes in outcome.plan.changes_per_second.iter().filter(|changes| **changes > 0) {
        let of_load: Vec<&Figures<'_>> = all.iter().filter(|one| one.changes == changes).collect();
        parts.push(Part::Heading(format!("{changes} changes a second")));
        parts.push(Part::Charts(vec![lag_over_time(&of_load)]));
    }
    parts.push(Part::Heading("Figures".to_string()));
    parts.push(Part::Table(table(&all, outcome)));
    parts.extend(outcome.missing.iter().map(|missing| Part::Text(format!("Not measured: {missing}"))));
    for made in &outcome.made {
        let title = format!("Options of the replica by {}", made.method.shown());
        parts.push(Part::Folded(title, made.options.join("\n")));
    }
    Page { title: "How fast a new replica is made".to_string(), facts: machine(), parts }
}

fn by_load(outcome: &Outcome, all: &[Figures<'_>]) -> Vec<Chart> {
    let loads = &outcome.plan.changes_per_second;
    let chart = |title: &str, unit: &str, value: &dyn Fn(&Figures<'_>) -> Option<f64>| {
        let ways = Method::ALL.into_iter().filter(|method| all.iter().any(|one| one.method == *method));
        let of = |method, changes| {
            all.iter().find(|one| (one.method, one.changes) == (method, changes)).and_then(value)
        };
        let series = ways.map(|method| Series {
            name: method.shown().to_string(),
            values: loads.iter().map(|changes| of(method, *changes)).collect(),
        });
        Chart {
            title: title.to_string(),
            unit: unit.to_string(),
            kind: Kind::Bars,
            labels: loads.iter().map(|changes| format!("{changes} changes/s")).collect(),
            series: series.collect(),
        }
    };
    vec![
        chart("Until it has caught up", "seconds", &|one| one.caught_up_seconds),
        chart("Until all rows are copied", "seconds", &|one| Some(one.copied_seconds)),
        chart("Peak of the replica's memory", "MB", &|one| Some((one.peak_rss_bytes >> 20) as f64)),
    ]
}

/// Returns the lag of the last round from the last copied row on.
fn lag_over_time(all: &[&Figures<'_>]) -> Chart {
    let of = |one: &&Figures<'_>| one.samples.last().map(|sample| sample.lag_ms.clone()).unwrap_or_default();
    let series: Vec<Series> =
        all.iter().map(|one| Series { name: one.method.shown().to_string(), values: of(one) }).collect();
    let looks = series.iter().map(|one| one.values.len()).max().unwrap_or(0);
    Chart {
        title: "Lag after the last copied row".to_string(),
        unit: "milliseconds".to_string(),
        kind: Kind::Lines,
        labels: (0..looks).map(|look| format!("{:.1} s", LOOK_EVERY.as_secs_f64() * look as f64)).collect(),
        series,
    }
}
