//! Time zones by their names: `SYSTEM`, an offset, or a named zone.
//!
//! A name is looked up in `mysql.time_zone_name` and the tables that belong to it first, so that a
//! replica has the rules of its source, and an operator can load newer ones. Names that are not
//! there are looked up in IANA's database, which is built into the server.

mod loaded;

use engine::Engine;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use types::{Zone, ZoneRules};

/// The last moment, in seconds of Unix time, up to which a zone of the server itself knows its
/// changes: the end of the year 3001. TIMESTAMP functions end in January of that year.
const LAST_CHANGE_S: i64 = 32_566_320_000;

/// The largest number of characters in the name of a zone (`mysql.time_zone_name`).
const NAME_CHARS: usize = 64;

/// Returns the zone with this name, in any case. Blanks behind the name are ignored. `None` if
/// there is no such zone.
pub fn find(engine: &Arc<Engine>, name: &str) -> Option<Zone> {
    if name.eq_ignore_ascii_case("SYSTEM") {
        return Some(system());
    }
    if name.starts_with(['+', '-']) {
        return offset(name);
    }
    let name = name.trim_end_matches(' ').to_ascii_lowercase();
    if name.is_empty() || name.chars().count() > NAME_CHARS {
        return None;
    }
    loaded::find(engine, &name).or_else(|| bundled(&name))
}

/// Reads an offset `+hh:mm` between -13:59 and +14:00. `None` for other texts.
fn offset(text: &str) -> Option<Zone> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if !(0..=14).contains(&hours) || !(0..60).contains(&minutes) {
        return None;
    }
    let total_s = sign * (hours * 3600 + minutes * 60);
    let is_allowed = (-50_340..=50_400).contains(&total_s);
    is_allowed.then_some(Zone::Offset(total_s))
}

/// Returns the zone in which the process was started: that of the environment variable `TZ`, or
/// else that of the machine.
pub(crate) fn system() -> Zone {
    static SYSTEM: LazyLock<Zone> = LazyLock::new(|| rules(&jiff::tz::TimeZone::system()));
    *SYSTEM
}

/// Returns the value of `system_time_zone`: the present abbreviation of the process's zone.
pub fn system_abbreviation() -> String {
    let now = jiff::Timestamp::now();
    jiff::tz::TimeZone::system().to_offset_info(now).abbreviation().to_owned()
}

fn rules(zone: &jiff::tz::TimeZone) -> Zone {
    let first = jiff::Timestamp::MIN;
    let changes = zone.following(first).map(|at| (at.timestamp().as_second(), at.offset().seconds()));
    let changes: Vec<_> = changes.take_while(|(at_s, _)| *at_s <= LAST_CHANGE_S).collect();
    let first_offset_s = zone.to_offset(first).seconds();
    match changes.is_empty() {
        true => Zone::Offset(first_offset_s),
        false => ZoneRules::new(first_offset_s, changes).forever(),
    }
}

/// Returns a zone of IANA's database.
fn bundled(name: &str) -> Option<Zone> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Zone>>> = LazyLock::new(Mutex::default);
    // A thread that panicked has left a consistent map, because entries are inserted one at a time.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(zone) = known.get(name) {
        return Some(*zone);
    }
    // Names that no zone has are not kept, because there is no limit to their number.
    let zone = rules(&jiff::tz::TimeZoneDatabase::bundled().get(name).ok()?);
    known.insert(name.to_owned(), zone);
    Some(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_mysqls() {
        for (text, seconds) in [("+14:00", 50_400), ("-13:59", -50_340), ("+05:30", 19_800), ("-0:0", 0)] {
            assert_eq!(offset(text), Some(Zone::Offset(seconds)), "{text}");
        }
        for text in ["+14:01", "-14:00", "+1", "+1:60", "+:", "-x:1", "+9999999999:0", "+", "+700000:00"] {
            assert_eq!(offset(text), None, "{text}");
        }
    }

    #[test]
    fn clocks_that_show_a_moment_mean_it_or_the_hour_before_it() {
        for name in ["europe/berlin", "america/new_york", "australia/lord_howe", "asia/kathmandu", "utc"] {
            let zone = bundled(name).expect("is known");
            for unix_s in (0..4_102_444_800).step_by(12_593) {
                let meant = zone.moment(unix_s + i64::from(zone.offset_s(unix_s)));
                assert!(!meant.is_skipped, "{name} {unix_s}");
                assert!((0..=3600).contains(&(unix_s - meant.unix_s)), "{name} {unix_s} {meant:?}");
            }
        }
        assert_eq!(bundled("nowhere/land"), None);
        assert_eq!(bundled("utc"), Some(Zone::UTC));
        // The expected value is that of UNIX_TIMESTAMP('2024-03-31 02:30:00') in MySQL 9.7. Clocks
        // were set forward past this time.
        let berlin = bundled("europe/berlin").expect("is known");
        assert_eq!(berlin.moment(1_711_852_200).unix_s, 1_711_846_800);
    }
}
