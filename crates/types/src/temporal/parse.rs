//! The reading of dates and times from text and numbers, by MySQL's rules (manual, "Date and Time
//! Literals"): relaxed delimiters, undelimited digits, two-digit years. The caller rounds fractions
//! to its type.

use super::{Date, DateTime, Time, Zone, days_in_month};

/// A value that was read from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// Whether something followed that is no part of a date or time (a warning: 1292 for DATETIME,
    /// 1265 for DATE).
    pub trailing_garbage: bool,
    /// Whether the text had a time part.
    pub has_time: bool,
    /// The number of seconds east of UTC, if the text ended in `+hh:mm` or `-hh:mm`.
    pub offset_seconds: Option<i32>,
    /// Whether a space was between date and time.
    pub spaced: bool,
}

impl Parsed<DateTime> {
    /// Returns the date and time on the clocks of a time zone. A text with an offset of its own
    /// names a point in time, which is converted.
    pub fn in_zone(&self, zone: Zone) -> DateTime {
        let at = &self.value;
        match self.offset_seconds {
            Some(offset) => DateTime::from_unix(at.to_unix(Zone::Offset(offset)), at.micros, zone),
            None => *at,
        }
    }
}

/// A reader of the text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }
    fn peek_is_digit(&self) -> bool {
        self.peek().is_some_and(|b| b.is_ascii_digit())
    }
    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
    }
    /// Reads up to `most` digits, and returns their number and how many they are. `None` if there
    /// are none.
    fn digits(&mut self, most: usize) -> Option<(u32, usize)> {
        let start = self.at;
        let mut value = 0u32;
        while self.at - start < most && self.peek_is_digit() {
            value = value.saturating_mul(10).saturating_add(u32::from(self.text[self.at] - b'0'));
            self.at += 1;
        }
        (self.at > start).then_some((value, self.at - start))
    }
    fn skip_if(&mut self, accept: impl Fn(u8) -> bool) -> bool {
        let yes = self.peek().is_some_and(accept);
        self.at += usize::from(yes);
        yes
    }
    /// Reads the digits after a point, rounded to microseconds. The result is 1_000_000 if they
    /// round up to a second.
    fn fraction(&mut self) -> u32 {
        let (mut micros, mut digits) = (0u32, 0);
        while digits < 6 && self.peek_is_digit() {
            micros = micros * 10 + u32::from(self.text[self.at] - b'0');
            digits += 1;
            self.at += 1;
        }
        micros *= 10u32.pow(6 - digits);
        if digits == 6 && self.peek().is_some_and(|b| (b'5'..=b'9').contains(&b)) {
            micros += 1;
        }
        while self.peek_is_digit() {
            self.at += 1;
        }
        micros
    }
}

/// Returns the year that a year of two digits stands for, 1970 to 2069.
pub fn expand_year(year: u16) -> u16 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// The numbers at the beginning of a date and time, as MySQL's `str_to_datetime` finds them.
struct Fields {
    /// The year, month, day, hour, minute and second.
    values: [u32; 6],
    /// The number of entries of `values` that the text had.
    count: usize,
    micros: u32,
    year_digits: usize,
    /// Whether a space was between two of them.
    spaced: bool,
    /// Whether the digits have no delimiters between them (YYYYMMDD...). They may have a fraction.
    undelimited: bool,
}

/// Reads a DATETIME (or DATE) from text. Returns `None` if the text is no date, or a date that does
/// not exist.
pub fn datetime(text: &[u8]) -> Option<Parsed<DateTime>> {
    datetime_with(text, false)
}

