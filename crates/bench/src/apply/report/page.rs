//! The report as a page: the throughput of one thread by load, then throughput, speed-up and
//! efficiency by the number of workers for every combination of the other settings.

use super::effects::{self, effects};
use super::figures::{Figures, efficiency, fewest_workers, figures, name, rows, speed_up, summary, varied};
use crate::apply::{Case, Dimension, Outcome};
use crate::html::{Chart, Kind, Page, Part, Series, machine};

/// Returns the report as a page.
pub fn page(outcome: &Outcome) -> Page {
    let all = figures(outcome);
    let mut parts = vec![Part::Text(summary(outcome))];
    parts.extend(overview(outcome, &all));
    let effects = effects(outcome, &all);
    if !effects.is_empty() {
        parts.push(Part::Heading("What each setting changes".to_string()));
        parts.push(Part::Text(effects::HEADING.to_string()));
        parts.push(Part::Table(effects::table(&effects)));
    }
    for section in sections(&all) {
        parts.push(Part::Heading(title(outcome, &section)));
        parts.push(Part::Charts(charts(outcome, &all, &section)));
    }
    parts.push(Part::Heading("Figures".to_string()));
    parts.push(Part::Table(rows(outcome, &all)));
    parts.extend(outcome.missing.iter().map(|missing| Part::Text(format!("Not measured: {missing}"))));
    for pair in &outcome.pairs {
        parts.push(Part::Folded(format!("Options of {}", pair.replica), pair.options.join("\n")));
    }
    Page { title: "How fast replicas apply what they have received".to_string(), facts: machine(), parts }
}

/// Returns the case without the values that the charts of one section show side by side: the number
/// of workers, and whether the replica logs.
fn section(case: &Case) -> Case {
    let mut section = *case;
    (section.setting.workers, section.logged) = (0, false);
    section
}

fn sections(all: &[Figures]) -> Vec<Case> {
    let mut sections: Vec<Case> = Vec::new();
    for one in all.iter().map(|one| section(&one.case)) {
        if !sections.contains(&one) {
            sections.push(one);
        }
    }
    sections
}

/// Returns the case's values in these dimensions, as far as the dimensions were varied in the run.
fn values(outcome: &Outcome, case: &Case, of: &[Dimension]) -> String {
    let varied = varied(outcome);
    let told = of.iter().filter(|dimension| varied.contains(dimension)).map(|dimension| match dimension {
        Dimension::Delay => format!("delay {} us", dimension.of(case)),
        Dimension::Repository => format!("position in {}", dimension.of(case)),
        _ => dimension.of(case),
    });
    told.collect::<Vec<_>>().join(", ")
}

fn title(outcome: &Outcome, section: &Case) -> String {
    let load = values(outcome, section, &[Dimension::Workload, Dimension::Format, Dimension::Delay]);
    let more = values(outcome, section, &[Dimension::Repository]);
    let parts = [load, format!("{} commits", section.setting.mode.name()), more];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns the charts of the throughput with the fewest workers by load. There are none when there
/// is only one load, logged in one way.
fn overview(outcome: &Outcome, all: &[Figures]) -> Vec<Part> {
    let loads = [Dimension::Workload, Dimension::Format, Dimension::Delay];
    if !varied(outcome).iter().any(|dimension| loads.contains(dimension)) {
        return Vec::new();
    }
    let workers = fewest_workers(outcome);
    let alone = |one: &&Figures| one.case.setting.workers == workers;
    let mut charts = Vec::new();
    for mode in &outcome.plan.modes {
        let cases: Vec<Case> =
            sections(all).into_iter().filter(|section| section.setting.mode == *mode).collect();
        let of = |pair: usize, case: &Case| {
            let found = |one: &&Figures| one.pair == pair && section(&one.case) == *case;
            all.iter().filter(alone).find(found).map(|one| one.rate)
        };
        let series = (0..outcome.pairs.len()).map(|pair| Series {
            name: name(outcome, pair),
            values: cases.iter().map(|case| of(pair, case)).collect(),
        });
        charts.push(Chart {
            title: format!("Throughput with {workers} workers, {} commits", mode.name()),
            unit: "transactions a second".to_string(),
            kind: Kind::Bars,
            labels: cases.iter().map(|case| values(outcome, case, &loads)).collect(),
            series: series.collect(),
        });
    }
    vec![Part::Heading("By load".to_string()), Part::Charts(charts)]
}

fn charts(outcome: &Outcome, all: &[Figures], of: &Case) -> Vec<Chart> {
    let workers = &outcome.plan.workers;
    let find = |pair: usize, workers: u32| {
        let wanted = |one: &&Figures| {
            (one.pair, one.case.setting.workers) == (pair, workers) && section(&one.case) == *of
        };
        all.iter().find(wanted)
    };
    let chart = |title: &str, unit: &str, value: &dyn Fn(&Figures) -> Option<f64>| {
        let series = (0..outcome.pairs.len()).map(|pair| Series {
            name: name(outcome, pair),
            values: workers.iter().map(|workers| find(pair, *workers).and_then(value)).collect(),
        });
        Chart {
            title: title.to_string(),
            unit: unit.to_string(),
            kind: if workers.len() > 1 { Kind::Lines } else { Kind::Bars },
            labels: workers.iter().map(|workers| format!("{workers} workers")).collect(),
            series: series.filter(|series| series.values.iter().any(Option::is_some)).collect(),
        }
    };
    let mut charts = vec![
        chart("Throughput", "transactions a second", &|one| Some(one.rate)),
        chart("CPU time of the replica", "microseconds a transaction", &|one| Some(one.cpu_us)),
    ];
    if workers.len() > 1 {
        let title = format!("Speed-up over {} workers", fewest_workers(outcome));
        charts.push(chart(&title, "times", &|one| speed_up(all, outcome, one)));
        charts.push(chart("Efficiency: speed-up by thread", "percent", &|one| {
            Some(efficiency(all, outcome, one)? * 100.0)
        }));
    }
    charts
}
