//! Time zones: what clocks show at a moment, and which moment a shown time means.
//!
//! A [`Zone`] is a fixed offset, or a named zone whose offset changes. A time that clocks could
//! show does not always have exactly one moment: an hour that is skipped in spring has none, an
//! hour that comes twice in autumn has two. As in MySQL, the first has the moment at which clocks
//! were put forward, and the second the earlier of both.

/// The most seconds by which clocks of different zones differ. So a moment lies within this many
/// seconds of what any clock shows.
const FURTHEST_S: i64 = 26 * 3600;

/// The rule by which clocks are set: a fixed offset, or a named zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// A fixed offset in seconds east of UTC.
    Offset(i32),
    /// A zone whose offset changes. Its rules stay in memory until the process ends, as in MySQL.
    Named(&'static ZoneRules),
}

/// The changes of the offset of a named zone.
#[derive(Debug, PartialEq, Eq)]
pub struct ZoneRules {
    /// The Unix times of the changes, ascending.
    changes_s: Vec<i64>,
    /// The seconds east of UTC before the first change, then those from each change on.
    offsets_s: Vec<i32>,
}

/// The moment that a time on clocks means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The Unix time in seconds.
    pub unix_s: i64,
    /// Whether clocks never showed the time, because it was skipped when they were put forward.
    pub is_skipped: bool,
}

impl Default for Zone {
    fn default() -> Zone {
        Zone::UTC
    }
}

impl Zone {
    /// Coordinated Universal Time.
    pub const UTC: Zone = Zone::Offset(0);

    /// Returns the seconds east of UTC at a moment.
    #[inline]
    pub fn offset_s(self, unix_s: i64) -> i32 {
        match self {
            Zone::Offset(offset_s) => offset_s,
            Zone::Named(rules) => rules.offsets_s[rules.changes_s.partition_point(|at| *at <= unix_s)],
        }
    }

    /// Returns the moment at which clocks of this zone show what clocks in UTC show at `local_s`.
    #[inline]
    pub fn moment(self, local_s: i64) -> Moment {
        match self {
            Zone::Offset(offset_s) => {
                Moment { unix_s: local_s.saturating_sub(i64::from(offset_s)), is_skipped: false }
            }
            Zone::Named(rules) => rules.moment(local_s),
        }
    }
}

impl ZoneRules {
    /// Makes the rules of a zone with `first_offset_s` before its first change. Each change is a
    /// Unix time and the seconds east of UTC from then on. The changes are sorted here.
    pub fn new(first_offset_s: i32, mut changes: Vec<(i64, i32)>) -> ZoneRules {
        changes.sort_by_key(|(at, _)| *at);
        let offsets = changes.iter().map(|(_, offset_s)| *offset_s);
        ZoneRules {
            offsets_s: std::iter::once(first_offset_s).chain(offsets).collect(),
            changes_s: changes.iter().map(|(at, _)| *at).collect(),
        }
    }

    /// Makes a zone with these rules. They are never freed, so the caller keeps each zone that it
    /// has made.
    pub fn forever(self) -> Zone {
        Zone::Named(Box::leak(Box::new(self)))
    }

    fn moment(&self, local_s: i64) -> Moment {
        let first = self.changes_s.partition_point(|at| *at <= local_s.saturating_sub(FURTHEST_S));
        for (i, offset_s) in self.offsets_s.iter().enumerate().skip(first) {
            let unix_s = local_s.saturating_sub(i64::from(*offset_s));
            let from = i.checked_sub(1).map_or(i64::MIN, |before| self.changes_s[before]);
            // Clocks were put forward past this time, and no earlier offset has shown it.
            if unix_s < from {
                return Moment { unix_s: from, is_skipped: true };
            }
            if self.changes_s.get(i).is_none_or(|until| unix_s < *until) {
                return Moment { unix_s, is_skipped: false };
            }
        }
        unreachable!("the last offset has no end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> i64 {
        let read = crate::temporal::parse::datetime(text.as_bytes()).expect("a date");
        read.value.to_unix(Zone::UTC)
    }

    fn moment(zone: Zone, text: &str) -> (i64, bool) {
        let found = zone.moment(seconds(text));
        (found.unix_s, found.is_skipped)
    }

    /// Makes the zone of Berlin, with the changes of 2024 alone.
    fn berlin() -> Zone {
        ZoneRules::new(3600, vec![(1_729_990_800, 3600), (1_711_846_800, 7200)]).forever()
    }

    // The numbers are those of UNIX_TIMESTAMP() in MySQL 9.7.
    #[test]
    fn hours_that_clocks_skip_and_repeat_are_mysqls() {
        let berlin = berlin();
        assert_eq!(moment(berlin, "2024-03-31 01:59:59"), (1_711_846_799, false));
        assert_eq!(moment(berlin, "2024-03-31 02:00:00"), (1_711_846_800, true));
        assert_eq!(moment(berlin, "2024-03-31 02:59:59"), (1_711_846_800, true));
        assert_eq!(moment(berlin, "2024-03-31 03:00:00"), (1_711_846_800, false));
        assert_eq!(moment(berlin, "2024-10-27 02:30:00"), (1_729_989_000, false));
        assert_eq!(moment(berlin, "2024-10-27 03:00:00"), (1_729_994_400, false));
        // In Apia a whole day of 2011 was skipped.
        let apia = ZoneRules::new(-36_000, vec![(1_325_239_200, 50_400)]).forever();
        assert_eq!(moment(apia, "2011-12-29 23:59:59"), (1_325_239_199, false));
        assert_eq!(moment(apia, "2011-12-30 12:00:00"), (1_325_239_200, true));
        assert_eq!(moment(apia, "2011-12-31 00:00:00"), (1_325_239_200, false));
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        for zone in [berlin(), Zone::Offset(50_400), Zone::Offset(-50_340)] {
            for s in [i64::MIN, i64::MAX] {
                zone.moment(s);
                zone.offset_s(s);
            }
        }
    }
}
