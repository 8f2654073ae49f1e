//! Computes when an event runs, from its definition in the dictionary. Moments are seconds of Unix
//! time, because events have no fractions of a second.

use crate::attribute;
use engine::ObjectDef;
use types::temporal::{days_in_month, parse};
use types::{Date, DateTime, Zone};

/// The largest number of units that EVERY accepts.
const MOST_OF_A_UNIT: u64 = 1_000_000_000;
const DAY_S: u64 = 86_400;
/// The first second, in the year 3001, that is too late for MySQL's TIMESTAMP.
const END_OF_TIME_S: i64 = 32_536_771_200;

/// A unit of EVERY.
struct Unit {
    word: &'static str,
    /// Whether `parts` are in months. Otherwise they are in seconds.
    is_of_months: bool,
    /// The months or seconds that one of each part of the unit takes, the largest part first.
    parts: &'static [u64],
}

const fn months(word: &'static str, parts: &'static [u64]) -> Unit {
    Unit { word, is_of_months: true, parts }
}

const fn seconds(word: &'static str, parts: &'static [u64]) -> Unit {
    Unit { word, is_of_months: false, parts }
}

const UNITS: [Unit; 15] = [
    months("YEAR", &[12]),
    months("QUARTER", &[3]),
    months("MONTH", &[1]),
    months("YEAR_MONTH", &[12, 1]),
    seconds("WEEK", &[7 * DAY_S]),
    seconds("DAY", &[DAY_S]),
    seconds("HOUR", &[3600]),
    seconds("MINUTE", &[60]),
    seconds("SECOND", &[1]),
    seconds("DAY_HOUR", &[DAY_S, 3600]),
    seconds("DAY_MINUTE", &[DAY_S, 3600, 60]),
    seconds("DAY_SECOND", &[DAY_S, 3600, 60, 1]),
    seconds("HOUR_MINUTE", &[3600, 60]),
    seconds("HOUR_SECOND", &[3600, 60, 1]),
    seconds("MINUTE_SECOND", &[60, 1]),
];

impl Unit {
    fn named(word: &str) -> Option<&'static Unit> {
        UNITS.iter().find(|unit| unit.word == word)
    }

    /// Returns the months or seconds of the unit in which MySQL counts the interval when it checks
    /// that it is not too long.
    fn counted_in(&self) -> u64 {
        match self.word {
            "WEEK" => DAY_S,
            "QUARTER" => 1,
            _ => self.parts[self.parts.len() - 1],
        }
    }
}

/// Returns the text that is shown for the interval between the runs of an event, which is given in
/// months or seconds. The text is in quotes where the unit has several parts. `None` means that the
/// unit is unknown, or that the interval is empty or longer than MySQL takes.
pub(crate) fn shown_interval(unit: &str, months: i64, seconds: i64) -> Option<String> {
    let unit = Unit::named(unit)?;
    let total = u64::try_from(if unit.is_of_months { months } else { seconds }).ok()?;
    let counted = total / unit.counted_in();
    if counted == 0 || counted > MOST_OF_A_UNIT {
        return None;
    }
    let (mut rest, mut shown) = (total, String::new());
    for (at, part) in unit.parts.iter().enumerate() {
        if at > 0 {
            shown.push(match (unit.is_of_months, unit.parts[at - 1]) {
                (true, _) => '-',
                (false, DAY_S) => ' ',
                _ => ':',
            });
        }
        shown.push_str(&(rest / part).to_string());
        rest %= part;
    }
    Some(if unit.parts.len() > 1 { format!("'{shown}'") } else { shown })
}

/// Reports whether MySQL has a TIMESTAMP for a moment.
pub(crate) fn is_timestamp(unix_s: i64) -> bool {
    (1..END_OF_TIME_S).contains(&unix_s)
}

/// The interval between the runs of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Months(i64),
    Seconds(i64),
}

impl Step {
    /// Reads an interval that [`shown_interval`] has written or that a client has written.
    fn read(amount: &str, unit: &str) -> Option<Step> {
        let unit = Unit::named(unit)?;
        let runs = amount.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
        let mut numbers: Vec<u64> = runs.filter_map(|run| run.parse().ok()).collect();
        if unit.parts.len() == 1 {
            numbers.truncate(1);
        }
        let first = unit.parts.len().checked_sub(numbers.len())?;
        let mut total = 0u64;
        for (number, part) in numbers.iter().zip(&unit.parts[first..]) {
            total = total.checked_add(number.checked_mul(*part)?)?;
        }
        let total = i64::try_from(total).ok().filter(|total| *total > 0)?;
        Some(if unit.is_of_months { Step::Months(total) } else { Step::Seconds(total) })
    }