/// Reads a DATETIME as [`datetime`] does. If `allow_invalid` is true, it also accepts days up to 31
/// that their month does not have (ALLOW_INVALID_DATES).
pub fn datetime_with(text: &[u8], allow_invalid: bool) -> Option<Parsed<DateTime>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    if !cursor.peek_is_digit() {
        return None;
    }
    let fields = date_fields(&mut cursor)?;
    if fields.count < 3 {
        return None;
    }
    let has_time = fields.count > 3;
    // After the seconds a sign can only begin an offset.
    let has_offset = fields.count == 6 && matches!(cursor.peek(), Some(b'+' | b'-'));
    let offset_seconds = if has_offset { Some(zone_offset(&mut cursor)?) } else { None };
    cursor.skip_spaces();
    if has_offset && cursor.peek().is_some() {
        return None;
    }
    let [mut year, month, day, hour, minute, second] = fields.values;
    if fields.year_digits == 2 {
        let not_zero = fields.values.iter().any(|&value| value != 0) || fields.micros != 0;
        year = if not_zero { u32::from(expand_year(year as u16)) } else { 0 };
    }
    if year > 9999 || hour > 23 || minute > 59 || second > 59 || month > 12 || day > 31 {
        return None;
    }
    let date = Date { year: year as u16, month: month as u8, day: day as u8 };
    if !allow_invalid && !date.exists() || has_offset && date.has_zero_part() {
        return None;
    }
    let (hour, minute, second) = (hour as u8, minute as u8, second as u8);
    let mut value = DateTime { date, hour, minute, second, micros: fields.micros };
    if fields.micros == super::MICROS_PER_SECOND {
        value.micros = 0;
        value = DateTime::from_micros(value.to_micros() + i64::from(super::MICROS_PER_SECOND))?;
    }
    let trailing_garbage = cursor.at < text.len();
    Some(Parsed { value, trailing_garbage, has_time, offset_seconds, spaced: fields.spaced })
}

/// Reads the fields. Returns `None` where there is a space or a number that cannot be part of a
/// date.
fn date_fields(cursor: &mut Cursor<'_>) -> Option<Fields> {
    let rest = &cursor.text[cursor.at..];
    let run = rest.iter().take_while(|&&b| b.is_ascii_digit() || b == b'T').count();
    let undelimited = matches!(rest.get(run), None | Some(b'.'));
    let mut fields =
        Fields { values: [0; 6], count: 0, micros: 0, year_digits: 4, spaced: false, undelimited };
    if undelimited {
        fields.year_digits = if run == 4 || run == 8 || run >= 14 { 4 } else { 2 };
    }
    for i in 0..6 {
        let width = match i {
            _ if !undelimited => 7,
            0 => fields.year_digits,
            _ => 2,
        };
        let Some((value, digits)) = cursor.digits(width) else { break };
        if value > 999_999 {
            return None;
        }
        fields.values[i] = value;
        fields.count = i + 1;
        if i == 0 && !undelimited {
            fields.year_digits = digits;
        }
        if cursor.peek().is_none() {
            break;
        }
        if i == 2 && cursor.skip_if(|b| b == b'T') {
            continue;
        }
        if i == 5 {
            if cursor.peek() == Some(b'.') {
                cursor.at += 1;
                fields.micros = cursor.fraction();
            }
            break;
        }
        skip_delimiters(cursor, i, &mut fields)?;
    }
    Some(fields)
}

/// Skips the punctuation (and, after the day, spaces) after field number `i`, unless no digit
/// follows. Returns `None` for a space where none is allowed.
fn skip_delimiters(cursor: &mut Cursor<'_>, i: usize, fields: &mut Fields) -> Option<()> {
    let mark = cursor.at;
    let mut spaced = false;
    while let Some(byte) = cursor.peek() {
        if byte.is_ascii_whitespace() {
            if i < 2 {
                return None;
            }
            spaced = true;
        } else if !byte.is_ascii_punctuation() {
            break;
        }
        cursor.at += 1;
    }
    if cursor.peek_is_digit() {
        fields.spaced |= spaced;
    } else {
        cursor.at = mark;
    }
    Some(())
}

/// The largest offset from UTC that MySQL accepts: 14 hours, in seconds.
const MOST_OFFSET_SECONDS: i32 = 14 * 3600;

