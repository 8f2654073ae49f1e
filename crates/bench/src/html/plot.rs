//! The drawing of a chart as SVG: a frame with a scale that begins at zero, and the marks in it.

use super::escape::escape;

/// The size of the drawing and of its margins, in units of the SVG's view box.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 32.0;
/// The largest number of labels that fit side by side under the axis.
const MOST_LABELS: usize = 12;

/// A drawing that marks are added to.
pub(super) struct Plot {
    out: String,
    labels: usize,
    /// The value at the upper end of the scale.
    top: f64,
}

/// Returns the distance between two lines of the scale: the smallest of 1, 2, 2.5 and 5, times a
/// power of ten, that is at least a fifth of the greatest value.
fn step(most: f64) -> f64 {
    let raw = (most / 5.0).max(f64::MIN_POSITIVE);
    let ten = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * ten)
        .find(|step| *step >= raw * 0.999)
        .unwrap_or(raw)
}

/// Returns a value as a short text.
pub(super) fn shown(value: f64) -> String {
    match value.abs() {
        large if large >= 1e6 => format!("{:.2}M", value / 1e6),
        large if large >= 1e4 => format!("{:.1}k", value / 1e3),
        large if large >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_string(),
    }
}

impl Plot {
    /// Returns a drawing that has the frame, the scale up to `most` and the labels.
    pub fn new(title: &str, unit: &str, labels: &[String], most: f64) -> Plot {
        let step = step(if most > 0.0 { most } else { 1.0 });
        let steps = (most / step * 0.999).ceil().max(1.0);
        let mut plot = Plot {
            out: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
                escape(title)
            ),
            labels: labels.len(),
            top: step * steps,
        };
        for tick in 0..=steps as u32 {
            let value = step * f64::from(tick);
            let y = plot.y(value);
            let line = if tick == 0 { "axis" } else { "grid" };
            plot.out.push_str(&format!(
                "<path class=\"{line}\" d=\"M{LEFT} {y:.1}H{:.1}\"/><text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                shown(value)
            ));
        }
        plot.out.push_str(&format!("<text class=\"unit\" x=\"0\" y=\"10\">{}</text>", escape(unit)));
        let every = labels.len().div_ceil(MOST_LABELS).max(1);
        for (at, label) in labels.iter().enumerate().step_by(every) {
            let (x, y) = (plot.x(at), HEIGHT - BOTTOM + 18.0);
            plot.out
                .push_str(&format!("<text class=\"x\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(label)));
        }
        plot
    }

    fn slot(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.labels.max(1) as f64
    }

    /// Returns the horizontal position of the middle of a label's slot.
    fn x(&self, label: usize) -> f64 {
        LEFT + self.slot() * (label as f64 + 0.5)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.top
    }

    /// Adds a bar, given by its label, its number within the label's group, and the number of bars
    /// in the group.
    pub fn bar(&mut self, (label, at, count): (usize, usize, usize), value: f64, class: &str, told: &str) {
        let width = (self.slot() * 0.8 / count as f64).min(64.0);
        let x = self.x(label) + width * (at as f64 - count as f64 / 2.0);
        let y = self.y(value);
        let height = HEIGHT - BOTTOM - y;
        self.out.push_str(&format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"2\"><title>{told}</title></rect>",
            x + 1.0,
            (width - 2.0).max(1.0),
        ));
        if width >= 30.0 {
            let (x, y) = (x + width / 2.0, y - 4.0);
            self.out.push_str(&format!(
                "<text class=\"value\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                shown(value)
            ));
        }
    }

    /// Adds a line through these values.
    pub fn line(&mut self, points: &[(usize, f64)], class: &str) {
        let place = |(label, value): &(usize, f64)| format!("{:.1},{:.1}", self.x(*label), self.y(*value));
        let places: Vec<String> = points.iter().map(place).collect();
        self.out.push_str(&format!("<polyline class=\"{class}\" points=\"{}\"/>", places.join(" ")));
    }

    /// Adds a mark for a point of a line.
    pub fn point(&mut self, label: usize, value: f64, class: &str, told: &str) {
        let (x, y) = (self.x(label), self.y(value));
        self.out.push_str(&format!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{told}</title></circle>"
        ));
    }

    /// Returns the complete SVG.
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>");
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_steps_and_hold_the_highest() {
        for (most, wanted) in
            [(1.0, 0.2), (7.3, 2.0), (12_000.0, 2_500.0), (99_000.0, 20_000.0), (0.03, 0.01)]
        {
            assert!((step(most) - wanted).abs() < wanted / 1e6, "{most}: {}", step(most));
            let plot = Plot::new("", "", &[], most);
            assert!(plot.top >= most && plot.y(most) >= TOP - 0.1, "{most}");
        }
    }

    #[test]
    fn values_are_short() {
        let all = [(1_234_567.0, "1.23M"), (45_678.0, "45.7k"), (512.4, "512"), (3.5, "3.5"), (0.0, "0")];
        for (value, text) in all {
            assert_eq!(shown(value), text);
        }
    }
}
