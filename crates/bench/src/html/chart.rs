//! Charts of a report's page: bars for values side by side, lines for values along an axis.

use super::escape::escape;
use super::plot::Plot;

/// How a chart shows its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A group of bars for each label, with one bar for each series.
    Bars,
    /// A line for each series, along the labels.
    Lines,
}

/// The values of one of the things that a chart compares.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name of the series.
    pub name: String,
    /// One value for each label of the chart; `None` where there is no value.
    pub values: Vec<Option<f64>>,
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The unit of the values, for instance `tx/s`.
    pub unit: String,
    /// How the chart shows its values.
    pub kind: Kind,
    /// The labels along the horizontal axis.
    pub labels: Vec<String>,
    /// The series that the chart compares.
    pub series: Vec<Series>,
}

/// The number of series that the style sheet has colours for. Further series begin with the first
/// colour again.
const COLOURS: usize = 8;

fn class(series: usize) -> String {
    format!("c{}", series % COLOURS)
}

impl Chart {
    /// Returns a chart of lines along the seconds of a run.
    pub fn over_time(title: &str, series: Vec<Series>) -> Chart {
        let seconds = series.iter().map(|series| series.values.len()).max().unwrap_or(0);
        Chart {
            title: title.to_string(),
            unit: "a second".to_string(),
            kind: Kind::Lines,
            labels: (1..=seconds).map(|second| format!("{second} s")).collect(),
            series,
        }
    }

    /// Returns the chart as an HTML figure with a legend.
    pub(super) fn html(&self) -> String {
        let mut out = format!("<figure><figcaption>{}</figcaption>", escape(&self.title));
        if !self.series.is_empty() {
            out.push_str("<ul class=\"legend\">");
            for (at, series) in self.series.iter().enumerate() {
                out.push_str(&format!("<li class=\"{}\">{}</li>", class(at), escape(&series.name)));
            }
            out.push_str("</ul>");
        }
        out.push_str(&self.svg());
        out.push_str("</figure>\n");
        out
    }

    fn svg(&self) -> String {
        let most =
            self.series.iter().flat_map(|series| &series.values).flatten().copied().fold(0.0, f64::max);
        let mut plot = Plot::new(&self.title, &self.unit, &self.labels, most);
        for (at, series) in self.series.iter().enumerate() {
            match self.kind {
                Kind::Bars => self.bars(&mut plot, at, series),
                Kind::Lines => self.line(&mut plot, at, series),
            }
        }
        plot.finish()
    }

    fn bars(&self, plot: &mut Plot, at: usize, series: &Series) {
        let count = self.series.len();
        for (label, value) in series.values.iter().enumerate() {
            if let Some(value) = value {
                plot.bar((label, at, count), *value, &class(at), &self.told(series, label, *value));
            }
        }
    }

    fn line(&self, plot: &mut Plot, at: usize, series: &Series) {
        let points: Vec<(usize, f64)> =
            series.values.iter().enumerate().filter_map(|(label, value)| Some((label, (*value)?))).collect();
        plot.line(&points, &class(at));
        // A line of many points is shown as a curve, without a mark for each point.
        if self.labels.len() <= 40 {
            for (label, value) in points {
                plot.point(label, value, &class(at), &self.told(series, label, value));
            }
        }
    }

    /// Returns the text that the page shows when the pointer is over a value.
    fn told(&self, series: &Series, label: usize, value: f64) -> String {
        let label = self.labels.get(label).map_or("", String::as_str);
        escape(&format!("{}, {label}: {} {}", series.name, super::plot::shown(value), self.unit))
    }
}