/// Reads the offset from UTC at the cursor, in seconds. Returns `None` if there is none that MySQL
/// accepts.
fn zone_offset(cursor: &mut Cursor<'_>) -> Option<i32> {
    let rest = cursor.text.get(cursor.at..cursor.at + 6)?;
    let digit = |i: usize| rest[i].is_ascii_digit().then(|| i32::from(rest[i] - b'0'));
    if !matches!(rest[0], b'+' | b'-') || rest[3] != b':' {
        return None;
    }
    let (hours, minutes) = (digit(1)? * 10 + digit(2)?, digit(4)? * 10 + digit(5)?);
    let total = hours * 3600 + minutes * 60;
    let negative_zero = rest[0] == b'-' && total == 0;
    if minutes > 59 || total > MOST_OFFSET_SECONDS || negative_zero {
        return None;
    }
    cursor.at += 6;
    Some(if rest[0] == b'-' { -total } else { total })
}

/// Reads a TIME from text: `[-][days ]hh:mm:ss[.f]`, `hh:mm`, `hhmmss`, `ss`, or a whole DATETIME
/// (with a space between date and time), whose time part is taken. An empty text and one with an
/// exponent are zero. Returns `None` for any other text. A time beyond `838:59:59` is clipped.
///
/// The time of a DATETIME with an offset is converted to the time zone.
pub fn time(text: &[u8], zone: Zone) -> Option<Parsed<TimeRead>> {
    let of = |time, out_of_range, trailing_garbage| {
        let value = TimeRead { time, out_of_range };
        Some(Parsed { value, trailing_garbage, has_time: true, offset_seconds: None, spaced: false })
    };
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    if cursor.peek().is_none() {
        return of(Time::default(), false, false);
    }
    let negative = cursor.skip_if(|b| b == b'-');
    if !negative
        && text.len() - cursor.at >= 12
        && let Some(read) = time_of_datetime(text, zone)
    {
        let (time, trailing_garbage) = read?;
        return of(time, false, trailing_garbage);
    }
    let (first, digits) = match cursor.digits(10) {
        Some(found) => found,
        None if cursor.peek() == Some(b'.') => (0, 0),
        None => return None,
    };
    let (hours, minutes, seconds) = time_parts(&mut cursor, first, digits)?;
    let mut micros = 0;
    if cursor.skip_if(|b| b == b'.') {
        micros = cursor.fraction();
    }
    if is_exponent(&text[cursor.at..]) {
        return of(Time::default(), false, false);
    }
    cursor.skip_spaces();
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let total = i64::from(hours) * 3600 + i64::from(minutes * 60 + seconds);
    let total = total * i64::from(super::MICROS_PER_SECOND) + i64::from(micros);
    let limit = Time::largest(false).to_micros();
    let time = Time::from_micros(total.min(limit)).map(|t| Time { negative: negative && total != 0, ..t })?;
    of(time, total > limit, cursor.at < text.len())
}

/// Returns the time of a whole DATETIME, and whether something followed it. `None` means that the
/// text does not look like a DATETIME, `Some(None)` that it does but there is no such date and
/// time. A fraction that rounds up to midnight makes 24:00:00.
fn time_of_datetime(text: &[u8], zone: Zone) -> Option<Option<(Time, bool)>> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    let fields = cursor.peek_is_digit().then(|| date_fields(&mut cursor)).flatten()?;
    // Fewer digits without a delimiter are a time with a fraction.
    const LEAST_DIGITS: usize = 12;
    let digits = || text.trim_ascii_start().iter().take_while(|b| b.is_ascii_digit() || **b == b'T').count();
    if fields.count < 4 || !(fields.spaced || fields.undelimited && digits() >= LEAST_DIGITS) {
        return None;
    }
    let Some(read) = datetime(text) else { return Some(None) };
    if read.offset_seconds.is_some() {
        return Some(Some((read.in_zone(zone).time(), false)));
    }
    let [.., hour, minute, second] = fields.values;
    let seconds = i64::from(hour * 3600 + minute * 60 + second);
    let time = Time::from_micros(seconds * i64::from(super::MICROS_PER_SECOND) + i64::from(fields.micros))?;
    cursor.skip_spaces();
    Some(Some((time, cursor.at < text.len())))
}

