//! `optimizer_switch`: the switches of the optimizer, by MySQL's names.

use std::fmt;

/// The names of the switches in MySQL's order, each with whether it is on by default.
const NAMES: &[(&str, bool)] = &[
    ("index_merge", true),
    ("index_merge_union", true),
    ("index_merge_sort_union", true),
    ("index_merge_intersection", true),
    ("engine_condition_pushdown", true),
    ("index_condition_pushdown", true),
    ("mrr", true),
    ("mrr_cost_based", true),
    ("block_nested_loop", true),
    ("batched_key_access", false),
    ("materialization", true),
    ("semijoin", true),
    ("loosescan", true),
    ("firstmatch", true),
    ("duplicateweedout", true),
    ("subquery_materialization_cost_based", true),
    ("use_index_extensions", true),
    ("condition_fanout_filter", true),
    ("derived_merge", true),
    ("use_invisible_indexes", false),
    ("skip_scan", true),
    ("hash_join", true),
    ("subquery_to_derived", false),
    ("prefer_ordering_index", true),
    ("hypergraph_optimizer", false),
    ("derived_condition_pushdown", true),
    ("hash_set_operations", true),
];

/// The switches that have an effect here, each with its position in [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Switch {
    /// Tables are joined through hash tables.
    BlockNestedLoop = 8,
    /// EXISTS and IN become semi-joins.
    Semijoin = 11,
    /// Derived tables and views are joined with the tables around them.
    DerivedMerge = 18,
    /// Invisible indexes are used like others.
    UseInvisibleIndexes = 19,
    /// With LIMIT, an index that delivers the order is preferred.
    PreferOrderingIndex = 23,
}

/// Which switches are on, as a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switches(u32);

impl Default for Switches {
    fn default() -> Switches {
        let on = NAMES.iter().enumerate().filter(|(_, (_, is_on))| *is_on);
        Switches(on.fold(0, |bits, (at, _)| bits | 1 << at))
    }
}

impl fmt::Display for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, _)) in NAMES.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let value = if self.0 & 1 << at == 0 { "off" } else { "on" };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl Switches {
    pub fn is_on(self, switch: Switch) -> bool {
        self.0 & 1 << switch as u32 != 0
    }

    /// Returns the switches that a number stands for, a bit for each. `None` if it has more bits.
    pub fn of_bits(bits: u64) -> Option<Switches> {
        (bits < 1 << NAMES.len()).then_some(Switches(bits as u32))
    }

    /// Returns these switches changed by a list such as `mrr=off,semijoin=default`. `default` alone
    /// stands for all switches that the list does not name. `defaults` are the values that
    /// `default` means.
    ///
    /// # Errors
    /// Returns the rest of the list, from the item on that is wrong.
    pub fn changed_by(self, list: &str, defaults: Switches) -> Result<Switches, &str> {
        let (mut named, mut on, mut all_default) = (0_u32, 0_u32, false);
        let mut rest = list;
        while !rest.is_empty() {
            let (item, behind) = match rest.split_once(',') {
                Some((_, "")) => return Err(""),
                Some((item, behind)) => (item, behind),
                None => (rest, ""),
            };
            match item.split_once('=') {
                None if item.eq_ignore_ascii_case("default") && !all_default => all_default = true,
                None => return Err(rest),
                Some((name, value)) => {
                    let at = NAMES.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
                    let bit = 1 << at.ok_or(rest)?;
                    let is_on = is_on(value, defaults.0 & bit != 0).filter(|_| named & bit == 0);
                    on |= if is_on.ok_or(rest)? { bit } else { 0 };
                    named |= bit;
                }
            }
            rest = behind;
        }
        let others = if all_default { defaults.0 } else { self.0 };
        Ok(Switches(others & !named | on))
    }
}

/// Returns what the value of a switch means. As in MySQL, the letter `o` is enough for on.
fn is_on(value: &str, default: bool) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "o" => Some(true),
        "off" => Some(false),
        "default" => Some(default),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Switch, Switches};

    #[test]
    fn each_switch_is_turned_off_by_its_name() {
        let start = Switches::default().changed_by("use_invisible_indexes=on", Switches::default());
        let start = start.expect("the list is right");
        for (switch, name) in [
            (Switch::BlockNestedLoop, "block_nested_loop"),
            (Switch::Semijoin, "semijoin"),
            (Switch::DerivedMerge, "derived_merge"),
            (Switch::UseInvisibleIndexes, "use_invisible_indexes"),
            (Switch::PreferOrderingIndex, "prefer_ordering_index"),
        ] {
            let list = format!("{name}=off");
            let off = start.changed_by(&list, start).expect("the list is right");
            assert!(start.is_on(switch) && !off.is_on(switch), "{name}");
        }
    }

    #[test]
    fn lists_change_switches_as_in_mysql() {
        let start = Switches::default();
        let off = start.changed_by("semijoin=off,MRR=ON", start).expect("the list is right");
        assert!(!off.is_on(Switch::Semijoin));
        assert_eq!(off.changed_by("semijoin=default", start), Ok(start));
        assert_eq!(off.changed_by("default", start), Ok(start));
        assert_eq!(off.changed_by("", start), Ok(off));
        assert_eq!(start.changed_by("default,semijoin=off", start), Ok(off));
        for (list, rest) in [
            ("foo=on", "foo=on"),
            ("mrr=off,mrr=on", "mrr=on"),
            ("default,default", "default"),
            ("mrr = on", "mrr = on"),
            ("mrr=on,", ""),
            ("mrr=on,,semijoin=on", ",semijoin=on"),
            ("mrr=of", "mrr=of"),
            ("mrr=1,semijoin=on", "mrr=1,semijoin=on"),
        ] {
            assert_eq!(start.changed_by(list, start), Err(rest), "{list}");
        }
    }

    #[test]
    fn numbers_are_bits() {
        let shown = Switches::of_bits(5).expect("there are as many switches").to_string();
        assert!(shown.starts_with("index_merge=on,index_merge_union=off,index_merge_sort_union=on,"));
        assert_eq!(Switches::of_bits(1 << 27), None);
    }
}
