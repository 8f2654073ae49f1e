//! Prometheus' text format 0.0.4: families of samples, and the text that is made of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// The type of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The values only grow until the server starts again.
    Counter,
    /// The values go up and down.
    Gauge,
    /// It is not said which of both the values are.
    Untyped,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Untyped => "untyped",
        }
    }
}

struct Family {
    kind: Kind,
    help: &'static str,
    /// The values by their labels, which are written with the braces around them.
    samples: BTreeMap<String, String>,
}

/// All families, by name.
#[derive(Default)]
pub struct Exposition {
    families: BTreeMap<Cow<'static, str>, Family>,
}

impl Exposition {
    /// Adds a sample. The first sample of a family determines the family's type and its help. A
    /// sample replaces an earlier one of the same name and labels, because Prometheus refuses a
    /// text that has both.
    pub fn add(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        (kind, help): (Kind, &'static str),
        labels: &[(&str, &str)],
        value: impl Display,
    ) {
        let family = self.families.entry(name.into());
        let family = family.or_insert_with(|| Family { kind, help, samples: BTreeMap::new() });
        family.samples.insert(written(labels), value.to_string());
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (name, Family { kind, help, samples }) in &self.families {
            let help = help.replace('\\', "\\\\").replace('\n', "\\n");
            let _infallible = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {}", kind.word());
            for (labels, value) in samples {
                let _infallible = writeln!(out, "{name}{labels} {value}");
            }
        }
        out
    }
}

/// Writes labels with the braces around them, or nothing when there are none.
fn written(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let pair = |(name, value): &(&str, &str)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    format!("{{{}}}", labels.iter().map(pair).collect::<Vec<_>>().join(","))
}

/// Returns a name that a metric or a label may have: a character that they may not have becomes
/// `_`, and letters become small.
pub fn name_of(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    text.chars().map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_written_with_their_head_and_labels_are_escaped() {
        let mut all = Exposition::default();
        all.add("b_total", (Kind::Counter, "What \\ is\nthere."), &[("l", "a\"\\\n"), ("m", "")], 3);
        all.add("a", (Kind::Gauge, "One."), &[], 1.5);
        all.add("b_total", (Kind::Gauge, "Something else."), &[("l", "x"), ("m", "ü")], 4);
        all.add("a", (Kind::Gauge, "One."), &[], 2.5);
        let expected = "# HELP a One.\n# TYPE a gauge\na 2.5\n\
             # HELP b_total What \\\\ is\\nthere.\n# TYPE b_total counter\n\
             b_total{l=\"a\\\"\\\\\\n\",m=\"\"} 3\nb_total{l=\"x\",m=\"ü\"} 4\n";
        assert_eq!(all.text(), expected);
    }

    #[test]
    fn names_have_small_letters_digits_and_underscores() {
        assert_eq!(name_of("Com_Select"), "com_select");
        assert_eq!(name_of("a-b.c d"), "a_b_c_d");
    }
}
