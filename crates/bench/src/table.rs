//! Tables of text, whose columns are as wide as their widest cell, and the functions that format
//! the figures in them.

use crate::html::escape;

/// The side that the cells of a column are aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The left side, for words.
    Left,
    /// The right side, for numbers.
    Right,
}

/// A table that is built row by row and then printed.
#[derive(Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table with these columns and no rows.
    pub fn new(columns: &[(&str, Align)]) -> Table {
        Table {
            columns: columns.iter().map(|(name, align)| (name.to_string(), *align)).collect(),
            rows: Vec::new(),
        }
    }

    /// Returns the table as HTML.
    pub fn html(&self) -> String {
        let cell = |tag: &str, (text, align): (&String, Align)| {
            let class = if align == Align::Right { " class=\"n\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", escape(text))
        };
        let head: String = self.columns.iter().map(|(name, align)| cell("th", (name, *align))).collect();
        let mut out = format!("<table><thead><tr>{head}</tr></thead><tbody>");
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns).map(|(text, (_, align))| cell("td", (text, *align)));
            out.push_str(&format!("<tr>{}</tr>", cells.collect::<String>()));
        }
        out + "</tbody></table>"
    }

    /// Appends a row, which must have a cell for every column.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a row of another table");
        self.rows.push(cells);
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = self.rows.iter().map(|row| row[at].chars().count());
                cells.chain([self.columns[at].0.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = &String>| -> String {
            let padded =
                cells.zip(&widths).zip(&self.columns).map(|((cell, width), (_, align))| match align {
                    Align::Left => format!("{cell:<width$}"),
                    Align::Right => format!("{cell:>width$}"),
                });
            padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        writeln!(f, "{}", line(&mut self.columns.iter().map(|(name, _)| name)))?;
        writeln!(f, "{}", widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join("  "))?;
        for row in &self.rows {
            writeln!(f, "{}", line(&mut row.iter()))?;
        }
        Ok(())
    }
}

/// Returns the median of several figures.
pub fn median(mut values: Vec<f64>) -> f64 {
    assert!(!values.is_empty(), "no figures");
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Returns a figure as text, or `-` when there is none.
pub fn optional(figure: Option<f64>, digits: usize) -> String {
    figure.map_or("-".to_string(), |figure| format!("{figure:.digits$}"))
}

/// Returns figures as a row of bars, of which the highest is full. It shows how even the figures
/// are.
pub fn bars(figures: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = figures.iter().copied().fold(0.0, f64::max);
    figures
        .iter()
        .map(|figure| BARS[if most > 0.0 { (figure / most * 7.0).round() as usize } else { 0 }])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_to_the_left_and_numbers_to_the_right() {
        let mut table = Table::new(&[("pair", Align::Left), ("tx/s", Align::Right)]);
        table.row(vec!["a -> b".into(), "1,000".into()]);
        table.row(vec!["c".into(), "5".into()]);
        assert_eq!(table.to_string(), "pair     tx/s\n------  -----\na -> b  1,000\nc           5\n");
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0]), 2.5);
    }

    #[test]
    fn bars_are_as_high_as_the_highest() {
        assert_eq!(bars(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(bars(&[0.0]), "▁");
    }
}