    /// Returns the first moment after `now_s` that is a whole number of steps after `starts_s`,
    /// which is not after `now_s`.
    fn next(self, starts_s: i64, now_s: i64, zone: Zone) -> Option<i64> {
        match self {
            Step::Seconds(step) => {
                let passed = now_s.checked_sub(starts_s)?;
                starts_s.checked_add(passed - passed.rem_euclid(step))?.checked_add(step)
            }
            Step::Months(step) => {
                let starts = DateTime::from_unix(starts_s, 0, zone);
                let now = DateTime::from_unix(now_s, 0, zone);
                let passed = (i64::from(now.date.year) - i64::from(starts.date.year)) * 12
                    + i64::from(now.date.month)
                    - i64::from(starts.date.month);
                let near = behind(starts, passed - passed % step)?;
                match near.to_unix(zone) {
                    near_s if near_s > now_s => Some(near_s),
                    // As in MySQL, the step is taken from a day that the month before had, not from
                    // the day of STARTS.
                    _ => Some(behind(near, step)?.to_unix(zone)),
                }
            }
        }
    }
}

/// Returns the moment that is `months` months after `at`, on the last day of a month that is too
/// short for the day of `at`.
fn behind(at: DateTime, months: i64) -> Option<DateTime> {
    let total = (i64::from(at.date.year) * 12 + i64::from(at.date.month) - 1).checked_add(months)?;
    let year = u16::try_from(total.div_euclid(12)).ok().filter(|year| *year <= 9999)?;
    let month = (total.rem_euclid(12) + 1) as u8;
    let day = at.date.day.min(days_in_month(year, month));
    Some(DateTime { date: Date::new(year, month, day)?, ..at })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Once(i64),
    Every { step: Step, starts_s: i64, ends_s: Option<i64> },
}

/// The times at which an enabled event runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTiming {
    when: When,
    zone: Zone,
}

impl EventTiming {
    /// Reads the times from a definition. `zone_of` finds a time zone by its name. `None` means
    /// that the event is disabled on this server, or that its definition has parts that this server
    /// does not understand.
    pub fn of(def: &ObjectDef, zone_of: impl Fn(&str) -> Option<Zone>) -> Option<EventTiming> {
        if !matches!(def.attribute(attribute::STATUS), None | Some("ENABLED")) {
            return None;
        }
        let zone = zone_of(def.attribute(attribute::TIME_ZONE).unwrap_or("SYSTEM"))?;
        let moment = |name: &str| {
            let read = parse::datetime(def.attribute(name)?.as_bytes())?.value;
            Some(read.to_unix(zone))
        };
        let when = match moment(attribute::AT) {
            Some(at_s) => When::Once(at_s),
            None => When::Every {
                step: Step::read(def.attribute(attribute::AMOUNT)?, def.attribute(attribute::UNIT)?)?,
                starts_s: moment(attribute::STARTS)?,
                ends_s: moment(attribute::ENDS),
            },
        };
        Some(EventTiming { when, zone })
    }

    /// Returns when the event runs next, as seen at `now_s`. `last_executed_s` is the moment of its
    /// last run. `None` means that it never runs again.
    pub fn next_s(&self, now_s: i64, last_executed_s: Option<i64>) -> Option<i64> {
        let (step, starts_s, ends_s) = match self.when {
            When::Once(at_s) => return Some(at_s),
            When::Every { step, starts_s, ends_s } => (step, starts_s, ends_s),
        };
        let is_over = |at_s: i64| ends_s.is_some_and(|ends_s| ends_s < at_s);
        if is_over(now_s) {
            return None;
        }
        let has_begun = now_s > starts_s || (now_s == starts_s && last_executed_s == Some(now_s));
        if !has_begun {
            return Some(starts_s);
        }
        step.next(starts_s, now_s, self.zone).filter(|next_s| !is_over(*next_s))
    }

    /// Returns when the event runs after a run that has begun at `now_s`. `None` means that this
    /// run was the last one.
    pub fn after_run_s(&self, now_s: i64) -> Option<i64> {
        match self.when {
            When::Once(_) => None,
            When::Every { .. } => self.next_s(now_s, Some(now_s)),
        }
    }
}

/// Returns the moment at which an event was last run.
pub fn last_executed_s(def: &ObjectDef) -> Option<i64> {
    def.attribute(attribute::EXECUTED)?.parse().ok()
}

/// Reports whether an event is dropped after its last run.
pub fn is_dropped_at_end(def: &ObjectDef) -> bool {
    def.attribute(attribute::COMPLETION) != Some("PRESERVE")
}