/// Reports whether `e5`, `e-5` or the like follows: the text is then a number in a form that no
/// time has.
fn is_exponent(text: &[u8]) -> bool {
    match text {
        [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// A TIME that was read from text or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRead {
    /// The time, clipped to TIME's range.
    pub time: Time,
    /// Whether the time had to be clipped (error 1264, or a warning with this number).
    pub out_of_range: bool,
}

/// Returns hours, minutes and seconds. The first run of digits has been read already.
fn time_parts(cursor: &mut Cursor<'_>, first: u32, digits: usize) -> Option<(u32, u32, u32)> {
    let behind_number = cursor.at;
    if digits > 0 {
        cursor.skip_spaces();
        // As MySQL reads it, a single digit at the end is no hour of a day.
        let is_hour = cursor.at > behind_number && cursor.text.len() - cursor.at > 1;
        if is_hour && let Some((hours, _)) = cursor.digits(4) {
            let (minutes, seconds) = colon_parts(cursor);
            return Some((first.min(40).saturating_mul(24).saturating_add(hours), minutes, seconds));
        }
        if cursor.peek() != Some(b':') {
            cursor.at = behind_number;
        }
    }
    // Without a digit behind it, the colon is not part of the time.
    let is_digit = |at: usize| cursor.text.get(at).is_some_and(u8::is_ascii_digit);
    if cursor.peek() == Some(b':') && is_digit(cursor.at + 1) {
        let (minutes, seconds) = colon_parts(cursor);
        return Some((first.min(10_000), minutes, seconds));
    }
    Some(((first / 10_000).min(10_000), first / 100 % 100, first % 100))
}

fn colon_parts(cursor: &mut Cursor<'_>) -> (u32, u32) {
    let mut parts = [0; 2];
    for part in &mut parts {
        let mark = cursor.at;
        match cursor.skip_if(|b| b == b':').then(|| cursor.digits(2)).flatten() {
            Some((value, _)) => *part = value,
            None => {
                cursor.at = mark;
                break;
            }
        }
    }
    (parts[0], parts[1])
}

/// Returns the DATETIME of a number: YYMMDD, YYYYMMDD, YYMMDDhhmmss or YYYYMMDDhhmmss. `None` if it
/// is of none of these forms.
pub fn datetime_from_number(number: u64) -> Option<DateTime> {
    datetime_from_number_with(number, false)
}

/// Does the same as [`datetime_from_number`]. With `allow_invalid`, every month has 31 days.
pub fn datetime_from_number_with(number: u64, allow_invalid: bool) -> Option<DateTime> {
    let full = match number {
        0 => return Some(DateTime::default()),
        1..=100 => return None,
        101..=691_231 => (number + 20_000_000) * 1_000_000,
        691_232..=700_100 => return None,
        700_101..=991_231 => (number + 19_000_000) * 1_000_000,
        991_232..=1_000_100 => return None,
        1_000_101..=99_991_231 => number * 1_000_000,
        99_991_232..=100_999_999 => return None,
        101_000_000..=691_231_235_959 => number + 20_000_000_000_000,
        691_231_235_960..=700_100_999_999 => return None,
        700_101_000_000..=991_231_235_959 => number + 19_000_000_000_000,
        _ => number,
    };
    let (date, time) = (full / 1_000_000, full % 1_000_000);
    let (hour, minute, second) = ((time / 10_000) as u8, (time / 100 % 100) as u8, (time % 100) as u8);
    let (month, day) = ((date / 100 % 100) as u8, (date % 100) as u8);
    if hour > 23
        || minute > 59
        || second > 59
        || month > 12
        || day > if allow_invalid { 31 } else { days_in_month((date / 10_000) as u16, month) }
    {
        return None;
    }
    let year = u16::try_from(date / 10_000).ok().filter(|year| *year <= 9999)?;
    Some(DateTime { date: Date { year, month, day }, hour, minute, second, micros: 0 })
}

/// Returns the TIME of a number hhmmss, clipped to TIME's range. `None` if minutes or seconds are
/// above 59.
pub fn time_from_number(number: i64) -> Option<TimeRead> {
    let magnitude = number.unsigned_abs();
    if magnitude > 8_385_959 {
        if number >= 10_000_000_000
            && let Some(at) = datetime_from_number(magnitude)
        {
            return Some(TimeRead { time: at.time(), out_of_range: false });
        }
        return Some(TimeRead { time: Time::largest(number < 0), out_of_range: true });
    }
    let (minutes, seconds) = ((magnitude / 100 % 100) as u8, (magnitude % 100) as u8);
    let time = Time::new(number < 0, (magnitude / 10_000) as u16, minutes, seconds, 0)?;
    Some(TimeRead { time, out_of_range: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dt(text: &str) -> Option<String> {
        datetime(text.as_bytes()).map(|p| p.value.to_string())
    }

    #[test]
    fn datetimes() {
        for (text, expected) in [
            ("2024-01-02 03:04:05", "2024-01-02 03:04:05"),
            ("2024-1-2 3:4:5.6", "2024-01-02 03:04:05.600000"),
            ("2024/01/02", "2024-01-02 00:00:00"),
            ("20240102030405", "2024-01-02 03:04:05"),
            ("20240102", "2024-01-02 00:00:00"),
            ("240102", "2024-01-02 00:00:00"),
            ("700102", "1970-01-02 00:00:00"),
            ("99-12-31", "1999-12-31 00:00:00"),
            ("2024-01-02T03:04:05.0000005", "2024-01-02 03:04:05.000001"),
            ("20240102T030405", "2024-01-02 03:04:05"),
            ("0000-00-00 00:00:00", "0000-00-00 00:00:00"),
            ("2024-02-29", "2024-02-29 00:00:00"),
            ("2023-12-31 23:59:59.9999999", "2024-01-01 00:00:00"),
        ] {
            assert_eq!(dt(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "abc", "2023-02-29", "2024-13-01", "2024-01-01 24:00:00", "2024", "2024-01"] {
            assert_eq!(dt(text), None, "{text}");
        }
        assert!(datetime(b"2024-01-02x").unwrap().trailing_garbage);
        assert_eq!(datetime(b"2024-01-02 10:00:00+05:30").unwrap().offset_seconds, Some(19_800));
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("11:12", "11:12:00"),
            ("1112", "00:11:12"),
            ("12", "00:00:12"),
            ("-1 02:03:04", "-26:03:04"),
            ("1 02", "26:00:00"),
            ("1 2", "00:00:01"),
            ("1\t2:3", "26:03:00"),
            ("1 :2", "01:02:00"),
            ("101112.5", "10:11:12.500000"),
            ("900:00:00", "838:59:59"),
            ("2024-01-02 03:04:05", "03:04:05"),
        ] {
            assert_eq!(
                time(text.as_bytes(), Zone::UTC).map(|p| p.value.time.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        assert!(time(b"900:00:00", Zone::UTC).unwrap().value.out_of_range);
        assert!(time(b"10:99:00", Zone::UTC).is_none() && time(b"x", Zone::UTC).is_none());
        assert_eq!(time_from_number(-101112).unwrap().time.to_string(), "-10:11:12");
        assert_eq!(datetime_from_number(20240102030405).unwrap().to_string(), "2024-01-02 03:04:05");
        assert!(datetime_from_number(20240230).is_none());
    }
}
