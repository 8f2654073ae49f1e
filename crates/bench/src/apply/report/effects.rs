//! What each setting changes: the ratio of the rates of cells that differ in nothing but that
//! setting.

use super::figures::{Figures, varied};
use crate::apply::{Dimension, Outcome};
use crate::table::{Align, Table, median};

/// The text above the table.
pub(super) const HEADING: &str =
    "What one setting changes, all else equal (rate over rate; the middle of all such cells):";

/// How one value of a dimension compares with the dimension's first value.
pub(super) struct Effect {
    /// The flavor of the replica.
    pub who: String,
    pub dimension: Dimension,
    /// The value, and the value that it is compared with.
    pub value: String,
    pub base: String,
    /// The median of the ratios of the rates, the least ratio and the greatest.
    pub ratio: f64,
    pub least: f64,
    pub most: f64,
    pub cells: usize,
}

/// Returns the effects for every flavor and every dimension that was varied. The workload and the
/// log format are left out, because another load is other work.
pub(super) fn effects(outcome: &Outcome, all: &[Figures]) -> Vec<Effect> {
    let compared =
        [Dimension::Delay, Dimension::Commits, Dimension::Workers, Dimension::Logged, Dimension::Repository];
    let mut effects = Vec::new();
    for dimension in varied(outcome).into_iter().filter(|varied| compared.contains(varied)) {
        let mut values: Vec<String> = Vec::new();
        for value in all.iter().map(|one| dimension.of(&one.case)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let Some((base, others)) = values.split_first() else { continue };
        let mut flavors: Vec<_> = outcome.pairs.iter().map(|pair| pair.flavor).collect();
        flavors.dedup();
        for flavor in flavors {
            let of = |one: &&Figures| outcome.pairs[one.pair].flavor == flavor;
            let figures: Vec<&Figures> = all.iter().filter(of).collect();
            effects.extend(
                others
                    .iter()
                    .filter_map(|value| effect(&figures, dimension, value, base, flavor.to_string())),
            );
        }
    }
    effects
}

fn effect(all: &[&Figures], dimension: Dimension, value: &str, base: &str, who: String) -> Option<Effect> {
    let with = |value: &str| all.iter().filter(|one| dimension.of(&one.case) == value).collect::<Vec<_>>();
    let bases = with(base);
    let ratios: Vec<f64> = with(value)
        .iter()
        .filter_map(|one| {
            let alike = |other: &&&&Figures| dimension.alone_differs(&one.case, &other.case);
            Some(one.rate / bases.iter().find(alike)?.rate)
        })
        .collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let cells = ratios.len();
    let (value, base) = (value.to_string(), base.to_string());
    Some(Effect { who, dimension, value, base, ratio: median(ratios), least, most, cells })
}

pub(super) fn table(effects: &[Effect]) -> Table {
    let mut table = Table::new(&[
        ("replica", Align::Left),
        ("setting", Align::Left),
        ("is", Align::Left),
        ("over", Align::Left),
        ("rate", Align::Right),
        ("least", Align::Right),
        ("most", Align::Right),
        ("cells", Align::Right),
    ]);
    for effect in effects {
        table.row(vec![
            effect.who.clone(),
            effect.dimension.name().to_string(),
            effect.value.clone(),
            effect.base.clone(),
            format!("{:.3}", effect.ratio),
            format!("{:.3}", effect.least),
            format!("{:.3}", effect.most),
            effect.cells.to_string(),
        ]);
    }
    table
}
