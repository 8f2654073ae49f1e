//! Time zones by their names: `SYSTEM`, an offset, or a named zone.
//!
//! What `mysql.time_zone_name` and its kin say of a name counts, so that a replica has its source's
//! rules, and an operator who loads newer ones has those. Names that are not there are looked up in
//! IANA's database, which the server brings along.

mod loaded;

use engine::Engine;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use types::{Zone, ZoneRules};

/// A named zone of the server itself knows its changes up to the end of the year 3001: TIMESTAMP
/// functions end in January of it.
const LAST_CHANGE_S: i64 = 32_566_320_000;

/// Names of zones are no longer (`mysql.time_zone_name`).
const NAME_CHARS: usize = 64;

/// The zone with this name, in any case; `None` for no such zone. Spaces behind the name do not
/// count.
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

/// `+hh:mm`, from -13:59 to +14:00.
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

/// The zone that the process was started in: of the environment's `TZ`, else of the machine.
pub(crate) fn system() -> Zone {
    static SYSTEM: LazyLock<Zone> = LazyLock::new(|| rules(&jiff::tz::TimeZone::system()));
    *SYSTEM
}

/// What `system_time_zone` says: how the zone of the process is abbreviated at this moment.
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

/// A zone of IANA's database.
fn bundled(name: &str) -> Option<Zone> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Zone>>> = LazyLock::new(Mutex::default);
    // What a thread has left that panicked is whole: single entries are put.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(zone) = known.get(name) {
        return Some(*zone);
    }
    // Names that no zone has are not kept: there is no end of them.
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
        // UNIX_TIMESTAMP('2024-03-31 02:30:00') of MySQL 9.7: clocks were put forward past it.
        let berlin = bundled("europe/berlin").expect("is known");
        assert_eq!(berlin.moment(1_711_852_200).unix_s, 1_711_846_800);
    }
}
