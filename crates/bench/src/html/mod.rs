//! A report as one HTML file with text, tables and charts, which loads nothing from elsewhere. All
//! kits share it.
//!
//! Flows in: what a kit has measured, as [`Part`]s. Flows out: a page that follows the reader's
//! choice of light or dark colours and can be printed.

mod chart;
mod escape;
mod plot;

use std::fmt::Write as _;

pub use chart::{Chart, Kind, Series};
pub(crate) use escape::escape;

use crate::table::Table;

/// One part of the page.
pub enum Part {
    /// The heading of a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A table of figures.
    Table(Table),
    /// Several charts side by side.
    Charts(Vec<Chart>),
    /// A title, and preformatted text that is folded below it until the reader opens it.
    Folded(String, String),
}

/// A page.
pub struct Page {
    /// The title.
    pub title: String,
    /// The names and values of what describes the run, among them those of the machine.
    pub facts: Vec<(String, String)>,
    /// The parts, from top to bottom.
    pub parts: Vec<Part>,
}

/// Returns the facts about this machine, for [`Page::facts`].
pub fn machine() -> Vec<(String, String)> {
    let line = |path: &str, name: &str| {
        let text = crate::usage::text_after(path, name)?;
        Some(text.trim_start_matches([':', ' ', '\t']).trim().to_string())
    };
    let unknown = || "unknown".to_string();
    [
        ("Processor", line("/proc/cpuinfo", "model name")),
        ("Processors that this may use", Some(os::thread::processors().to_string())),
        ("Memory", line("/proc/meminfo", "MemTotal").and_then(|text| in_gib(&text))),
        ("Kernel", line("/proc/sys/kernel/osrelease", "")),
        ("Slipstream", Some(env!("CARGO_PKG_VERSION").to_string())),
    ]
    .map(|(name, value)| (name.to_string(), value.unwrap_or_else(unknown)))
    .into()
}

/// Converts an amount of memory as the kernel shows it, such as `24684572 kB`, to text such as
/// `23.5 GiB`.
fn in_gib(kernels: &str) -> Option<String> {
    const KIB_PER_GIB: f64 = 1048576.0;
    let kib: f64 = kernels.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(format!("{:.1} GiB", kib / KIB_PER_GIB))
}

impl Page {
    /// Returns the text of the HTML file.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{}</style>\n<main>\n<h1>{title}</h1>\n<dl>\n",
            include_str!("style.css")
        );
        for (name, value) in &self.facts {
            push(&mut out, format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
        }
        out.push_str("</dl>\n");
        self.parts.iter().for_each(|part| part.write(&mut out));
        out.push_str("</main>\n</html>\n");
        out
    }
}

impl Part {
    fn write(&self, out: &mut String) {
        match self {
            Part::Heading(text) => push(out, format_args!("<h2>{}</h2>\n", escape(text))),
            Part::Text(text) => push(out, format_args!("<p>{}</p>\n", escape(text))),
            Part::Table(table) => push(out, format_args!("<div class=\"wide\">{}</div>\n", table.html())),
            Part::Charts(charts) => {
                out.push_str("<div class=\"charts\">\n");
                charts.iter().for_each(|chart| out.push_str(&chart.html()));
                out.push_str("</div>\n");
            }
            Part::Folded(summary, text) => push(
                out,
                format_args!(
                    "<details><summary>{}</summary><pre>{}</pre></details>\n",
                    escape(summary),
                    escape(text)
                ),
            ),
        }
    }
}

/// Appends formatted text. Writing to a `String` cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _infallible = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Align;

    #[test]
    fn memory_is_told_in_gib() {
        assert_eq!(in_gib("24684572 kB").as_deref(), Some("23.5 GiB"));
        assert_eq!(in_gib("lots"), None);
    }

    #[test]
    fn a_page_stands_alone_and_shows_what_is_on_it() {
        let mut table = Table::new(&[("server", Align::Left), ("tx/s", Align::Right)]);
        table.row(vec!["a <b>".into(), "1,000".into()]);
        let chart = Chart {
            title: "Throughput & more".into(),
            unit: "tx/s".into(),
            kind: Kind::Lines,
            labels: vec!["1".into(), "2".into()],
            series: vec![Series { name: "a <b>".into(), values: vec![Some(1000.0), None] }],
        };
        let page = Page {
            title: "Apply".into(),
            facts: vec![("Rows".into(), "5".into())],
            parts: vec![
                Part::Heading("Figures".into()),
                Part::Table(table),
                Part::Charts(vec![chart]),
                Part::Folded("Options".into(), "--x=1".into()),
            ],
        };
        let html = page.html();
        for wanted in
            ["<td>a &lt;b&gt;</td><td class=\"n\">1,000</td>", "<svg", "Throughput &amp; more", "--x=1"]
        {
            assert!(html.contains(wanted), "no {wanted} in {html}");
        }
        for unwanted in ["http:", "https:", "src=", "url(", "@import"] {
            assert!(!html.replace("http://www.w3.org/2000/svg", "").contains(unwanted), "{unwanted}");
        }
    }
}