/// Returns the definition of an event that has begun to run at `now_s`. The last run disables the
/// event.
pub fn executed(def: &ObjectDef, now_s: i64, is_last: bool) -> ObjectDef {
    let mut def = def.clone();
    def.set_attribute(attribute::EXECUTED, now_s.to_string());
    if is_last {
        def.set_attribute(attribute::STATUS, "DISABLED");
    }
    def
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ObjectKind;

    fn event(attributes: &[(&str, &str)]) -> ObjectDef {
        ObjectDef {
            kind: ObjectKind::Event,
            schema: "d".into(),
            name: "e".into(),
            trigger: None,
            definer: ("root".into(), "localhost".into()),
            sql_mode: 0,
            character_set_client: 255,
            collation_connection: 255,
            schema_collation: 255,
            created_us: 0,
            altered_us: 0,
            of_mariadb: false,
            body: "DO 1".into(),
            attributes: attributes
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .collect(),
        }
    }

    fn at(text: &str) -> i64 {
        parse::datetime(text.as_bytes()).unwrap().value.to_unix(Zone::UTC)
    }

    fn zone_of(name: &str) -> Option<Zone> {
        [("SYSTEM", 0), ("+05:00", 18_000)]
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, s)| Zone::Offset(*s))
    }

    fn every(amount: &str, unit: &str, starts: &str, ends: Option<&str>) -> EventTiming {
        let mut def = event(&[("amount", amount), ("unit", unit), ("starts", starts)]);
        if let Some(ends) = ends {
            def.set_attribute("ends", ends);
        }
        EventTiming::of(&def, zone_of).unwrap()
    }

    #[test]
    fn intervals_are_shown_as_mysql_shows_them() {
        for (unit, months, seconds, shown) in [
            ("SECOND", 0, 1, Some("1")),
            ("WEEK", 0, 14 * 86_400, Some("2")),
            ("QUARTER", 36, 0, Some("12")),
            ("YEAR_MONTH", 14, 0, Some("'1-2'")),
            ("HOUR_SECOND", 0, 1, Some("'0:0:1'")),
            ("HOUR_MINUTE", 0, 71 * 3600 + 300, Some("'71:5'")),
            ("DAY_SECOND", 0, 86_400 + 7384, Some("'1 2:3:4'")),
            ("DAY_HOUR", 0, 10 * 86_400 + 3 * 3600, Some("'10 3'")),
            ("SECOND", 0, 0, None),
            ("SECOND", 0, -1, None),
            ("SECOND", 0, 1_000_000_000, Some("1000000000")),
            ("SECOND", 0, 1_000_000_001, None),
        ] {
            let got = shown_interval(unit, months, seconds);
            assert_eq!(got.as_deref(), shown, "{unit}");
            if let Some(shown) = got {
                let step = if months > 0 { Step::Months(months) } else { Step::Seconds(seconds) };
                assert_eq!(Step::read(&shown, unit), Some(step), "{unit}");
            }
        }
    }

    #[test]
    fn a_recurring_event_runs_at_whole_steps_behind_its_start() {
        let timing = every("'1:30'", "MINUTE_SECOND", "2026-01-01 00:00:00", None);
        let start = at("2026-01-01 00:00:00");
        assert_eq!(timing.next_s(start - 100, None), Some(start));
        assert_eq!(timing.next_s(start, None), Some(start));
        assert_eq!(timing.next_s(start, Some(start)), Some(start + 90));
        assert_eq!(timing.after_run_s(start), Some(start + 90));
        // Missed runs are not made up for.
        assert_eq!(timing.next_s(start + 1000, Some(start)), Some(start + 1080));
        assert_eq!(timing.next_s(start + 1080, Some(start)), Some(start + 1170));
    }

    #[test]
    fn months_end_on_their_last_day() {
        let timing = every("1", "MONTH", "2026-01-31 12:00:00", None);
        for (now, next) in [
            ("2026-01-31 12:00:00", "2026-02-28 12:00:00"),
            ("2026-02-01 00:00:00", "2026-02-28 12:00:00"),
            ("2026-02-28 12:00:00", "2026-03-28 12:00:00"),
            ("2026-03-01 00:00:00", "2026-03-31 12:00:00"),
            ("2027-12-31 12:00:00", "2028-01-31 12:00:00"),
        ] {
            assert_eq!(timing.after_run_s(at(now)), Some(at(next)), "{now}");
        }
        let years = every("4", "YEAR", "2024-02-29 00:00:00", None);
        assert_eq!(years.after_run_s(at("2026-01-01 00:00:00")), Some(at("2028-02-29 00:00:00")));
    }

    #[test]
    fn nothing_runs_behind_the_end() {
        let timing = every("10", "SECOND", "2026-01-01 00:00:00", Some("2026-01-01 00:00:20"));
        let start = at("2026-01-01 00:00:00");
        assert_eq!(timing.after_run_s(start), Some(start + 10));
        assert_eq!(timing.after_run_s(start + 10), Some(start + 20));
        assert_eq!(timing.after_run_s(start + 20), None);
        assert_eq!(timing.next_s(start + 21, None), None);
    }

    #[test]
    fn an_event_of_one_time_runs_late_rather_than_never() {
        let mut def = event(&[("at", "2026-01-01 05:00:00"), ("time_zone", "+05:00"), ("status", "ENABLED")]);
        let timing = EventTiming::of(&def, zone_of).unwrap();
        let moment = at("2026-01-01 00:00:00");
        assert_eq!(timing.next_s(moment - 50, None), Some(moment));
        assert_eq!(timing.next_s(moment + 50, None), Some(moment));
        assert_eq!(timing.after_run_s(moment + 50), None);
        def = executed(&def, moment + 50, true);
        assert_eq!((EventTiming::of(&def, zone_of), last_executed_s(&def)), (None, Some(moment + 50)));
        def.set_attribute("status", "REPLICA");
        assert_eq!(EventTiming::of(&def, zone_of), None);
    }
}
